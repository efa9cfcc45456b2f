"""What a log of verdicts says of its judges: accuracy and both-order consistency."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from ..core.records import Judgment
from .judgment_log import JudgmentLog


class JudgeAccuracy(NamedTuple):
    """One judge on the pairs of one domain. Pairs without a known better answer count for `same` only."""

    judge: str
    domain: str
    verdicts: int
    """Verdicts on pairs with a known better answer."""
    right: int
    wrong: int
    ties: int
    unreadable: int
    both_orders: int
    """Pairs with a verdict in both orders; repetitions apart."""
    both_right: int
    """Right in both."""
    same: int
    """The same verdict in both, an unreadable one counted as a verdict of its own; as LLMBar publishes it."""
    labelled_both: int
    """Of `both_orders` those with a known better answer."""

    @property
    def accuracy(self) -> float | None:
        """Right / verdicts: ties and unreadable verdicts are not right. None without labels."""
        return self.right / self.verdicts if self.verdicts else None


def judge_accuracy(log: JudgmentLog) -> list[JudgeAccuracy]:
    """A row for every judge and domain, in the order of names; the domain of pairs without texts is empty."""
    domains = {pair.id: pair.domain for pair in log.pairs}
    groups: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
    for judgment in log.judgments:
        groups[judgment.judge, domains.get(judgment.pair_id, "")].append(judgment)
    return [_row(judge, domain, found, log.unlabelled) for (judge, domain), found in sorted(groups.items())]


def as_values(row: JudgeAccuracy) -> Mapping[str, object]:
    """The row for JSON, with its accuracy."""
    return {**row._asdict(), "accuracy": row.accuracy}


def _row(judge: str, domain: str, judgments: list[Judgment], unlabelled: frozenset[str]) -> JudgeAccuracy:
    counts = Counter(j.verdict for j in judgments if j.pair_id not in unlabelled)
    orders: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for j in judgments:
        orders[j.pair_id, j.draw][j.order] = j.verdict
    both = {key: tuple(said.values()) for key, said in orders.items() if len(said) == 2}
    labelled = [said for (pair, _), said in both.items() if pair not in unlabelled]
    return JudgeAccuracy(
        judge=judge,
        domain=domain,
        verdicts=sum(counts.values()),
        right=counts["chosen"],
        wrong=counts["rejected"],
        ties=counts["tie"],
        unreadable=counts["invalid"],
        both_orders=len(both),
        both_right=sum(said == ("chosen", "chosen") for said in labelled),
        same=sum(one == other for one, other in both.values()),
        labelled_both=len(labelled),
    )
