"""From judgments to the result of a self-preference audit. Reads the store, asks nobody."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...core.job import Job
from ...validators.contrasts import Floats
from ...validators.preference_model import fit_preference
from ...validators.resampling import cluster_mean
from ...validators.self_preference import (
    Panel,
    beyond_baseline,
    discriminability,
    equal_quality,
    mitigation,
    panel_agreement,
    propensity,
    threshold_curve,
    unequal_quality,
)
from .authors import family_of
from .contests import Contest
from .result import (
    AgainstAuthor,
    Baseline,
    CurvePoint,
    Estimate,
    Fit,
    LabelResult,
    MitigationResult,
    SelfPreferenceResult,
    SideResult,
    Spoken,
)
from .said import BASELINE, LABEL_OTHER, LABEL_OWN, PLAIN, STRUCTURED, Said, in_orders, read
from .settings import SelfPreferenceSettings

Bools = npt.NDArray[np.bool_]


def measure(
    job: Job,
    contests: Sequence[Contest],
    settings: SelfPreferenceSettings,
    *,
    own: str,
    judge: str,
    structured: str,
    has_position: bool,
    panel: Sequence[str],
    authors: Mapping[str, int],
    left_out: Mapping[str, str],
) -> SelfPreferenceResult:
    """Everything that was said. `judge` and `structured` are judges' names, `panel` authors' names."""
    said = read(job, contests)
    orders = 2 if has_position else 1
    mine, family = said.some("own"), said.some("family")
    equal = equal_quality(mine.view(), settings.delta)
    return SelfPreferenceResult(
        own=own,
        family=family_of(own, settings.families),
        delta=settings.delta,
        has_position=has_position,
        authors=dict(authors),
        families={author: family_of(author, settings.families) for author in authors},
        panel=tuple(panel),
        panel_agreement=panel_agreement(*said.panel()),
        own_side=_side(mine, judge, orders, settings, job.seed),
        mitigation=_mitigated(mine, judge, structured, orders, equal, job.seed) if structured else None,
        labels=_labelled(mine, judge, orders, equal, job.seed) if settings.labels else None,
        family_side=_side(family, judge, orders, settings, job.seed) if family.contests else None,
        left_out=dict(left_out),
    )


def _side(said: Said, judge: str, orders: int, settings: SelfPreferenceSettings, seed: int) -> SideResult:
    view, prompts = said.view(), said.prompts
    equal, unequal = equal_quality(view, settings.delta), unequal_quality(view, settings.delta)
    share = said.own_share(PLAIN, judge, orders)
    found = said.of(PLAIN, judge)
    single, first, line = in_orders(found)
    graded = view.members > 0

    def rng() -> np.random.Generator:
        return np.random.default_rng(seed)

    return SideResult(
        pairs=len(said.contests),
        graded=int(graded.sum()),
        equal=int(equal.sum()),
        unequal=int(unequal.sum()),
        quality=_mean(view.dq),
        propensity=Estimate.of(propensity(share, equal, prompts, rng())),
        discriminability=Estimate.of(discriminability(share, view.dq, unequal, prompts, rng())),
        fit=Fit.of(fit_preference(single, view.dq[line], first if orders == 2 else None, prompts[line])),
        baseline=_baseline(said, share, equal, orders, seed) if settings.baseline != "off" else None,
        curve=tuple(
            CurvePoint(delta=point.delta, estimate=Estimate.of(point.estimate))
            for point in threshold_curve(share, view, prompts, seed, _deltas(settings.delta))
        ),
        authors=tuple(_authors(said, view, share, equal, settings)),
        first=_mean(single[first & equal[line]]) if orders == 2 else None,
        second=_mean(single[~first & equal[line]]) if orders == 2 else None,
        spoken=tuple(_spoken(said, judge, orders)),
    )


def _deltas(delta: float) -> tuple[float, ...]:
    return tuple(sorted({0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, delta}))


def _baseline(said: Said, share: Floats, equal: Bools, orders: int, seed: int) -> Baseline | None:
    members = said.judges(BASELINE)
    if not members:
        return None
    shares = {name: said.own_share(BASELINE, name, _orders_of(said, name)) for name in members}
    every = np.stack(list(shares.values()))
    there = ~np.isnan(every)
    with np.errstate(invalid="ignore"):
        mean = np.where(there.any(axis=0), np.where(there, every, 0.0).sum(axis=0) / there.sum(axis=0), np.nan)
    both = equal & ~np.isnan(share)

    def estimate(values: Floats) -> Estimate:
        return Estimate.of(propensity(values, both, said.prompts, np.random.default_rng(seed)))

    return Baseline(
        propensity=estimate(mean),
        difference=Estimate.of(beyond_baseline(share, mean, equal, said.prompts, np.random.default_rng(seed))),
        members={name: estimate(values) for name, values in shares.items()},
    )


def _orders_of(said: Said, judge: str) -> int:
    return max((len(found) for found in said.of(BASELINE, judge)), default=1) or 1


def _mitigated(said: Said, judge: str, structured: str, orders: int, equal: Bools, seed: int) -> MitigationResult:
    found = mitigation(
        said.own_share(PLAIN, judge, orders, verdicts=True),
        said.own_share(STRUCTURED, structured, 2, verdicts=True),
        equal,
        said.prompts,
        seed,
    )
    return MitigationResult(
        before=Estimate.of(found.before),
        after=Estimate.of(found.after),
        reduction=Estimate.of(found.reduction),
        relative=Estimate.of(found.relative) if found.relative else None,
    )


def _labelled(said: Said, judge: str, orders: int, equal: Bools, seed: int) -> LabelResult | None:
    on_own = said.own_share(LABEL_OWN, judge, orders)
    on_other = said.own_share(LABEL_OTHER, judge, orders)
    both = equal & ~(np.isnan(on_own) | np.isnan(on_other))
    if not both.any():
        return None

    def estimate(values: Floats) -> Estimate:
        return Estimate.of(cluster_mean(np.where(both, values, np.nan), said.prompts, np.random.default_rng(seed)))

    return LabelResult(
        preference=estimate((on_own - on_other) / 2),
        own_labelled_own=estimate(on_own - 0.5),
        other_labelled_own=estimate(on_other - 0.5),
    )


def _authors(
    said: Said, view: Panel, share: Floats, equal: Bools, settings: SelfPreferenceSettings
) -> list[AgainstAuthor]:
    others = np.array([c.other for c in said.contests], dtype=np.str_)
    rows = []
    for other, n in sorted(Counter(others.tolist()).items()):
        mask = others == other
        rows.append(
            AgainstAuthor(
                other=other,
                family=family_of(other, settings.families),
                n=n,
                quality=_mean(view.dq[mask]),
                equal=int(equal[mask].sum()),
                preference=_mean(share[mask] - 0.5),
            )
        )
    return rows


def _spoken(said: Said, judge: str, orders: int) -> list[Spoken]:
    rows = []
    for arm, name in sorted(said.arms):
        if arm == "panel":
            continue
        found = said.of(arm, name)
        verdicts = Counter(j.verdict for by_order in found for j in by_order.values())
        judged = verdicts.total()
        if not judged:
            continue
        asked = len(said.contests) * orders if (arm, name) == (PLAIN, judge) else judged
        rows.append(
            Spoken(
                arm=arm if name == judge else f"{arm}: {name}",
                judged=judged,
                own=verdicts["chosen"],
                other=verdicts["rejected"],
                ties=verdicts["tie"],
                invalid=verdicts["invalid"],
                failed=asked - judged,
            )
        )
    return rows


def _mean(values: Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else None
