"""Send spans to a collector, when asked to by the environment."""

import os

from ..core.errors import ConfigError

SWITCH = "BIASSCOPE_TRACING"


def start_tracing() -> None:
    """With BIASSCOPE_TRACING=1, send spans by OTLP over HTTP to where OpenTelemetry's own variables say.

    Raises ConfigError for another value, or without the extra `tracing`.
    """
    match os.environ.get(SWITCH, "").strip().lower():
        case "" | "0" | "false":
            return
        case "1" | "true":
            pass
        case other:
            raise ConfigError(f"{SWITCH}={other!r}: write 1 to send traces, or leave it out")
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigError(f"{SWITCH}: tracing is not installed; pip install 'biasscope[tracing]'") from None
    name = os.environ.get("OTEL_SERVICE_NAME") or "biasscope"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
