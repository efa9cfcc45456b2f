"""Where the loop goes next."""

from typing import Literal

from .settings import LoopSettings
from .state import State, StopReason


def last_round(state: State, settings: LoopSettings) -> StopReason | None:
    """Why nothing can come after this round, as far as is known before validation."""
    if not state["candidates"]:
        return "no_candidates"
    if not state["novel"]:
        return "nothing_new"
    if state["iteration"] + 1 >= settings.discovery.iterations:
        return "max_iterations"
    return None


def stop_reason(state: State, settings: LoopSettings) -> StopReason | None:
    """Why the loop ends after this round, or None (METHOD step 8). Early validation that left nothing ends it too."""
    reason = last_round(state, settings)
    if reason is None and settings.validation.when == "early" and not state["admitted"]:
        return "nothing_validated"
    return reason


def after_converge(state: State) -> Literal["perturb", "confirm"]:
    """Another round, or the end."""
    return "confirm" if state["stop"] else "perturb"
