"""`score:` and `rerank:`: reward models and cross-encoders behind the endpoints that vLLM and its like serve."""

import time
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed
from .http_json import JsonClient
from .openai_compatible import api_key, headers_of, secrets_of
from .plain import plain_completion, prompt_and_answers
from .reference import ModelSpec


class ScoreEndpoint:
    """A scorer over HTTP. `/score` gets the prompt as text_1 and the answer as text_2; `/v1/rerank` gets the prompt as
    query and the answer as the only document."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        base = spec.base_url or ""
        self._url = f"{base}/score" if spec.scheme == "score" else f"{base.removesuffix('/v1')}/v1/rerank"
        self._client = JsonClient(
            spec, {"authorization": f"Bearer {api_key(spec)}", **headers_of(spec)}, secrets_of(spec)
        )

    @property
    def name(self) -> str:
        """Model, address and endpoint."""
        suffix = f"#{self._spec.settings_id}" if self._spec.settings_id else ""
        return f"{self._spec.scheme}:{self._spec.target}@{self._spec.base_url}{suffix}"

    async def complete(self, request: Request) -> Completion:
        """The score as a decimal number. Raises CallFailed and EndpointError."""
        prompt, (answer,) = prompt_and_answers(request, self.name, (1,))
        body: dict[str, Any] = {"model": self._spec.target}
        if self._spec.scheme == "score":
            body |= {"text_1": prompt, "text_2": answer}
        else:
            body |= {"query": prompt, "documents": [answer]}
        started = time.perf_counter()
        came = await self._client.send(self._url, {**body, **self._spec.extra_body}, request.id)
        try:
            value = came["data"][0]["score"] if self._spec.scheme == "score" else came["results"][0]["relevance_score"]
        except (KeyError, IndexError, TypeError):
            reason = f"model {self._spec.model!r}: the answer holds no score; is this a {self._spec.scheme} endpoint?"
            raise CallFailed("malformed", reason, f"{came!r:.2000}", request.id) from None
        usage = came.get("usage") or {}
        tokens = int(usage.get("total_tokens") or 0)
        price = self._spec.price_input
        made = plain_completion(
            value,
            request,
            seconds=time.perf_counter() - started,
            served_by=str(came.get("model") or ""),
            cost=None if price is None else tokens * price / 1e6,
        )
        return made.model_copy(update={"prompt_tokens": tokens})

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
