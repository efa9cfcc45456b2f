"""The folder of one training: what it was told, its checkpoints and logs, the trained model, the outcome."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError
from .settings import TrainingSettings

_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_MAY_CHANGE = {"output", "cpu", "save_every", "keep", "log_every"}
"""Settings that leave the trained model as it is, or nearly so: a resumed training may have others."""


@dataclass(frozen=True)
class TrainingFolder:
    """Paths under `output`."""

    path: Path

    @property
    def model(self) -> Path:
        """The trained model, or its adapter, with the tokenizer."""
        return self.path / "model"

    @property
    def base(self) -> Path:
        """The model that was begun from, where it had to be converted."""
        return self.path / "base"

    @property
    def result(self) -> Path:
        """The outcome; there when the training has ended."""
        return self.path / "result.json"

    @property
    def manifest(self) -> Path:
        """Settings, data hashes and versions."""
        return self.path / "manifest.json"

    def check(self, settings: TrainingSettings, hashes: dict[str, str]) -> None:
        """Whether this training can begin here, or go on with the one that is there. Raises ConfigError."""
        if not self.manifest.exists():
            if self.path.exists() and any(p.name not in ("base", "cache") for p in self.path.iterdir()):
                raise ConfigError(f"output: {str(self.path)!r} holds other things; choose a new folder")
            return
        then = json.loads(self.manifest.read_text(encoding="utf-8"))
        values = settings.model_dump(mode="json")
        changed = [
            name for name, value in values.items() if name not in _MAY_CHANGE and then["settings"][name] != value
        ]
        changed += [f"the {name} data" for name in hashes if then["data"].get(name) != hashes[name]]
        if changed:
            raise ConfigError(
                f"output: {str(self.path)!r} holds a training with other settings ({', '.join(changed)}); choose "
                "another folder, or go back to what it began with"
            )

    def begin(self, settings: TrainingSettings, hashes: dict[str, str], versions: dict[str, str]) -> None:
        """Write the manifest, once everything that can be wrong with the input has been looked at."""
        if not self.manifest.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            _write(self.manifest, {"settings": settings.model_dump(mode="json"), "data": hashes, "versions": versions})

    def checkpoint(self) -> Path | None:
        """The last whole checkpoint. One that a killed process left half written is removed."""
        found = [(int(m[1]), p) for p in self.path.glob("checkpoint-*") if (m := _CHECKPOINT.fullmatch(p.name))]
        for _, path in sorted(found, reverse=True):
            try:
                json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))  # written last
            except (OSError, ValueError):
                shutil.rmtree(path)
            else:
                return path
        return None

    def before(self, measure: Callable[[], dict[str, float]], keep: bool) -> dict[str, float]:
        """The evaluation before the first step; of a training that is resumed, the one that was made then."""
        path = self.path / "before.json"
        if path.exists():
            found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
            return found
        measured = measure()
        if keep:
            _write(path, measured)
        return measured

    def end(self, result: dict[str, Any]) -> None:
        """Write the outcome."""
        _write(self.result, result)

    def ended(self) -> dict[str, Any] | None:
        """The outcome of a training that has ended, or None."""
        if not self.result.exists():
            return None
        found: dict[str, Any] = json.loads(self.result.read_text(encoding="utf-8"))
        return found


def _write(path: Path, value: Any) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
    partial.replace(path)
