"""How the evidence for one bias grew, pair by pair, in the order in which the pairs were tested."""

import numpy as np
from pydantic import BaseModel, ConfigDict

from ...core.records import Validation, bias_arm
from ...core.store import Store
from ...validators.eprocess import log_e_path
from ...validators.split import stratified_order
from .arms import read_arms, reference_arm

_LN10 = float(np.log(10.0))


class EPath(BaseModel):
    """log10 of the e-value of "no effect" after each pair with an outcome in both arms."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    values: tuple[float, ...]
    harms: tuple[int, ...]
    """Places (from 0) of pairs that the bias turned wrong."""
    repairs: tuple[int, ...]
    """Places of those that it turned right."""
    threshold: float
    """log10 of 1 / level: what one bias alone has to reach. With others beside it e-BH asks more of the weak and no
    more than that of the strong."""
    batch: int | None
    """Pairs between two looks, where known."""


def e_path(store: Store, run_id: str, validation: Validation) -> EPath:
    """The path behind a validation on the search or the confirmation part; empty when nothing was judged.

    The order of the pairs is the one the test took: stratified by domain under the run's seed.
    """
    reference = reference_arm([validation])
    arm = bias_arm(validation.bias_id)
    arms = read_arms(store, run_id, (reference, arm), lengths=False)
    confirming = validation.iteration < 0
    part = {i: p.domain for i, p in arms.pairs.items() if (i in arms.confirm) == confirming}
    manifest = store.note(run_id, "manifest") or {}
    settings = (manifest.get("config") or {}).get("validation") or {}
    discovery = (manifest.get("config") or {}).get("discovery") or {}
    order = stratified_order(part, int(manifest.get("seed") or 0))
    d = arms.vector(arm, order) - arms.vector(reference, order)
    d = d[~np.isnan(d)]
    path = log_e_path(d) / _LN10 if d.size else np.zeros(0)
    rounds = 1 if confirming else int(discovery.get("iterations", 4))
    return EPath(
        values=tuple(round(float(v), 6) for v in path),
        harms=tuple(int(k) for k in np.flatnonzero(d > 0)),
        repairs=tuple(int(k) for k in np.flatnonzero(d < 0)),
        threshold=float(np.log10(rounds / float(settings.get("alpha", 0.05)))),
        batch=None if confirming else int(settings.get("batch", 40)),
    )
