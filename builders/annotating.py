"""The annotation of a benchmark's items as it stands in the store: queue, tasks, decisions in."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..core.errors import DataError
from ..core.records import Annotation, AnnotationRound, Item, PreferencePair
from ..core.store import Store
from ..data.annotations import Decision, Task, check_items, make_annotation, make_task, new_rows
from ..validators.adjudication import Standing, annotator_name, open_items, standings


class Imported(NamedTuple):
    """What came of importing decisions."""

    added: int
    repeated: int
    """Rows that said what was known."""
    annotators: tuple[str, ...]


def item_ids(store: Store, run_id: str) -> list[str]:
    """The items of a benchmark by id, in a fixed order; DataError when it has none (yet)."""
    found = sorted({item.pair_id for item in store.iterate(Item, run_id=run_id)})
    if not found:
        raise DataError(f"the benchmark {run_id!r} has no items: build it first, or see why all were dropped")
    return found


def annotations(store: Store, run_id: str, people_only: bool = False) -> list[Annotation]:
    """Every annotation of a benchmark, ever."""
    rows = store.select(Annotation, run_id=run_id)
    return [row for row in rows if row.by == "person"] if people_only else rows


def progress(store: Store, run_id: str, people_only: bool = True) -> dict[str, Standing]:
    """The standing of every item."""
    return standings(item_ids(store, run_id), annotations(store, run_id, people_only))


def queue(store: Store, run_id: str, annotator: str) -> list[tuple[str, AnnotationRound]]:
    """What a person can label now: item and round."""
    return open_items(progress(store, run_id), annotator)


def tasks(store: Store, run_id: str, wanted: Sequence[tuple[str, AnnotationRound]], seed: int = 0) -> list[Task]:
    """What to show for items in their rounds; `seed` is the benchmark's."""
    pairs: Mapping[str, PreferencePair] = {
        pair.id: pair for pair in store.get_many(PreferencePair, [item_id for item_id, _ in wanted])
    }
    found = progress(store, run_id)
    return [
        make_task(pairs[item_id], round, seed, (*found[item_id].independent, *found[item_id].reviews))
        for item_id, round in wanted
    ]


def import_decisions(
    store: Store,
    run_id: str,
    decisions: Sequence[Decision],
    *,
    annotator: str = "",
    names: Mapping[str, str] | None = None,
    by_program: bool = False,
) -> Imported:
    """Write decisions as annotations, all or none; DataError for an unknown item, a row without an annotator, or one
    that contradicts another of the same time.

    `annotator` stands in where the file names none; `names` translates the file's (user ids to people).
    """
    check_items(decisions, dict.fromkeys(item_ids(store, run_id)))
    made = []
    seen: dict[tuple[str, ...], Decision] = {}
    for decision in decisions:
        who = (names or {}).get(decision.annotator, decision.annotator) or annotator
        if not who:
            raise DataError(f"{decision.place}: does not say who decided; give --annotator NAME")
        key = (decision.item_id, annotator_name(who), decision.round or "independent", decision.time)
        if (other := seen.setdefault(key, decision)).label != decision.label:
            raise DataError(
                f"{decision.place}: {who!r} says {decision.label!r} of the item that was {other.label!r} at "
                f"{other.place}; keep one, or give the times of both"
            )
        made.append(
            make_annotation(
                run_id,
                decision.item_id,
                annotator_name(who),
                decision.label,
                round=decision.round or "independent",
                by_program=by_program,
                time=decision.time,
                comment=decision.comment,
            )
        )
    fresh = new_rows(made, annotations(store, run_id))
    store.write_now(*fresh)
    return Imported(len(fresh), len(made) - len(fresh), tuple(sorted({row.annotator for row in made})))
