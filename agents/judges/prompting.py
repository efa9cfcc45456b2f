"""A judging prompt of one's own, or a preset, with the way its replies are read."""

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ...core.calls import Message
from ...core.errors import CallFailed, ConfigError
from ...core.ids import content_id
from ...core.records import PreferencePair
from ...prompts import OwnPrompt, render
from .presets import PRESETS, Judged
from .reading import Label, Reader, by_json, by_marker, by_regex, by_reply

Texts = Annotated[tuple[str, ...], BeforeValidator(lambda v: (v,) if isinstance(v, str) else v)]

_TWO = ("prompt", "answer_a", "answer_b", "reference", "criteria")
_ONE = ("prompt", "answer", "reference", "criteria")


class VerdictSpec(BaseModel):
    """How a verdict is read from a reply. Write the words of the verdict, or a scale where it is a number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Literal["marker", "regex", "json", "reply"]
    """marker: the last of the words below, as they stand; regex: the last match's first group; json: what a path finds;
    reply: the whole reply, from token log-probabilities where `top_logprobs` asks for them."""
    pattern: str = ""
    """regex: the pattern."""
    path: str = ""
    """json: the JSON path (RFC 9535), such as $.verdict."""
    first: Texts = ()
    """Words for: the first answer is better."""
    second: Texts = ()
    """Words for: the second answer is better."""
    tie: Texts = ()
    """Words for: a tie."""
    passes: Texts = ()
    """pass_fail: words for a pass."""
    fails: Texts = ()
    """pass_fail: words for a fail."""

    @model_validator(mode="after")
    def _whole(self) -> "VerdictSpec":
        for by, name in (("regex", "pattern"), ("json", "path")):
            if (self.by == by) != bool(getattr(self, name)):
                raise ValueError(f"by: {self.by} and {name} do not go together; {by} needs a {name}, the others none")
        return self

    def labels(self, judged: Judged) -> dict[str, Label]:
        """Words and what they mean for this kind; ConfigError when they are not those of the kind."""
        wanted = {"pairwise": ("first", "second", "tie"), "pass_fail": ("passes", "fails"), "pointwise": ()}[judged]
        given = [n for n in ("first", "second", "tie", "passes", "fails") if getattr(self, n)]
        needed = [n for n in wanted if n != "tie"]
        if not set(needed) <= set(given) <= set(wanted):
            what = f"words for {' and '.join(needed)}" if needed else "a scale and no words"
            raise ConfigError(f"prompt.verdict: kind {judged} needs {what}, given are {', '.join(given) or 'none'}")
        meant = {"passes": "pass", "fails": "fail"}
        said: dict[str, str] = {}
        for name in given:
            for word in getattr(self, name):
                if (other := said.setdefault(word.casefold(), name)) != name:
                    raise ConfigError(f"prompt.verdict: {word!r} stands for both {other} and {name}; write two words")
        return {word: meant.get(name, name) for name in given for word in getattr(self, name)}

    def reader(self, judged: Judged, scale: tuple[float, float] | None) -> Reader:
        """The reader. Raises ConfigError."""
        labels = self.labels(judged)
        if judged == "pointwise" and scale is None:
            raise ConfigError("prompt.scale: a score needs a range; write scale: [1, 10]")
        if self.by == "marker":
            if not labels:
                raise ConfigError("prompt.verdict: a number has no marker; use by: regex with a pattern")
            return by_marker(labels)
        if self.by == "regex":
            return by_regex(self.pattern, labels or None, scale)
        return by_json(self.path, labels or None, scale) if self.by == "json" else by_reply(labels or None, scale)


class PromptSpec(BaseModel):
    """A judging prompt of one's own. Without code: a template, and how its reply is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: str | None = None
    """A known convention in place of template and verdict; `biasscope judge presets` lists them."""
    template: str | None = None
    """A file, or the text itself: Jinja with the fields prompt, answer_a and answer_b (answer for one), reference and
    criteria; lines `== system`, `== user` and `== assistant` divide it into messages."""
    system: str = ""
    """A system prompt, where the template has none."""
    criteria: str = ""
    """Put where the template says {{ criteria }}."""
    reference: str = "reference"
    """Which of the pair's meta fields is put where the template says {{ reference }}; empty where a pair has none."""
    verdict: VerdictSpec | None = None
    """How the reply is read."""
    scale: tuple[float, float] | None = None
    """Lowest and highest score; a number outside is no score."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Length of a reply; None: what the preset needs, else 1024, and 1 for a verdict read from probabilities."""
    top_logprobs: int = Field(default=0, ge=0, le=20)
    """Alternatives per token that a verdict `by: reply` is read from."""

    @model_validator(mode="after")
    def _one_source(self) -> "PromptSpec":
        if self.preset is not None and self.preset not in PRESETS:
            raise ValueError(f"preset {self.preset!r} is not known; there are {', '.join(PRESETS)}")
        if (self.preset is None) == (self.template is None):
            raise ValueError("prompt: give either a preset or a template")
        if (self.template is None) != (self.verdict is None):
            raise ValueError("prompt: a template needs a verdict, and a preset brings its own")
        if self.scale and self.scale[0] >= self.scale[1]:
            raise ValueError(f"scale: {self.scale[0]:g} is not below {self.scale[1]:g}")
        return self


def _prompt(given: Any) -> Any:
    return {"preset": given} if isinstance(given, str) else given


PromptField = Annotated[PromptSpec | None, BeforeValidator(_prompt)]


class Prompted(NamedTuple):
    """A prompt made ready for one kind of judge."""

    name: str
    spec: PromptSpec
    own: OwnPrompt | None
    reader: Reader
    scale: tuple[float, float] | None
    max_tokens: int
    top_logprobs: int

    def messages(self, pair: PreferencePair, *answers: str) -> tuple[Message, ...]:
        """What is asked about one answer or two. Raises CallFailed where the template fails on this pair."""
        fields = {"reference": pair.meta.get(self.spec.reference, ""), "criteria": self.spec.criteria}
        named = {"answer": answers[0]} if len(answers) == 1 else {"answer_a": answers[0], "answer_b": answers[1]}
        if self.own is None:
            template = PRESETS[str(self.spec.preset)].template
            return render(template, question=pair.prompt, **named, **fields).messages
        try:
            return self.own.render(prompt=pair.prompt, **named, **fields)
        except ConfigError as error:
            raise CallFailed("bad_request", f"pair {pair.id}: {error}") from None


def ready(spec: PromptSpec, judged: Judged) -> Prompted:
    """The prompt for a kind of judge. Raises ConfigError when it is not for that kind."""
    if spec.preset is not None:
        preset = PRESETS[spec.preset]
        if judged not in preset.readers:
            raise ConfigError(f"preset {spec.preset!r} is for kind: {' or '.join(preset.readers)}, not for {judged}")
        changed = {"criteria": spec.criteria} if spec.criteria else {}
        name = spec.preset + (f"-{content_id(changed)[:8]}" if changed else "")
        length = spec.max_tokens or preset.max_tokens
        return Prompted(name, spec, None, preset.readers[judged], preset.scale, length, preset.top_logprobs)
    assert spec.verdict is not None
    fields, shown = (_TWO, _TWO[1:3]) if judged == "pairwise" else (_ONE, _ONE[1:2])
    own = OwnPrompt(template_text(str(spec.template)), fields, spec.system)
    if unseen := [field for field in shown if field not in own.used]:
        raise ConfigError(
            f"the prompt template does not show {' and '.join(unseen)}: the judge would not see the answer"
        )
    told = spec.model_dump(mode="json", exclude={"template", "system", "max_tokens"})
    name = f"own-{content_id(own.sha256, told)[:8]}"
    length = spec.max_tokens or (1 if spec.top_logprobs else 1024)
    reader = spec.verdict.reader(judged, spec.scale)
    return Prompted(name, spec, own, reader, spec.scale, length, spec.top_logprobs)


def template_text(template: str) -> str:
    """The text of a template, from its file or as given. Raises ConfigError."""
    if "\n" in template or "{{" in template:
        return template
    path = Path(template).expanduser()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigError(f"prompt.template {template!r} cannot be read ({cause}); give a text file") from None
