"""What people decide about a bias, as lines of the library's history."""

from collections.abc import Iterable

from ...bias_library import events as line
from ...bias_library.bias import make_bias
from ...bias_library.library import Library, append_now, checked, stamp_now
from ...core.errors import LibraryError
from ...core.records import Bias, LibraryEvent
from .guard import Form
from .site import OpenRun
from .snapshot import snapshot

KINDS = ("approve", "reject", "rename", "edit", "merge", "split", "retire")
MOST_PARTS = 6


def decide(run: OpenRun, bias_id: str, form: Form, author: str) -> LibraryEvent:
    """Write the decision in `form` about a bias. LibraryError says why it cannot be.

    `seen` in the form is how long the bias's history was on the page that the reviewer looked at: what somebody else
    has decided since is looked at first.
    """
    reason = _reason(form)
    with run.deciding:
        library = snapshot(run).library
        if bias_id not in library.entries:
            raise LibraryError("this bias is not in the library any more")
        _unchanged(library, bias_id, form)
        event = _event(library, bias_id, form, stamp_now(library, author, reason, run.run_id))
        checked(library, event)
        append_now(run.store, [event])
        return event


def undo(run: OpenRun, event_id: str, form: Form, author: str) -> LibraryEvent:
    """Take a line of the history back."""
    reason = _reason(form)
    with run.deciding:
        library = snapshot(run).library
        found = next((e for e in library.events if e.id == event_id), None)
        if found is None:
            raise LibraryError("there is no such line in the history")
        _unchanged(library, found.bias_id, form)
        event = line.undo(stamp_now(library, author, reason, run.run_id), found)
        checked(library, event)
        append_now(run.store, [event])
        return event


def seen(library: Library, bias_id: str) -> int:
    """What a form about a bias carries as `seen`."""
    return len(library.history(bias_id))


def _event(library: Library, bias_id: str, form: Form, stamp: line.Stamp) -> LibraryEvent:
    entry = library.entries[bias_id]
    match form.one("kind"):
        case "approve":
            return line.set_status(stamp, bias_id, "valid", entry.validations)
        case "reject":
            return line.set_status(stamp, bias_id, "rejected", entry.validations)
        case "rename":
            return line.rename(stamp, bias_id, _new("name", form, entry.bias.name))
        case "edit":
            definition, shows = form.one("definition"), form.one("manifestation")
            return line.edit(
                stamp,
                bias_id,
                definition=definition if definition != entry.bias.definition else None,
                manifestation=shows if shows != entry.bias.manifestation else None,
            )
        case "merge":
            return line.merge(stamp, bias_id, library.find(form.one("into")).bias.id, decided_by="person")
        case "split":
            return line.split(stamp, bias_id, [(part, line.Support()) for part in _parts(bias_id, form)])
        case "retire":
            return line.retire(stamp, bias_id)
    raise LibraryError(f"{form.one('kind')[:40]!r} is none of {', '.join(KINDS)}")


def _parts(bias_id: str, form: Form) -> Iterable[Bias]:
    for number in range(1, MOST_PARTS + 1):
        name, definition, shows = (form.one(f"{field}{number}") for field in ("name", "definition", "manifestation"))
        if name or definition or shows:
            yield make_bias(name, definition, shows, origin="split", parents=(bias_id,))


def _new(field: str, form: Form, old: str) -> str:
    if form.one(field) == old:
        raise LibraryError(f"this is its {field} already; write another")
    return form.one(field)


def _reason(form: Form) -> str:
    if not form.one("reason"):
        raise LibraryError("a decision needs a reason; write one")
    return form.one("reason")


def _unchanged(library: Library, bias_id: str, form: Form) -> None:
    history = library.history(bias_id)
    given = form.one("seen")
    if given.isdecimal() and int(given) < len(history):
        last = history[-1]
        raise LibraryError(
            f"{last.author} has decided about this bias since you loaded the page ({last.kind}); look at it again first"
        )
