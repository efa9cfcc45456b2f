"""Commands whose modules are imported when they are asked for: `biasscope library list` need not load a regression."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_group


class Entry(NamedTuple):
    """Where a command is, `module:name` beside this module, and what `--help` says of it in a line."""

    at: str
    help: str


def load(at: str) -> Any:
    """What stands at `module:name`, the module being relative to this package."""
    module, name = at.split(":")
    return getattr(import_module(module, __package__), name)


class _Commands(dict[str, Any]):
    """Commands by name; each is made the first time that somebody reads it."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__(dict.fromkeys(entries))
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        if (made := super().__getitem__(name)) is None:
            parent = typer.Typer(rich_markup_mode=None)
            found = load(self._entries[name].at)
            if isinstance(found, typer.Typer):
                parent.add_typer(found, name=name)
            else:
                parent.command(name)(found)
            made = self[name] = get_group(parent).commands[name]
        return made

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]


def lazy(entries: Mapping[str, Entry]) -> type[TyperGroup]:
    """A group of the commands in `entries`, in their order, whose `--help` imports none of them."""

    class Lazy(TyperGroup):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.commands = _Commands(entries)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, entry.help) for name, entry in entries.items()])

    return Lazy
