"""Where the loop goes next."""

from typing import Literal

from .settings import LoopSettings
from .state import State, StopReason


def last_round(state: State, settings: LoopSettings) -> StopReason | None:
    """Why nothing can come after this round, as far as is known before validation."""
    last = state.get("idle", 0) + 1 >= settings.discovery.patience
    if last and not state["candidates"]:
        return "no_candidates"
    if last and not state["novel"]:
        return "nothing_new"
    if state["iteration"] + 1 >= settings.discovery.iterations:
        return "max_iterations"
    return None


def idle_rounds(state: State, settings: LoopSettings) -> int:
    """How many rounds in a row, this one included, have left the library as it was."""
    early = settings.validation.when == "early"
    fruitless = not state["candidates"] or not state["novel"] or (early and not state["admitted"])
    return state.get("idle", 0) + 1 if fruitless else 0


def stop_reason(state: State, settings: LoopSettings) -> StopReason | None:
    """Why the loop ends after this round, or None (METHOD step 8)."""
    reason = last_round(state, settings)
    if reason is None and idle_rounds(state, settings) >= settings.discovery.patience:
        return "nothing_validated"
    return reason


def after_converge(state: State) -> Literal["perturb", "confirm"]:
    """Another round, or the end."""
    return "confirm" if state["stop"] else "perturb"
