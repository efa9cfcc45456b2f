"""Name the biases behind the misjudgments: the teacher by reading them, contrasts by counting."""

from ...agents.discoverer import discover as ask
from ...core.calls import Model
from ...core.records import Bias, Explanation, Judgment, PreferencePair
from ..context import Context
from ..contrasts import contrast_candidates, given_candidates
from ..state import State
from .judge import judgment_text


async def discover(context: Context, state: State) -> State:
    """METHOD step 5, and contrasts (section 10)."""
    iteration, store = state["iteration"], context.store
    candidates = given_candidates(store, context.run_id) if iteration == 0 else []
    if context.teacher_model is not None and context.by_llm:
        candidates += await _by_teacher(context, context.teacher_model, state)
    if context.by_contrasts:
        candidates += await contrast_candidates(context, state)
    funnel = store.note(context.run_id, f"funnel:{iteration}") or {}
    found = {"candidates": len(candidates)}
    if context.by_llm:  # contrasts explain nothing
        found["explained"] = len(state["explained"])
    store.write_note(context.run_id, f"funnel:{iteration}", {**funnel, **found})
    context.progress.count(candidates=context.progress.counts.get("candidates", 0) + len(candidates))
    return {"candidates": candidates}


async def _by_teacher(context: Context, teacher_model: Model, state: State) -> list[str]:
    iteration, store = state["iteration"], context.store
    misjudged = store.get_many(Judgment, state["misjudged"])
    pairs = {p.id: p for p in store.get_many(PreferencePair, [j.pair_id for j in misjudged])}
    explanations = {e.judgment_id: e for e in store.get_many(Explanation, state["explained"])}
    biases = {b.id: b for b in store.get_many(Bias, state["library"])}

    async def work(judgment: Judgment) -> str | None:
        candidate = await ask(
            teacher_model,
            pairs[judgment.pair_id],
            judgment,
            judgment_text(context, judgment),
            explanations.get(judgment.id),
            biases[judgment.arm.removeprefix("bias:")],
            iteration=iteration,
        )
        if candidate is None:
            return None
        await store.write(candidate)
        return candidate.id

    named = await context.run_all(f"discover@{iteration}", misjudged, work, lambda j: f"{j.pair_id} {j.arm} {j.order}")
    return [id_ for id_ in named if id_ is not None]
