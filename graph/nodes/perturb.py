"""Sample a bias for every target pair and write it into the rejected answer."""

from ...agents.arms import rewrite
from ...core.records import Bias, PreferencePair
from ..context import Context
from ..sampling import assign_biases
from ..state import State


async def perturb(context: Context, state: State) -> State:
    """METHOD steps 1 and 2."""
    iteration = state["iteration"]
    pairs = context.store.pairs(context.run_id, "target")
    biases = {bias.id: bias for bias in context.store.get_many(Bias, state["library"])}
    assigned = assign_biases([p.id for p in pairs], list(biases), seed=context.settings.seed, iteration=iteration)

    async def work(pair: PreferencePair) -> str:
        return (await rewrite(context, pair, biases[assigned[pair.id]], stage="perturb")).id

    made = await context.run_all(f"perturb@{iteration}", pairs, work, lambda pair: f"{pair.id} {assigned[pair.id]}")
    return {"perturbed": [id_ for id_ in made if id_ is not None]}
