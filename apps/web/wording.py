"""What a line of the history says, in words."""

from ...core.records import LibraryEvent
from .snapshot import Snapshot


def told(snap: Snapshot, event: LibraryEvent) -> str:
    """In a few words, with the names that biases have now."""
    given = event.payload
    match event.kind:
        case "add":
            return f"entered as {given.get('status', 'candidate')}"
        case "merge":
            return f"became part of {snap.name(str(given.get('into')))}"
        case "status":
            return f"now {given.get('status')}"
        case "rename":
            return f"renamed to {given.get('name')}"
        case "edit":
            return "worded anew"
        case "split":
            return f"split into {len(given.get('parts', ()))}"
        case "retire":
            return "retired"
        case "evidence":
            return "more evidence"
        case "undo":
            return f"line {str(given.get('event'))[:8]} taken back"
    return event.kind


def when(event: LibraryEvent) -> str:
    """Lines by people carry a time; those of a run belong to a step of it."""
    if at := event.payload.get("at"):
        return str(at).replace("T", " ").removesuffix("+00:00")
    if event.iteration is not None:
        return f"iteration {event.iteration + 1}"
    return "start" if event.kind == "add" else "confirmation"
