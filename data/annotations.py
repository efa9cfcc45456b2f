"""Annotation tasks and decisions as values: what an annotator is shown, and what comes back, whatever the format."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..core.errors import DataError
from ..core.ids import content_id
from ..core.records import Annotation, AnnotationLabel, AnnotationRound, PreferencePair
from .order import draw_order

LABEL_TEXTS: dict[AnnotationLabel, str] = {
    "different": "The final answers are different",
    "same": "The final answers are the same",
    "broken": "The item is broken",
    "unsure": "I cannot tell",
}
"""What annotators choose from, in this order."""


class Task(NamedTuple):
    """One item for one annotator. Which answer is labelled better is not said."""

    item_id: str
    round: AnnotationRound
    question: str
    answer_a: str
    answer_b: str
    earlier: tuple[str, ...] = ()
    """For adjudication only: what the four said, one line each."""


class Decision(NamedTuple):
    """One row of an imported file."""

    place: str
    item_id: str
    label: AnnotationLabel
    annotator: str = ""
    """Empty when the file does not say."""
    round: AnnotationRound | None = None
    time: str = ""
    comment: str = ""


def guidelines() -> str:
    """The guidelines for annotators, Markdown."""
    return (Path(__file__).parent / "guidelines.md").read_text(encoding="utf-8")


def make_task(item: PreferencePair, round: AnnotationRound, seed: int = 0, said: Sequence[Annotation] = ()) -> Task:
    """The task for an item: answers in an order drawn from seed and item, the same for every annotator.

    `said` are earlier labels, shown for adjudication.
    """
    chosen_first = draw_order(item.id, seed) == "chosen_first"
    answers = (item.chosen, item.rejected) if chosen_first else (item.rejected, item.chosen)
    earlier = tuple(f"{a.annotator}: {a.label}" + (f" ({a.comment})" if a.comment else "") for a in said)
    return Task(item.id, round, item.prompt, *answers, earlier if round == "adjudication" else ())


def read_label(text: str, place: str) -> AnnotationLabel:
    """A label by its name or by what annotators choose from, in any case; DataError otherwise."""
    wanted = " ".join(text.split()).casefold()
    for label, shown in LABEL_TEXTS.items():
        if wanted in (label, shown.casefold()):
            return label
    raise DataError(f"{place}: label {text[:60]!r} is none of {', '.join(LABEL_TEXTS)}")


def now() -> str:
    """The time as annotations carry it."""
    return _stamp(datetime.datetime.now(datetime.UTC))


def utc(text: str, place: str) -> str:
    """A time in ISO 8601 as annotations carry it; without a zone it is taken as UTC. DataError otherwise."""
    try:
        return _stamp(datetime.datetime.fromisoformat(text.strip()))
    except ValueError:
        raise DataError(f"{place}: time {text[:60]!r} is not ISO 8601, such as 2026-01-31T09:30:00Z") from None


def make_annotation(
    run_id: str,
    item_id: str,
    annotator: str,
    label: AnnotationLabel,
    *,
    round: AnnotationRound = "independent",
    by_program: bool = False,
    time: str = "",
    comment: str = "",
) -> Annotation:
    """A row; `annotator` as `adjudication.annotator_name` writes it, `time` as `utc` or `now` do (now when empty)."""
    stamp = time or now()
    by = "program" if by_program else "person"
    return Annotation(
        id=content_id("annotation", run_id, item_id, annotator, label, round, by, stamp, comment),
        run_id=run_id,
        item_id=item_id,
        annotator=annotator,
        label=label,
        round=round,
        by="program" if by_program else "person",
        time=stamp,
        comment=comment,
    )


def new_rows(made: Iterable[Annotation], known: Iterable[Annotation]) -> list[Annotation]:
    """Those of `made` that say something new, so that a file can be imported twice.

    A row repeats when its id is known, or when it says what the newest row of its annotator, round and item says.
    """
    ids: set[str] = set()
    newest: dict[tuple[str, str, str, str], Annotation] = {}

    def learn(row: Annotation) -> None:
        ids.add(row.id)
        key = (row.item_id, row.annotator, row.round, row.by)
        if key not in newest or newest[key].time <= row.time:
            newest[key] = row

    for row in known:
        learn(row)
    found = []
    for row in made:
        last = newest.get((row.item_id, row.annotator, row.round, row.by))
        repeats = last is not None and (last.label, last.comment) == (row.label, row.comment)
        if row.id not in ids and not repeats:
            found.append(row)
            learn(row)
    return found


def check_items(decisions: Iterable[Decision], items: Mapping[str, object]) -> None:
    """DataError when a decision is about an item that is not there, naming the first."""
    unknown = [d for d in decisions if d.item_id not in items]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise DataError(
            f"{unknown[0].place}: no item {unknown[0].item_id[:60]!r} in this benchmark{more}; import it "
            "into the one whose tasks were exported"
        )


def _stamp(when: datetime.datetime) -> str:
    aware = when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
    return aware.astimezone(datetime.UTC).isoformat(timespec="microseconds")
