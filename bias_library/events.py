"""The lines of a library's history. Each is a record under a content id; nothing is overwritten or deleted.

The payloads, by kind:

    add       bias (name, definition, manifestation, origin, parents), status, support
    merge     into, similarity, candidates, decided_by
    status    status, validations
    rename    name
    edit      definition and/or manifestation
    split     parts: a list of {bias, support}
    retire    -
    evidence  support, validations
    undo      event: the id of the line it cancels (an undo can be undone)

An add carries the whole bias, so that a history can be read without anything else. Lines written by a run hold no time
(a resumed run must write the same lines again); those of people carry it as `at`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from ..core.errors import LibraryError
from ..core.ids import content_id
from ..core.records import Bias, LibraryEvent, Status
from .bias import clean

Kind = Literal["add", "merge", "status", "rename", "edit", "split", "retire", "evidence", "undo"]
Step = Literal["seed", "merge", "validate", "admit", "confirm"]
_STEPS: tuple[Step, ...] = ("seed", "merge", "validate", "admit", "confirm")
_BLOCK = 100_000


@dataclass(frozen=True)
class Support:
    """What speaks for a bias: candidate ids (one per misjudgment), pair ids, and the biases injected then."""

    candidates: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, candidates: Iterable[str] = (), pairs: Iterable[str] = (), sources: Iterable[str] = ()) -> Self:
        """Sorted and without repeats."""
        return cls(*(tuple(sorted(set(part) - {""})) for part in (candidates, pairs, sources)))

    def __or__(self, other: "Support") -> "Support":
        return Support.of(self.candidates + other.candidates, self.pairs + other.pairs, self.sources + other.sources)

    @property
    def misjudgments(self) -> int:
        """How many misjudgments named this bias."""
        return len(self.candidates)

    def payload(self) -> dict[str, list[str]]:
        """As JSON."""
        return {"candidates": list(self.candidates), "pairs": list(self.pairs), "sources": list(self.sources)}

    @classmethod
    def read(cls, payload: Any) -> Self:
        """From JSON; missing parts are empty."""
        given = payload if isinstance(payload, dict) else {}
        return cls.of(*(given.get(part, ()) for part in ("candidates", "pairs", "sources")))


@dataclass(frozen=True)
class Stamp:
    """Where a line stands and who wrote it. `at` (ISO 8601) is for people only."""

    run_id: str
    seq: int
    author: str
    reason: str = ""
    iteration: int | None = None
    at: str | None = None

    def next(self) -> Self:
        """The place after this one."""
        return replace(self, seq=self.seq + 1)


def first_seq(step: Step, iteration: int = 0) -> int:
    """The first place of a step of the loop: fixed by iteration and step, so that a repeated node writes the same."""
    return (iteration * len(_STEPS) + _STEPS.index(step)) * _BLOCK


def make_event(kind: Kind, bias_id: str, stamp: Stamp, payload: dict[str, Any]) -> LibraryEvent:
    """A line under its content id, which covers everything it says."""
    if stamp.at is not None:
        payload = {**payload, "at": stamp.at}
    said = (stamp.run_id, stamp.seq, kind, bias_id, payload, stamp.author, clean(stamp.reason), stamp.iteration)
    return LibraryEvent(
        id=content_id("event", *said),
        run_id=stamp.run_id,
        seq=stamp.seq,
        kind=kind,
        bias_id=bias_id,
        author=stamp.author,
        reason=clean(stamp.reason),
        iteration=stamp.iteration,
        payload=payload,
    )


def event_id(event: LibraryEvent) -> str:
    """The id that its content should have."""
    said = (event.seq, event.kind, event.bias_id, event.payload, event.author, event.reason, event.iteration)
    return content_id("event", event.run_id, *said)


def add(stamp: Stamp, bias: Bias, status: Status = "candidate", support: Support | None = None) -> LibraryEvent:
    """A bias enters the library."""
    payload = {"bias": _body(bias), "status": status, "support": (support or Support()).payload()}
    return make_event("add", bias.id, stamp, payload)


def merge(
    stamp: Stamp,
    bias_id: str,
    into: str,
    similarity: float | None = None,
    candidates: Iterable[str] = (),
    decided_by: str = "person",
) -> LibraryEvent:
    """A bias becomes part of another; both stay readable."""
    payload = {
        "into": into,
        "similarity": None if similarity is None else round(similarity, 6),
        "candidates": sorted(set(candidates)),
        "decided_by": decided_by,
    }
    return make_event("merge", bias_id, stamp, payload)


def set_status(stamp: Stamp, bias_id: str, status: Status, validations: Iterable[str] = ()) -> LibraryEvent:
    """A decision on a bias, with the validations that it rests on. `merged` and `retired` have events of their own."""
    if status in ("merged", "retired"):
        raise LibraryError(f"status {status!r} cannot be set: merge or retire the bias {bias_id!r}")
    return make_event("status", bias_id, stamp, {"status": status, "validations": sorted(set(validations))})


def rename(stamp: Stamp, bias_id: str, name: str) -> LibraryEvent:
    """Another name; id and definition stay."""
    return make_event("rename", bias_id, stamp, {"name": _text("name", name)})


def edit(stamp: Stamp, bias_id: str, definition: str | None = None, manifestation: str | None = None) -> LibraryEvent:
    """Better wording for the same mechanism; the id stays. For another mechanism split the bias."""
    payload: dict[str, Any] = {}
    if definition is not None:
        payload["definition"] = _text("definition", definition)
    if manifestation is not None:
        payload["manifestation"] = clean(manifestation)
    if not payload:
        raise LibraryError(f"the edit of bias {bias_id!r} changes nothing: give a definition or a manifestation")
    return make_event("edit", bias_id, stamp, payload)


def split(stamp: Stamp, bias_id: str, parts: Sequence[tuple[Bias, Support]]) -> LibraryEvent:
    """A bias that was several: it retires and its parts enter as candidates."""
    if len({bias.id for bias, _ in parts}) < 2:
        raise LibraryError(f"bias {bias_id!r} must be split into at least two different parts")
    bodies = [{"id": bias.id, "bias": _body(bias), "support": support.payload()} for bias, support in parts]
    return make_event("split", bias_id, stamp, {"parts": bodies})


def retire(stamp: Stamp, bias_id: str) -> LibraryEvent:
    """A bias leaves the library; its history stays."""
    return make_event("retire", bias_id, stamp, {})


def evidence(
    stamp: Stamp, bias_id: str, support: Support | None = None, validations: Iterable[str] = ()
) -> LibraryEvent:
    """More misjudgments or validations for a bias, without a change of status."""
    payload = {"support": (support or Support()).payload(), "validations": sorted(set(validations))}
    return make_event("evidence", bias_id, stamp, payload)


def undo(stamp: Stamp, cancelled: LibraryEvent) -> LibraryEvent:
    """Cancel an earlier line by its id."""
    return make_event("undo", cancelled.bias_id, stamp, {"event": cancelled.id})


def _body(bias: Bias) -> dict[str, Any]:
    return {**bias.model_dump(exclude={"id", "parents"}), "parents": list(bias.parents)}


def _text(field: str, text: str) -> str:
    if not (cleaned := clean(text)):
        raise LibraryError(f"a bias needs a {field}; got {text!r}: give it one")
    return cleaned
