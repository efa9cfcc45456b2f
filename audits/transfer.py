"""Transfer: what one library of biases does to several judges that are asked the same questions.

Effects are d = wrong(bias) - wrong(reference) on the same pairs, so judges are compared pair by pair
(validators/sharing.py says how). The intervals are 95 %, each cell by itself.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..agents.judges.applies import left_out
from ..agents.judges.protocol import Judge
from ..core.records import ORIGINAL
from ..validators.bounded import bounds
from ..validators.contrasts import Floats
from ..validators.rates import Rate, rate_over_pairs
from ..validators.sharing import Shared, Sharing, sharing
from .frozen import FrozenBias, FrozenSet, Part, Reference
from .replay import Replay

TWO_SIDED = 0.975
"""The level of each bound of a 95 % interval."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TransferJudge(_Part):
    """One judge and how it did."""

    judge: str
    """Its identity."""
    served_by: tuple[str, ...]
    both_orders: bool
    probabilities: bool
    """Its outcomes are probabilities of the wrong answer; those of others are verdicts."""
    accuracy: float | None
    """On the unperturbed pairs, of those with a verdict; None without any."""
    accuracy_interval: tuple[float, float]
    """95 %."""
    asked: int
    ties: int
    invalid: int
    failed: int
    left_out: tuple[str, ...]
    """What does not apply to it."""


class Cell(_Part):
    """The effect of one bias on one judge, in points of error rate."""

    n: int
    """Pairs with an outcome in both arms."""
    effect: float | None
    """None without pairs."""
    interval: tuple[float, float]
    """95 %, of this cell by itself."""
    p: float
    """Of "no effect or a repair", by Holm over all cells."""
    shown: bool
    """p is at most alpha."""


class TransferBias(_Part):
    """One bias over the judges."""

    id: str
    name: str
    definition: str
    found: float | None
    """Its effect where it was found, in points."""
    found_interval: tuple[float, float] | None
    cells: tuple[Cell, ...]
    """In the order of the judges."""
    sharing: Sharing
    judges: tuple[int, ...]
    """Places, from 0, of the judges that the claim is about."""
    differ: bool
    """It is shown that the judges do not all have the same effect."""
    p_shared: float
    p_own: float
    p_differ: float


class TransferReport(_Part):
    """The matrix; transfer.json holds it as it stands here."""

    format: Literal["biasscope-transfer"] = "biasscope-transfer"
    version: Literal[1] = 1
    run_id: str
    frozen: str
    """SHA-256 of the frozen set."""
    found_on: str
    """The judge that the biases were found on."""
    part: Part
    reference: Reference
    pairs: int
    alpha: float
    judges: tuple[TransferJudge, ...]
    biases: tuple[TransferBias, ...]


class Asked(NamedTuple):
    """A judge and its verdicts."""

    judge: Judge
    replay: Replay


def transfer(run_id: str, frozen: FrozenSet, asked: Sequence[Asked], alpha: float) -> TransferReport:
    """The matrix from replays of one set, in the order of the judges."""
    d = {
        bias.id: {str(k): one.replay.differences(frozen, bias.id) for k, one in enumerate(asked)}
        for bias in frozen.head.biases
    }
    found = sharing(d, alpha)
    return TransferReport(
        run_id=run_id,
        frozen=frozen.digest,
        found_on=frozen.head.judge,
        part=frozen.head.part,
        reference=frozen.head.reference,
        pairs=len(frozen.pairs),
        alpha=alpha,
        judges=tuple(_judge(one) for one in asked),
        biases=tuple(_bias(bias, list(d[bias.id].values()), found[bias.id], alpha) for bias in frozen.head.biases),
    )


def _judge(asked: Asked) -> TransferJudge:
    replayed = asked.replay
    counts = replayed.counts().values()
    outcomes = [float(v) for row in replayed.wrong.values() for v in row if v is not None]
    probabilities = asked.judge.gives_probabilities and any(v not in (0.0, 0.5, 1.0) for v in outcomes)
    rate = _accuracy(replayed)
    return TransferJudge(
        judge=replayed.judge,
        served_by=replayed.served_by,
        both_orders=replayed.both_orders,
        probabilities=probabilities,
        accuracy=rate.rate if rate.pairs else None,
        accuracy_interval=(rate.low, rate.high),
        asked=sum(c.asked for c in counts),
        ties=sum(c.ties for c in counts),
        invalid=sum(c.invalid for c in counts),
        failed=sum(c.failed for c in counts),
        left_out=left_out(asked.judge),
    )


def _accuracy(replayed: Replay) -> Rate:
    return rate_over_pairs([] if v is None else [1.0 - v] for v in replayed.wrong[ORIGINAL])


def _bias(bias: FrozenBias, rows: Sequence[Floats], found: Shared, alpha: float) -> TransferBias:
    return TransferBias(
        id=bias.id,
        name=bias.name,
        definition=bias.definition,
        found=bias.effect,
        found_interval=bias.interval,
        cells=tuple(_cell(d, p, alpha) for d, p in zip(rows, found.p_each, strict=True)),
        sharing=found.sharing,
        judges=tuple(int(k) for k in found.judges),
        differ=found.differ,
        p_shared=found.p_shared,
        p_own=found.p_own,
        p_differ=found.p_differ,
    )


def _cell(d: Floats, p: float, alpha: float) -> Cell:
    there = d[~np.isnan(d)]
    low, high = bounds(there, TWO_SIDED)
    effect = 100 * float(there.mean()) if there.size else None
    return Cell(n=int(there.size), effect=effect, interval=(100 * low, 100 * high), p=p, shown=p <= alpha)
