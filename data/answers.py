"""Answers of several models to the same prompts: what a self-preference audit compares.

Read from rows of these shapes: MT-bench's (`turns`, and `outputs` with one list per model), a prompt with a mapping of
answers by model (`answers`, `outputs` or `responses`), or one row per answer (prompt, model, answer).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.errors import DataError
from ..core.ids import content_id
from .builtin import BUILTIN
from .builtin_relevance import RELEVANCE
from .files import Row
from .readers import read_rows
from .sources import load
from .spec import SourceSpec
from .text import UnreadableText, answer_text, clean, prompt_text

_PROMPTS = ("prompt", "question", "instruction", "input", "turns")
_ANSWERS = ("outputs", "answers", "responses")
_ANSWER = ("answer", "response", "output", "completion")
_DOMAINS = ("category", "domain", "subset")


@dataclass(frozen=True)
class Prompt:
    """A prompt and its answers by author."""

    id: str
    """Content id of the text."""
    text: str
    domain: str
    answers: Mapping[str, str]

    def with_answer(self, author: str, text: str) -> "Prompt":
        """The same with one answer more."""
        return Prompt(self.id, self.text, self.domain, {**self.answers, author: text})


class Answers(NamedTuple):
    """Prompts in the order of the source, and what was left out, by reason."""

    prompts: list[Prompt]
    dropped: dict[str, int]

    @property
    def authors(self) -> dict[str, int]:
        """Answers by author."""
        return dict(Counter(author for prompt in self.prompts for author in prompt.answers).most_common())

    def facts(self) -> dict[str, Any]:
        """For a report on the data."""
        return {"prompts": len(self.prompts), "authors": self.authors, "dropped": self.dropped}


def load_answers(spec: SourceSpec) -> Answers:
    """The first turn of each prompt and its answers; at most `spec.limit` prompts, by seed, texts of `spec.max_chars`.

    Preference pairs serve as prompts without answers. Raises DataError when there is no prompt.
    """
    dropped: Counter[str] = Counter()
    found: dict[str, Prompt] = {}
    rows = None if spec.source in (BUILTIN, RELEVANCE) else read_rows(spec)
    for prompt in _of_pairs(spec) if rows is None else _of_rows(rows, spec, dropped):
        known = found.get(prompt.id)
        found[prompt.id] = prompt if known is None else _joined(known, prompt, dropped)
    if not found:
        said = ", ".join(f"{n} {reason}" for reason, n in dropped.most_common(4)) or "it holds no rows"
        raise DataError(f"{spec.source}: no prompt in it: {said}")
    prompts = list(found.values())
    if spec.limit is not None and len(prompts) > spec.limit:
        chosen = sorted(prompts, key=lambda p: content_id("sample", spec.seed, p.id))[: spec.limit]
        keep = {p.id for p in chosen}
        dropped["over the limit"] += len(prompts) - len(chosen)
        prompts = [p for p in prompts if p.id in keep]
    return Answers(prompts, dict(dropped))


def _of_pairs(spec: SourceSpec) -> Iterator[Prompt]:
    for pair in load(spec.model_copy(update={"limit": None})).pairs:
        yield Prompt(content_id("prompt", pair.prompt), pair.prompt, pair.domain, {})


def _of_rows(rows: Iterator[Row], spec: SourceSpec, dropped: Counter[str]) -> Iterator[Prompt]:
    for place, values in rows:
        try:
            made = _prompt(values)
        except UnreadableText as error:
            dropped[str(error)] += 1
            continue
        if made is None:
            raise DataError(
                f"{spec.source}: {place}: no prompt with answers in the columns {sorted(values)}; give turns and "
                "outputs, a prompt with answers by model, or one row per prompt, model and answer"
            )
        if not made.text.strip():
            dropped["empty prompt"] += 1
        elif not spec.domains or made.domain in spec.domains:
            yield from _short(made, spec.max_chars, dropped)


def _short(prompt: Prompt, most: int | None, dropped: Counter[str]) -> Iterator[Prompt]:
    """The prompt with its answers of at most `most` characters; nothing where the prompt itself is longer."""
    if most is None:
        yield prompt
    elif len(prompt.text) > most:
        dropped["prompt over max_chars"] += 1
    else:
        kept = {author: answer for author, answer in prompt.answers.items() if len(answer) <= most}
        if gone := len(prompt.answers) - len(kept):
            dropped["answer over max_chars"] += gone
        yield Prompt(prompt.id, prompt.text, prompt.domain, kept)


def _prompt(values: Mapping[str, Any]) -> Prompt | None:
    counts: Counter[str] = Counter()
    column = next((c for c in _PROMPTS if c in values), None)
    if column is None:
        return None
    given = values[column]
    text = clean(prompt_text(given[0] if column == "turns" and isinstance(given, list) and given else given)[0], counts)
    domain = clean(str(next((values[c] for c in _DOMAINS if values.get(c)), "all")), counts)
    many = next((values[c] for c in _ANSWERS if isinstance(values.get(c), Mapping)), None)
    if many is None:
        single = next((c for c in _ANSWER if c in values), None)
        if single is None or "model" not in values:
            # A pair of answers without authors still has a prompt.
            return Prompt(content_id("prompt", text), text, domain, {}) if "chosen" in values else None
        many = {str(values["model"]): values[single]}
    answers = {clean(str(author), counts).strip(): clean(_first(answer), counts) for author, answer in many.items()}
    kept = {author: answer for author, answer in answers.items() if author and answer.strip()}
    return Prompt(content_id("prompt", text), text, domain, kept)


def _first(answer: Any) -> str:
    """The answer to the first turn."""
    if isinstance(answer, list) and answer and all(isinstance(part, str) for part in answer):
        return str(answer[0])
    return answer_text(answer)


def _joined(known: Prompt, more: Prompt, dropped: Counter[str]) -> Prompt:
    for author, answer in more.answers.items():
        if author in known.answers:
            dropped["second answer of an author to one prompt"] += 1
        else:
            known = known.with_answer(author, answer)
    return known
