"""From annotations to a decision on every item (METHOD section 5).

Two annotators label an item independently. Where they agree on a label other than `unsure`, that is the decision.
Otherwise a third and a fourth review it, and a label that more than half of the four gave decides. What is still
open goes to adjudication, whose label stands above all others; `unsure` there means that the item is given up.
The newest row of an annotator in a round counts. Further independent annotators count as reviewers.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..core.errors import DataError
from ..core.records import Annotation, AnnotationLabel, AnnotationRound
from .agreement import fleiss_kappa
from .proportions import wilson

PAIR = 2
"""Independent annotators, and reviewers, of an item."""
LABELS: tuple[AnnotationLabel, ...] = get_args(AnnotationLabel)


@dataclass(frozen=True)
class Standing:
    """How far the annotation of one item is."""

    label: AnnotationLabel | None
    """The decision; None while it is open."""
    how: Literal["agreement", "review", "adjudication", ""]
    needs: AnnotationRound | None
    """The round that it waits for."""
    independent: tuple[Annotation, ...]
    reviews: tuple[Annotation, ...]
    adjudicated: Annotation | None

    @property
    def annotators(self) -> frozenset[str]:
        """Who has labelled it before adjudication."""
        return frozenset(a.annotator for a in (*self.independent, *self.reviews))


@dataclass(frozen=True)
class Agreement:
    """How far the two independent annotators of the items agree, before anything was discussed."""

    items: int
    """Items with two independent labels."""
    agreed: int
    raw: float
    """Share of items with the same label twice; NaN without items."""
    interval: tuple[float, float]
    """Wilson, 95 %."""
    kappa: float
    """Fleiss' kappa over all four labels; NaN when all labels are the same."""
    annotators: tuple[str, ...]


def annotator_name(name: str) -> str:
    """One spelling for one annotator, so that nobody counts as two; DataError for an empty name."""
    plain = " ".join(name.split()).casefold()
    if not plain or len(plain) > 100:
        raise DataError(f"annotator: {name[:60]!r} is no name; give one of 1 to 100 characters")
    return plain


def standing(annotations: Iterable[Annotation]) -> Standing:
    """The standing of one item from all of its rows, in any order."""
    ordered = sorted(annotations, key=lambda a: (a.time, a.id))
    blind = list(_newest(a for a in ordered if a.round == "independent").values())
    pair = tuple(blind[:PAIR])
    taken = {a.annotator for a in pair}
    others = [*blind[PAIR:], *(a for a in ordered if a.round == "review")]
    reviews = tuple(_newest(a for a in others if a.annotator not in taken).values())
    last = next((a for a in reversed(ordered) if a.round == "adjudication"), None)

    def made(label: AnnotationLabel | None, how: Literal["agreement", "review", "adjudication", ""]) -> Standing:
        return Standing(label, how, None, pair, reviews, last)

    if last:
        return made(last.label, "adjudication")
    if len(pair) < PAIR:
        return Standing(None, "", "independent", pair, reviews, None)
    if pair[0].label == pair[1].label != "unsure":
        return made(pair[0].label, "agreement")
    if len(reviews) < PAIR:
        return Standing(None, "", "review", pair, reviews, None)
    votes = Counter(a.label for a in (*pair, *reviews))
    label, count = votes.most_common(1)[0]
    if label != "unsure" and 2 * count > votes.total():
        return made(label, "review")
    return Standing(None, "", "adjudication", pair, reviews, None)


def standings(item_ids: Sequence[str], annotations: Iterable[Annotation]) -> dict[str, Standing]:
    """The standing of every item, in the order of `item_ids`; rows about other items are ignored."""
    by_item: dict[str, list[Annotation]] = {i: [] for i in item_ids}
    for row in annotations:
        if row.item_id in by_item:
            by_item[row.item_id].append(row)
    return {i: standing(rows) for i, rows in by_item.items()}


def open_items(found: Mapping[str, Standing], annotator: str) -> list[tuple[str, AnnotationRound]]:
    """What `annotator` can label now, and in which round: nothing twice, and no review of one's own label.

    Anyone may adjudicate, since the four decide together.
    """
    name = annotator_name(annotator)
    return [
        (item_id, stands.needs)
        for item_id, stands in found.items()
        if stands.needs and (stands.needs == "adjudication" or name not in stands.annotators)
    ]


def independent_agreement(found: Iterable[Standing]) -> Agreement:
    """Agreement over the items that two annotators have labelled independently."""
    pairs = [s.independent for s in found if len(s.independent) == PAIR]
    agreed = sum(a.label == b.label for a, b in pairs)
    table = np.zeros((len(pairs), len(LABELS)))
    for k, pair in enumerate(pairs):
        for row in pair:
            table[k, LABELS.index(row.label)] += 1
    return Agreement(
        items=len(pairs),
        agreed=agreed,
        raw=agreed / len(pairs) if pairs else float("nan"),
        interval=wilson(agreed, len(pairs)),
        kappa=fleiss_kappa(table) if pairs else float("nan"),
        annotators=tuple(sorted({a.annotator for pair in pairs for a in pair})),
    )


def _newest(rows: Iterable[Annotation]) -> dict[str, Annotation]:
    """The last row of each annotator, in the order in which the annotators first spoke."""
    found: dict[str, Annotation] = {}
    for row in rows:
        found[row.annotator] = row
    return found
