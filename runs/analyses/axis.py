"""What an ablation varies: one setting and its values, read from text such as `validation.when=early,late`."""

import difflib
import json
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ...core.errors import ConfigError
from ...core.ids import content_id
from ...core.yaml_text import read_yaml
from ...data.sources import load
from ..config import RunConfig

_FIXED = ("name", "workspace", "store", "approve", "budget")
_EXAMPLE = "for example --over validation.when=early,late"


@dataclass(frozen=True)
class Variant:
    """One value of the axis."""

    label: str
    setting: str
    """As for `--set`."""
    slug: str
    """The value in a run's name."""


@dataclass(frozen=True)
class Axis:
    """The setting by its full name, or `data`, and its variants in the order given."""

    key: str
    variants: tuple[Variant, ...]


def parse_axis(text: str, config: RunConfig) -> Axis:
    """`key=v1,v2,...`; a last part of a dotted name will do where only one setting has it. Settings with few possible
    values need none: `deeper_explain` takes them all. `data=25,50` are percentages of the target pairs.

    Raises ConfigError for an unknown setting, a value given twice, or fewer than two values.
    """
    key, equals, listed = text.partition("=")
    key = key.strip()
    values = _values(key, listed) if equals else None
    if key == "data":
        return Axis("data", tuple(_data_variants(values, config)))
    full, field = _find(key)
    if full.split(".")[0] in _FIXED:
        raise ConfigError(f"--over {key}: the ablation sets {full!r} itself or leaves it alone; vary another setting")
    values = values if values is not None else _options(full, field)
    return Axis(full, tuple(_variant(full, value) for value in _distinct(key, values)))


def _values(key: str, listed: str) -> list[Any]:
    try:
        found = read_yaml(f"[{listed}]")
    except ValueError:
        raise ConfigError(f"--over {key}={listed}: is no list of values; separate them by commas, {_EXAMPLE}") from None
    return list(found)


def _distinct(key: str, values: list[Any]) -> list[Any]:
    texts = [json.dumps(v, sort_keys=True) for v in values]
    if twice := next((t for t in texts if texts.count(t) > 1), None):
        raise ConfigError(f"--over {key}: {twice} is there twice; give each value once")
    if len(values) < 2:
        raise ConfigError(f"--over {key}: {len(values)} value(s) make no comparison; give two or more, {_EXAMPLE}")
    return values


def _variant(key: str, value: Any) -> Variant:
    if isinstance(value, bool):
        label = {True: "with", False: "without"}[value]
    else:
        label = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return Variant(label, f"{key}={json.dumps(value)}", _slug(label))


def _data_variants(values: list[Any] | None, config: RunConfig) -> Iterator[Variant]:
    shares = [25, 50, 75, 100] if values is None else _distinct("data", values)
    for share in shares:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 100:
            raise ConfigError(f"--over data: {share!r} is no percentage; give numbers above 0 and up to 100")
    if config.test is None:
        raise ConfigError(
            "--over data: without `test` the test pairs are cut from the target pairs and would shrink with them; "
            "give `test` a source of its own"
        )
    total = len(load(config.target).pairs)
    for share in shares:
        label = f"{share:g} %"
        yield Variant(label, f"target.limit={max(1, round(total * share / 100))}", f"{share:g}".replace(".", "-"))


def _slug(label: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "-", label).strip("-")
    return plain if plain == label and len(plain) <= 40 else f"{plain[:40].strip('-')}-{content_id(label)[:6]}"


def _find(key: str) -> tuple[str, FieldInfo]:
    known = dict(_fields(RunConfig))
    if key in known:
        return key, known[key]
    ends = [name for name in known if name.endswith(f".{key}")]
    if key and len(ends) == 1:
        return ends[0], known[ends[0]]
    if key and ends:
        raise ConfigError(f"--over {key}: may be {', '.join(ends)}; write the full name")
    near = difflib.get_close_matches(key, [*known, *(n.rsplit(".", 1)[-1] for n in known), "data"], 3)
    hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"give one of the configuration, {_EXAMPLE}"
    raise ConfigError(f"--over {key}: is no setting; {hint}")


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield prefix + name, field
        for kind in _kinds(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _fields(kind, f"{prefix}{name}.")


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of a union, without Annotated."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _kinds(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(k for part in typing.get_args(annotation) for k in _kinds(part))
    return (annotation,)


def _options(key: str, field: FieldInfo) -> list[Any]:
    """All values of a switch or of a setting with named values."""
    if field.annotation is bool:
        return [False, True]
    if typing.get_origin(field.annotation) is typing.Literal:
        return list(typing.get_args(field.annotation))
    raise ConfigError(f"--over {key}: needs values; write --over {key}=V1,V2")
