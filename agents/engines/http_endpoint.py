"""`http://...`: any endpoint as a scorer or a judge, through a request template and a JSON path."""

import json
import time
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, ConfigError
from ...core.ids import content_id
from .http_json import JsonClient
from .json_path import compile_path, find
from .openai_compatible import api_key, headers_of
from .plain import plain_completion, prompt_and_answers
from .reference import ModelSpec

_FIELDS = ("prompt", "answer", "answer_a", "answer_b")


class HttpEndpoint:
    """Sends the template filled in, and reads the score or the verdict where the path says.

    The key that `api_key_env` names is sent as bearer token when it is set; other headers as `headers` says. Raises
    ConfigError for a template or a path that is none.
    """

    def __init__(self, spec: ModelSpec) -> None:
        if spec.http is None:
            raise ConfigError(f"model {spec.model!r}: needs http settings: a body to send and the path of its answer")
        self._spec, self._call = spec, spec.http
        self._body = _compiled(self._call.body, spec.model)
        self._path = compile_path(self._call.answer)
        headers, secrets = headers_of(spec), tuple(v for v in headers_of(spec).values() if len(v) >= 8)
        if "api_key_env" in spec.model_fields_set:
            # Only when it is asked for: an address of one's own is not where another service's key belongs.
            headers.setdefault("authorization", f"Bearer {api_key(spec)}")
            secrets += (api_key(spec),)
        self._client = JsonClient(spec, headers, secrets)

    @property
    def name(self) -> str:
        """The address, with a hash of what is sent and read."""
        return f"{self._spec.model}#{content_id(self._call.model_dump(mode='json'))[:8]}"

    async def complete(self, request: Request) -> Completion:
        """The score or verdict as text. Raises CallFailed and EndpointError."""
        prompt, answers = prompt_and_answers(request, self.name)
        named = {"answer": answers[0]} if len(answers) == 1 else {"answer_a": answers[0], "answer_b": answers[1]}
        try:
            body = _filled(self._body, {"prompt": prompt, **named})
        except Exception as error:  # whatever a template can do wrong
            raise CallFailed("bad_request", f"the request template fails: {error}", request_id=request.id) from None
        started = time.perf_counter()
        came = await self._client.send(self._spec.model, body, request.id, self._call.method)
        found = find(self._path, came)
        if found is None:
            raise CallFailed(
                "malformed",
                f"model {self._spec.model!r}: the path {self._call.answer} finds nothing, or several values",
                json.dumps(came, ensure_ascii=False)[:2000],
                request.id,
            )
        return plain_completion(found, request, seconds=time.perf_counter() - started, cost=_no_price(self._spec))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _no_price(spec: ModelSpec) -> float | None:
    return 0.0 if spec.price_input == 0 else None


def _compiled(node: Any, model: str) -> Any:
    """The body with its texts as templates."""
    if isinstance(node, dict):
        return {str(key): _compiled(value, model) for key, value in node.items()}
    if isinstance(node, list):
        return [_compiled(value, model) for value in node]
    if not isinstance(node, str):
        return node
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
    try:
        unknown = sorted(jinja2.meta.find_undeclared_variables(environment.parse(node)) - set(_FIELDS))
        template = environment.from_string(node)
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"model {model!r}: http.body: {node!r:.60} is no template: {error.message}") from None
    if unknown:
        raise ConfigError(f"model {model!r}: http.body uses {', '.join(unknown)}; the fields are {', '.join(_FIELDS)}")
    return template


def _filled(node: Any, fields: dict[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, fields) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(value, fields) for value in node]
    return node.render(**fields) if isinstance(node, jinja2.Template) else node
