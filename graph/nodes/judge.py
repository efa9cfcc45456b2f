"""Let the judge err on the perturbed pairs."""

from ...agents.arms import judge_arm, original_arm
from ...core.records import Judgment, Perturbation, PreferencePair
from ..context import Context
from ..state import State


async def judge(context: Context, state: State) -> State:
    """METHOD step 3. A misjudgment is a wrong verdict; a `flipped` one is right on the original pair."""
    iteration = state["iteration"]
    perturbed = context.store.get_many(Perturbation, state["perturbed"])
    pairs = {p.id: p for p in context.store.get_many(PreferencePair, [p.pair_id for p in perturbed])}

    async def work(perturbation: Perturbation) -> list[str]:
        pair = pairs[perturbation.pair_id]
        outcome = await judge_arm(
            context, pair, perturbation.arm, perturbation.text, stage="judge", perturbation=perturbation
        )
        wrong = [j for j in outcome.judgments if j.verdict == "rejected"]
        if not wrong or outcome.became_right:
            return []
        if context.settings.discovery.misjudgments == "flipped":
            original = await original_arm(context, pair, stage="judge")
            right = {j.order for j in original.judgments if j.verdict == "chosen"}
            wrong = [j for j in wrong if j.order in right]
        return [j.id for j in wrong]

    found = await context.run_all(f"judge@{iteration}", perturbed, work, lambda p: f"{p.pair_id} {p.arm}")
    misjudged = [id_ for ids in found if ids for id_ in ids]
    context.store.write_note(
        context.run_id,
        f"funnel:{iteration}",
        {
            "pairs": len(context.store.pair_ids(context.run_id, "target")),
            "perturbed": len(perturbed),
            "judged": sum(ids is not None for ids in found),
            "misjudgments": len(misjudged),
        },
    )
    context.progress.count(misjudgments=context.progress.counts.get("misjudgments", 0) + len(misjudged))
    return {"misjudged": misjudged}


def judgment_text(context: Context, judgment: Judgment) -> str:
    """The rejected answer that the judge saw."""
    perturbation = context.store.get(Perturbation, judgment.perturbation_id)
    if perturbation is None:
        raise LookupError(f"judgment {judgment.id} has no stored perturbation")
    return perturbation.text
