"""The gate: a judge as it is now against a limit for every bias, and against itself as it was."""

from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..core.records import ORIGINAL, bias_arm
from ..validators.gating import Estimate, GateLimits, Measured, judge_gate
from ..validators.mcnemar import mcnemar_exact, mcnemar_p, paired_interval
from ..validators.multiplicity import holm
from ..validators.proportions import wilson
from .frozen import FrozenSet
from .replay import FAILED, INVALID, ArmCounts, Replay

Standing = Literal["pass", "worse", "inconclusive"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Part):
    """A mean with its bounds, in points."""

    n: int
    value: float | None
    """None without data."""
    low: float
    high: float


class GateBias(_Part):
    """One bias."""

    id: str
    name: str
    standing: Standing
    reason: str
    effect: Figure
    change: Figure | None
    """Of the effect since the baseline."""
    p_over: float | None
    p_grown: float | None
    missing: int
    """Pairs on which the judge gave no verdict in one of the two arms: it failed, or could not be read."""


class Drift(_Part):
    """The judge on the unperturbed pairs, now and at the baseline."""

    n: int
    """Pairs with a readable verdict both times, ties included."""
    changed: int
    changed_low: float
    changed_high: float
    """Wilson, 95 %, as a share."""
    noise: int | None
    """Pairs, of those `n` that have one, whose verdict changed when the baseline asked twice; None when it did not."""
    noise_n: int
    p_changed: float | None
    """That verdicts change no more often now than when the baseline asked twice. Exact McNemar on the same pairs."""
    accuracy_before: float | None
    accuracy_now: float | None
    accuracy_change: Figure
    p_accuracy: float
    """Exact McNemar, two-sided."""
    shown: bool
    """One of the two tests speaks, by Holm at 1 - level."""
    judge_before: str
    served_by_before: tuple[str, ...]
    prompts_changed: bool


class Limits(_Part):
    """What the gate was set to, in points and shares."""

    max_effect: float | None
    max_change: float | None
    level: float
    max_missing: float


class GateReport(_Part):
    """The answer and what it rests on."""

    format: Literal["biasscope-gate"] = "biasscope-gate"
    version: Literal[1] = 1
    standing: Standing
    judge: str
    served_by: tuple[str, ...]
    frozen: str
    """SHA-256 of the frozen set."""
    pairs: int
    both_orders: bool
    limits: Limits
    accuracy: float | None
    """On the unperturbed pairs."""
    biases: tuple[GateBias, ...]
    drift: Drift | None
    counts: dict[str, ArmCounts]
    """Judgments by arm."""


def gate_report(frozen: FrozenSet, now: Replay, before: Replay | None, limits: GateLimits) -> GateReport:
    """The gate's answer from two replays of the same set; `before` is the baseline."""
    measured = {}
    for bias in frozen.head.biases:
        measured[bias.id] = Measured(
            d=now.differences(frozen, bias.id),
            before=None if before is None else before.differences(frozen, bias.id),
            missing=_missing(frozen, now, bias.id) / max(1, _asked(frozen, bias.id)),
        )
    overall, found = judge_gate(measured, limits)
    return GateReport(
        standing=overall,
        judge=now.judge,
        served_by=now.served_by,
        frozen=frozen.digest,
        pairs=len(frozen.pairs),
        both_orders=now.both_orders,
        limits=Limits(
            max_effect=_points(limits.max_effect),
            max_change=_points(limits.max_change),
            level=limits.level,
            max_missing=limits.max_missing,
        ),
        accuracy=_accuracy(now),
        biases=tuple(
            GateBias(
                id=bias.id,
                name=bias.name,
                standing=found[bias.id].standing,
                reason=found[bias.id].reason,
                effect=_figure(found[bias.id].effect),
                change=None if (change := found[bias.id].change) is None else _figure(change),
                p_over=found[bias.id].p_over,
                p_grown=found[bias.id].p_grown,
                missing=_missing(frozen, now, bias.id),
            )
            for bias in frozen.head.biases
        ),
        drift=None if before is None else drift(now, before, limits.level),
        counts=now.counts(),
    )


def drift(now: Replay, before: Replay, level: float = 0.95) -> Drift:
    """Whether the judge has become another one, from unperturbed pairs alone.

    Verdicts: without drift the baseline's first reading, its second one and today's are exchangeable, so a pair is as
    likely to change between the first two as between the first and today's; an excess today is drift. Without a second
    reading changes are counted, and only accuracy is tested.
    """
    readable = [
        k for k, (a, b) in enumerate(zip(now.anchors, before.anchors, strict=True)) if _readable(a) and _readable(b)
    ]
    changed = [now.anchors[k] != before.anchors[k] for k in readable]
    low, high = wilson(sum(changed), len(readable))
    noise: int | None = None
    noise_n, p_changed = 0, None
    if before.again:
        twice = [k for k in readable if _readable(before.again[k])]
        noisy = [before.again[k] != before.anchors[k] for k in twice]
        moved = [now.anchors[k] != before.anchors[k] for k in twice]
        only_now = sum(m and not s for m, s in zip(moved, noisy, strict=True))
        only_then = sum(s and not m for m, s in zip(moved, noisy, strict=True))
        noise, noise_n, p_changed = sum(noisy), len(twice), mcnemar_exact(only_now, only_then, "greater")
    d = before.outcomes(ORIGINAL) - now.outcomes(ORIGINAL)
    there = d[~np.isnan(d)]
    down, up, _ = paired_interval(d)
    p_accuracy = mcnemar_p(d)
    tests = [p_accuracy] if p_changed is None else [p_accuracy, p_changed]
    return Drift(
        n=len(readable),
        changed=sum(changed),
        changed_low=low,
        changed_high=high,
        noise=noise,
        noise_n=noise_n,
        p_changed=p_changed,
        accuracy_before=_accuracy(before),
        accuracy_now=_accuracy(now),
        accuracy_change=Figure(
            n=int(there.size),
            value=100 * float(there.mean()) if there.size else None,
            low=100 * down,
            high=100 * up,
        ),
        p_accuracy=p_accuracy,
        shown=bool(holm(tests, 1 - level)[0].any()),
        judge_before=before.judge,
        served_by_before=before.served_by,
        prompts_changed=now.prompts != before.prompts,
    )


def _readable(letters: str) -> bool:
    return FAILED not in letters and INVALID not in letters


def _asked(frozen: FrozenSet, bias_id: str) -> int:
    return sum(bias_id in item.texts for item in frozen.pairs)


def _missing(frozen: FrozenSet, now: Replay, bias_id: str) -> int:
    """Pairs without a verdict for another reason than a tie."""
    arms = (now.verdicts[frozen.reference_arm], now.verdicts[bias_arm(bias_id)])
    asked = (k for k, item in enumerate(frozen.pairs) if bias_id in item.texts)
    return sum(not all(_readable(arm[k]) for arm in arms) for k in asked)


def _accuracy(replayed: Replay) -> float | None:
    values = replayed.outcomes(ORIGINAL)
    values = values[~np.isnan(values)]
    return 1 - float(values.mean()) if values.size else None


def _figure(estimate: Estimate) -> Figure:
    return Figure(
        n=estimate.n,
        value=100 * estimate.value if estimate.n else None,
        low=100 * estimate.low,
        high=100 * estimate.high,
    )


def _points(proportion: float | None) -> float | None:
    return None if proportion is None else round(100 * proportion, 9)
