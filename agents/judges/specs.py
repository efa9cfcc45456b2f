"""Settings of every kind of judge: one flat mapping each, told apart by `kind`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from ...core.calls import Model
from ..engines.reference import SCORERS, ModelSpec
from .pairwise import Mode, PairwiseJudge
from .protocol import Judge
from .score import ScoreJudge

OpenModel = Callable[[ModelSpec], Model]


class PairwiseSpec(ModelSpec):
    """An LLM that sees both answers."""

    kind: Literal["pairwise"] = "pairwise"
    """Which kind of judge this is; pairwise when left out, score for a reference to a scorer."""
    mode: Mode = "reasoning"
    """reasoning: reasons, then a verdict; verdict: one letter, from token log-probabilities where there are any."""
    planted: str | None = Field(default=None, repr=False)
    """An instruction added to the judge's system prompt, to audit a judge whose bias is known."""

    def open(self, open_model: OpenModel, run_id: str) -> Judge:
        """The judge."""
        return PairwiseJudge(open_model(self), run_id, mode=self.mode, planted=self.planted)


class ScoreSpec(ModelSpec):
    """A scorer: each answer gets a number by itself and the higher one is preferred."""

    kind: Literal["score"]
    """score."""
    tie_within: float = Field(0.0, ge=0)
    """Scores that differ by this or less are a tie."""

    def open(self, open_model: OpenModel, run_id: str) -> Judge:
        """The judge."""
        return ScoreJudge(open_model(self), run_id, tie_within=self.tie_within)


_KINDS: tuple[type[ModelSpec], ...] = (PairwiseSpec, ScoreSpec)
KINDS: tuple[str, ...] = ("pairwise", "score")


def _with_kind(given: Any) -> Any:
    """A reference alone, or settings without a kind, made whole."""
    if isinstance(given, str):
        given = {"model": given}
    if not isinstance(given, Mapping):
        if isinstance(given, ModelSpec):
            return given
        raise ValueError(f"{given!r} is neither a model reference nor a mapping with one under `model`")
    kind = given.get("kind")
    if kind is None:
        scheme = str(given.get("model", "")).partition(":")[0].strip()
        return {**given, "kind": "score" if scheme in SCORERS else "pairwise"}
    if kind not in KINDS:
        raise ValueError(f"there is no kind {kind!r} of judge; there are {', '.join(KINDS)}")
    return given


def _tag(given: Any) -> str | None:
    kind = given.get("kind") if isinstance(given, Mapping) else getattr(given, "kind", None)
    return f"({kind})"


JudgeSpec = Annotated[
    Annotated[PairwiseSpec, Tag("(pairwise)")] | Annotated[ScoreSpec, Tag("(score)")],
    Discriminator(_tag),
    BeforeValidator(_with_kind),
]
"""The target judge, of any kind. The tags stand in pydantic's error locations; `(...)` parts are left out there."""
