"""From rows to drafts of pairs: labels applied, styles spread out, nothing normalised yet."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .files import Row
from .labels import Reading, numbers_of, read_label
from .presets import Layout, find_layout
from .spec import SourceSpec
from .text import UnreadableText, answer_text, joined, messages_of, prompt_text

HEAD = 500
"""Rows looked at to learn what numbers in a label mean."""


class Draft(NamedTuple):
    """A pair as the file has it."""

    place: str
    prompt: str
    turns: int
    chosen: str
    rejected: str
    position: str
    """Where the right answer stands in the file: `A`, `B`, or `` where the file names it."""
    domain: str
    source_id: str
    meta: dict[str, str]
    unusable: tuple[str, str] = ("", "")
    """Reason and detail when the pair has no right answer; its texts are still looked at, for the report."""
    numbers: int = 0
    """Texts that are numbers in the file."""


class Drop(NamedTuple):
    """A row, or one pair of it, that cannot be used."""

    place: str
    reason: str
    detail: str


def read_drafts(spec: SourceSpec, rows: Iterator[Row]) -> tuple[Layout | None, Iterator[Draft | Drop]]:
    """The layout of the source (None when it has no rows) and its drafts, one at a time."""
    head = list(itertools.islice(rows, 1))
    if not head:
        return None, iter(())
    layout = find_layout(spec, head[0].values)
    if layout.find_numbers:
        head += itertools.islice(rows, HEAD - 1)
        own = layout.label_values
        values = (row.values.get(layout.label) for row in head)
        numbers = numbers_of((v for v in values if str(v).strip().lower() not in own), layout.label)
        layout = Layout(**{**vars(layout), "numbers": numbers})
    every = itertools.chain(head, rows)
    return layout, itertools.chain.from_iterable(_drafts(spec, layout, row) for row in every)


def _drafts(spec: SourceSpec, layout: Layout, row: Row) -> Iterator[Draft | Drop]:
    absent = [c for c in layout.needed() if c not in row.values]
    if absent:
        yield Drop(row.place, "missing field", f"no {absent[0]!r}")
        return
    try:
        if layout.styles:
            yield from _styles(spec, layout, row)
        elif layout.label:
            yield _labelled(layout, row)
        else:
            yield _sided(layout, row)
    except UnreadableText as error:
        yield Drop(row.place, "unreadable text", str(error))


def _labelled(layout: Layout, row: Row) -> Draft | Drop:
    values = row.values
    label = values[layout.label]
    models = (_text(values.get(layout.model_a)), _text(values.get(layout.model_b)))
    side: Reading | None = read_label(label, layout.numbers, models, layout.label_values)
    if side is None:
        return Drop(row.place, "unreadable label", f"{label!r:.80}")
    prompt, *answers = _texts(layout, values, layout.answer_a, layout.answer_b)
    chosen, rejected = answers[::-1] if side == "B" else answers
    by = models[::-1] if side == "B" else models
    draft = _draft(layout, row, prompt, chosen, rejected, position=side, models=by, label=str(label))
    return draft._replace(unusable=("tie", f"label {label!r:.80}")) if side == "tie" else draft


def _sided(layout: Layout, row: Row) -> Draft:
    values = row.values
    good, bad = _number(values.get(layout.score_chosen)), _number(values.get(layout.score_rejected))
    unusable = ("", "")
    if good is not None and bad is not None and good <= bad:
        reason = "tie" if good == bad else "scores contradict"
        unusable = (reason, f"score of chosen {good}, of rejected {bad}")
    models = _text(values.get(layout.model_a)), _text(values.get(layout.model_b))
    texts = _texts(layout, values, layout.chosen, layout.rejected)
    return _draft(layout, row, *texts, models=models)._replace(unusable=unusable)


def _styles(spec: SourceSpec, layout: Layout, row: Row) -> Iterator[Draft | Drop]:
    chosen, rejected = row.values[layout.chosen], row.values[layout.rejected]
    if not isinstance(chosen, list) or not isinstance(rejected, list) or len(chosen) != len(rejected):
        raise UnreadableText("chosen and rejected must be two lists of the same length, one answer for each style")
    names = layout.styles if len(layout.styles) == len(chosen) else tuple(f"style {i + 1}" for i in range(len(chosen)))
    for (i, good), (j, bad) in itertools.product(enumerate(chosen), enumerate(rejected)):
        if spec.styles == "all" or i == j:
            meta = {"style_chosen": names[i], "style_rejected": names[j]}
            prompt = prompt_text(row.values[layout.prompt])
            yield _draft(layout, row, prompt, answer_text(good), answer_text(bad), extra=meta)


class _Texts(NamedTuple):
    prompt: tuple[str, int]
    first: str
    second: str


def _texts(layout: Layout, values: Mapping[str, Any], first: str, second: str) -> _Texts:
    """Prompt and answers; whole conversations as answers bring the prompt where no column has it, or only its end."""
    answers = values[first], values[second]
    before, other = ((messages_of(answer) or [])[:-1] for answer in answers)
    if before != other:
        raise UnreadableText("the two answers follow different chat messages")
    prompt = prompt_text(values[layout.prompt]) if layout.prompt else None
    if prompt is None and not before:
        raise UnreadableText("no prompt column, and no list of chat messages that holds one")
    if prompt is None or sum(message.role == "user" for message in before) > 1:
        prompt = joined(before)
    return _Texts(prompt, *(answer_text(answer, prompt[1]) for answer in answers))


def _draft(
    layout: Layout,
    row: Row,
    prompt: tuple[str, int],
    chosen: str,
    rejected: str,
    position: str = "",
    models: tuple[str, str] = ("", ""),
    label: str = "",
    extra: Mapping[str, str] | None = None,
) -> Draft:
    values = row.values
    text, turns = prompt
    domain = layout.domain_of(values) if layout.domain_of else _text(values.get(layout.domain))
    named = layout.name in ("rewardbench", "judgebench")
    meta = {
        "subset": _text(values.get(layout.subset)),
        "label": label,
        "model_chosen": models[0] or (_text(values.get("chosen_model")) if named else ""),
        "model_rejected": models[1] or (_text(values.get("rejected_model")) if named else ""),
        "model": _text(values.get("response_model")) if named else "",
        "injected_bias": _text(values.get("injected_bias")) if named else "",
        **(extra or {}),
    }
    return Draft(
        row.place,
        text,
        turns,
        chosen,
        rejected,
        position,
        domain or "all",
        _text(values.get(layout.id)),
        {k: v for k, v in meta.items() if v},
        numbers=sum(_is_number(values[column]) for column in layout.needed() if column != layout.label),
    )


def _text(value: Any) -> str:
    """A short field as text; null, NaN and lists of nothing are empty."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return str(value).strip()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == number else None
