"""From candidates and annotations to the final set: what stays, by whose word, and whether people stand behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.errors import DataError
from ...core.ids import content_id
from ...core.records import Annotation, AnnotationLabel, Drop, Item
from ...validators.adjudication import Agreement, Standing, independent_agreement, standings
from .funnel import PEOPLE

DifferBy = Literal["exact", "panel", "people"]
_REASONS: dict[AnnotationLabel, str] = {
    "same": "annotators find the answers the same",
    "broken": "annotators find the item broken",
    "unsure": "annotators could not settle it",
}


@dataclass(frozen=True)
class Final:
    """The final set."""

    kept: tuple[tuple[Item, DifferBy], ...]
    """Items and by what their answers were found to differ."""
    drops: tuple[Drop, ...]
    human_verified: bool
    """Every item that was kept was found to be good by at least two people, under the rule of `adjudication`."""
    decided: Mapping[str, int]
    """Items decided by people, by how: agreement, review, adjudication."""
    agreement: Agreement
    """Of the two independent people, before anything was discussed."""
    programs: int
    """Annotations by programs; they never make a set human-verified."""


def finalise(
    run_id: str, items: Sequence[Item], annotations: Sequence[Annotation], *, without_people: bool = False
) -> Final:
    """The final set under METHOD section 5.

    Every item needs the decision of people; DataError says how many lack one. `without_people`: items that they have
    not decided stay when an exact comparison or the panel found the answers to differ, and when no program's
    annotations decided otherwise; the set is then not human-verified.
    """
    ids = [item.pair_id for item in items]
    people = standings(ids, [row for row in annotations if row.by == "person"])
    programs = standings(ids, [row for row in annotations if row.by == "program"])
    if not without_people:
        _refuse_open(people)
    kept: list[tuple[Item, DifferBy]] = []
    drops: list[Drop] = []
    for item in items:
        label = people[item.pair_id].label
        by_people = label is not None
        if label is None:
            label = programs[item.pair_id].label
        if label is not None and label != "different":
            drops.append(_drop(run_id, item, _REASONS[label] + ("" if by_people else " (programs)")))
        elif by_people:
            kept.append((item, "people"))
        elif item.answers == "unsettled":
            drops.append(_drop(run_id, item, "nobody settled whether the answers differ"))
        else:
            kept.append((item, item.answers))
    decided = [s.how for s in people.values() if s.how]
    return Final(
        kept=tuple(kept),
        drops=tuple(drops),
        human_verified=bool(kept) and all(by == "people" for _, by in kept),
        decided={how: decided.count(how) for how in dict.fromkeys(sorted(decided))},
        agreement=independent_agreement(people.values()),
        programs=sum(row.by == "program" for row in annotations),
    )


def _refuse_open(people: Mapping[str, Standing]) -> None:
    waiting = [s.needs for s in people.values() if s.needs]
    if waiting:
        parts = ", ".join(f"{waiting.count(r)} for {r}" for r in dict.fromkeys(waiting))
        raise DataError(
            f"{len(waiting)} of {len(people)} items wait for people ({parts}): annotate them, or give "
            "--without-people, and the card says that the set is not human-verified"
        )


def _drop(run_id: str, item: Item, reason: str) -> Drop:
    made = content_id("drop", run_id, PEOPLE, item.pair_id)
    return Drop(id=made, run_id=run_id, stage=PEOPLE, subject=item.pair_id, reason=reason)
