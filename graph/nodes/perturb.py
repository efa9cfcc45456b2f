"""Write something into the rejected answer of every target pair: a bias of the library, or features to be screened."""

from dataclasses import replace

from ...agents.arms import keep, rewrite
from ...agents.rules_teacher import RulesTeacher
from ...core.records import Bias, PreferencePair, mixed_arm
from ..context import Context
from ..contrasts import found_before
from ..sampling import assign_biases, assign_features, features_each
from ..state import State


async def perturb(context: Context, state: State) -> State:
    """METHOD steps 1 and 2.

    Where rules rewrite and contrasts alone search, a screening design takes the place of the library: a few features at
    once in every answer, all of them equally often, but for those that were found before.
    """
    teacher = context.teacher
    if isinstance(teacher, RulesTeacher) and not context.by_llm:
        return await _mix(context, teacher, state["iteration"])
    iteration = state["iteration"]
    pairs = context.store.pairs(context.run_id, "target")
    biases = {bias.id: bias for bias in context.store.get_many(Bias, state["library"])}
    bench = replace(context, teacher=context.writer)
    assigned = assign_biases([p.id for p in pairs], list(biases), seed=context.settings.seed, iteration=iteration)

    async def work(pair: PreferencePair) -> str:
        return (await rewrite(bench, pair, biases[assigned[pair.id]], stage="perturb")).id

    made = await context.run_all(f"perturb@{iteration}", pairs, work, lambda pair: f"{pair.id} {assigned[pair.id]}")
    return {"perturbed": [id_ for id_ in made if id_ is not None]}


async def _mix(context: Context, teacher: RulesTeacher, iteration: int) -> State:
    pairs = context.store.pairs(context.run_id, "target")
    known = found_before(context, iteration)
    names = [name for name in context.features if name not in known]
    each = context.settings.discovery.contrasts.mixed or features_each(len(pairs), len(names))
    assigned = assign_features([p.id for p in pairs], names, each, seed=context.settings.seed, iteration=iteration)

    async def work(pair: PreferencePair) -> str:
        made = await teacher.mix(pair, assigned[pair.id], mixed_arm(iteration), stage="perturb")
        return (await keep(context, pair, made, stage="perturb")).id

    made = await context.run_all(
        f"perturb@{iteration}", pairs, work, lambda pair: f"{pair.id} {' '.join(assigned[pair.id])}"
    )
    return {"perturbed": [id_ for id_ in made if id_ is not None]}
