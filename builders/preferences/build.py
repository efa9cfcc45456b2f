"""From source pairs and biases to a training set on disk, one pair at a time (METHOD sections 6 and 7)."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from ...core.ids import content_id
from ...core.records import Bias, Drop, Failure, PreferencePair
from ...data.contamination import PromptIndex
from ..benchmark.funnel import Funnel, Step, make_step
from .candidates import LeftOut, Planned, planned_pairs
from .rewriting import Refused, Studio
from .settings import PreferenceSettings
from .staging import Staged, Staging, Written
from .units import Unit

SOURCE, MAKE, SELECT = "source", "make", "select"
Make = Callable[[Planned], Awaitable[Unit | Refused]]


async def build(
    studio: Studio,
    make: Make,
    pairs: Iterable[PreferencePair],
    total: int,
    biases: Sequence[Bias],
    tests: PromptIndex,
    settings: PreferenceSettings,
    *,
    parts: Sequence[str],
    each: int,
    folder: Path,
) -> tuple[Written, Funnel]:
    """Make the files of `parts` in `folder` with `make`, which is given a pair and up to `each` biases.

    `total`: how many pairs there are, for the progress. Every pair that is left out is a Drop or a Failure.
    """
    store, run_id = studio.store, studio.run_id
    store.replace_outcome(run_id, (), ())
    await store.write(*biases)
    reasons: dict[str, Counter[str]] = {name: Counter() for name in (SOURCE, MAKE, SELECT)}
    pending: list[Drop] = []

    def drop(stage: str, pair_id: str, reason: str, detail: str = "") -> None:
        reasons[stage][reason] += 1
        made = content_id("drop", run_id, stage, pair_id)
        pending.append(Drop(id=made, run_id=run_id, stage=stage, subject=pair_id, reason=reason, detail=detail))
        if len(pending) >= 500:
            flush()

    def flush() -> None:
        store.write_now(*pending)
        pending.clear()

    def leave_out(found: LeftOut) -> None:
        drop(SOURCE, found.pair.id, found.reason, found.detail)

    async def work(planned: Planned) -> Unit | Refused:
        await store.write(planned.pair)
        return await make(planned)

    plan = planned_pairs(pairs, biases, tests, settings, each=each, seed=studio.seed, leave_out=leave_out)
    staging = Staging(folder / "staged.jsonl.partial", studio.seed)
    planned_count = 0
    try:
        async for planned, made in studio.stream_all(MAKE, plan, work, lambda p: p.subject, total):
            planned_count += 1
            if isinstance(made, Refused):
                drop(MAKE, planned.subject, made.reason, made.detail)
            elif made is not None:
                staging.add(made)
    finally:
        staging.close()

    def unselected(staged: Staged, reason: str) -> None:
        drop(SELECT, staged.pair_id, reason)

    written = staging.write(folder, parts, settings, unselected)
    staging.path.unlink()
    flush()
    failures = Counter(f"failed ({row.kind})" for row in store.iterate(Failure, run_id=run_id, stage=MAKE))
    return written, _funnel(planned_count, len(staging.ledger), written, reasons, failures)


def _funnel(
    planned: int, made: int, written: Written, reasons: dict[str, Counter[str]], failures: Counter[str]
) -> Funnel:
    read = planned + reasons[SOURCE].total()
    steps: tuple[Step, ...] = (
        make_step(SOURCE, read, planned, reasons[SOURCE].elements()),
        make_step(MAKE, planned, made, (reasons[MAKE] + failures).elements()),
        make_step(SELECT, made, written.units.total(), reasons[SELECT].elements()),
    )
    return Funnel(pairs=read, steps=steps)
