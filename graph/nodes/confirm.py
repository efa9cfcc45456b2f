"""Test the final library once on the locked part of the test set, with a fresh placebo."""

from ...core.records import Bias
from ..context import Context
from ..state import State
from ..validation import test_biases
from .admit import record


async def confirm(context: Context, state: State) -> State:
    """METHOD section 3, Confirmation. Effect sizes in reports come from here."""
    pairs = context.store.pairs(context.run_id, "confirm")
    biases = context.store.get_many(Bias, state["validated"])
    if pairs and biases:
        validations = await test_biases(
            context,
            biases,
            pairs,
            pair_set="confirm",
            iteration=-1,
            level=context.settings.validation.alpha,
            stage="confirm",
        )
        await record(context, validations, step_of=None)
    return {}
