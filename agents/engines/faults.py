"""What a failed HTTP call means: a failure of this call (data), or a broken machine (stop)."""

import openai

from ...core.errors import BiasScopeError, CallFailed, EndpointError
from .reference import ModelSpec

TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "contextwindowexceeded",
    "prompt is too long",
    "input is too long",
    "tokens exceed",
    "too many tokens",
)
_REFUSED = ("content_filter", "content management policy", "content_policy", "responsible ai")
_NO_MONEY = ("insufficient_quota", "billing_hard_limit", "insufficient credits", "credit balance")
_WANTS_REASONING = ("max_completion_tokens", "'temperature'")


def error_text(error: openai.APIError) -> str:
    """What the endpoint said, with its codes, on one line of at most 400 characters."""
    body = error.body
    if isinstance(body, dict):
        parts = [str(body.get(k)) for k in ("message", "detail", "code", "type") if body.get(k) not in (None, "")]
        text = "; ".join(dict.fromkeys(parts)) or str(body)
    else:
        text = error.message
    return " ".join(text.split())[:400]


def failure_from(error: Exception, spec: ModelSpec, secrets: tuple[str, ...], request_id: str) -> BiasScopeError:
    """Our error for an error of the client library. No secret is repeated, even if the endpoint echoes it."""
    said = error_text(error) if isinstance(error, openai.APIError) else " ".join(str(error).split())[:400]
    for secret in secrets:
        said = said.replace(secret, "***")
    where = f"model {spec.model!r}" + (f" at {spec.base_url}" if spec.base_url else "")
    if isinstance(error, openai.APITimeoutError):
        reason = f"{where}: no answer in {spec.timeout:g} s, {spec.max_retries + 1} times; raise timeout_s"
        return CallFailed("timeout", reason, request_id=request_id)
    if isinstance(error, openai.APIStatusError):
        return _from_status(error, said, spec, where, request_id)
    if isinstance(error, openai.APIConnectionError):
        cause = " ".join(str(error.__cause__ or error).split())[:200]
        reason = f"{where}: the connection failed ({cause}); is the endpoint running?"
        return CallFailed("connection", reason, request_id=request_id)
    reason = f"{where}: the answer is not what this API gives ({said}); does the address end in /v1?"
    return CallFailed("server", reason, request_id=request_id)


def _from_status(
    error: openai.APIStatusError, said: str, spec: ModelSpec, where: str, request_id: str
) -> BiasScopeError:
    status, low = error.status_code, said.lower()
    if status == 402 or any(word in low for word in _NO_MONEY):
        return EndpointError(f"{where}: the account has no credit left ({said}); top it up, then resume")
    if status in (401, 403):
        step = f"put a valid key into the environment variable {spec.api_key_env}"
        return EndpointError(f"{where}: access was denied with status {status} ({said}); {step}")
    if status in (404, 405):
        return EndpointError(f"{where}: not found, status {status} ({said}); check the model's name and the address")
    if status == 413 or (status < 500 and status != 429 and any(word in low for word in TOO_LONG)):
        return CallFailed("too_long", f"{where}: the request is too long ({said})", request_id=request_id)
    if status == 429 or status >= 500 or status in (408, 409, 425):
        reason = f"{where}: status {status}, {spec.max_retries + 1} times ({said})"
        return CallFailed("server", reason, request_id=request_id)
    if any(word in low for word in _REFUSED):
        return CallFailed("refused", f"{where}: the endpoint's filter declined ({said})", request_id=request_id)
    if not spec.reasoning and "support" in low and any(word in low for word in _WANTS_REASONING):
        return EndpointError(
            f"{where}: takes no temperature or max_tokens ({said}); set reasoning: true for this model"
        )
    return CallFailed("bad_request", f"{where}: status {status} ({said})", request_id=request_id)
