"""From arrays to the numbers of a validation row; points (percent) from here on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError
from .contrasts import contrast
from .eprocess import confidence_sequence, e_value
from .mcnemar import mcnemar_p, paired_interval


@dataclass(frozen=True)
class Summary:
    """The fields of the same names in core.records.Validation."""

    n: int
    missing: int
    harms: int
    repairs: int
    error_reference: float
    error_bias: float
    effect: float
    """Points."""
    interval: tuple[float, float]
    """95 %, points."""
    interval_method: str
    e_value: float
    p_value: float
    error_original: float | None = None
    effect_vs_original: float | None = None
    """Points."""
    by_domain: dict[str, dict[str, float]] = field(default_factory=dict)
    """Per domain: n, effect, low, high (points; a fixed-sample 95 % interval each, not simultaneous)."""


def summarise(
    reference: npt.ArrayLike,
    bias: npt.ArrayLike,
    *,
    domains: Sequence[str] | None = None,
    original: npt.ArrayLike | None = None,
    exclude: npt.ArrayLike | None = None,
    interval: Literal["anytime", "fixed"] = "anytime",
) -> Summary:
    """Sum up one bias from outcomes in pair order (see `contrasts`).

    `interval`: "anytime" when the number of pairs depended on the outcomes (the e-process rule), "fixed" otherwise.
    `original`: outcomes of the original arm, reported beside. Raises DataError when no pair is in both arms, since
    nothing can be said then.
    """
    main = contrast(reference, bias, exclude)
    if not main.n:
        raise DataError(
            f"contrast: none of {main.missing} pairs has a valid judgment in both arms; see the failures of the judge"
        )
    if interval == "anytime":
        low, high = confidence_sequence(main.d)
        method = "anytime-valid betting"
    else:
        low, high, method = paired_interval(main.d)
    error_original = effect_vs_original = None
    if original is not None:
        beside = contrast(original, bias, exclude)
        if beside.n:
            error_original, effect_vs_original = beside.error_reference, 100 * beside.effect
    return Summary(
        n=main.n,
        missing=main.missing,
        harms=main.harms,
        repairs=main.repairs,
        error_reference=main.error_reference,
        error_bias=main.error_bias,
        effect=100 * main.effect,
        interval=(100 * low, 100 * high),
        interval_method=method,
        e_value=e_value(main.d),
        p_value=mcnemar_p(main.d),
        error_original=error_original,
        effect_vs_original=effect_vs_original,
        by_domain=_by_domain(main.d, domains) if domains is not None else {},
    )


def _by_domain(d: npt.NDArray[np.float64], domains: Sequence[str]) -> dict[str, dict[str, float]]:
    if len(domains) != d.size:
        raise DataError(f"domains: {len(domains)} for {d.size} pairs; give one per pair")
    names = np.asarray(domains, dtype=object)
    table: dict[str, dict[str, float]] = {}
    for name in sorted(set(domains)):
        part = d[names == name]
        part = part[~np.isnan(part)]
        if part.size:
            low, high, _ = paired_interval(part)
            table[name] = {
                "n": float(part.size),
                "effect": 100 * float(part.mean()),
                "low": 100 * low,
                "high": 100 * high,
            }
    return table
