"""How many calls run at once, and when to give up on an endpoint."""

import asyncio

from ...core.calls import Completion, Model, Request
from ...core.errors import TRANSIENT, CallFailed, EndpointError

_NEVER_ANSWERED = 3


class Limited:
    """At most `at_once` calls in flight; the rest wait their turn."""

    def __init__(self, model: Model, at_once: int) -> None:
        self._model, self._turns = model, asyncio.Semaphore(at_once)

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """Answer when it is this request's turn."""
        async with self._turns:
            return await self._model.complete(request)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


class Breaker:
    """After `after` transient failures in a row (each with its retries), no further call: EndpointError."""

    def __init__(self, model: Model, after: int) -> None:
        self._model, self._after, self._in_a_row, self._last = model, after, 0, ""
        self._answered = False

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """Answer unless the endpoint looks dead."""
        # An endpoint that has never answered is more likely misnamed than busy.
        if self._in_a_row >= (self._after if self._answered else min(_NEVER_ANSWERED, self._after)):
            raise EndpointError(
                f"the endpoint of {self.name} looks dead: {self._in_a_row} calls in a row failed, the last with: "
                f"{self._last}; mend it, then resume the run"
            )
        try:
            completion = await self._model.complete(request)
        except CallFailed as failed:
            if failed.kind in TRANSIENT:
                self._in_a_row, self._last = self._in_a_row + 1, failed.reason
            else:
                self._in_a_row, self._answered = 0, True  # the endpoint lives, it only did not like this request
            raise
        self._in_a_row, self._answered = 0, True
        return completion

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
