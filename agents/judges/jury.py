"""The jury: several judges of any kind, and one verdict of all."""

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from ...core.ids import content_id
from ...core.records import Judgment, Order, Verdict
from .protocol import Ruling, RulingJudge, Said, Shown, letter_of

Decide = Literal["majority", "mean"]
_CLIP = 1e-6


class JuryJudge(RulingJudge):
    """Members vote (majority), or their outcomes are averaged (mean).

    majority: each side's votes are counted, ties and unreadable verdicts are no votes, as many on both sides is a tie.
    mean: P(rejected) is the mean of the members' P(rejected), where a verdict counts as 0 or 1 and a tie as 0.5;
    `decide` then goes by the side of 0.5. With `both_orders` every member that has a position judges in both orders
    first: its two probabilities are averaged as log-odds, two verdicts that differ are a tie. A member whose call
    fails fails the jury: a smaller jury would be another judge.
    """

    def __init__(
        self, members: Sequence[RulingJudge], run_id: str, *, decide: Decide = "majority", both_orders: bool = False
    ) -> None:
        super().__init__(run_id)
        self.members, self._decide, self._both = tuple(members), decide, both_orders
        self.gives_reasons = any(m.gives_reasons for m in members)
        self.explains_itself = self.gives_reasons
        self.gives_probabilities = decide == "mean"
        self.has_position = not both_orders and any(m.has_position for m in members)

    @property
    def name(self) -> str:
        """The rule, and a hash of the members' names."""
        orders = "+both" if self._both else ""
        return f"jury-{len(self.members)}-{content_id([m.name for m in self.members])[:8]}#{self._decide}{orders}"

    async def rule(self, shown: Shown) -> Ruling:
        """The members' verdict. Raises CallFailed when a member's call fails."""
        rulings = await asyncio.gather(*(self._member(member, shown) for member in self.members))
        votes = Counter(ruling.verdict for ruling in rulings)
        made = Ruling("invalid", unread="no member gave a verdict that can be read")
        if votes["invalid"] < len(rulings):
            made = _mean(rulings) if self._decide == "mean" else Ruling(_majority(votes))
        said = [
            f"Judge {k}{_says(r, shown.order)}" + (f":\n{r.reasoning}" if r.reasoning else ".")
            for k, r in enumerate(rulings, 1)
        ]
        return made._replace(reasoning="\n\n".join(said), request_id=rulings[-1].request_id)

    async def said(self, shown: Shown, judgment: Judgment) -> Said | None:
        """The first member of the jury's opinion that can talk."""
        for member in self.members:
            if not member.gives_reasons:
                continue
            ruling = await member.rule(shown)
            if ruling.verdict == judgment.verdict:
                own = judgment.model_copy(update={"verdict": ruling.verdict, "reasoning": ruling.reasoning})
                if (said := await member.said(shown, own)) is not None:
                    return said
        return None

    async def _member(self, member: RulingJudge, shown: Shown) -> Ruling:
        if not (self._both and member.has_position):
            return await member.rule(shown)
        orders: tuple[Order, Order] = ("chosen_first", "rejected_first")
        return _both(*[await member.rule(shown._replace(order=order)) for order in orders])


def _says(ruling: Ruling, order: Order) -> str:
    if ruling.verdict == "invalid":
        return " gave no verdict that can be read"
    return " sees a tie" if ruling.verdict == "tie" else f" prefers answer {letter_of(ruling.verdict, order)}"


def _majority(votes: Counter[Verdict]) -> Literal["chosen", "rejected", "tie"]:
    if votes["chosen"] == votes["rejected"]:
        return "tie"
    return "chosen" if votes["chosen"] > votes["rejected"] else "rejected"


def _mean(rulings: Sequence[Ruling]) -> Ruling:
    wrong = {"chosen": 0.0, "rejected": 1.0, "tie": 0.5}
    values = [r.p_rejected if r.p_rejected is not None else wrong[r.verdict] for r in rulings if r.verdict != "invalid"]
    p = math.fsum(values) / len(values)
    return Ruling("tie" if p == 0.5 else "rejected" if p > 0.5 else "chosen", p_rejected=p)


def _both(one: Ruling, other: Ruling) -> Ruling:
    """One member's ruling of both orders."""
    reasoning = f"{one.reasoning}\n\nIn the other order:\n{other.reasoning}" if one.reasoning else ""
    if one.p_rejected is not None and other.p_rejected is not None:
        clipped = [min(max(p, _CLIP), 1 - _CLIP) for p in (one.p_rejected, other.p_rejected)]
        logit = math.fsum(math.log(p) - math.log1p(-p) for p in clipped) / 2
        verdict: Literal["chosen", "rejected", "tie"] = "tie" if logit == 0 else "rejected" if logit > 0 else "chosen"
        p_rejected = 1 / (1 + math.exp(-logit))
        return Ruling(verdict, p_rejected, reasoning=reasoning, request_id=other.request_id)
    if "invalid" in (one.verdict, other.verdict):
        return Ruling("invalid", reasoning=reasoning, request_id=other.request_id)
    same = one.verdict if one.verdict == other.verdict else "tie"
    return Ruling(same, reasoning=reasoning, request_id=other.request_id)
