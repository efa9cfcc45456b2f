"""A judge that is not a language model and compares both answers by itself: a Python callable or an HTTP endpoint.

Like a scorer it is an ordinary Model, so that its verdicts are stored, limited, retried and paid for like any other
call: it is asked with three messages, the prompt as user and both answers as assistant, and its text is the verdict:
A, B or tie, or the probability that answer A is better.
"""

import math

from ...core.calls import Completion, Message, Model, Request
from .protocol import Ruling, RulingJudge, Shown, verdict_of

_WORDS = {
    **dict.fromkeys(("a", "1", "first", "answer a", "answer_a", "a>b"), "first"),
    **dict.fromkeys(("b", "2", "second", "answer b", "answer_b", "b>a"), "second"),
    **dict.fromkeys(("tie", "c", "equal", "draw", "a=b"), "tie"),
}


class CompareJudge(RulingJudge):
    """Prefers what the callable or endpoint does. `numbers`: it says how probable answer A is, else words, 1 or 2."""

    explains_itself = False

    def __init__(self, model: Model, run_id: str, *, numbers: bool = False) -> None:
        super().__init__(run_id)
        self.model = model
        self.gives_probabilities = numbers

    @property
    def name(self) -> str:
        """The model, and how its verdicts are meant."""
        return f"{self.model.name}#compare" + ("+numbers" if self.gives_probabilities else "")

    async def rule(self, shown: Shown) -> Ruling:
        """One verdict; `invalid` for what is none. Raises CallFailed from the model."""
        completion = await self.model.complete(
            Request(
                model=self.model.name,
                messages=(
                    Message(role="user", content=shown.pair.prompt),
                    *(Message(role="assistant", content=answer) for answer in shown.answers),
                ),
                temperature=None,
                max_tokens=1,
                seed=None,
                draw=shown.draw,
                role="judge",
                stage=shown.stage,
            )
        )
        ruling = self._numbered(completion, shown) if self.gives_probabilities else self._worded(completion, shown)
        return ruling._replace(request_id=completion.request_id)

    def _worded(self, completion: Completion, shown: Shown) -> Ruling:
        value = _WORDS.get(completion.text.strip().lower())
        if value is None:
            return Ruling("invalid", unread=f"{completion.text[:80]!r} is none of A, B, tie, 1 and 2")
        return Ruling(verdict_of(value, shown.order))  # type: ignore[arg-type]

    def _numbered(self, completion: Completion, shown: Shown) -> Ruling:
        try:
            p_first = float(completion.text)
        except ValueError:
            p_first = math.nan
        if not 0 <= p_first <= 1:
            return Ruling("invalid", unread=f"{completion.text[:80]!r} is no probability from 0 to 1")
        p_rejected = 1 - p_first if shown.order == "chosen_first" else p_first
        verdict = verdict_of("tie" if p_first == 0.5 else "first" if p_first > 0.5 else "second", shown.order)
        return Ruling(verdict, p_rejected)
