"""JSON sent to any HTTP endpoint, with retries, and what its faults mean: the same as for language models."""

import asyncio
import random
from typing import Any

import httpx2

from ...core.errors import BiasScopeError, CallFailed, EndpointError
from .openai_compatible import http_client
from .reference import ModelSpec

_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_WISH = 0.5, 8.0, 60.0
_AGAIN = (408, 409, 425, 429)


class JsonClient:
    """The connections of one endpoint. `secrets` are texts that no message may repeat."""

    def __init__(self, spec: ModelSpec, headers: dict[str, str], secrets: tuple[str, ...]) -> None:
        self._spec, self._headers, self._secrets = spec, headers, secrets
        self._http = http_client(spec)

    async def send(self, url: str, body: Any, request_id: str, method: str = "POST") -> Any:
        """What came back, as JSON. Raises CallFailed and EndpointError as in core.errors."""
        for attempt in range(self._spec.max_retries + 1):
            last = attempt == self._spec.max_retries
            try:
                response = await self._http.request(method, url, json=body, headers=self._headers)
            except httpx2.TimeoutException:
                if last:
                    raise self._failed(
                        "timeout",
                        f"no answer in {self._spec.timeout:g} s, {attempt + 1} times; raise timeout_s",
                        request_id,
                    ) from None
            except httpx2.HTTPError as error:
                if last:
                    said = f"the connection failed ({str(error) or type(error).__name__}); is the endpoint running?"
                    raise self._failed("connection", said, request_id) from None
            else:
                if response.status_code < 400:
                    return self._json(response, request_id)
                if last or not (response.status_code in _AGAIN or response.status_code >= 500):
                    raise self._refused(response, attempt + 1, request_id)
                await asyncio.sleep(_pause(attempt, response.headers.get("retry-after")))
                continue
            await asyncio.sleep(_pause(attempt, None))
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _json(self, response: httpx2.Response, request_id: str) -> Any:
        try:
            return response.json()
        except (ValueError, RecursionError):
            said = "the answer is no JSON that can be read; does the address point at the right path?"
            raise self._failed("malformed", said, request_id, response.text[:2000]) from None

    def _refused(self, response: httpx2.Response, times: int, request_id: str) -> BiasScopeError:
        status, said = response.status_code, " ".join(response.text.split())[:400]
        where = self._where()
        if status in (401, 403):
            step = f"put a valid key into the environment variable {self._spec.api_key_env}"
            return EndpointError(self._clean(f"{where}: access was denied with status {status} ({said}); {step}"))
        if status == 402:
            return EndpointError(
                self._clean(f"{where}: the account has no credit left ({said}); top it up, then resume")
            )
        if status in (404, 405):
            return EndpointError(self._clean(f"{where}: not found, status {status} ({said}); check the address"))
        if status in _AGAIN or status >= 500:
            return self._failed("server", f"status {status}, {times} times ({said})", request_id)
        return self._failed("too_long" if status == 413 else "bad_request", f"status {status} ({said})", request_id)

    def _failed(self, kind: Any, said: str, request_id: str, raw: str = "") -> CallFailed:
        return CallFailed(kind, self._clean(f"{self._where()}: {said}"), self._clean(raw), request_id)

    def _where(self) -> str:
        return f"model {self._spec.model!r}" + (
            f" at {self._spec.base_url}" if self._spec.base_url not in (None, self._spec.model) else ""
        )

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def _pause(attempt: int, wish: str | None) -> float:
    """Seconds before the next attempt; what the endpoint asks for, within reason."""
    try:
        return min(max(float(wish or ""), 0.0), _LONGEST_WISH)
    except ValueError:
        return min(_FIRST_PAUSE * 2.0**attempt, _LONGEST_PAUSE) * random.uniform(0.75, 1.25)
