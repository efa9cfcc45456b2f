"""Test the biases that wait, on the test set."""

from ...core.records import Bias
from ..context import Context
from ..routes import last_round
from ..state import State
from ..validation import test_biases


async def validate(context: Context, state: State) -> State:
    """METHOD step 7. Early: every iteration, at alpha / T_max; late: once, after the last round, at alpha."""
    settings, iteration = context.settings.validation, state["iteration"]
    early = settings.when == "early"
    if not early and not last_round(state, context.settings):
        return {"decided": []}
    due = list(state["pending"])
    if settings.seeds and (iteration == 0 or not early):
        due = [*seeds(context, state), *due]
    biases = context.store.get_many(Bias, due)
    pairs = context.store.pairs(context.run_id, "search")
    level = settings.alpha / context.settings.discovery.iterations if early else settings.alpha
    validations = await test_biases(
        context, biases, pairs, pair_set="search", iteration=iteration, level=level, stage="validate"
    )
    return {"decided": [v.id for v in validations], "pending": []}


def seeds(context: Context, state: State) -> list[str]:
    """The biases that the run started from."""
    known = context.store.get_many(Bias, state["library"])
    return [bias.id for bias in known if bias.origin in ("seed", "imported")]
