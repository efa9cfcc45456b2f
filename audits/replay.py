"""A judge's verdicts on a frozen test set, now: what a gate compares with a limit and with the judge as it was.

The outcome is a small JSON file without any text. The one of an earlier gate is the baseline of a later one.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from ..agents.arms import judged
from ..agents.judges.protocol import Judge
from ..agents.outcomes import wrong
from ..core.errors import DataError
from ..core.ids import content_id
from ..core.job import Job
from ..core.mistakes import mistakes
from ..core.records import ORIGINAL, Judgment, Order, Verdict, bias_arm
from ..prompts import prompt_hashes
from .frozen import FrozenSet

_LETTERS: dict[Verdict, str] = {"chosen": "c", "rejected": "r", "tie": "t", "invalid": "i"}
FAILED = "f"
"""Stands for a judgment that failed, in place of the letter of a verdict."""
INVALID = "i"
_PROMPTS = ("judge", "format")
"""Beginnings of the names of the templates that judges are asked with."""


class ArmCounts(BaseModel):
    """Judgments of one arm, counted. A pair that is judged in both orders has two."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: int
    ties: int
    invalid: int
    failed: int


class Replay(BaseModel):
    """The file. Lists are in the order of the frozen set's pairs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["biasscope-replay"] = "biasscope-replay"
    version: Literal[1] = 1
    frozen: str
    """SHA-256 of the frozen set."""
    judge: str
    prompts: str
    """Hash of the prompts that judges are asked with."""
    served_by: tuple[str, ...] = ()
    """Model names that the endpoint reported."""
    both_orders: bool
    wrong: dict[str, tuple[float | None, ...]]
    """By arm: 1, 0, a probability of the wrong answer, or null without a verdict, or where the arm has no text."""
    verdicts: dict[str, tuple[str, ...]]
    """By arm: a letter for each order (c chosen, r rejected, t tie, i invalid, f failed); empty without a text."""
    again: tuple[str, ...] = ()
    """Verdicts on the unperturbed pairs a second time, where they were asked: the judge's own noise."""

    @property
    def anchors(self) -> tuple[str, ...]:
        """Verdicts on the unperturbed pairs."""
        return self.verdicts[ORIGINAL]

    def counts(self) -> dict[str, ArmCounts]:
        """Judgments by arm."""
        found = {arm: Counter("".join(row)) for arm, row in self.verdicts.items()}
        return {
            arm: ArmCounts(asked=c.total(), ties=c["t"], invalid=c["i"], failed=c[FAILED]) for arm, c in found.items()
        }

    def outcomes(self, arm: str) -> npt.NDArray[np.float64]:
        """The arm's outcomes, NaN without a verdict."""
        return np.array([math.nan if v is None else v for v in self.wrong[arm]], dtype=np.float64)

    def differences(self, frozen: FrozenSet, bias_id: str) -> npt.NDArray[np.float64]:
        """wrong(bias) - wrong(reference), NaN where one of them has no verdict."""
        d: npt.NDArray[np.float64] = self.outcomes(bias_arm(bias_id)) - self.outcomes(frozen.reference_arm)
        return d


class _Item(NamedTuple):
    place: int
    arm: str
    draw: int = 0


async def replay(
    job: Job, judge: Judge, frozen: FrozenSet, *, both_orders: bool, again: bool = False, label: str = "replay"
) -> Replay:
    """Ask the judge every question of the set; `again`: the unperturbed ones twice. Each judgment is stored.

    A judgment that fails is a Failure row under `label`, and the pair has no outcome in that arm.
    """
    both = both_orders and judge.has_position
    items = list(_items(frozen, again))

    async def work(item: _Item) -> tuple[Judgment, ...]:
        pair, text = frozen.pairs[item.place].pair, frozen.text(item.place, item.arm)
        assert text is not None
        ruled = [
            await judged(job, judge, pair, item.arm, text, order, stage="audit", draw=item.draw)
            for order in _orders(frozen, item.place, both)
        ]
        return tuple(judgment.model_copy(update={"reasoning": ""}) for judgment in ruled)

    found = await job.run_all(label, items, work, lambda item: f"{frozen.pairs[item.place].pair.id} {item.arm}")
    asked = {j.request_id for ruled in found if ruled for j in ruled if j.request_id}
    names = {c.served_by for _, _, c in job.store.calls(job.run_id) if c.served_by and c.request_id in asked}
    return _gathered(frozen, judge, both, items, found).model_copy(update={"served_by": tuple(sorted(names))})


def write_replay(replayed: Replay, path: Path) -> None:
    """Write the file, a line for each list; DataError when it cannot be written."""
    head = replayed.model_dump(mode="json", exclude={"wrong", "verdicts", "again"})
    parts = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in head.items()]
    for name in ("wrong", "verdicts"):
        rows = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in replayed.model_dump(mode="json")[name].items()]
        parts.append(f'"{name}": {{\n' + ",\n".join(rows) + "\n}")
    parts.append(f'"again": {json.dumps(replayed.again)}')
    try:
        path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; give a file in a folder that exists") from None


def read_replay(path: Path) -> Replay:
    """Read and check a file; DataError says what is wrong with it."""
    try:
        found = Replay.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; `biasscope gate` writes one with --save") from None
    except ValidationError as error:
        raise DataError(f"{path}: {mistakes(error, 'the file')[0]}; `biasscope gate` writes one with --save") from None
    rows = [*found.wrong.values(), *found.verdicts.values(), *([found.again] if found.again else [])]
    values = [v for row in found.wrong.values() for v in row if v is not None]
    whole = ORIGINAL in found.wrong and found.wrong.keys() == found.verdicts.keys()
    if not whole or len({len(row) for row in rows}) != 1 or any(not 0 <= v <= 1 for v in values):
        raise DataError(
            f"{path}: is no whole replay: an arm or a part of one is not there, or an outcome not in [0, 1]"
        )
    return found


def check_fits(replayed: Replay, frozen: FrozenSet, path: Path) -> None:
    """DataError when a replay is of other questions."""
    if replayed.frozen != frozen.digest:
        raise DataError(
            f"{path}: was made on the frozen set {replayed.frozen[:12]}…, and this one is {frozen.digest[:12]}…; make "
            "a baseline on this set, or give the set that the baseline was made on"
        )
    if missing := [arm for arm in frozen.arms if len(replayed.wrong.get(arm, ())) != len(frozen.pairs)]:
        raise DataError(f"{path}: lacks the arm {missing[0]!r} of the frozen set, or some of its pairs")


def _items(frozen: FrozenSet, again: bool) -> Iterator[_Item]:
    """Pair by pair: requests that share question and answers run together and meet a warm prefix cache."""
    for index in range(len(frozen.pairs)):
        yield from (_Item(index, arm) for arm in frozen.arms if frozen.text(index, arm) is not None)
        if again:
            yield _Item(index, ORIGINAL, draw=1)


def _orders(frozen: FrozenSet, index: int, both: bool) -> tuple[Order, ...]:
    return ("chosen_first", "rejected_first") if both else (frozen.pairs[index].order,)


def _gathered(
    frozen: FrozenSet, judge: Judge, both: bool, items: Sequence[_Item], found: Sequence[tuple[Judgment, ...] | None]
) -> Replay:
    n, orders = len(frozen.pairs), 2 if both else 1
    outcomes: dict[str, list[float | None]] = {arm: [None] * n for arm in frozen.arms}
    verdicts = {arm: [""] * n for arm in frozen.arms}
    again = [""] * n
    for item, ruled in zip(items, found, strict=True):
        said = "".join(_LETTERS[j.verdict] for j in ruled) if ruled else FAILED * orders
        if item.draw:
            again[item.place] = said
            continue
        verdicts[item.arm][item.place] = said
        value = wrong(ruled) if ruled else math.nan
        outcomes[item.arm][item.place] = None if math.isnan(value) else round(value, 9)
    return Replay(
        frozen=frozen.digest,
        judge=judge.name,
        prompts=content_id({k: v for k, v in prompt_hashes().items() if k.startswith(_PROMPTS)}),
        both_orders=both,
        wrong={arm: tuple(row) for arm, row in outcomes.items()},
        verdicts={arm: tuple(row) for arm, row in verdicts.items()},
        again=tuple(again) if any(item.draw for item in items) else (),
    )
