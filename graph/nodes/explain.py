"""Let the judge go on explaining its wrong verdicts, so that the error compounds and shows itself."""

from ...agents.explainer import explain_verdict
from ...core.records import Judgment, PreferencePair
from ..context import Context
from ..state import State
from .judge import judgment_text


async def explain(context: Context, state: State) -> State:
    """METHOD step 4, DeeperExplain (paper section 2.2)."""
    other = context.teacher_model
    if other is None or not (context.by_llm and context.settings.discovery.deeper_explain):
        return {"explained": []}
    misjudged = context.store.get_many(Judgment, state["misjudged"])
    pairs = {p.id: p for p in context.store.get_many(PreferencePair, [j.pair_id for j in misjudged])}

    async def work(judgment: Judgment) -> str:
        explanation = await explain_verdict(
            context.judge,
            judgment,
            pairs[judgment.pair_id],
            judgment_text(context, judgment),
            other=other,
        )
        await context.store.write(explanation)
        return explanation.id

    made = await context.run_all(
        f"explain@{state['iteration']}", misjudged, work, lambda j: f"{j.pair_id} {j.arm} {j.order}"
    )
    return {"explained": [id_ for id_ in made if id_ is not None]}
