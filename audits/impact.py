"""Decision impact: how many ranks of a leaderboard, or decisions at a threshold, a bias of the judge could flip.

The question is what a model would gain if its answers showed the bias and those of the others did not. The gain is the
shift in log-odds that the bias gives to a wrong answer on preference pairs; the leaderboard's strengths are
Bradley-Terry log-odds (validators/ranking.py). It is a what-if, not a forecast: nobody has looked at what the models of
the leaderboard write.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy.special import expit, logit

from ..core.ids import seed_from
from ..data.leaderboard import Leaderboard
from ..validators.contrasts import Floats
from ..validators.ranking import gate_flips, log_odds_shift, rank_flips, strengths


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(_Part):
    """A figure at the estimate and at both ends of the interval of the bias's effect."""

    value: float
    low: float
    high: float


class BiasImpact(_Part):
    """What one bias could do."""

    id: str
    name: str
    n: int
    """Pairs that its effect is from."""
    effect: float | None
    """In points of error rate; None without pairs."""
    shift: float | None
    """In log-odds."""
    interval: tuple[float, float] | None
    """95 %, of the shift; None with fewer than two pairs."""
    overtakes: Span | None
    """Of all pairs of models, those in which the weaker one would come out ahead. None without results."""
    gainers: Span | None
    """Models that would gain a rank or more."""
    leaders: Span | None
    """Models that would come out first and are not."""
    opened: Span | None
    """Models under the threshold that would pass. None without a threshold and a model to compare with."""
    closed: Span | None
    """Models that pass, and would not if the model that they are compared with had the bias."""
    passes_from: Span | None
    """The lowest win rate that would pass the threshold with the bias, in percent. None without a threshold."""


class JudgeImpact(_Part):
    """The biases of one judge."""

    judge: str
    biases: tuple[BiasImpact, ...]
    """The largest shift first."""


class Rank(_Part):
    """A model of the leaderboard."""

    model: str
    strength: float
    """Bradley-Terry, in log-odds, mean 0."""
    rate: float | None
    """Its chance against the model it is compared with, in percent; None without one."""


class Impact(_Part):
    """The whole answer."""

    run_id: str
    models: int
    battles: int
    threshold: float | None
    """In percent of wins."""
    against: str | None
    ranks: tuple[Rank, ...]
    """The strongest first."""
    judges: tuple[JudgeImpact, ...]
    notes: tuple[str, ...]


class Arms(NamedTuple):
    """A bias with its outcomes over the same pairs, NaN where there is none."""

    id: str
    name: str
    reference: Floats
    bias: Floats


def impact(
    run_id: str,
    judges: Sequence[tuple[str, Sequence[Arms]]],
    board: Leaderboard | None,
    *,
    threshold: float | None,
    against: str | None,
    notes: Sequence[str] = (),
) -> Impact:
    """`threshold` in percent of wins; `against`: the model of `board` that candidates are compared with."""
    s = strengths(board.wins) if board else np.zeros(0)
    rates: Floats | None = None
    if board and against is not None:
        rates = expit(s - s[board.models.index(against)])
    others = None if rates is None or board is None else np.delete(rates, board.models.index(str(against)))
    order = np.argsort(-s, kind="stable")
    ranks = tuple(
        Rank(
            model=board.models[k],
            strength=float(s[k]),
            rate=None if rates is None or board.models[k] == against else 100 * float(rates[k]),
        )
        for k in (order if board else ())
        if board
    )
    found = []
    for judge, biases in judges:
        rows = [_bias(judge, arms, s if board else None, others, threshold) for arms in biases]
        rows.sort(key=lambda b: (-(b.shift if b.shift is not None else -math.inf), b.name))
        found.append(JudgeImpact(judge=judge, biases=tuple(rows)))
    return Impact(
        run_id=run_id,
        models=len(board.models) if board else 0,
        battles=board.battles if board else 0,
        threshold=threshold,
        against=against,
        ranks=ranks,
        judges=tuple(found),
        notes=tuple(notes),
    )


def _bias(judge: str, arms: Arms, s: Floats | None, rates: Floats | None, threshold: float | None) -> BiasImpact:
    rng = np.random.default_rng(seed_from("impact", judge, arms.id))
    shift = log_odds_shift(arms.reference, arms.bias, rng)
    d = arms.bias - arms.reference
    bounded = shift.n > 1

    def at(figure: Callable[[float], float]) -> Span | None:
        return Span(value=figure(shift.value), low=figure(shift.interval[0]), high=figure(shift.interval[1]))

    limit = None if threshold is None else threshold / 100
    return BiasImpact(
        id=arms.id,
        name=arms.name,
        n=shift.n,
        effect=100 * float(np.nanmean(d)) if shift.n else None,
        shift=shift.value if shift.n else None,
        interval=shift.interval if bounded else None,
        overtakes=at(lambda x: rank_flips(s, x).overtakes) if s is not None and bounded else None,
        gainers=at(lambda x: rank_flips(s, x).gainers) if s is not None and bounded else None,
        leaders=at(lambda x: rank_flips(s, x).leaders) if s is not None and bounded else None,
        opened=at(lambda x: gate_flips(rates, limit, x)[0]) if rates is not None and limit and bounded else None,
        closed=at(lambda x: gate_flips(rates, limit, x)[1]) if rates is not None and limit and bounded else None,
        passes_from=at(lambda x: 100 * float(expit(logit(limit) - max(0.0, x)))) if limit and bounded else None,
    )
