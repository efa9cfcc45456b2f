"""The judge card: what the runs of a workspace say about one judge, joined into one value.

Each part comes from the last run of its kind that has a result, finished ones first. Texts of the data are left out: a
card can be published where its pairs cannot.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from ...audits.profile.result import Profile
from ...audits.self_preference.result import SelfPreferenceResult
from ...audits.taxonomy.result import TaxonomyResult
from ...core.errors import ConfigError, UserError
from ...core.records import Status
from ...core.store import Store
from ..config import load_config
from ..folder import RunFolder, command_in, runs_in
from ..jobs import open_store
from ..report.collect import collect
from ..report.model import BiasEntry, Headline, State
from .figures import short_name
from .finished import read_result
from .profile import NAME as PROFILE
from .self_preference import SelfPreferenceConfig, collect_self_preference
from .taxonomy import TaxonomyConfig, collect_taxonomy

PROFILE_FILE = f"{PROFILE}.json"
_STATES: dict[str, State] = {"finished": "finished", "budget": "inconclusive", "stopped": "stopped"}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(_Part):
    """The run that a part comes from."""

    run_id: str
    state: State
    version: str
    """Of BiasScope."""
    seed: int | None
    data: tuple[str, ...]
    """The sources that its configuration names."""
    others: int
    """Further runs of the same kind on this judge in the workspace."""


class CardBias(_Part):
    """One bias that discovery tested. Effects in points of error rate."""

    name: str
    definition: str
    status: Status
    effect: float
    interval: tuple[float, float]
    part: Literal["search", "confirmation"]
    n: int
    e_value: float | None
    p_value: float | None


class DiscoveryPart(_Part):
    """What the loop found."""

    source: Source
    headline: Headline
    biases: tuple[CardBias, ...]
    """Those that were tested, the accepted ones first."""


class TaxonomyPart(_Part):
    """The twelve biases."""

    source: Source
    result: TaxonomyResult


class SelfPreferencePart(_Part):
    """Own answers against others."""

    source: Source
    result: SelfPreferenceResult


class ReliabilityPart(_Part):
    """Accuracy, consistency, agreement, calibration."""

    source: Source
    result: Profile


class JudgeCard(_Part):
    """The card as JSON."""

    format: Literal["biasscope-card"] = "biasscope-card"
    version: Literal[1] = 1
    judge: str
    """Its identity: model, and how it judges."""
    discovery: DiscoveryPart | None
    taxonomy: TaxonomyPart | None
    self_preference: SelfPreferencePart | None
    reliability: ReliabilityPart | None
    missing: dict[str, str]
    """Parts without a result, and why."""


KINDS = {
    "reliability": "profile",
    "discovery": "discover",
    "taxonomy": "taxonomy",
    "self_preference": "self-preference",
}
"""The kind of job behind each part, in the order of the card."""


class Judged(NamedTuple):
    """A run and the judge it is about."""

    folder: RunFolder
    judge: str
    manifest: dict[str, Any]


def judged_runs(workspace: Path) -> Iterator[Judged]:
    """The runs of the kinds that a card joins and that got as far as asking a judge."""
    for folder in runs_in(workspace):
        if folder.kind in KINDS.values():
            with contextlib.suppress(OSError, ValueError):
                manifest = json.loads(folder.manifest.read_text(encoding="utf-8"))
                if isinstance(manifest, dict) and (judge := (manifest.get("models") or {}).get("judge")):
                    yield Judged(folder, str(judge), manifest)


def find_judge(name: str | None, workspace: Path) -> str:
    """The identity of the judge that `name` is: a reference as in a configuration, a model's name, or an identity.

    None: the only judge there is. Raises ConfigError when that is none, or several.
    """
    there = sorted({run.judge for run in judged_runs(workspace)})
    if not there:
        raise ConfigError(
            f"no run in {str(workspace)!r} has asked a judge yet; `{command_in(workspace, 'discover')}`, "
            "`audit taxonomy`, `audit self-preference` and `judge profile` make the parts of a card"
        )
    found = there if name is None else [judge for judge in there if _is(name, judge)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(map(repr, found or there))
    if not found:
        raise ConfigError(f"no run in {str(workspace)!r} is about the judge {name!r}; judges there: {listed}")
    said = "there are several judges" if name is None else f"{name!r} is several judges"
    raise ConfigError(f"{said} in {str(workspace)!r}: {listed}; name one of these")


def collect_card(judge: str, workspace: Path) -> JudgeCard:
    """The card of a judge's identity, from the stores of the workspace's runs."""
    runs = [run for run in judged_runs(workspace) if run.judge == judge]
    missing: dict[str, str] = {}

    def part(name: str, read: Callable[[RunFolder, Source], R]) -> R | None:
        mine = sorted((r for r in runs if r.folder.kind == KINDS[name]), key=_recent, reverse=True)
        reasons = []
        for run in mine:
            try:
                return read(run.folder, _source(run, len(mine) - 1))
            except UserError as error:
                reasons.append(str(error))
        missing[name] = reasons[0] if reasons else "not run"
        return None

    return JudgeCard(
        judge=judge,
        reliability=part("reliability", _reliability),
        discovery=part("discovery", _discovery),
        taxonomy=part("taxonomy", _taxonomy),
        self_preference=part("self_preference", _self_preference),
        missing=missing,
    )


R = TypeVar("R")


def _is(name: str, judge: str) -> bool:
    asked, known = name.casefold(), judge.casefold()
    return asked == known or known.startswith((f"{asked}#", f"{asked}@")) or short_name(asked) == short_name(known)


def _recent(run: Judged) -> tuple[bool, float]:
    return _state(run.folder) == "finished", run.folder.manifest.stat().st_mtime


def _state(folder: RunFolder) -> State:
    try:
        with contextlib.closing(open_store(folder)) as store:
            outcome = store.note(folder.run_id, "outcome")
    except UserError:
        return "stopped"
    return _STATES.get(str((outcome or {}).get("state")), "running")


def _source(run: Judged, others: int) -> Source:
    config = run.manifest.get("config") or {}
    data = (config.get(key) for key in ("target", "test", "data", "suite", "answers"))
    named = (d.get("source") if isinstance(d, dict) else d for d in data)
    return Source(
        run_id=run.folder.run_id,
        state=_state(run.folder),
        version=str(run.manifest.get("biasscope", "")),
        seed=run.manifest.get("seed"),
        data=tuple(Path(str(name)).name for name in named if name),
        others=others,
    )


@contextlib.contextmanager
def _opened(folder: RunFolder) -> Iterator[Store]:
    with contextlib.closing(open_store(folder)) as store:
        yield store


def _discovery(folder: RunFolder, source: Source) -> DiscoveryPart:
    with _opened(folder) as store:
        report = collect(store, folder.run_id)
    tested = [made for entry in report.biases if (made := _bias(entry)) is not None]
    tested.sort(key=lambda b: (b.status not in ("confirmed", "valid"), -b.effect, b.name))
    return DiscoveryPart(source=source, headline=report.headline, biases=tuple(tested))


def _bias(entry: BiasEntry) -> CardBias | None:
    if (shown := entry.shown) is None:
        return None
    return CardBias(
        name=entry.name,
        definition=entry.definition,
        status=entry.status,
        effect=shown.effect,
        interval=shown.interval,
        part=shown.part,
        n=shown.n,
        e_value=shown.e_value,
        p_value=shown.p_value,
    )


def _taxonomy(folder: RunFolder, source: Source) -> TaxonomyPart:
    config = load_config(folder.config, kind=TaxonomyConfig)
    with _opened(folder) as store:
        return TaxonomyPart(source=source, result=collect_taxonomy(store, folder.run_id, config).result)


def _self_preference(folder: RunFolder, source: Source) -> SelfPreferencePart:
    config = load_config(folder.config, kind=SelfPreferenceConfig)
    with _opened(folder) as store:
        found = collect_self_preference(store, folder.run_id, config)
    return SelfPreferencePart(source=source, result=found.result)


def _reliability(folder: RunFolder, source: Source) -> ReliabilityPart:
    found = read_result(folder, PROFILE_FILE, Profile)
    return ReliabilityPart(source=source, result=found.model_copy(update={"data": Path(found.data).name}))
