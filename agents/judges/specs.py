"""Settings of every kind of judge: one flat mapping each, told apart by `kind`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from ...core.calls import Model
from ...core.errors import ConfigError
from ...core.mistakes import mistakes
from ..engines.reference import CALLED, SCORERS, ModelSpec
from .compare import CompareJudge
from .jury import Decide, JuryJudge
from .listwise import ListwiseJudge, others_of, plain_others
from .pairwise import Mode, OwnPairwiseJudge, PairwiseJudge
from .pass_fail import BothPass, PassFailJudge
from .pointwise import PointwiseJudge
from .prompting import PromptField, ready
from .protocol import RulingJudge
from .rubric import Criterion, RubricJudge
from .score import ScoreJudge

OpenModel = Callable[[ModelSpec], Model]


class _LanguageModelSpec(ModelSpec):
    """A judge that is a language model."""

    planted: str | None = Field(default=None, repr=False)
    """An instruction added to the judge's system prompt, to audit a judge whose bias is known."""

    @model_validator(mode="after")
    def _talks(self) -> "_LanguageModelSpec":
        if self.scheme in (*SCORERS, *CALLED):
            kinds = "score" if self.scheme in SCORERS else "score or compare"
            raise ValueError(f"{self.model!r} is no language model; write kind: {kinds}")
        return self


class _PromptedSpec(_LanguageModelSpec):
    mode: Mode = "reasoning"
    """reasoning: reasons, then a verdict; verdict: one letter, from token log-probabilities where there are any."""
    prompt: PromptField = None
    """A preset's name, or a prompt of your own with the way it is read, in place of ours."""

    @model_validator(mode="after")
    def _one_prompt(self) -> "_PromptedSpec":
        if self.prompt is not None and ("mode" in self.model_fields_set or self.planted):
            raise ValueError("mode and planted belong to our own prompts; leave them out beside `prompt`")
        return self


class PairwiseSpec(_PromptedSpec):
    """An LLM that sees both answers."""

    kind: Literal["pairwise"] = "pairwise"
    """Which kind of judge this is; pairwise when left out, score for a reference to a scorer."""

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        if self.prompt is not None:
            prompt = ready(self.prompt, "pairwise")
            return OwnPairwiseJudge(open_model(self), run_id, prompt)
        return PairwiseJudge(open_model(self), run_id, mode=self.mode, planted=self.planted)


class PointwiseSpec(_PromptedSpec):
    """An LLM that scores each answer by itself; the higher score is preferred."""

    kind: Literal["pointwise"]
    """pointwise."""
    criteria: str = ""
    """What counts, in words, for our own prompt."""
    scale: tuple[int, int] = (1, 10)
    """Lowest and highest score of our own prompt; with mode: verdict within 0 to 9, so that a score is one token."""
    tie_within: float = Field(0.0, ge=0)
    """Scores that differ by this or less are a tie."""

    @model_validator(mode="before")
    @classmethod
    def _one_token(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and given.get("mode") == "verdict":
            return {"scale": (1, 9), **given}
        return given

    @field_validator("scale")
    @classmethod
    def _upwards(cls, scale: tuple[int, int]) -> tuple[int, int]:
        if scale[0] >= scale[1]:
            raise ValueError(f"scale: {scale[0]} is not below {scale[1]}")
        return scale

    @model_validator(mode="after")
    def _readable(self) -> "PointwiseSpec":
        if self.mode == "verdict" and not 0 <= self.scale[0] < self.scale[1] <= 9:
            raise ValueError(f"scale {list(self.scale)}: with mode: verdict a score is one digit; stay within 0 to 9")
        return self

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        prompt = ready(self.prompt, "pointwise") if self.prompt else None
        return PointwiseJudge(
            open_model(self),
            run_id,
            mode=self.mode,
            prompt=prompt,
            criteria=self.criteria,
            planted=self.planted,
            scale=self.scale,
            tie_within=self.tie_within,
        )


class PassFailSpec(_PromptedSpec):
    """An LLM that says of each answer by itself whether it passes."""

    kind: Literal["pass_fail"]
    """pass_fail."""
    criteria: str = ""
    """What an answer must meet, in words, for our own prompt."""
    both_pass: BothPass = "wrong"
    """When both answers pass: wrong, since the worse one got through; or a tie, which leaves the pair out."""

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        prompt = ready(self.prompt, "pass_fail") if self.prompt else None
        return PassFailJudge(
            open_model(self),
            run_id,
            mode=self.mode,
            prompt=prompt,
            criteria=self.criteria,
            planted=self.planted,
            both_pass=self.both_pass,
        )


class RubricSpec(_LanguageModelSpec):
    """An LLM that scores each answer by several criteria; the weighted means are compared."""

    kind: Literal["rubric"]
    """rubric."""
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    """The rubric: a list of mappings with name, about and weight."""
    scale: tuple[float, float] = (1, 5)
    """Lowest and highest score."""
    tie_within: float = Field(0.0, ge=0)
    """Means that differ by this or less are a tie."""

    @model_validator(mode="after")
    def _distinct(self) -> "RubricSpec":
        if len({c.field for c in self.criteria}) < len(self.criteria):
            raise ValueError("criteria: two have the same name")
        if self.scale[0] >= self.scale[1]:
            raise ValueError(f"scale: {self.scale[0]:g} is not below {self.scale[1]:g}")
        return self

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        return RubricJudge(
            open_model(self),
            run_id,
            self.criteria,
            scale=self.scale,
            tie_within=self.tie_within,
            planted=self.planted,
        )


class ListwiseSpec(_LanguageModelSpec):
    """An LLM that ranks several answers at once; the pair is hidden among others."""

    kind: Literal["listwise"]
    """listwise."""
    n: int = Field(4, ge=3, le=8)
    """Answers that it ranks, the pair among them."""
    others: Path | None = None
    """JSON lines, {"prompt": ..., "answers": [...]}: where the others come from; None: short replies that fit any
    question and answer none."""

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        others, source = others_of(self.others) if self.others else (plain_others, "plain")
        return ListwiseJudge(open_model(self), run_id, others, source, n=self.n, planted=self.planted)


class ScoreSpec(ModelSpec):
    """A scorer: each answer gets a number by itself and the higher one is preferred."""

    kind: Literal["score"]
    """score."""
    tie_within: float = Field(0.0, ge=0)
    """Scores that differ by this or less are a tie."""

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        return ScoreJudge(open_model(self), run_id, tie_within=self.tie_within)


class CompareSpec(ModelSpec):
    """A Python callable or an HTTP endpoint that compares both answers by itself."""

    kind: Literal["compare"]
    """compare."""
    verdicts: Literal["words", "probability"] = "words"
    """words: A, B or tie (also 1, 2, first, second); probability: a number from 0 to 1 that answer A is better."""

    @model_validator(mode="after")
    def _called(self) -> "CompareSpec":
        if self.scheme not in CALLED:
            raise ValueError(
                f"{self.model!r} does not compare; kind: compare takes python:module:function or http://..."
            )
        return self

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        return CompareJudge(open_model(self), run_id, numbers=self.verdicts == "probability")


KINDS: tuple[str, ...] = ("pairwise", "pointwise", "rubric", "listwise", "pass_fail", "score", "compare", "jury")


def _with_kind(given: Any) -> Any:
    """A reference alone, or settings without a kind, made whole."""
    if isinstance(given, str):
        given = {"model": given}
    if not isinstance(given, Mapping):
        if isinstance(given, BaseModel):
            return given
        raise ValueError(f"{given!r} is neither a model reference nor a mapping with one under `model`")
    kind = given.get("kind")
    if kind is None:
        scheme = str(given.get("model", "")).partition(":")[0].strip()
        if scheme in CALLED:
            raise ValueError(
                f"{str(given['model'])!r} needs a kind: score, where it gives a number for one answer, or compare"
            )
        if "members" in given:
            return {**given, "kind": "jury"}
        return {**given, "kind": "score" if scheme in SCORERS else "pairwise"}
    if kind not in KINDS:
        raise ValueError(f"there is no kind {kind!r} of judge; there are {', '.join(KINDS)}")
    return given


def _tag(given: Any) -> str | None:
    kind = given.get("kind") if isinstance(given, Mapping) else getattr(given, "kind", None)
    return f"({kind})"


_Single = (
    Annotated[PairwiseSpec, Tag("(pairwise)")]
    | Annotated[PointwiseSpec, Tag("(pointwise)")]
    | Annotated[RubricSpec, Tag("(rubric)")]
    | Annotated[ListwiseSpec, Tag("(listwise)")]
    | Annotated[PassFailSpec, Tag("(pass_fail)")]
    | Annotated[ScoreSpec, Tag("(score)")]
    | Annotated[CompareSpec, Tag("(compare)")]
)


def _member(given: Any) -> Any:
    made = _with_kind(given)
    kind = made.get("kind") if isinstance(made, Mapping) else getattr(made, "kind", None)
    if kind == "jury":
        raise ValueError("a jury cannot sit on a jury; list its members")
    return made


class JurySpec(BaseModel):
    """Several judges of any kind, and one verdict of all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["jury"]
    """jury."""
    members: tuple[Annotated[_Single, Discriminator(_tag), BeforeValidator(_member)], ...] = Field(min_length=2)
    """The judges, each with the settings of its own kind."""
    decide: Decide = "majority"
    """majority: votes are counted; mean: outcomes are averaged, probabilities where a member gives them."""
    both_orders: bool = False
    """Every member judges in both orders first, and these are averaged, so that the jury has no position."""

    @property
    def model(self) -> str:
        """The members' references, for people."""
        return "jury of " + ", ".join(member.model for member in self.members)

    @property
    def max_concurrency(self) -> int:
        """Of the widest member."""
        return max(member.max_concurrency for member in self.members)

    def open(self, open_model: OpenModel, run_id: str) -> RulingJudge:
        """The judge."""
        members = [member.open(open_model, run_id) for member in self.members]
        return JuryJudge(members, run_id, decide=self.decide, both_orders=self.both_orders)


JudgeSpec = Annotated[
    _Single | Annotated[JurySpec, Tag("(jury)")],
    Discriminator(_tag),
    BeforeValidator(_with_kind),
]
"""The target judge, of any kind. The tags stand in pydantic's error locations; `(...)` parts are left out there."""


def parse_judge(value: Any, where: str = "judge") -> JudgeSpec:
    """A judge from a reference or a mapping. Raises ConfigError with field, value and next step."""
    try:
        return TypeAdapter[Any](JudgeSpec).validate_python(value)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise ConfigError(f"{where}: {'; '.join(mistakes(error))}") from None


def models_of(spec: JudgeSpec) -> tuple[ModelSpec, ...]:
    """The models that a judge asks."""
    return spec.members if isinstance(spec, JurySpec) else (spec,)
