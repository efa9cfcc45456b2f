"""Let the teacher name the biases behind the misjudgments."""

from ...agents.discoverer import discover as ask
from ...core.records import Bias, Explanation, Judgment, PreferencePair
from ..context import Context
from ..state import State
from .judge import judgment_text


async def discover(context: Context, state: State) -> State:
    """METHOD step 5."""
    iteration, store = state["iteration"], context.store
    misjudged = store.get_many(Judgment, state["misjudged"])
    pairs = {p.id: p for p in store.get_many(PreferencePair, [j.pair_id for j in misjudged])}
    explanations = {e.judgment_id: e for e in store.get_many(Explanation, state["explained"])}
    biases = {b.id: b for b in store.get_many(Bias, state["library"])}

    async def work(judgment: Judgment) -> str | None:
        candidate = await ask(
            context.teacher_model,
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
    candidates = [id_ for id_ in named if id_ is not None]
    funnel = store.note(context.run_id, f"funnel:{iteration}") or {}
    store.write_note(
        context.run_id,
        f"funnel:{iteration}",
        {**funnel, "explained": len(explanations), "candidates": len(candidates)},
    )
    context.progress.count(candidates=context.progress.counts.get("candidates", 0) + len(candidates))
    return {"candidates": candidates}
