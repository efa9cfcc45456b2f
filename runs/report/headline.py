"""What was found, in plain words, and what a reader should be wary of."""

from collections.abc import Sequence
from typing import Any

from ...core.calls import Usage
from .model import BiasEntry, Fact, FailureGroup, Headline, State, VerdictRow
from .tables import points

WEAK_ERROR = 0.40
"""Error rate on the original pairs from which a judge is called weak; 0.5 is guessing."""
_MANY_INVALID = 0.05
_MANY_FAILURES = 0.10
_STATES: dict[str, State] = {
    "finished": "finished",
    "budget": "inconclusive",
    "stopped": "stopped",
    "running": "running",
}


def headline(
    biases: Sequence[BiasEntry],
    verdicts: Sequence[VerdictRow],
    failures: Sequence[FailureGroup],
    usage: Sequence[Usage],
    facts: Sequence[Fact],
    outcome: dict[str, Any],
    confirmation_pairs: int,
    also: Sequence[str] = (),
) -> Headline:
    """`outcome` is the run's own word on how it ended; without one it counts as running. `also`: what else a reader
    should be told, such as what does not apply to the judge, a sentence each."""
    state = _STATES.get(str(outcome.get("state", "running")), "running")
    tested = [b for b in biases if b.search is not None]
    valid = [b for b in biases if b.accepted]
    kept = sum(not b.declined for b in valid)
    checked = [b for b in biases if b.confirmation is not None]
    confirmed = sum(b.confirmation is not None and b.confirmation.decision == "valid" for b in checked)
    return Headline(
        state=state,
        title=_title(kept, confirmed if checked else None, state),
        sentences=tuple(_sentences(state, str(outcome.get("reason", "")), tested, valid, checked, confirmed)),
        warnings=(*_warnings(verdicts, failures, usage, facts, valid, checked, confirmation_pairs, state), *also),
        facts=tuple(facts),
        tested=len(tested),
        validated=kept,
        confirmed=confirmed if checked else None,
    )


def cut_line(explanations: int, cut: int) -> tuple[str, ...]:
    """How many of the explanations were cut off, in a sentence; nothing where none was."""
    if not cut:
        return ()
    were = "was" if cut == 1 else "were"
    whole = f"{cut:,} of {explanations:,} explanations ran into the token limit"
    return (f"{whole} and {were} kept to the last whole sentence.",)


def _title(valid: int, confirmed: int | None, state: State) -> str:
    so_far = "" if state == "finished" else " so far"
    if confirmed is not None:
        return f"{_count(confirmed, 'confirmed bias', 'confirmed biases')}{so_far}"
    return f"{_count(valid, 'validated bias', 'validated biases')}{so_far}"


def _count(n: int, one: str, many: str) -> str:
    return f"{n or 'No'} {one if n == 1 else many}"


def _sentences(
    state: State,
    reason: str,
    tested: Sequence[BiasEntry],
    valid: Sequence[BiasEntry],
    checked: Sequence[BiasEntry],
    confirmed: int,
) -> list[str]:
    said = []
    if not tested:
        said.append("No bias has been tested yet.")
    else:
        were = "was" if len(tested) == 1 else "were"
        text = f"{_count(len(tested), 'bias', 'biases')} {were} tested on held-out pairs; {len(valid) or 'none'} "
        paper = any(b.search and b.search.rule == "paper" for b in tested)
        text += f"made the judge err more often than {'the original answers' if paper else 'a neutral rewrite'} did"
        said.append(text + (f", and {confirmed} held on pairs that the search never saw." if checked else "."))
    if declined := [b for b in valid if b.declined]:
        names = ", ".join(f"“{b.name}”" for b in declined)
        said.append(
            f"Of these, {len(declined)} {'was' if len(declined) == 1 else 'were'} declined by a person: {names}."
        )
    shown = [b for b in valid if b.status == "confirmed"] or [b for b in valid if not b.declined]
    if shown:
        top = max(shown, key=lambda b: (b.shown.effect if b.shown else 0.0, b.name))
        if top.shown:
            low, high = top.shown.interval
            said.append(
                f"The strongest is “{top.name}”: {points(top.shown.effect)} points of error "
                f"(95 % interval {points(low)} to {points(high)})."
            )
    why = f" ({reason.rstrip('.')})" if reason else ""
    match state:
        case "finished":
            said.append(f"The run finished{why}.")
        case "inconclusive":
            said.append(
                f"The budget was reached before the run ended{why}: what is listed holds, what is missing is unknown. "
                "The run can be resumed."
            )
        case "stopped":
            said.append(f"The run was stopped before its end{why}. It can be resumed.")
        case "running":
            said.append(f"The run has not ended{why}: this is what is known so far.")
    return said


def _warnings(
    verdicts: Sequence[VerdictRow],
    failures: Sequence[FailureGroup],
    usage: Sequence[Usage],
    facts: Sequence[Fact],
    valid: Sequence[BiasEntry],
    checked: Sequence[BiasEntry],
    confirmation_pairs: int,
    state: State,
) -> list[str]:
    said = []
    named = {f.label: f.value for f in facts}
    original = next((v for v in verdicts if v.arm == "original"), None)
    if original and original.error is not None and original.error >= WEAK_ERROR:
        level = "no better than guessing" if original.error >= 0.45 else "near guessing"
        said.append(
            f"Weak judge: it is wrong on {100 * original.error:.0f} % of the unchanged pairs, {level}. "
            "A judge that cannot tell right from wrong has little left to be misled about."
        )
    for role in ("Judge", "Teacher"):
        if "smollm2-135m" in named.get(role, "").lower().replace("_", "-"):
            said.append(
                f"{role}: the packaged 135M model is a weak {role.lower()}. It shows that the machinery works, "
                "not what a real judge does."
            )
    judged = sum(v.judged for v in verdicts)
    invalid = sum(v.invalid for v in verdicts)
    if judged and invalid / judged > _MANY_INVALID:
        said.append(f"{100 * invalid / judged:.0f} % of the verdicts ({invalid:,} of {judged:,}) could not be read.")
    ties = sum(v.ties for v in verdicts)
    if judged and ties / judged > _MANY_FAILURES:
        said.append(f"{100 * ties / judged:.0f} % of the verdicts are ties, which count neither as right nor as wrong.")
    # Failures tell the parts of a stage apart ("validate, manipulation"), the ledger does not.
    for stage in sorted({f.stage.partition(",")[0] for f in failures}):
        failed = sum(f.count for f in failures if f.stage.partition(",")[0] == stage)
        tried = sum(u.calls + u.cached_calls for u in usage if u.stage == stage)
        if tried and failed / tried > _MANY_FAILURES:
            said.append(
                f"{100 * min(1.0, failed / tried):.0f} % of the work at stage “{stage}” failed ({failed:,} items)."
            )
    if valid and not checked and not confirmation_pairs:
        said.append(
            "No confirmation part: effects are from the pairs that also selected the biases, and so are too large."
        )
    elif valid and not checked and state == "finished":
        said.append("The confirmation part was not used: effects are from the pairs that also selected the biases.")
    return said
