"""The annotation desk of a benchmark: who gets which item next, and what is written."""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from ...builders.annotating import progress
from ...core.errors import DataError
from ...core.ids import content_id
from ...core.records import Annotation, AnnotationRound, Item, PreferencePair
from ...data.annotations import LABEL_TEXTS, Task, make_annotation, make_task, new_rows, read_label
from ...runs.config import JobConfig, load_config
from ...validators.adjudication import PAIR, Standing, annotator_name, open_items
from .guard import Form
from .people import Reviewer
from .site import OpenRun

_LONGEST_COMMENT = 2000
_HELD = 15 * 60
"""Seconds for which an item that was shown counts as being worked on."""


@dataclass
class Hands:
    """Which items are in whose hands, so that people do not do the same work twice. Forgetting it loses no label."""

    _held: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def take(self, offered: Sequence[tuple[str, AnnotationRound]], found: Mapping[str, Standing], name: str) -> int:
        """Which of `offered` this annotator gets: the one in hand, else the first that lacks hands, else the first."""
        now = time.monotonic()
        with self._guard:
            for k, (item_id, _) in enumerate(offered):
                if now - self._held[item_id].get(name, -_HELD) < _HELD:
                    return k
            for k, (item_id, _) in enumerate(offered):
                others = [who for who, since in self._held[item_id].items() if now - since < _HELD and who != name]
                if len(others) < _lacking(found[item_id]):
                    self._held[item_id][name] = now
                    return k
        return 0

    def release(self, item_id: str, name: str) -> None:
        """The annotator has labelled it."""
        with self._guard:
            self._held[item_id].pop(name, None)


def _lacking(standing: Standing) -> int:
    """How many labels the item's round waits for."""
    match standing.needs:
        case "independent":
            return PAIR - len(standing.independent)
        case "review":
            return PAIR - len(standing.reviews)
        case "adjudication":
            return 1
    return 0


@dataclass(frozen=True)
class Place:
    """Where an annotator stands."""

    task: Task | None
    """What to label now."""
    mine: Annotation | None
    """What this annotator said about it before."""
    done: int
    left: int


def items(run: OpenRun) -> int:
    """How many items the benchmark has; other jobs have none."""
    return run.counts(Item)[0]


def standings(run: OpenRun) -> dict[str, Standing]:
    """The standing of every item by people's labels."""
    return run.kept("standings", run.counts(Annotation, Item), lambda: progress(run.store, run.run_id))


def place(run: OpenRun, hands: Hands, reviewer: Reviewer, wanted: str = "") -> Place:
    """What to show an annotator: the next item, or `wanted` when it is open to them or labelled by them."""
    name, found = annotator_name(reviewer.name), standings(run)
    mine = {i: a for i, s in found.items() for a in (*s.independent, *s.reviews) if a.annotator == name}
    offered = [(i, r) for i, r in open_items(found, name) if r != "adjudication"]
    offered.sort(key=lambda item: (-_begun(found[item[0]]), content_id("turn", item[0], name)))
    if wanted:
        if wanted not in mine and wanted not in dict(offered):
            raise DataError("this item is not yours to label")
        round_ = mine[wanted].round if wanted in mine else dict(offered)[wanted]
        return Place(_task(run, wanted, round_), mine.get(wanted), len(mine), len(offered))
    if not offered:
        return Place(None, None, len(mine), 0)
    item_id, round_ = offered[hands.take(offered, found, name)]
    return Place(_task(run, item_id, round_), None, len(mine), len(offered))


def labelled(run: OpenRun, reviewer: Reviewer) -> list[Annotation]:
    """What an annotator has said, the latest first."""
    name = annotator_name(reviewer.name)
    rows = [a for s in standings(run).values() for a in (*s.independent, *s.reviews) if a.annotator == name]
    return sorted(rows, key=lambda a: a.time, reverse=True)


def to_adjudicate(run: OpenRun, reviewer: Reviewer) -> list[str]:
    """Items that four people could not settle, and that this one may: one of the four, or an admin."""
    found = standings(run)
    return [i for i, s in found.items() if s.needs == "adjudication" and _may_settle(s, reviewer)]


def adjudication(run: OpenRun, reviewer: Reviewer, item_id: str) -> Task:
    """An item with what was said about it. DataError when it is not this reviewer's to settle."""
    standing = standings(run).get(item_id)
    settled = standing is not None and standing.adjudicated is not None
    if standing is None or not (settled or standing.needs == "adjudication") or not _may_settle(standing, reviewer):
        raise DataError("this item is not yours to settle")
    return _task(run, item_id, "adjudication", (*standing.independent, *standing.reviews))


def write(run: OpenRun, hands: Hands, reviewer: Reviewer, form: Form) -> Annotation:
    """Keep the label in a form. It is a row of its own: nobody's label takes the place of another's, whoever writes
    when, and the same form sent twice is one label. DataError says what is wrong with it."""
    item_id, round_, label = form.one("item"), form.one("round"), form.one("label")
    if item_id not in standings(run):
        raise DataError("this benchmark has no such item")
    if not label:
        raise DataError(f"choose one of: {', '.join(LABEL_TEXTS.values())}")
    if round_ not in get_args(AnnotationRound):
        raise DataError(f"{round_[:40]!r} is no round of annotation")
    if round_ == "adjudication":
        adjudication(run, reviewer, item_id)
        if not form.one("comment"):
            raise DataError("say in the comment why this is the label")
    name = annotator_name(reviewer.name)
    with run.deciding:
        made = make_annotation(
            run.run_id,
            item_id,
            name,
            read_label(label, "the form"),
            round=cast(AnnotationRound, round_),
            comment=form.one("comment")[:_LONGEST_COMMENT],
        )
        run.store.write_now(*new_rows([made], run.store.select(Annotation, run_id=run.run_id, item_id=item_id)))
    hands.release(item_id, name)
    return made


def _may_settle(standing: Standing, reviewer: Reviewer) -> bool:
    return reviewer.may("decide") or annotator_name(reviewer.name) in standing.annotators


def _begun(standing: Standing) -> int:
    """Items that somebody has begun are finished first."""
    return len(standing.independent) + len(standing.reviews)


def _task(run: OpenRun, item_id: str, round_: AnnotationRound, said: Sequence[Annotation] = ()) -> Task:
    pair = run.store.get(PreferencePair, item_id)
    if pair is None:
        raise DataError("the item's texts are not in the store")
    config = run.folder.config
    seed = run.kept("seed", config.stat().st_mtime_ns, lambda: load_config(config, kind=JobConfig).seed)
    return make_task(pair, round_, seed, said)
