"""Units on their way into files: written as they come, then read again to be selected and split.

Only numbers are held in memory. A killed build starts over here: its calls are answered from the store.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...core.errors import StoreError
from ...data.contamination import PromptIndex
from .selection import Flags, Ledger
from .settings import PreferenceSettings
from .units import Row, Unit, file_names


class Staged(NamedTuple):
    """A unit as it was staged."""

    pair_id: str
    question: str
    biases: tuple[str, ...]
    rows: dict[str, list[Row]]


@dataclass
class Written:
    """What the files hold."""

    rows: Counter[str] = field(default_factory=Counter)
    """By file name."""
    units: Counter[str] = field(default_factory=Counter)
    """train and validation."""
    biases: Counter[str] = field(default_factory=Counter)
    """Units by bias id, `` for untouched pairs; a unit with several biases counts for each."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Units that the selection left out, by reason."""


class Staging:
    """The staged units of one build, in `path`."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.ledger = Ledger(seed)
        self._file = _opened(path)

    def add(self, unit: Unit) -> None:
        """The next unit."""
        self.ledger.add(unit)
        value = {"pair": unit.pair.id, "question": unit.pair.prompt, "biases": unit.biases, "rows": unit.rows}
        self._file.write(_line(value))

    def close(self) -> None:
        """No more units come."""
        self._file.close()

    def read(self) -> Iterator[Staged]:
        """The units, one at a time."""
        with self.path.open(encoding="utf-8") as handle:
            for line in handle:
                value = json.loads(line)
                yield Staged(value["pair"], value["question"], tuple(value["biases"]), value["rows"])

    def write(
        self, folder: Path, parts: Iterable[str], settings: PreferenceSettings, drop: Callable[[Staged, str], None]
    ) -> Written:
        """Select, split and write the files of `parts`, each there whole or not at all; `drop` hears of the others."""
        kept = self.ledger.keep(settings)
        held_out = self.ledger.validation(kept, settings)
        guard = self._held_out_prompts(held_out, settings)
        written = Written()
        names = {part: file_names(part) for part in parts}
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(_opened(folder / f"{name}.partial"))
                for pair in names.values()
                for name in (pair if held_out.any() else pair[:1])
            }
            for k, staged in enumerate(self.read()):
                if reason := _why_not(staged, bool(kept[k]), bool(held_out[k]), guard):
                    written.dropped[reason] += 1
                    drop(staged, reason)
                    continue
                written.units["validation" if held_out[k] else "train"] += 1
                written.biases.update(staged.biases or ("",))
                for part, rows in staged.rows.items():
                    name = names[part][int(held_out[k])]
                    written.rows[name] += len(rows)
                    files[name].writelines(map(_line, rows))
        for name in files:
            (folder / f"{name}.partial").replace(folder / name)
        return written

    def _held_out_prompts(self, held_out: Flags, settings: PreferenceSettings) -> PromptIndex:
        index = PromptIndex(settings.contamination)
        if held_out.any():
            for k, staged in enumerate(self.read()):
                if held_out[k]:
                    index.add(staged.question, "the validation part")
        return index


def _why_not(staged: Staged, kept: bool, held_out: bool, guard: PromptIndex) -> str:
    if not kept:
        return "over its share, or for the balance of lengths"
    if not held_out and guard.find(staged.question) is not None:
        return "near prompt as a validation pair"
    return ""


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _opened(path: Path) -> Any:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from None
