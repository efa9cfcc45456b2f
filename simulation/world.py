"""A world: its file read and compiled. `World.answer` is the whole simulation, as a function of a request body."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..core.errors import ConfigError
from ..core.mistakes import mistakes
from ..core.yaml_text import read_yaml
from .compiled import Compiled
from .replies import embeddings, reply
from .spec import WorldSpec

WORLDS = Path(__file__).parent / "worlds"


class World(Compiled):
    """A simulated teacher, judge, explainer, verifier, merger and embedder."""

    def with_seed(self, seed: int) -> "World":
        """The same world with other draws."""
        return World(self.spec.model_copy(update={"seed": seed}))

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to one /v1/chat/completions body: a pure function of world and body.

        Raises ValueError (a bad request) when the body has no usable messages.
        """
        return reply(self, body)

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to one /v1/embeddings body. Raises ValueError when it has no usable input."""
        return embeddings(self, body)


def load_world(path: str | Path) -> World:
    """Read a world from a YAML file, or a shipped one by its name (easy, realistic, null).

    Raises ConfigError, in one line, when the file cannot be read or says something that a world cannot.
    """
    return World(load_spec(path))


def load_spec(path: str | Path) -> WorldSpec:
    """The checked content of a world file, with what it extends filled in."""
    file, content = _read(path, ())
    try:
        return WorldSpec.model_validate(content)
    except ValidationError as error:
        first, *more = mistakes(error, "the world")
        others = f" (and {len(more)} more)" if more else ""
        raise ConfigError(f"{file}: {first}{others}; see docs/worlds.md") from error


def match_bias(world: World, name: str, definition: str = "") -> str | None:
    """The feature that a bias of this name and definition means, None when it means none: for scoring discoveries."""
    found = world.recogniser.match(f"{name}\n{definition}")
    return found.feature if found else None


def _read(path: str | Path, seen: tuple[Path, ...]) -> tuple[Path, dict[str, Any]]:
    file = Path(path)
    if not file.suffix and not file.exists():
        file = WORLDS / f"{path}.yaml"
    if not file.is_file():
        shipped = ", ".join(sorted(p.stem for p in WORLDS.glob("*.yaml")))
        raise ConfigError(f"no world file {str(path)!r}; give a YAML file or one of the shipped worlds: {shipped}")
    if file.resolve() in seen:
        raise ConfigError(f"{file}: extends itself; take `extends` out of one of the files")
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text; a world is a YAML file") from error
    try:
        content = read_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: a world is a mapping with `name` and `features`, got {type(content).__name__}")
    base = content.pop("extends", None)
    if base is None:
        return file, content
    beside = file.parent / str(base)
    _, under = _read(beside if beside.is_file() else str(base), (*seen, file.resolve()))
    for key, value in content.items():
        # Sections are merged one level deep: `judge: {weights: {}}` keeps the rest of the judge.
        both = isinstance(value, dict) and isinstance(under.get(key), dict)
        under[key] = {**under[key], **value} if both else value
    return file, under
