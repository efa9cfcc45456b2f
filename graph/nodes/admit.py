"""Valid biases enter the library; every decision becomes an event."""

from collections.abc import Sequence
from typing import Any

from langgraph.types import interrupt

from ...bias_library.events import Stamp, evidence, first_seq, set_status
from ...bias_library.library import append, load_library
from ...core.errors import UserError
from ...core.records import Bias, LibraryEvent, Status, Validation
from ..context import Context
from ..routes import last_round
from ..state import State
from .validate import seeds

_STATUS: dict[str, Status] = {
    "valid": "valid",
    "not_shown": "rejected",
    "explained_by_length": "rejected",
    "inconclusive": "inconclusive",
    "not_injectable": "inconclusive",
}


async def admit(context: Context, state: State) -> State:
    """METHOD step 7, second half. With `approve` the run stops here until somebody has decided."""
    iteration, settings = state["iteration"], context.settings
    validations = context.store.get_many(Validation, state["decided"])
    passed = [v.bias_id for v in validations if v.decision == "valid"]
    biases = {b.id: b for b in context.store.get_many(Bias, [v.bias_id for v in validations])}
    # Not what is in the library: late validation has put biases there that nobody has tested yet.
    start = set(seeds(context, state))
    waiting = [id_ for id_ in passed if id_ not in start]
    turned_down: set[str] = set()
    author, reason = "biasscope", ""
    if settings.approve and waiting:
        answer: Any = interrupt({"biases": waiting, "iteration": iteration})
        author, reason = str(answer["author"]), str(answer.get("reason", ""))
        approved = meant(answer["approved"], [biases[id_] for id_ in waiting])
        turned_down = {id_ for id_ in waiting if id_ not in approved}
    await record(context, validations, step_of=iteration, turned_down=turned_down, author=author, reason=reason)
    admitted = [id_ for id_ in waiting if id_ not in turned_down]
    library = list(dict.fromkeys([*state["library"], *admitted]))
    if settings.validation.when == "late" and not last_round(state, settings):
        # Late validation injects what merging left as new, before it is tested (paper section 3.3).
        library += [id_ for id_ in state["novel"] if id_ not in library]
    validated = [*state["validated"], *(id_ for id_ in passed if id_ not in turned_down)]
    funnel = context.store.note(context.run_id, f"funnel:{iteration}") or {}
    context.store.write_note(
        context.run_id, f"funnel:{iteration}", {**funnel, "tested": len(validations), "validated": len(admitted)}
    )
    context.progress.count(valid=len(validated))
    return {"library": library, "admitted": admitted, "validated": validated}


async def record(
    context: Context,
    validations: Sequence[Validation],
    *,
    step_of: int | None,
    turned_down: set[str] | frozenset[str] = frozenset(),
    author: str = "biasscope",
    reason: str = "",
) -> None:
    """Decisions as library events; `step_of` is the iteration, None for the confirmation.

    A seed that was not shown to act on this judge stays a seed: it goes on being injected.
    """
    confirming = step_of is None
    first = (
        first_seq("confirm", context.settings.discovery.iterations) if step_of is None else first_seq("admit", step_of)
    )
    library = load_library(context.store, context.run_id, before=first)
    stamp = Stamp(context.run_id, first, author, reason, step_of)
    lines: list[LibraryEvent] = []
    for validation in validations:
        status: Status = _STATUS[validation.decision]
        if validation.bias_id in turned_down:
            status = "rejected"
        elif confirming:
            status = "confirmed" if validation.decision == "valid" else "valid"
        keeps = status != "valid" and not confirming and library.entries[validation.bias_id].status == "seed"
        why = Stamp(stamp.run_id, stamp.seq, author, reason or validation.reason or validation.decision, step_of)
        if keeps:
            lines.append(evidence(why, validation.bias_id, validations=[validation.id]))
        else:
            lines.append(set_status(why, validation.bias_id, status, [validation.id]))
        stamp = stamp.next()
    await append(context.store, lines)


def meant(approved: Sequence[str], waiting: Sequence[Bias]) -> list[str]:
    """Ids of the waiting biases that are meant by ids, starts of ids, names, or `all`.

    Raises UserError when a key means none of them, or more than one.
    """
    if list(approved) == ["all"]:
        return [bias.id for bias in waiting]
    found: dict[str, None] = {}
    for key in approved:
        fits = [b for b in waiting if b.name.casefold() == key.strip().casefold()]
        fits = fits or [b for b in waiting if key and b.id.startswith(key)]
        if len(fits) != 1:
            there = ", ".join(f"{b.name!r} ({b.id[:8]})" for b in waiting)
            count = f"fits {len(fits)} of the biases" if fits else "is none of the biases"
            raise UserError(f"--approve {key!r} {count} that wait: {there}; give a name or an id, or `all`")
        found[fits[0].id] = None
    return list(found)
