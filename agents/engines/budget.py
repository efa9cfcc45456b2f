"""A budget in calls, tokens or money, shared by all models of a run."""

import math
from dataclasses import dataclass, field

from ...core.calls import Completion, Model, Request
from ...core.errors import BudgetReached
from ...core.store import Store


@dataclass
class Budget:
    """Limits (None is no limit) and what is spent. `Budget.of_run` goes on counting where a killed run stopped."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    spent_calls: int = field(default=0)
    spent_tokens: int = field(default=0)
    spent_cost: float = field(default=0.0)

    @classmethod
    def of_run(
        cls,
        store: Store,
        run_id: str,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        cost: float | None = None,
    ) -> "Budget":
        """A budget that counts what the run has paid so far."""
        lines = store.usage(run_id)
        return cls(
            calls,
            tokens,
            cost,
            sum(line.calls for line in lines),
            sum(line.prompt_tokens + line.completion_tokens for line in lines),
            math.fsum(line.cost or 0.0 for line in lines),
        )

    def reserve(self) -> None:
        """Count a call that is about to be made. Raises BudgetReached when there is no room for it."""
        for what, spent, limit in (
            ("calls", self.spent_calls, self.calls),
            ("tokens", self.spent_tokens, self.tokens),
            ("cost", self.spent_cost, self.cost),
        ):
            if limit is not None and spent >= limit:
                raise BudgetReached(
                    f"the budget of {limit:g} {what} is spent ({spent:g}); give more with --set budget.{what}=N"
                )
        self.spent_calls += 1

    def settle(self, completion: Completion | None) -> None:
        """Add what a reserved call has cost; None for a call that brought nothing and is not paid."""
        if completion is None:
            self.spent_calls -= 1
        else:
            self.spent_tokens += completion.prompt_tokens + completion.completion_tokens
            self.spent_cost += completion.cost or 0.0


class Budgeted:
    """No new call once the budget is spent. Calls in flight land; answers from the store never come here."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self._model, self._budget = model, budget

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """Answer if there is room in the budget, else BudgetReached."""
        self._budget.reserve()
        completion = None
        try:
            completion = await self._model.complete(request)
        finally:
            self._budget.settle(completion)
        return completion

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
