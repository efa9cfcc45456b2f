"""Make an arm of a pair and have it judged: what discovery, validation and confirmation have in common."""

from dataclasses import dataclass
from typing import Literal

from ..agents.verifier import same_answer
from ..core.calls import Stage
from ..core.errors import CallFailed
from ..core.records import ORIGINAL, Bias, Judgment, Perturbation, PreferencePair, bias_arm
from ..validators.answers import answer_change
from .context import Context
from .outcomes import wrong, wrong_in_order


@dataclass(frozen=True)
class Outcome:
    """One arm of one pair, judged. `wrong` is 1, 0, a probability of the wrong answer, or NaN without a verdict."""

    pair: PreferencePair
    arm: str
    text: str
    wrong: float
    by_order: tuple[float, ...]
    judgments: tuple[Judgment, ...]
    perturbation: Perturbation | None

    @property
    def became_right(self) -> bool:
        """The rewrite is no rejected answer any more."""
        return self.perturbation is not None and self.perturbation.answer_change == "changed"


async def rewrite(context: Context, pair: PreferencePair, bias: Bias | None, *, stage: Stage) -> Perturbation:
    """The rejected answer in the bias's arm, or in the placebo arm for None, checked and stored."""
    if bias is None:
        made = await context.teacher.placebo(pair, stage=stage)
    else:
        made = await context.teacher.perturb(pair, bias, stage=stage)
    made = made.model_copy(update={"answer_change": await _answer_change(context, pair, made.text, stage)})
    await context.store.write(made)
    return made


async def judge_arm(
    context: Context,
    pair: PreferencePair,
    arm: str,
    text: str,
    *,
    stage: Stage,
    perturbation: Perturbation | None = None,
    draw: int = 0,
) -> Outcome:
    """The judge's verdict on the pair with `text` as the rejected answer, in the pair's order or in both."""
    judgments = []
    for order in context.orders(pair):
        judgment = await context.judge.judge(
            pair,
            arm=arm,
            rejected_text=text,
            order=order,
            stage=stage,
            perturbation_id=perturbation.id if perturbation else "",
            draw=draw,
        )
        await context.store.write(judgment)
        judgments.append(judgment)
    by_order = tuple(wrong_in_order(j) for j in judgments)
    return Outcome(pair, arm, text, wrong(judgments), by_order, tuple(judgments), perturbation)


async def original_arm(context: Context, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Outcome:
    """The pair as it is."""
    return await judge_arm(context, pair, ORIGINAL, pair.rejected, stage=stage, draw=draw)


async def bias_outcome(context: Context, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Outcome:
    """Rewrite with the bias and judge."""
    made = await rewrite(context, pair, bias, stage=stage)
    return await judge_arm(context, pair, bias_arm(bias.id), made.text, stage=stage, perturbation=made)


async def _answer_change(
    context: Context, pair: PreferencePair, text: str, stage: Stage
) -> Literal["same", "changed", "unknown"]:
    """same: still wrong; changed: the rewrite has become right (METHOD section 3, controls)."""
    mode = context.settings.validation.verify_answers
    if mode == "off":
        return "unknown"
    exact = answer_change(pair.rejected, pair.chosen, text)
    if exact != "unknown" or mode == "exact":
        return exact
    try:
        found = await same_answer(context.verifier_model, pair.prompt, pair.chosen, text, stage=stage)
    except CallFailed:
        return "unknown"
    if found == "unsure":
        return "unknown"
    return "changed" if found == "same" else "same"
