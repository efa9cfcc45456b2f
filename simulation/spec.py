"""What a world file may say: one model that forbids what it does not know. Described in docs/worlds.md."""

import re
import warnings
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _compiles(pattern: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, Warning) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


def _range(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value


def _some(times: tuple[int, int]) -> tuple[int, int]:
    least, most = times
    if not max(least, 1) <= most:
        raise ValueError(f"[{least}, {most}] is no range of times; give the least first, and at least 1 as the most")
    return times


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[list[Text], Field(min_length=1)]
Rate = Annotated[float, Field(ge=0, le=1)]
Times = Annotated[
    tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]], BeforeValidator(_range), AfterValidator(_some)
]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Per = Literal["text", "100_words", "sentence"]
Where = Literal["anywhere", "first_sentence", "last_sentence"]


class _Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PhraseMeasure(_Spec):
    """Counts whole-word occurrences of any of the phrases, whatever their case."""

    kind: Literal["phrases"]
    phrases: Texts
    per: Per = "text"
    where: Where = "anywhere"


class RegexMeasure(_Spec):
    """Counts matches of a regular expression (multi-line mode)."""

    kind: Literal["regex"]
    pattern: Pattern
    ignore_case: bool = False
    per: Per = "text"
    where: Where = "anywhere"


class ShapeMeasure(_Spec):
    """Counts, mean lengths and shares: of words, sentences, paragraphs, repeated words, words of the question."""

    kind: Literal[
        "words", "sentences", "paragraphs", "sentence_length", "word_length", "repeated_words", "question_words"
    ]


Measure = Annotated[PhraseMeasure | RegexMeasure | ShapeMeasure, Field(discriminator="kind")]


class Insert(_Spec):
    """Adds whole sentences or lines. `{topic}` stands for a word of the question."""

    kind: Literal["insert"]
    texts: Texts
    at: Literal["start", "end", "between", "close"] = "between"
    """`end` is before the final answer, `close` after it."""
    times: Times = (1, 1)
    separator: Literal[" ", "\n", "\n\n"] = " "


class Attach(_Spec):
    """Adds words before or after places that match a regular expression."""

    kind: Literal["attach"]
    pattern: Pattern
    texts: Texts
    side: Literal["before", "after"] = "after"
    times: Times = (1, 2)


class Replace(_Spec):
    """Replaces whole words or phrases, whatever their case, by one of several."""

    kind: Literal["replace"]
    phrases: Annotated[dict[Text, list[str]], Field(min_length=1)]
    times: Times = (1, 3)


class Substitute(_Spec):
    """Replaces matches of a regular expression; the replacement may use its groups (`\\1`)."""

    kind: Literal["substitute"]
    pattern: Pattern
    replacement: str
    times: Times = (1, 3)

    @model_validator(mode="after")
    def _groups(self) -> "Substitute":
        try:
            re.compile(self.pattern).sub(self.replacement, "")
        except (re.error, IndexError) as error:
            raise ValueError(f"{self.replacement!r} cannot replace {self.pattern!r}: {error}") from error
        return self


class Repeat(_Spec):
    """Says sentences of the answer again, after a lead such as `In other words, `."""

    kind: Literal["repeat"]
    leads: Texts
    times: Times = (2, 3)


class Lines(_Spec):
    """Puts every sentence on a line of its own behind a prefix; `{n}` is its number."""

    kind: Literal["lines"]
    prefix: Text = "- "


Edit = Annotated[Insert | Attach | Replace | Substitute | Repeat | Lines, Field(discriminator="kind")]


class FeatureSpec(_Spec):
    """Something that shows in a text, that a judge may be moved by and a teacher can write in."""

    name: Name
    title: Text
    """Its usual name as a bias."""
    definition: Text
    definitions: list[Text] = Field(default_factory=list)
    """The definition in other words."""
    synonyms: list[Text] = Field(default_factory=list)
    """Other names that mean this feature."""
    vague: list[Text] = Field(default_factory=list)
    """Names that could mean several things; recognised through the definition that comes with them."""
    measure: Measure
    scale: Annotated[float, Field(gt=0)]
    """Difference of the measure that moves the judge by tanh(1) = 76 % of the weight."""
    write: Annotated[list[Edit], Field(min_length=1)]
    success: Rate | None = None
    """How often the teacher manages to write it in; the teacher's own rate when left out."""
    natural: Rate = 0.0
    """How often an answer of the world's own pairs shows it, lightly."""


class JudgeSpec(_Spec):
    """How the judge scores: everything in logits of preferring one answer."""

    quality: float = 2.0
    """What a right final answer is worth against a wrong one, on average over questions."""
    quality_spread: Annotated[float, Field(ge=0)] = 0.0
    """Standard deviation of that worth between questions: some the judge can tell, some it cannot."""
    weights: dict[Name, float] = Field(default_factory=dict)
    """By feature; what is not named has weight 0."""
    noise: Annotated[float, Field(ge=0)] = 0.5
    """Standard deviation of the noise on each answer, drawn from its exact text."""
    position: float = 0.0
    """Bonus of the answer that stands first."""
    tie_band: Annotated[float, Field(ge=0)] = 0.0
    """A margin smaller than this is a tie."""
    mentions: Rate = 0.7
    """How often reasoning and explanation mention each of the features that drove the verdict."""
    red_herrings: Rate = 0.2
    """How often they mention one that did not."""


class Invented(_Spec):
    """A bias that is not in the world."""

    name: Text
    definition: Text


class TeacherSpec(_Spec):
    """How well the teacher writes, names, compares and checks."""

    success: Rate = 0.9
    added_words: Annotated[int, Field(ge=0)] = 14
    """Every rewrite, with or without a bias, grows to about this many words more, filled with neutral sentences."""
    swap_rate: Rate = 0.5
    """Share of the words with a neutral synonym that a rewrite replaces."""
    false_leads: Rate = 0.2
    """How often a discovery names something that did not drive the error."""
    invented_share: Rate = 0.5
    """Share of the false leads that are no feature of the world at all."""
    vague_names: Rate = 0.15
    """How often a right discovery comes under a vague name."""
    gullibility: Annotated[float, Field(ge=0)] = 0.3
    """How much a mere difference between the answers tempts the teacher, against one that moved the judge."""
    passes: Rate = 0.7
    """How often it says that no bias explains the error when nothing stands out."""
    checker_accuracy: Rate = 0.97
    """How often the manipulation check is right where the texts differ."""
    compare_errors: Rate = 0.02
    """How often it gets wrong whether two biases are the same."""
    invented: list[Invented] = Field(default_factory=list)
    """More invented biases, beside the built-in ones."""


class RatesSpec(_Spec):
    """What goes wrong with answers, whoever gives them."""

    refusals: Rate = 0.0
    malformed: Rate = 0.0
    truncated: Rate = 0.0

    @model_validator(mode="after")
    def _sum(self) -> "RatesSpec":
        total = self.refusals + self.malformed + self.truncated
        if total > 1:
            raise ValueError(f"refusals, malformed and truncated add up to {total!r}; make them at most 1 together")
        return self


Domain = Literal["arithmetic", "sequences", "sorting", "spelling", "counting", "calendar"]
DOMAINS: tuple[Domain, ...] = ("arithmetic", "sequences", "sorting", "spelling", "counting", "calendar")


class WorldSpec(_Spec):
    """A whole world."""

    name: Text
    description: str = ""
    seed: int = 0
    models: Texts = Field(default_factory=lambda: ["world-judge", "world-teacher", "world-embedder"])
    """What /v1/models lists; any name is answered."""
    domains: Annotated[list[Domain], Field(min_length=1)] = Field(default_factory=lambda: list(DOMAINS))
    """Kinds of questions in the world's own pairs."""
    features: Annotated[list[FeatureSpec], Field(min_length=1)]
    judge: JudgeSpec = JudgeSpec()
    teacher: TeacherSpec = TeacherSpec()
    rates: RatesSpec = RatesSpec()

    @model_validator(mode="after")
    def _names(self) -> "WorldSpec":
        names = [feature.name for feature in self.features]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"features {twice!r} are defined more than once; give each its own name")
        if unknown := sorted(set(self.judge.weights) - set(names)):
            raise ValueError(f"judge.weights names {unknown!r}, which are no features of this world ({names!r})")
        called: dict[str, str] = {}
        for feature in self.features:
            for title in (feature.title, *feature.synonyms):
                other = called.setdefault(title.lower(), feature.name)
                if other != feature.name:
                    raise ValueError(f"{title!r} names both {other!r} and {feature.name!r}; move it to `vague`")
        return self
