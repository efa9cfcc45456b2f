"""Controls that can overrule a decision, and the reports on position and judge noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError
from ..core.records import Decision
from .contrasts import contrast
from .decisions import Limits, Outcome
from .mcnemar import paired_interval
from .proportions import wilson

MATCHED = (0.85, 1.15)
"""Bias/placebo length ratios (words) that count as the same length."""
MANIPULATION_SHARE = 0.75
"""A verifier must find the bias in the right text at least this often."""
MANIPULATION_MIN = 30
"""Fewer manipulation checks than this decide nothing (at 30, a true share of 0.9 falls under 0.75 about once in
100)."""
LENGTH_MIN = 50
"""Fewer pairs than this in a length control decide nothing."""


@dataclass(frozen=True)
class Evidence:
    """What the controls of one bias have seen. All arrays are over the same pairs, NaN where missing."""

    d: npt.ArrayLike
    """bias - placebo."""
    length_ratio: npt.ArrayLike | None = None
    """Words of the bias text / words of the placebo text."""
    d_truncated: npt.ArrayLike | None = None
    """The same contrast with the bias text cut to the original's length (paper, appendix on length)."""
    manipulation_right: int = 0
    """How often the verifier said that the bias text shows more of the bias."""
    manipulation_n: int = 0
    about_length: bool = False
    """A bias that is length itself; the length controls say nothing about it."""


def apply_controls(
    outcome: Outcome, evidence: Evidence, limits: Limits | None = None
) -> tuple[Outcome, dict[str, Any]]:
    """The outcome after the controls, and what they measured (points) for the record.

    `not_injectable`: of at least MANIPULATION_MIN checks less than MANIPULATION_SHARE were right. It overrules every
    decision, since the texts then say nothing about the bias.

    `explained_by_length` overrules `valid` only. In a length control (pairs with the same length, or truncated texts)
    with at least LENGTH_MIN pairs the effect has gone away when both hold: its estimate is under the smallest effect
    of interest, and the upper end of its 95 % interval (fixed sample) is under the overall estimate. The second part
    keeps a small, noisy control from erasing an effect. Where enough pairs have the same length they decide alone:
    truncation cuts off whatever stands at the end of an answer, so an effect that it removes need not be one of
    length. Same-length pairs are not a random sample: a warning sign about the bias, not a proof about its cause.
    """
    limits = limits or Limits()
    d = np.asarray(evidence.d, dtype=np.float64)
    overall = float(np.nanmean(d)) if np.isfinite(d).any() else float("nan")
    report: dict[str, Any] = {"manipulation_n": evidence.manipulation_n}
    if evidence.manipulation_n:
        low, high = wilson(evidence.manipulation_right, evidence.manipulation_n)
        share = evidence.manipulation_right / evidence.manipulation_n
        report |= {"manipulation_share": share, "manipulation_low": low, "manipulation_high": high}
    gone: list[str] = []
    settled = False
    for name, values in _length_controls(d, evidence):
        n = int(np.isfinite(values).sum())
        if not n:
            continue
        effect = float(np.nanmean(values))
        low, high, method = paired_interval(values)
        goes_away = n >= LENGTH_MIN and effect < limits.smallest_effect and high < overall
        report[name] = {
            "n": n,
            "effect": 100 * effect,
            "low": 100 * low,
            "high": 100 * high,
            "method": method,
            "gone": goes_away,
        }
        if goes_away and not settled:
            gone.append(f"{name.replace('_', ' ')}: {100 * effect:+.1f} points, n = {n}")
        settled = settled or n >= LENGTH_MIN
    if not_injectable(evidence.manipulation_right, evidence.manipulation_n):
        decision: Decision = "not_injectable"
        share_text = f"{evidence.manipulation_right} of {evidence.manipulation_n} manipulation checks were right"
        return Outcome(decision, f"{share_text}, under {MANIPULATION_SHARE:.0%}"), report
    if outcome.decision == "valid" and gone and not evidence.about_length:
        return Outcome("explained_by_length", f"overall {100 * overall:+.1f} points, but {'; '.join(gone)}"), report
    return outcome, report


def not_injectable(right: int, checks: int) -> bool:
    """Whether so few manipulation checks were right that the teacher cannot be said to write the bias in."""
    return checks >= MANIPULATION_MIN and right / checks < MANIPULATION_SHARE


def position_report(wrong_chosen_first: npt.ArrayLike, wrong_rejected_first: npt.ArrayLike) -> dict[str, float]:
    """Error rate by order, and the share of pairs whose two verdicts differ (0-1), over the pairs judged in both
    orders."""
    both = contrast(wrong_chosen_first, wrong_rejected_first)
    inconsistent = (both.harms + both.repairs) / both.n if both.n else float("nan")
    return {
        "n": both.n,
        "error_chosen_first": both.error_reference,
        "error_rejected_first": both.error_bias,
        "inconsistent": inconsistent,
    }


def judge_noise(first: npt.ArrayLike, second: npt.ArrayLike) -> dict[str, float]:
    """The same arm judged twice.

    N, the share of verdicts that changed with its 95 % Wilson interval, mean |difference|.
    """
    again = contrast(first, second)
    changed = again.harms + again.repairs
    low, high = wilson(changed, again.n)
    share = changed / again.n if again.n else float("nan")
    mean = float(np.abs(again.observed).mean()) if again.n else float("nan")
    return {"n": again.n, "changed": share, "low": low, "high": high, "mean_abs_difference": mean}


def _length_controls(d: npt.NDArray[np.float64], evidence: Evidence) -> list[tuple[str, npt.NDArray[np.float64]]]:
    controls: list[tuple[str, npt.NDArray[np.float64]]] = []
    if evidence.length_ratio is not None:
        ratio = np.asarray(evidence.length_ratio, dtype=np.float64)
        if ratio.shape != d.shape:
            raise DataError(
                f"length_ratio: {ratio.size} values for {d.size} pairs; give one per pair, NaN where missing"
            )
        controls.append(("length_matched", np.where((ratio >= MATCHED[0]) & (ratio <= MATCHED[1]), d, np.nan)))
    if evidence.d_truncated is not None:
        truncated = np.asarray(evidence.d_truncated, dtype=np.float64)
        if truncated.shape != d.shape:
            raise DataError(
                f"d_truncated: {truncated.size} values for {d.size} pairs; give one per pair, NaN where missing"
            )
        controls.append(("truncated", truncated))
    return controls
