"""One model behind several addresses: load-balanced, with health checks.

A request goes to the address that its beginning went to before, so that what requests share is in that server's prefix
cache, as long as a place is free there; else to the least busy one. An address that fails is left out and asked every
few seconds whether it is back; its requests go to the others.
"""

import asyncio
import contextlib
import hashlib
from dataclasses import dataclass, field

import httpx2

from ...core.calls import Completion, Request
from ...core.errors import TRANSIENT, CallFailed, EndpointError
from .openai_compatible import OpenAICompatible, api_key, headers_of, http_client
from .reference import ModelSpec

_FIRST_CHECK, _LAST_CHECK = 0.5, 30.0
_BEGINNING = 400
"""Characters of the last message that decide where a request goes: question and first answer in a judge's prompt."""


@dataclass
class _Address:
    spec: ModelSpec
    once: OpenAICompatible
    """Without retries: another address is tried instead."""
    patient: OpenAICompatible
    """With retries, for when there is no other."""
    places: asyncio.Semaphore
    healthy: bool = True
    in_flight: int = 0
    broken: EndpointError | None = field(default=None)
    """A wrong key or an unknown model: not asked again in this process."""


class Several:
    """The Model protocol over the addresses of a spec; its identity is that of the first."""

    def __init__(self, spec: ModelSpec, *, run_id: str = "") -> None:
        self.spec = spec
        self._addresses = [_address(spec, url, run_id) for url in spec.addresses]
        self._checks: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        """The identity of the first address's model."""
        return self._addresses[0].patient.name

    async def complete(self, request: Request) -> Completion:
        """Answer from one address; each healthy one is tried once, then the last resort with all retries.

        Raises CallFailed from the last that was tried, EndpointError when no address can answer anything.
        """
        tried: list[_Address] = []
        while True:
            usable = [a for a in self._addresses if a.broken is None]
            if not usable:
                raise EndpointError("; ".join(str(a.broken) for a in self._addresses))
            left = [a for a in usable if a.healthy and a not in tried]
            address = self._choose(left or [a for a in usable if a.healthy] or usable, request)
            last = not left or len(usable) == 1
            tried.append(address)
            try:
                return await self._ask(address, address.patient if last else address.once, request)
            except EndpointError as error:
                address.broken = error
            except CallFailed as failed:
                if failed.kind not in TRANSIENT:
                    raise
                if failed.kind != "server":
                    self._leave_out(address)
                if last:
                    raise

    async def aclose(self) -> None:
        """Stop the checks and close the connections."""
        for task in self._checks:
            task.cancel()
        await asyncio.gather(*self._checks, return_exceptions=True)
        for address in self._addresses:
            await address.once.aclose()
            await address.patient.aclose()

    def _choose(self, among: list[_Address], request: Request) -> _Address:
        beginning = request.messages[-1].content[:_BEGINNING] if request.messages else ""

        def affinity(address: _Address) -> bytes:
            return hashlib.sha256(f"{address.spec.base_url} {beginning}".encode("utf-8", "replace")).digest()

        preferred = max(among, key=affinity)
        if preferred.in_flight < self.spec.max_concurrency:
            return preferred
        return min(among, key=lambda a: a.in_flight)

    async def _ask(self, address: _Address, engine: OpenAICompatible, request: Request) -> Completion:
        address.in_flight += 1
        try:
            async with address.places:
                return await engine.complete(request)
        finally:
            address.in_flight -= 1

    def _leave_out(self, address: _Address) -> None:
        if address.healthy:
            address.healthy = False
            task = asyncio.create_task(self._watch(address))
            self._checks.add(task)
            task.add_done_callback(self._checks.discard)

    async def _watch(self, address: _Address) -> None:
        """Ask for the list of models until anything below a server error comes back."""
        headers = {"authorization": f"Bearer {api_key(address.spec)}", **headers_of(address.spec)}
        wait = _FIRST_CHECK
        async with http_client(address.spec.model_copy(update={"timeout_s": 10.0, "keep_alive": False})) as http:
            while not address.healthy:
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LAST_CHECK)
                with contextlib.suppress(httpx2.HTTPError):
                    address.healthy = (await http.get(f"{address.spec.base_url}/models", headers=headers)).is_success


def _address(spec: ModelSpec, url: str, run_id: str) -> _Address:
    mine = spec.model_copy(update={"base_url": url, "endpoints": ()})
    name = OpenAICompatible.identity(spec)
    return _Address(
        spec=mine,
        once=OpenAICompatible(mine.model_copy(update={"max_retries": 0}), run_id=run_id, name=name),
        patient=OpenAICompatible(mine, run_id=run_id, name=name),
        places=asyncio.Semaphore(spec.max_concurrency),
    )
