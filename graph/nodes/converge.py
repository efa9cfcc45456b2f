"""Count the iteration and say whether the loop has ended."""

from ..context import Context
from ..routes import idle_rounds, stop_reason
from ..state import State


async def converge(context: Context, state: State) -> State:
    """METHOD step 8."""
    stop = stop_reason(state, context.settings)
    if stop:
        return {"stop": stop}
    return {"stop": None, "iteration": state["iteration"] + 1, "idle": idle_rounds(state, context.settings)}
