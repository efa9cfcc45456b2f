"""Which effects several judges share and which are one judge's own, from the same pairs.

Three questions for every bias, each with its test (`bounded`, one look at a fixed sample), Holm's correction over the
biases, at level alpha:

- `shared`: every judge has the effect. The largest of the judges' p-values for "no effect or a repair" (an
  intersection-union test: all must be shown).
- `own` of a judge: it has the effect, and more of it than each other judge. The largest of its p-value and those of
  its paired differences to the others, times the number of judges, since any of them may be the one.
- `differ`: the judges do not all have the same effect. The smallest two-sided p-value of a paired difference, times
  the number of pairs of judges.

Differences are taken pair by pair, so what makes a pair easy for everybody cancels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from .bounded import p_above, p_below
from .contrasts import Floats
from .multiplicity import holm

Sharing = Literal["shared", "own", "some", "not shown"]


@dataclass(frozen=True)
class Shared:
    """What several judges make of one bias. p-values are adjusted."""

    sharing: Sharing
    """some: shown for at least one judge, and neither shared nor own."""
    judges: tuple[str, ...]
    """For which the effect is shown, by Holm over all judges and biases; for `own` and `shared` those of the claim."""
    p_each: tuple[float, ...]
    """Of "no effect or a repair" for every judge in its order, by Holm over all judges and biases."""
    differ: bool
    p_shared: float
    p_own: float
    p_differ: float


def sharing(effects: Mapping[str, Mapping[str, npt.ArrayLike]], alpha: float = 0.05) -> dict[str, Shared]:
    """`effects`: bias -> judge -> d over the same pairs, NaN where missing; the same judges for every bias."""
    if not effects:
        return {}
    judges = list(next(iter(effects.values())))
    arrays = {b: [np.asarray(row[j], np.float64) for j in judges] for b, row in effects.items()}
    single = {b: [p_above(d, 0.0) for d in row] for b, row in arrays.items()}
    cells, p_cells = holm([p for row in single.values() for p in row], alpha)
    shown = dict(zip(effects, cells.reshape(len(effects), -1), strict=True))
    p_each = dict(zip(effects, p_cells.reshape(len(effects), -1).tolist(), strict=True))
    p_shared = [max(row, default=1.0) for row in single.values()]
    own = [_own(arrays[b], single[b]) for b in effects]
    p_differ = [_differ(row) for row in arrays.values()]
    columns = [holm(p, alpha) for p in (p_shared, [p for p, _ in own], p_differ)]
    found = {}
    for k, bias in enumerate(effects):
        rejected = [bool(column[0][k]) for column in columns]
        adjusted = [float(column[1][k]) for column in columns]
        has = tuple(j for j, there in zip(judges, shown[bias], strict=True) if there)
        if rejected[0] and len(judges) > 1:
            kind: Sharing = "shared"
            has = tuple(judges)
        elif rejected[1]:
            kind, has = "own", (judges[own[k][1]],)
        else:
            kind = "some" if has else "not shown"
        found[bias] = Shared(kind, has, tuple(p_each[bias]), rejected[2], *adjusted)
    return found


def _own(row: Sequence[Floats], single: Sequence[float]) -> tuple[float, int]:
    """The smallest p over judges of "this one, and more than each other", corrected, and whose it is."""
    if len(row) < 2:
        return 1.0, 0
    p = [
        max(single[j], *(p_above((d - other) / 2, 0.0) for k, other in enumerate(row) if k != j))
        for j, d in enumerate(row)
    ]
    best = int(np.argmin(p))
    return min(1.0, len(row) * p[best]), best


def _differ(row: Sequence[Floats]) -> float:
    p = [2 * min(p_above((a - b) / 2, 0.0), p_below((a - b) / 2, 0.0)) for a, b in combinations(row, 2)]
    return min(1.0, len(p) * min(p)) if p else 1.0
