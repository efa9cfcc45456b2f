"""The library: what its events say, and nothing else.

`replay` is a pure function of a set of events: their order in a file or table does not matter. A line that cannot be
applied (its bias is gone because the line that added it was undone, a merge would close a circle) is left out and
listed in `skipped` with the reason; when the undo is undone, it counts again.
"""

import datetime
import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import LibraryError
from ..core.records import Bias, LibraryEvent, Status
from ..core.store import Store
from .events import Stamp, Support

IN_USE: tuple[Status, ...] = ("seed", "valid", "confirmed")
"""The statuses of biases that the loop injects."""


@dataclass(frozen=True)
class Entry:
    """One bias as it stands now."""

    bias: Bias
    """With its current wording; the id is the one it was born with."""
    own_status: Status
    support: Support = field(default_factory=Support)
    """Its own and that of the biases merged into it."""
    validations: tuple[str, ...] = ()
    merged_into: str | None = None
    split_into: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """`merged` for a bias that became part of another, else its own."""
        return "merged" if self.merged_into else self.own_status

    @property
    def parents(self) -> tuple[str, ...]:
        """Biases that it comes from."""
        return self.bias.parents


@dataclass(frozen=True)
class Library:
    """Entries by bias id in the order they entered, and the lines they come from."""

    entries: Mapping[str, Entry]
    events: tuple[LibraryEvent, ...]
    cancelled: frozenset[str]
    """Events that an undo took back."""
    skipped: Mapping[str, str]
    """Events that could not be applied, with the reason."""

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def biases(self, *statuses: Status) -> list[Bias]:
        """The biases with one of these statuses; without any, those in use (seed, valid, confirmed)."""
        wanted = statuses or IN_USE
        return [entry.bias for entry in self if entry.status in wanted]

    def resolve(self, bias_id: str) -> str:
        """The bias that this one has become by merging; itself when it was never merged."""
        while (into := self.entries[bias_id].merged_into) is not None:
            bias_id = into
        return bias_id

    def find(self, key: str) -> Entry:
        """An entry by id, by unique start of an id, or by name; LibraryError when there is none or more than one."""
        if key in self.entries:
            return self.entries[key]
        same_name = [e for e in self if e.bias.name.casefold() == key.strip().casefold()]
        current = [e for e in same_name if e.merged_into is None] or same_name
        found = current or [e for e in self if key and e.bias.id.startswith(key)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise LibraryError(f"no bias {key!r} in this library{self._near(key)}")
        shown = ", ".join(e.bias.id[:8] for e in found[:5])
        raise LibraryError(f"{key!r} fits {len(found)} biases ({shown}): give the id")

    def _near(self, key: str) -> str:
        names = {e.bias.name.casefold(): e.bias.name for e in self}
        near = difflib.get_close_matches(key.strip().casefold(), names, n=1)
        return f"; did you mean {names[near[0]]!r}?" if near else f", which has {len(names)}; list it to see them"

    def history(self, bias_id: str) -> list[LibraryEvent]:
        """Every line about a bias in order, also cancelled ones and merges or splits that name it."""
        return [e for e in self.events if e.bias_id == bias_id or bias_id in _named(e)]

    @property
    def next_seq(self) -> int:
        """The place after the last line; for people's events. Steps of the loop use `events.first_seq`."""
        return self.events[-1].seq + 1 if self.events else 0


def stamp_now(library: Library, author: str, reason: str, run_id: str) -> Stamp:
    """Where a person's line goes: after the last one, with the time."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Stamp(run_id, library.next_seq, author, reason, at=now)


def replay(events: Iterable[LibraryEvent]) -> Library:
    """The library that these events make. Order-free; the same event twice counts once."""
    ordered = sorted({e.id: e for e in events}.values(), key=lambda e: (e.seq, e.id))
    cancelled, skipped = _undone(ordered)
    entries: dict[str, Entry] = {}
    for event in ordered:
        if event.id in cancelled or event.kind == "undo":
            continue
        if reason := _apply(entries, event):
            skipped[event.id] = reason
    return Library(_with_support_of_merged(entries), tuple(ordered), frozenset(cancelled), skipped)


def checked(library: Library, *events: LibraryEvent) -> Library:
    """The library with more events, each of which must have an effect; LibraryError says why one has none."""
    after = replay((*library.events, *events))
    for event in events:
        if event.kind == "undo" and event.payload["event"] in library.cancelled:
            raise LibraryError(
                f"event {event.payload['event'][:8]} was taken back already: to have it again, undo its undo"
            )
        if event.id in after.skipped:
            raise LibraryError(after.skipped[event.id])
    return after


def load_library(store: Store, run_id: str, before: int | None = None) -> Library:
    """A run's library; with `before`, as it stood ahead of that place (so that a repeated node sees what it saw)."""
    events = store.select(LibraryEvent, run_id=run_id)
    return replay(e for e in events if before is None or e.seq < before)


async def append(store: Store, events: Iterable[LibraryEvent]) -> None:
    """Write biases, then the events that name them. Two writers at the same place both keep their lines."""
    written = list(events)
    await store.write(*_biases_of(written))
    await store.write(*written)


def append_now(store: Store, events: Iterable[LibraryEvent]) -> None:
    """The same for callers without an event loop."""
    written = list(events)
    store.write_now(*_biases_of(written))
    store.write_now(*written)


def read_bias(bias_id: str, body: Any) -> Bias:
    """The bias in an event's payload."""
    return Bias.model_validate({**body, "id": bias_id})


def _biases_of(events: Iterable[LibraryEvent]) -> list[Bias]:
    found = []
    for event in events:
        if event.kind == "add":
            found.append(read_bias(event.bias_id, event.payload["bias"]))
        elif event.kind == "split":
            found += [read_bias(part["id"], part["bias"]) for part in event.payload["parts"]]
    return found


def _undone(ordered: list[LibraryEvent]) -> tuple[set[str], dict[str, str]]:
    place = {event.id: k for k, event in enumerate(ordered)}
    cancelled: set[str] = set()
    skipped: dict[str, str] = {}
    for k, event in reversed(list(enumerate(ordered))):
        if event.kind != "undo" or event.id in cancelled:
            continue
        target = str(event.payload.get("event", ""))
        if place.get(target, k) < k:
            cancelled.add(target)
        else:
            skipped[event.id] = f"nothing to undo: no earlier event {target!r} in this library"
    return cancelled, skipped


def _apply(entries: dict[str, Entry], event: LibraryEvent) -> str:
    """Change `entries`; the reason when the event has no place."""
    if event.kind == "add":
        return _enter(entries, event.bias_id, event.payload, event.payload["status"])
    entry = entries.get(event.bias_id)
    if entry is None:
        return f"no bias {event.bias_id!r} to {event.kind} in this library"
    given = event.payload
    match event.kind:
        case "merge":
            return _merge(entries, entry, str(given["into"]))
        case "split":
            return _split(entries, entry, given["parts"])
        case "status":
            checks = _union(entry.validations, given.get("validations", ()))
            entries[event.bias_id] = replace(entry, own_status=given["status"], validations=checks)
        case "evidence":
            checks = _union(entry.validations, given.get("validations", ()))
            support = entry.support | Support.read(given.get("support"))
            entries[event.bias_id] = replace(entry, support=support, validations=checks)
        case "rename" | "edit":
            words: dict[str, Any] = {k: given[k] for k in ("name", "definition", "manifestation") if k in given}
            entries[event.bias_id] = replace(entry, bias=entry.bias.model_copy(update=words))
        case "retire":
            entries[event.bias_id] = replace(entry, own_status="retired")
    return ""


def _enter(entries: dict[str, Entry], bias_id: str, given: Any, status: Status) -> str:
    if bias_id in entries:
        return f"the bias {entries[bias_id].bias.name!r} is in the library already"
    bias = read_bias(bias_id, given["bias"])
    entries[bias_id] = Entry(bias, status, Support.read(given.get("support")))
    return ""


def _merge(entries: dict[str, Entry], entry: Entry, into: str) -> str:
    if entry.merged_into:
        return f"{entry.bias.name!r} is merged into {entries[entry.merged_into].bias.name!r} already: undo that first"
    if into not in entries:
        return f"cannot merge {entry.bias.name!r}: no bias {into!r} in this library"
    root = into
    while (above := entries[root].merged_into) is not None:
        root = above
    if root == entry.bias.id:
        return f"cannot merge {entry.bias.name!r} into {entries[into].bias.name!r}: that one is part of it"
    entries[entry.bias.id] = replace(entry, merged_into=into)
    return ""


def _split(entries: dict[str, Entry], entry: Entry, parts: Any) -> str:
    ids = tuple(part["id"] for part in parts)
    if entry.merged_into:
        whole = entries[entry.merged_into].bias.name
        return f"{entry.bias.name!r} is merged into {whole!r}: undo that before splitting it"
    if taken := [i for i in ids if i in entries]:
        return f"cannot split {entry.bias.name!r}: its part {entries[taken[0]].bias.name!r} is in the library already"
    for part in parts:
        _enter(entries, part["id"], part, "candidate")
    entries[entry.bias.id] = replace(entry, own_status="retired", split_into=ids)
    return ""


def _with_support_of_merged(entries: dict[str, Entry]) -> dict[str, Entry]:
    totals = {bias_id: entry.support for bias_id, entry in entries.items()}
    for bias_id, entry in entries.items():
        above = entry.merged_into
        while above is not None:
            totals[above] |= entries[bias_id].support
            above = entries[above].merged_into
    return {bias_id: replace(entry, support=totals[bias_id]) for bias_id, entry in entries.items()}


def _named(event: LibraryEvent) -> set[str]:
    if event.kind == "merge":
        return {str(event.payload["into"])}
    if event.kind == "split":
        return {str(part["id"]) for part in event.payload["parts"]}
    return set()


def _union(a: Iterable[str], b: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a, *b)))
