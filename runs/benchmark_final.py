"""`benchmark finalize`: from a built and annotated run to the files of its final set."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..builders.annotating import annotations
from ..builders.benchmark.card import Making
from ..builders.benchmark.finalize import Final, finalise
from ..builders.benchmark.publish import final_rows, publish
from ..core.errors import DataError, StoreError
from ..core.records import Item
from ..core.store import Store
from ..data.benchmark import public_name
from .benchmark import BenchmarkConfig, stored_funnel
from .config import load_config
from .folder import RunFolder
from .jobs import locked, open_store

FINAL = "final"


@dataclass(frozen=True)
class Finished:
    """What `finalize` made."""

    folder: Path
    items: int
    final: Final
    warnings: tuple[str, ...]


def finalise_run(folder: RunFolder, *, without_people: bool = False) -> Finished:
    """Write the final set into the run's folder `final`. DataError when items wait for people, or none is left."""
    config = load_config(folder.config, kind=BenchmarkConfig)
    with locked(folder):
        store = open_store(folder, config)
        try:
            return _finalise(folder, config, store, without_people)
        finally:
            store.close()


def _finalise(folder: RunFolder, config: BenchmarkConfig, store: Store, without_people: bool) -> Finished:
    run_id = folder.run_id
    funnel = stored_funnel(store, run_id)
    items = store.select(Item, run_id=run_id)
    if not items:
        raise DataError(f"the benchmark {run_id!r} has no items: all variants were dropped; see its funnel")
    labels = annotations(store, run_id)
    final = finalise(run_id, items, labels, without_people=without_people)
    if not final.kept:
        raise DataError(f"no item of {run_id!r} is left: annotators dropped {len(final.drops)} of {len(items)}")
    making = made_by(store, run_id, config)
    rows = final_rows(store, final, making)
    out = folder.path / FINAL
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        warnings = publish(out, rows, final, funnel, making, labels, today)
    except OSError as error:
        raise StoreError(f"the final set cannot be written to {str(out)!r}: {error.strerror or error}") from error
    store.write_note(run_id, "final", {"items": len(rows), "human_verified": final.human_verified})
    return Finished(out, len(rows), final, tuple(warnings))


def made_by(store: Store, run_id: str, config: BenchmarkConfig) -> Making:
    """How a benchmark was made, from its manifest."""
    models: dict[str, str] = store.note(run_id, "manifest")["models"]
    named = {role: public_name(name) for role, name in models.items()}
    panel = tuple(name for role, name in named.items() if role.startswith("panel "))
    return Making(
        title=config.title or run_id,
        run_id=run_id,
        seed=config.seed,
        licence=config.licence,
        teacher=named["teacher"] if config.teacher.rewrites == "model" else "rules of the feature lexicon",
        judges=tuple(named[f"judge {k}"] for k in range(1, len(config.judges) + 1)),
        rule=config.filter.rule,
        panel=panel or (named["teacher"],),
        version=__version__,
    )
