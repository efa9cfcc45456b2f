"""Spans for OpenTelemetry: names, ids and counts, never texts or keys.

Nothing is measured or sent unless somebody has set a provider (`runs.tracing`), and nothing is needed without one.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .errors import BiasScopeError, CallFailed

try:
    from opentelemetry import propagate, trace
except ImportError:  # the extra `tracing` is not installed
    _tracer: Any = None
else:
    _tracer = trace.get_tracer("biasscope")

Value = str | int | float | bool
Tell = Callable[..., None]


@contextlib.contextmanager
def span(name: str, **attributes: Value) -> Iterator[Tell]:
    """A span while the context lasts; what it yields adds attributes. `__` in an attribute's name stands for a dot.

    An error of ours is told by its kind alone: its message may repeat a model's text.
    """
    if _tracer is None:
        yield _nothing
        return
    with _tracer.start_as_current_span(
        name, attributes=_dotted(attributes), record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield lambda **more: current.set_attributes(_dotted(more))
        except BiasScopeError as error:
            current.set_attribute("error.type", error.kind if isinstance(error, CallFailed) else type(error).__name__)
            current.set_status(trace.StatusCode.ERROR)
            raise


def trace_headers() -> dict[str, str]:
    """HTTP headers that let a server go on with the trace; empty without one."""
    headers: dict[str, str] = {}
    if _tracer is not None and trace.get_current_span().is_recording():
        propagate.inject(headers)
    return headers


def _dotted(attributes: dict[str, Value]) -> dict[str, Value]:
    return {name.replace("__", "."): value for name, value in attributes.items()}


def _nothing(**_: Value) -> None:
    return None
