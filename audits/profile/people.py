"""What people say about the pairs: a file with a label a row."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

from ...core.errors import DataError
from ...core.mistakes import short
from ...core.records import PreferencePair
from ...core.visible import one_line
from ...data.files import read_file

Label = Literal["chosen", "rejected", "tie"]
LABELS: tuple[Label, ...] = ("chosen", "rejected", "tie")


class Labels(NamedTuple):
    """Labels by pair."""

    by_pair: Mapping[str, tuple[Label, ...]]
    annotators: int

    @property
    def most(self) -> dict[str, Label]:
        """The most frequent label of each pair that has one."""
        found: dict[str, Label] = {}
        for pair_id, given in self.by_pair.items():
            (top, n), *rest = Counter(given).most_common(2)
            if not rest or rest[0][1] < n:
                found[pair_id] = top
        return found

    @property
    def between_people(self) -> float | None:
        """Share of pairs of labels on one pair that are the same; None without any."""
        same = [a == b for given in self.by_pair.values() for a, b in combinations(given, 2)]
        return sum(same) / len(same) if same else None


def read_people(path: Path, pairs: Sequence[PreferencePair]) -> Labels:
    """Read labels: rows with `id` (a pair's id, or its id in the data), `label` (chosen, rejected or tie) and, when
    several people labelled, `annotator`. Rows of other pairs are left out.

    Raises DataError with file, line and reason for a row that cannot be read, a second label of one annotator, an id
    that several pairs have, and when no row is of these pairs.
    """
    ids = _ids(pairs)
    found: dict[str, dict[str, Label]] = defaultdict(dict)
    rows = 0
    for row in read_file(path):
        rows += 1
        place = f"{path}: {row.place}"
        key, said = row.values.get("id"), row.values.get("label")
        if key is None or said is None:
            raise DataError(f"{place}: needs the columns id and label (chosen, rejected or tie)")
        label = next((name for name in LABELS if name == str(said).strip().lower()), None)
        if label is None:
            raise DataError(f"{place}: label: {short(said)} is none of {', '.join(LABELS)}")
        matches = ids.get(str(key).strip(), ())
        if len(matches) > 1:
            raise DataError(f"{place}: id: {len(matches)} pairs of the data have {short(key)}; give their pair ids")
        if not matches:
            continue
        annotator = str(row.values.get("annotator") or "").strip()
        if annotator in found[matches[0]]:
            whose = f"{one_line(annotator, 60)!r} has" if annotator else "there is"
            raise DataError(f"{place}: {whose} a label on {short(key)} already; with several people give `annotator`")
        found[matches[0]][annotator] = label
    if not found:
        raise DataError(
            f"{path}: none of its {rows} labels is of the pairs that are judged; `id` is a pair's id in the data"
        )
    people = {name for given in found.values() for name in given}
    return Labels({pair_id: tuple(given.values()) for pair_id, given in found.items()}, len(people))


def _ids(pairs: Sequence[PreferencePair]) -> dict[str, tuple[str, ...]]:
    ids: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        if pair.source_id:
            ids[pair.source_id] = (*ids.get(pair.source_id, ()), pair.id)
    return ids | {pair.id: (pair.id,) for pair in pairs}
