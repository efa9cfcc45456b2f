"""Count the iteration and say whether the loop has ended."""

from ..context import Context
from ..routes import stop_reason
from ..state import State


async def converge(context: Context, state: State) -> State:
    """METHOD step 8."""
    stop = stop_reason(state, context.settings)
    return {"stop": stop} if stop else {"stop": None, "iteration": state["iteration"] + 1}
