"""What a run will take: a small run of the same configuration is measured and scaled up, stage by stage.

The small run (the probe) is a real one, so its tokens per call, its share of misjudgments and its retries are those of
these models on these data. What nobody can know beforehand, how many biases will be tested and on how many pairs each
is decided, is a range, and the assumption is printed.
"""

import math
import tempfile
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ..agents.engines.reference import ModelSpec
from ..agents.judges.specs import JurySpec, models_of
from ..core.calls import Completion
from ..core.errors import ConfigError
from ..core.records import Validation
from ..core.store import Store
from .config import RunConfig
from .folder import RunFolder
from .inputs import load_pairs, start_library
from .jobs import create, open_store
from .launch import run
from .planned import Plan, Span, StagePlan

PROBE_PAIRS = 12
NEW_BIASES = (5, 20)
_LEAST_SHARE = 0.35
"""The smallest share of the test pairs that biases are expected to take on average, thanks to early stopping."""


_A_DAY = 86_400.0
"""What a provider may take for a batch."""


class _Sizes(NamedTuple):
    target: int
    search: int
    confirm: int
    library: int


def make_plan(config: RunConfig, *, probe_pairs: int = PROBE_PAIRS, new_biases: tuple[int, int] = NEW_BIASES) -> Plan:
    """Measure a run on `probe_pairs` target and test pairs, one round, and scale it to the sizes of `config`.

    `new_biases` are the fewest and most biases beyond the given ones that are expected to be tested. The probe is paid
    for; with a `store` URL in the configuration its answers are kept there and the run does not pay for them again.
    Raises ConfigError, and what a run raises.
    """
    if probe_pairs < 2:
        raise ConfigError(f"--probe {probe_pairs}: give 2 or more pairs")
    low, high = new_biases
    if not 0 <= low <= high:
        raise ConfigError(f"--new-biases {low}-{high}: write the fewest and the most, such as 5-20")
    with tempfile.TemporaryDirectory(prefix="biasscope-plan-") as scratch:
        with closing(Store(Path(scratch) / "sizes.db")) as sizes:
            load_pairs(sizes, "plan", config)
            target, search, confirm = (len(sizes.pair_ids("plan", part)) for part in ("target", "search", "confirm"))
            n = _Sizes(target, search, confirm, len(start_library(sizes, "plan", config)))
        probe = _probe_config(config, probe_pairs, n.search, Path(scratch))
        folder = create(probe)
        outcome = run(folder)
        if outcome.state != "finished":
            raise ConfigError(f"the probe did not end: {outcome.reason}; raise the budget or lower --probe")
        with closing(open_store(folder, probe)) as store:
            return _scale(config, store, folder, n, probe_pairs, new_biases)


def _tested(probe_pairs: int) -> int:
    """Test pairs of a probe: each takes a rewrite and a verdict for every given bias."""
    return max(2, probe_pairs // 3)


def _probe_config(config: RunConfig, pairs: int, search_pairs: int, scratch: Path) -> RunConfig:
    """One round on few pairs. The given biases are tested on some of them, so that a test is measured in any case."""
    tested = _tested(pairs)
    checks = config.validation.manipulation_checks
    validation = {
        "seeds": True,
        "confirm_share": 0.0,
        "max_pairs": tested,
        # The full run checks a fixed number of pairs; here the same share of them.
        "manipulation_checks": math.ceil(checks * min(1.0, tested / search_pairs)),
    }
    return config.model_copy(
        update={
            "name": f"plan-{uuid.uuid4().hex[:12]}",
            "workspace": scratch,
            "approve": False,
            "judgments": None,
            # What a model answers does not depend on the way it is asked, and a probe should not take days.
            **{role: _online(getattr(config, role)) for role in ("judge", "teacher", "verifier")},
            "target": config.target.model_copy(update={"limit": pairs if config.test else 2 * pairs}),
            "test": config.test.model_copy(update={"limit": pairs}) if config.test else None,
            "discovery": config.discovery.model_copy(update={"iterations": 1}),
            "validation": config.validation.model_copy(update=validation),
        }
    )


def _online(spec: Any) -> Any:
    if isinstance(spec, ModelSpec) and spec.batch is not None:
        return spec.model_copy(update={"batch": None})
    if isinstance(spec, JurySpec):
        return spec.model_copy(update={"members": tuple(_online(member) for member in spec.members)})
    return spec


def _scale(
    config: RunConfig, store: Store, folder: RunFolder, sizes: "_Sizes", probe_pairs: int, new: tuple[int, int]
) -> Plan:
    run_id, validation = folder.run_id, config.validation
    given = sizes.library if validation.seeds else 0
    # The arms that all biases share: original, and placebo unless the paper's rule is used.
    arms = 1 if validation.rule == "paper" else 2
    probed = min(len(store.pair_ids(run_id, "search")), _tested(probe_pairs))
    units = (store.count(Validation, run_id=run_id) + arms) * probed
    test_pairs = min(sizes.search, validation.max_pairs or sizes.search)
    least = _LEAST_SHARE if validation.when == "early" and validation.rule == "eprocess" else 1.0
    rounds = Span(low=min(config.discovery.patience, config.discovery.iterations), high=config.discovery.iterations)
    by_round = rounds.times(sizes.target / len(store.pair_ids(run_id, "target")))
    factors = dict.fromkeys(("perturb", "judge", "explain", "discover", "merge"), by_round)
    factors["validate"] = Span(
        low=(given + new[0] + arms) * test_pairs * least / units, high=(given + new[1] + arms) * test_pairs / units
    )
    confirm = Span(low=0, high=(given + new[1] + arms) * sizes.confirm / units)
    turns = dict.fromkeys(factors, rounds)
    turns["validate"] = Span(low=rounds.low, high=rounds.high * math.ceil(test_pairs / validation.batch))
    turns["confirm"] = Span(low=0, high=math.ceil(sizes.confirm / validation.batch))
    stages, calls = [], 0
    for (role, stage), paid in _by_stage(store, run_id).items():
        calls += len(paid)
        spec = _spec_of(config, role)
        if stage in factors:
            stages.append(_stage(role, stage, paid, spec, factors[stage], turns[stage]))
        if stage == "validate" and sizes.confirm:
            stages.append(_stage(role, "confirm", paid, spec, confirm, turns["confirm"]))
    return Plan(
        stages=tuple(stages),
        target_pairs=sizes.target,
        search_pairs=sizes.search,
        confirm_pairs=sizes.confirm,
        probe_pairs=probe_pairs,
        probe_calls=calls,
        new_biases=new,
    )


def _by_stage(store: Store, run_id: str) -> dict[tuple[str, str], list[Completion]]:
    found: dict[tuple[str, str], list[Completion]] = {}
    for role, stage, completion in store.calls(run_id):
        found.setdefault((role, stage), []).append(completion)
    return found


def _stage(role: str, stage: str, paid: Sequence[Completion], spec: ModelSpec, factor: Span, turns: Span) -> StagePlan:
    costs = [c.cost for c in paid if c.cost is not None]
    if spec.batch is not None:
        seconds = Span(low=turns.low * spec.batch.poll_s, high=turns.high * _A_DAY)
    else:
        seconds = factor.times(sum(c.seconds for c in paid) / spec.at_once)
    return StagePlan(
        role=role,
        stage=stage,
        calls=factor.times(len(paid)),
        prompt_tokens=factor.times(sum(c.prompt_tokens for c in paid)),
        completion_tokens=factor.times(sum(c.completion_tokens for c in paid)),
        cost=factor.times(sum(costs)) if costs else None,
        seconds=seconds,
        at_once=None if spec.batch is not None else spec.at_once,
    )


def _spec_of(config: RunConfig, role: str) -> ModelSpec:
    if role in ("judge", "explainer"):
        return max(models_of(config.judge), key=lambda model: model.max_concurrency)
    return (config.verifier or config.teacher) if role == "verifier" else config.teacher
