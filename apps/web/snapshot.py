"""A run's library as rows to filter, sort and search."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from ...bias_library.diff import decisive
from ...bias_library.library import Entry, Library, load_library
from ...core.records import LibraryEvent, Status, Validation
from ...runs.state import waiting_for
from .site import OpenRun

Sort = Literal["status", "name", "effect", "e", "support", "iteration"]
SORTS: tuple[Sort, ...] = get_args(Sort)
STATUSES: tuple[Status, ...] = (
    "confirmed", "valid", "candidate", "inconclusive", "rejected", "seed", "merged", "retired",
)  # fmt: skip
"""As they are listed: what holds first, what has gone last."""
_DOWN_FIRST = frozenset({"effect", "e", "support"})


@dataclass(frozen=True)
class Row:
    """One bias as the library page shows it."""

    entry: Entry
    validation: Validation | None
    """The one to go by."""
    judges: tuple[str, ...]
    iteration: int | None
    """In which it was found, from 0; None for what the run began with or a person brought."""
    waits: bool
    """Whether the run has stopped for a person's decision on it."""
    text: str
    """What words are searched in."""

    @property
    def id(self) -> str:
        """The bias."""
        return self.entry.bias.id


@dataclass(frozen=True)
class Snapshot:
    """The library between two writes."""

    library: Library
    rows: tuple[Row, ...]
    validations: Mapping[str, Sequence[Validation]]
    """By bias, in order: the search, then the confirmation."""
    by_id: Mapping[str, Row] = field(repr=False)
    version: Hashable = None

    def name(self, bias_id: str) -> str:
        """The bias's name now; the id of one that is not here."""
        row = self.by_id.get(bias_id)
        return row.entry.bias.name if row else bias_id

    @property
    def judges(self) -> list[str]:
        """All judges that biases were tested on."""
        return sorted({judge for row in self.rows for judge in row.judges})

    @property
    def origins(self) -> list[str]:
        """All origins there are."""
        return sorted({row.entry.bias.origin for row in self.rows})

    @property
    def counts(self) -> dict[Status, int]:
        """Biases by status, in the order of the list."""
        have = [row.entry.status for row in self.rows]
        return {status: n for status in STATUSES if (n := have.count(status))}


def snapshot(run: OpenRun) -> Snapshot:
    """The library as it stands; worked out anew only when something was written."""
    waiting = frozenset(waiting_for(run.folder, run.store))
    version = (run.counts(LibraryEvent, Validation), waiting)
    return run.kept("snapshot", version, lambda: _read(run, waiting, version))


def _read(run: OpenRun, waiting: frozenset[str], version: Hashable) -> Snapshot:
    library = load_library(run.store, run.run_id)
    validations: dict[str, list[Validation]] = defaultdict(list)
    for validation in run.store.iterate(Validation, run_id=run.run_id):
        validations[validation.bias_id].append(validation)
    born = {event.bias_id: event.iteration for event in reversed(library.events) if event.kind == "add"}
    rows = tuple(_row(entry, validations.get(entry.bias.id, ()), born, waiting) for entry in library)
    ordered = {
        id_: sorted(found, key=lambda v: (v.iteration < 0, v.iteration, v.id)) for id_, found in validations.items()
    }
    return Snapshot(library, rows, ordered, {row.id: row for row in rows}, version)


def _row(
    entry: Entry, validations: Iterable[Validation], born: Mapping[str, int | None], waiting: frozenset[str]
) -> Row:
    found = list(validations)
    bias = entry.bias
    return Row(
        entry=entry,
        validation=decisive(found).get(bias.id),
        judges=tuple(sorted({v.judge for v in found})),
        iteration=born.get(bias.id),
        waits=bias.id in waiting,
        text=f"{bias.name}\n{bias.definition}\n{bias.manifestation}\n{bias.id}".casefold(),
    )


@dataclass(frozen=True)
class Choice:
    """What a reader wants to see."""

    words: str = ""
    statuses: tuple[str, ...] = ()
    origin: str = ""
    judge: str = ""
    sort: Sort = "status"
    down: bool = False

    def fits(self, row: Row) -> bool:
        """Whether a row is asked for; every word must occur."""
        return (
            (not self.statuses or row.entry.status in self.statuses)
            and (not self.origin or row.entry.bias.origin == self.origin)
            and (not self.judge or self.judge in row.judges)
            and all(word in row.text for word in self.words.casefold().split())
        )


def chosen(snap: Snapshot, choice: Choice) -> list[Row]:
    """The rows asked for, in order; those without a figure to sort by come last."""
    rows = [row for row in snap.rows if choice.fits(row)]
    rows.sort(key=lambda row: (row.entry.bias.name.casefold(), row.id))
    have = [row for row in rows if _figure(row, choice.sort) is not None]
    have.sort(key=lambda row: _figure(row, choice.sort), reverse=choice.down)  # type: ignore[arg-type, return-value]
    return have + [row for row in rows if _figure(row, choice.sort) is None]


def down_first(sort: str) -> bool:
    """Whether the largest is what one looks for."""
    return sort in _DOWN_FIRST


def _figure(row: Row, sort: Sort) -> float | str | tuple[float, float] | None:
    shown = row.validation
    match sort:
        case "name":
            return row.entry.bias.name.casefold()
        case "effect":
            return shown.effect if shown else None
        case "e":
            return shown.e_value if shown else None
        case "support":
            return row.entry.support.misjudgments
        case "iteration":
            return row.iteration
        case "status":
            return (STATUSES.index(row.entry.status), -(shown.effect if shown else 0.0))
