"""Runs that differ in one setting, and their table (the form of the paper's Tables 2, 3, 4 and 7)."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from ...core.errors import ConfigError
from ...core.records import ORIGINAL, Validation, bias_arm
from ...core.store import Store
from ...validators.mcnemar import paired_interval
from ...validators.rates import Rate, rate_over_pairs
from ..config import RunConfig, load_config
from ..folder import RunFolder, check_name
from ..jobs import Listener, create, settle_models
from ..launch import run
from .ablation_table import Ablation, DomainErrors, Figures, VariantRow, write_ablation
from .arms import Arms, read_arms, valid_ids
from .axis import Axis, parse_axis


class Plan(BaseModel):
    """What will be run, checked before anything is."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    folder: Path
    axis: Axis
    configs: tuple[RunConfig, ...]


def plan_ablation(
    path: Path, over: str, *, name: str | None = None, settings: Sequence[str] = (), workspace: Path | None = None
) -> Plan:
    """All variants' configurations. Their runs lie in one folder of the workspace and share the store there.

    Raises ConfigError: unknown setting, bad value, or variants that were begun with another configuration.
    """
    given = {"workspace": str(workspace)} if workspace else {}
    base = load_config(path, settings, given)
    if base.approve:
        raise ConfigError("approve: an ablation waits for nobody; set it to false")
    axis = parse_axis(over, base)
    title = check_name(name or f"ablation-{axis.key}")
    folder = (base.workspace / title).resolve()
    if (folder / "config.yaml").exists():
        raise ConfigError(f"{str(folder)!r} is a run's folder; choose another --name for the ablation")
    store = f"sqlite:///{folder / 'store.db'}"
    configs = []
    for variant in axis.variants:
        config, _ = settle_models(load_config(path, (*settings, variant.setting), given))
        name_ = check_name(f"{axis.key.rsplit('.', 1)[-1]}-{variant.slug}")
        configs.append(config.model_copy(update={"name": name_, "workspace": folder, "store": store}))
    plan = Plan(folder=folder, axis=axis, configs=tuple(configs))
    for config in plan.configs:
        _check_begun(config)
    return plan


def ablate(
    plan: Plan, *, listener: Listener | None = None, starting: Callable[[str, bool], None] | None = None
) -> tuple[Ablation, dict[str, Path]]:
    """Run what has not finished and write ablation.json and ablation.md after each variant.

    `starting` hears each run's name and whether it had finished before. A variant that reaches its budget keeps its
    state in the table; calling again goes on with it.
    """
    found = Ablation(name=plan.folder.name, over=plan.axis.key, variants=())
    files: dict[str, Path] = {}
    for variant, config in zip(plan.axis.variants, plan.configs, strict=True):
        folder = RunFolder(plan.folder / str(config.name))
        done = folder.config.exists() and _state(folder, config)[0] == "finished"
        if starting:
            starting(folder.run_id, done)
        if not done:
            changes: tuple[str, ...] = ()
            if folder.config.exists():
                changes = (f"budget={json.dumps(config.budget.model_dump())}",)
            else:
                create(config)
            run(folder, listener=listener, changes=changes)
        found = found.model_copy(update={"variants": (*found.variants, _row(variant.label, folder, config))})
        files = write_ablation(found, plan.folder)
    return found, files


def _check_begun(config: RunConfig) -> None:
    folder = RunFolder(config.workspace / str(config.name))
    if not folder.config.exists():
        return
    then = load_config(folder.config).model_dump(mode="json", exclude={"budget"})
    now = config.model_dump(mode="json", exclude={"budget"})
    if changed := sorted(k for k in now if now[k] != then[k]):
        raise ConfigError(
            f"{folder.run_id!r} in {str(config.workspace)!r} was begun with another {', '.join(changed)}; "
            "choose another --name for this ablation"
        )


def _state(folder: RunFolder, config: RunConfig) -> tuple[str, str]:
    store = Store(str(config.store))
    try:
        outcome = store.note(folder.run_id, "outcome") or {}
    finally:
        store.close()
    return str(outcome.get("state", "stopped")), str(outcome.get("reason", ""))


def _row(label: str, folder: RunFolder, config: RunConfig) -> VariantRow:
    state, reason = _state(folder, config)
    store = Store(str(config.store))
    try:
        validations = store.select(Validation, run_id=folder.run_id)
        arms, valid = read_arms(store, folder.run_id), valid_ids(validations)
        usage = store.usage(folder.run_id)
    finally:
        store.close()
    confirmed = {v.bias_id for v in validations if v.iteration < 0 and v.decision == "valid"}
    locked = any(i in arms.confirm for id_ in valid for i in arms.of(bias_arm(id_)))
    pairs = [i for i in arms.pairs if i in arms.confirm] if locked else list(arms.pairs)
    return VariantRow(
        variant=label,
        run=folder.run_id,
        state=state,
        reason=reason,
        validated=len(valid),
        confirmed=len(confirmed) if arms.confirm else None,
        measured_on="confirmation" if locked else "all",
        errors=error_rates(arms, valid, pairs),
        calls=sum(u.calls for u in usage),
        cached_calls=sum(u.cached_calls for u in usage),
    )


def error_rates(arms: Arms, bias_ids: Sequence[str], pair_ids: Sequence[str]) -> tuple[DomainErrors, ...]:
    """By domain, then overall. A pair's perturbed outcome is the mean over the biases that it was judged with."""
    domains = sorted({arms.pairs[i].domain for i in pair_ids})
    rows = [_errors(arms, bias_ids, [i for i in pair_ids if arms.pairs[i].domain == d], d) for d in domains]
    return (*rows, _errors(arms, bias_ids, pair_ids, "overall"))


def _errors(arms: Arms, bias_ids: Sequence[str], pair_ids: Iterable[str], domain: str) -> DomainErrors:
    original = {i: v for i in pair_ids if (v := arms.of(ORIGINAL).get(i, np.nan)) == v}
    biased = {i: [v for b in bias_ids if (v := arms.of(bias_arm(b)).get(i, np.nan)) == v] for i in original}
    biased = {i: values for i, values in biased.items() if values}
    if not bias_ids:
        return DomainErrors(
            domain=domain, original=_figures(_one(original.values())), perturbed=None, difference=None, interval=None
        )
    d = [float(np.mean(values)) - original[i] for i, values in biased.items()]
    low, high, _ = paired_interval(d) if d else (0.0, 0.0, "")
    return DomainErrors(
        domain=domain,
        original=_figures(_one(original[i] for i in biased)),
        perturbed=_figures(rate_over_pairs(biased.values())),
        difference=100 * float(np.mean(d)) if d else None,
        interval=(100 * low, 100 * high) if d else None,
    )


def _one(values: Iterable[float]) -> Rate:
    return rate_over_pairs([v] for v in values)


def _figures(rate: Rate) -> Figures | None:
    if not rate.n:
        return None
    return Figures(pairs=rate.pairs, judged=rate.n, error=rate.rate, low=rate.low, high=rate.high, method=rate.method)
