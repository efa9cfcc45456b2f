"""A judge on a scorer: each answer gets a number by itself, and the higher one is preferred.

A scorer is an ordinary Model: it is asked with two messages, the prompt as user and the answer as assistant, and its
text is the score as a decimal number. So scores are stored, limited, retried and paid for like any other call. Reward
models, embedding similarity, score endpoints and Python callables are engines of that kind.
"""

import math

from ...core.calls import Message, Model, Request, Stage
from ...core.errors import CallFailed
from .protocol import Ruling, RulingJudge, Shown


def score_request(model: Model, prompt: str, answer: str, *, stage: Stage, draw: int = 0) -> Request:
    """What a scorer is asked."""
    return Request(
        model=model.name,
        messages=(Message(role="user", content=prompt), Message(role="assistant", content=answer)),
        temperature=None,
        max_tokens=1,
        seed=None,
        draw=draw,
        role="judge",
        stage=stage,
    )


async def score(model: Model, prompt: str, answer: str, *, stage: Stage, draw: int = 0) -> tuple[float, str]:
    """The score and the id of its request. Raises CallFailed('unparsable') when it is no finite number."""
    completion = await model.complete(score_request(model, prompt, answer, stage=stage, draw=draw))
    try:
        value = float(completion.text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        reason = f"the scorer {model.name} gave no finite number"
        raise CallFailed("unparsable", reason, raw=completion.text, request_id=completion.request_id)
    return value, completion.request_id


class ScoreJudge(RulingJudge):
    """Prefers the answer with the higher score; a tie when they differ by `tie_within` or less.

    Each answer is scored alone, so there is no position, and there are no reasons.
    """

    explains_itself = False
    gives_scores = True
    has_position = False

    def __init__(self, model: Model, run_id: str, *, tie_within: float = 0.0) -> None:
        super().__init__(run_id)
        self.model = model
        self.tie_within = tie_within

    @property
    def name(self) -> str:
        """Model and, if any, the width of a tie."""
        return f"{self.model.name}#score" + (f"+tie-{self.tie_within:g}" if self.tie_within else "")

    async def rule(self, shown: Shown) -> Ruling:
        """The comparison of two scores. Raises CallFailed from the scorer."""
        pair, stage, draw = shown.pair, shown.stage, shown.draw
        chosen, _ = await score(self.model, pair.prompt, pair.chosen, stage=stage, draw=draw)
        rejected, request_id = await score(self.model, pair.prompt, shown.rejected_text, stage=stage, draw=draw)
        return compare_scores(chosen, rejected, self.tie_within)._replace(request_id=request_id)


def compare_scores(chosen: float, rejected: float, tie_within: float = 0.0) -> Ruling:
    """The ruling of two scores, higher is better."""
    if abs(chosen - rejected) <= tie_within:
        return Ruling("tie", score_chosen=chosen, score_rejected=rejected)
    return Ruling("chosen" if chosen > rejected else "rejected", score_chosen=chosen, score_rejected=rejected)
