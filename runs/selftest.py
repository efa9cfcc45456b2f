"""Discovery on a planted-bias world, and what it found against what is there (docs/selftest.md)."""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ..bias_library.library import load_library
from ..core.errors import ConfigError
from ..core.records import Candidate, PreferencePair, Validation
from ..core.store import Store
from ..simulation.effects import true_effects
from ..simulation.pairs import world_pairs
from ..simulation.server import WorldServer
from ..simulation.world import World, match_bias
from ..validators.proportions import clopper_pearson, wilson
from .config import RunConfig, load_config
from .jobs import create, open_store
from .launch import run

Fate = Literal[
    "confirmed", "validated", "not shown", "inconclusive", "not injectable", "by length", "merged", "unnamed"
]

LARGE = 8.0
"""Points from which a planted bias counts as one that should be found."""
BANDS: tuple[tuple[float, float], ...] = ((0.0, 4.0), (4.0, 8.0), (8.0, 12.0), (12.0, 16.0), (16.0, 100.0))
"""True effects in points, by which recall is broken down; the lower end belongs to the band."""
_FATES: dict[str, Fate] = {
    "not_shown": "not shown",
    "inconclusive": "inconclusive",
    "not_injectable": "not injectable",
    "explained_by_length": "by length",
}
_COLUMNS = {name: name for name in ("prompt", "chosen", "rejected", "domain", "id")}


@dataclass(frozen=True)
class Planted:
    """A feature that the world's judge rewards, and how far discovery got with it."""

    feature: str
    weight: float
    effect: float
    """True effect on the error rate, in points, on the run's own test pairs."""
    fate: Fate
    """Found, else how far it came: named and merged into something else, tested and not accepted, or never named."""

    @property
    def found(self) -> bool:
        """Validated, whether or not the locked part confirmed it."""
        return self.fate in ("confirmed", "validated")


@dataclass(frozen=True)
class Reported:
    """A bias that the run holds to be real."""

    name: str
    feature: str | None
    """What it means in the world; None when nothing."""
    true: bool
    """It means a feature with a positive weight and a positive true effect."""
    confirmed: bool


@dataclass(frozen=True)
class Score:
    """One run on one draw of the world."""

    world: str
    profile: str
    seed: int
    state: str
    """Why the run ended."""
    rounds: int
    planted: tuple[Planted, ...]
    reported: tuple[Reported, ...]
    confirms: bool
    """Whether the run kept pairs for a confirmation."""
    calls: int
    tokens: int
    seconds: float

    @property
    def large(self) -> tuple[Planted, ...]:
        """The planted features that should be found."""
        return tuple(p for p in self.planted if p.effect >= LARGE)

    @property
    def false(self) -> tuple[Reported, ...]:
        """Reported and not there."""
        return tuple(r for r in self.reported if not r.true)


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval (see `summarise_scores` for which)."""

    hits: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        """None of nothing."""
        return self.hits / self.n if self.n else None


@dataclass(frozen=True)
class Summary:
    """Scores of several seeds, pooled."""

    recall: Rate
    """Of planted biases with a true effect of LARGE points or more."""
    precision: Rate
    """Of validated biases."""
    recall_confirmed: Rate
    precision_confirmed: Rate
    """The same for what the locked part confirmed; empty when no run confirms."""
    clean_runs: Rate
    """Runs without a false discovery."""
    by_band: tuple[tuple[float, float, Rate], ...]
    calls: float
    tokens: float
    seconds: float
    """Means per run."""


def selftest(
    world: World,
    *,
    seeds: Sequence[int] = (1,),
    profile: str = "rigorous",
    target_pairs: int = 300,
    test_pairs: int = 450,
    settings: Sequence[str] = (),
    workspace: Path | None = None,
    tell: Callable[[Score], None] | None = None,
) -> list[Score]:
    """Discovery on `world`, once per seed: the seed draws pairs, judge, teacher and run.

    The world is served by a process of its own; the run goes the way of any other, over HTTP and through a
    configuration (`settings` are `key=value`, as on the command line). `workspace` keeps runs and pairs; None discards
    them. `tell` hears of every score at once. Raises ConfigError.
    """
    if target_pairs < 2 or test_pairs < 2:
        raise ConfigError(
            f"pairs: {target_pairs} to search and {test_pairs} to test are too few; give 2 or more of each"
        )
    scores = []
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="biasscope-selftest-") as scratch:
            score = _score(
                world.with_seed(seed), profile, target_pairs, test_pairs, settings, workspace or Path(scratch)
            )
        scores.append(score)
        if tell:
            tell(score)
    return scores


def _score(
    world: World, profile: str, target_pairs: int, test_pairs: int, settings: Sequence[str], workspace: Path
) -> Score:
    seed = world.spec.seed
    name = f"selftest-{world.name}-{profile}-{seed}"
    workspace.mkdir(parents=True, exist_ok=True)
    # One draw for both sets, so that no pair is in both.
    pairs = world_pairs(world, target_pairs + test_pairs, seed)
    files = {part: workspace / f"{name}-{part}.jsonl" for part in ("target", "test")}
    write_pairs(files["target"], pairs[:target_pairs])
    write_pairs(files["test"], pairs[target_pairs:])
    started = time.monotonic()
    with WorldServer(world, process=True) as server:
        model = {"model": f"openai:world@{server.url}", "max_concurrency": 4}
        config = load_config(
            None,
            settings,
            {
                **{role: dict(model) for role in ("judge", "teacher", "embedder")},
                **{part: {"source": str(file), "columns": _COLUMNS} for part, file in files.items()},
                "profile": profile,
                "name": name,
                "seed": seed,
                "workspace": str(workspace),
            },
        )
        folder = create(config)
        outcome = run(folder)
    seconds = time.monotonic() - started
    store = open_store(folder, config)
    try:
        return score_run(
            world, store, folder.run_id, config, pairs[target_pairs:], state=outcome.reason, seconds=seconds
        )
    finally:
        store.close()


def score_run(
    world: World,
    store: Store,
    run_id: str,
    config: RunConfig,
    test_pairs: Sequence[PreferencePair],
    *,
    state: str = "",
    seconds: float = 0.0,
) -> Score:
    """A finished run on `world` against the truth on its test pairs. Seed biases count like any other."""
    effects = true_effects(world, test_pairs)
    weights = world.spec.judge.weights
    real = {f for f, effect in effects.items() if effect > 0 and weights.get(f, 0.0) > 0}
    library = load_library(store, run_id)
    meant = {entry.bias.id: match_bias(world, entry.bias.name, entry.bias.definition) for entry in library}
    reported = tuple(
        Reported(e.bias.name, meant[e.bias.id], meant[e.bias.id] in real, e.status == "confirmed")
        for e in library
        if e.status in ("valid", "confirmed")
    )
    decisions: dict[str, set[str]] = {}
    for validation in store.iterate(Validation, run_id=run_id):
        if feature := meant.get(validation.bias_id):
            decisions.setdefault(feature, set()).add(validation.decision)
    named = {match_bias(world, c.name, c.definition) for c in store.iterate(Candidate, run_id=run_id)}
    planted = tuple(
        Planted(f, weights[f], effects[f], _fate(f, reported, decisions.get(f, set()), f in named))
        for f in sorted(real, key=lambda f: -effects[f])
    )
    usage = store.usage(run_id)
    return Score(
        world=world.name,
        profile=config.profile,
        seed=world.spec.seed,
        state=state,
        rounds=sum(store.note(run_id, f"funnel:{k}") is not None for k in range(config.discovery.iterations)),
        planted=planted,
        reported=reported,
        confirms=bool(store.pair_ids(run_id, "confirm")),
        calls=sum(u.calls for u in usage),
        tokens=sum(u.prompt_tokens + u.completion_tokens for u in usage),
        seconds=round(seconds, 1),
    )


def _fate(feature: str, reported: Sequence[Reported], decisions: set[str], named: bool) -> Fate:
    mine = [r for r in reported if r.feature == feature]
    if mine:
        return "confirmed" if any(r.confirmed for r in mine) else "validated"
    for decision, fate in _FATES.items():
        if decision in decisions:
            return fate
    return "merged" if named else "unnamed"


def summarise_scores(scores: Sequence[Score]) -> Summary:
    """Pooled over seeds: Wilson intervals for recall and precision, Clopper-Pearson for the share of clean runs."""
    large = [p for s in scores for p in s.large]
    reported = [r for s in scores for r in s.reported]
    confirming = [s for s in scores if s.confirms]
    confirmed = [r for s in confirming for r in s.reported if r.confirmed]
    every = [p for s in scores for p in s.planted]
    n = max(len(scores), 1)
    return Summary(
        recall=_rate([p.found for p in large]),
        precision=_rate([r.true for r in reported]),
        recall_confirmed=_rate([p.fate == "confirmed" for s in confirming for p in s.large]),
        precision_confirmed=_rate([r.true for r in confirmed]),
        clean_runs=_rate([not s.false for s in scores], clopper_pearson),
        by_band=tuple((low, high, _rate([p.found for p in every if low <= p.effect < high])) for low, high in BANDS),
        calls=sum(s.calls for s in scores) / n,
        tokens=sum(s.tokens for s in scores) / n,
        seconds=sum(s.seconds for s in scores) / n,
    )


def _rate(hits: Sequence[bool], interval: Callable[[int, int], tuple[float, float]] = wilson) -> Rate:
    return Rate(sum(hits), len(hits), *interval(sum(hits), len(hits)))


def write_pairs(path: Path, pairs: Sequence[PreferencePair]) -> None:
    """Pairs as JSON lines, readable as a source with the columns of the same names."""
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            row = pair.model_dump(include={"id", "prompt", "chosen", "rejected", "domain"})
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def as_json(scores: Sequence[Score]) -> dict[str, Any]:
    """Scores and their summary for programs."""
    return {"runs": [asdict(s) for s in scores], "summary": asdict(summarise_scores(scores))}
