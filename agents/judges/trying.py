"""A judge tried on a few pairs, with everything that went to its models and came back."""

from collections.abc import Sequence
from typing import NamedTuple

from ...core.calls import Completion, Model, Request
from ...core.errors import CallFailed
from ...core.records import Order, PreferencePair
from .protocol import Ruling, RulingJudge, Shown


class Exchange(NamedTuple):
    """One call of a model: what was asked, and the reply or why there is none."""

    request: Request
    reply: Completion | CallFailed


class Overheard:
    """A model that keeps every call in `heard`."""

    def __init__(self, model: Model, heard: list[Exchange]) -> None:
        self._model, self._heard = model, heard

    @property
    def name(self) -> str:
        """That of the model."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """As the model does."""
        try:
            completion = await self._model.complete(request)
        except CallFailed as failure:
            self._heard.append(Exchange(request, failure))
            raise
        self._heard.append(Exchange(request, completion))
        return completion

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


class Trial(NamedTuple):
    """One pair in one order: the calls in the order in which they ended, and the ruling or why there is none."""

    pair: PreferencePair
    order: Order
    exchanges: tuple[Exchange, ...]
    ruling: Ruling | CallFailed


async def try_judge(judge: RulingJudge, heard: list[Exchange], pairs: Sequence[PreferencePair]) -> list[Trial]:
    """Every pair in both orders, or in one for a judge without a position; `heard` is what its models write to.

    A failed call is part of the result; raises what stops a run (BrokenMachine).
    """
    orders: tuple[Order, ...] = ("chosen_first", "rejected_first") if judge.has_position else ("chosen_first",)
    trials = []
    for pair in pairs:
        for order in orders:
            heard.clear()
            try:
                ruling: Ruling | CallFailed = await judge.rule(Shown(pair, pair.rejected, order, "probe"))
            except CallFailed as failure:
                ruling = failure
            trials.append(Trial(pair, order, tuple(heard), ruling))
    return trials
