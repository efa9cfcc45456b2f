"""From judgments to one outcome per arm and pair: for the running loop and for a finished run's analyses alike."""

import math
from collections.abc import Sequence

from ..core.records import Judgment
from ..validators.contrasts import combine_orders


def wrong_in_order(judgment: Judgment) -> float:
    """1 or 0, the probability of the wrong answer where there is one, or NaN without a verdict."""
    if judgment.p_rejected is not None:
        return judgment.p_rejected
    return _verdict(judgment)


def wrong(judgments: Sequence[Judgment]) -> float:
    """One order, or both combined: log-odds averaged where both have probabilities, else the mean of two verdicts.

    NaN when an order has no verdict. A probability is never averaged with a verdict: their scales differ.
    """
    if len(judgments) == 1:
        return wrong_in_order(judgments[0])
    if len(judgments) != 2:
        raise ValueError(f"judgments: {len(judgments)} of one arm and pair; there are one or two orders")
    p = [j.p_rejected for j in judgments]
    if p[0] is not None and p[1] is not None:
        return float(combine_orders([p[0]], [p[1]])[0])
    return (_verdict(judgments[0]) + _verdict(judgments[1])) / 2


def _verdict(judgment: Judgment) -> float:
    if judgment.verdict in ("tie", "invalid"):
        return math.nan
    return 1.0 if judgment.verdict == "rejected" else 0.0
