"""Group wordings of biases by cosine, around leaders; the order in which they come makes no difference."""

from collections.abc import Mapping
from dataclasses import dataclass

import faiss
import numpy as np
import numpy.typing as npt

from ..core.records import Bias


@dataclass(frozen=True)
class Group:
    """Wordings near each other, the most central first, and their vectors (n, d) in the same order."""

    members: tuple[Bias, ...]
    rows: npt.NDArray[np.float32]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the wordings."""
        return tuple(b.id for b in self.members)


def group_wordings(
    biases: Mapping[str, Bias],
    counts: Mapping[str, int],
    vectors: Mapping[str, npt.NDArray[np.float32]],
    threshold: float,
    size: int,
) -> list[Group]:
    """Groups of at most `size` wordings, all within `threshold` of the group's leader.

    Leaders are taken in order of weight: how many candidates are worded like it or within the threshold, then id. Each
    takes the nearest free wordings. So no chain of small steps joins what is far apart, as connected components would.
    Vectors are normalised, (d) each.
    """
    ids = sorted(biases)
    if not ids:
        return []
    rows = np.ascontiguousarray(np.stack([vectors[i] for i in ids]), dtype=np.float32)
    near = _neighbours(rows, threshold)
    sizes = np.array([counts[i] for i in ids])
    weight = [int(sizes[list(around)].sum()) for around in near]
    free = set(range(len(ids)))
    groups = []
    for leader in sorted(free, key=lambda k: (-weight[k], ids[k])):
        if leader not in free:
            continue
        others = near[leader] & free - {leader}
        nearest = sorted(others, key=lambda k: (-_rounded(rows[k] @ rows[leader]), ids[k]))[: size - 1]
        members = sorted([leader, *nearest])
        free -= set(members)
        groups.append(_central_first([biases[ids[k]] for k in members], rows[members], sizes[members]))
    return groups


def _neighbours(rows: npt.NDArray[np.float32], threshold: float) -> list[set[int]]:
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    # FAISS finds what is strictly above the radius; at the threshold counts as within.
    limits, _, places = index.range_search(rows, float(np.nextafter(np.float32(threshold), np.float32(-2))))
    return [{k, *(int(p) for p in places[limits[k] : limits[k + 1]])} for k in range(len(rows))]


def _central_first(members: list[Bias], rows: npt.NDArray[np.float32], sizes: npt.NDArray[np.int64]) -> Group:
    similarities = rows @ (rows * sizes[:, None]).sum(axis=0)
    order = sorted(range(len(members)), key=lambda k: (-_rounded(similarities[k]), members[k].id))
    return Group(tuple(members[k] for k in order), rows[order])


def _rounded(similarity: float) -> float:
    # The last bits of a dot product depend on the machine; the order must not.
    return round(float(similarity), 4)
