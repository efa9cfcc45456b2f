"""Spans of a whole run: off by default, in memory and over OTLP to a receiver, with no text and no key in them."""

import gzip
import http.server
import json
import os
import subprocess
import sys
import threading

import pytest
from biasscope.core import tracing
from biasscope.core.errors import ConfigError
from biasscope.runs.tracing import start_tracing
from biasscope.simulation.scripted import Reply
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from world_runs import FaultyWorld, settings, start, write_config, write_sources

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")
KEY = "sk-never-in-a-span"
ONE_ROUND = {"discovery": {"iterations": 1}}


@pytest.fixture
def spans(monkeypatch):
    """Everything that is traced in this process, in memory."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("biasscope"))
    yield exporter
    provider.shutdown()


@pytest.fixture
def data(easy, tmp_path):
    write_sources(tmp_path / "data", easy, 8, 8)
    return tmp_path / "data"


def texts_of(easy_server):
    return [m["content"] for body in easy_server.chats for m in body["messages"]]


def test_nothing_is_traced_unless_asked_for(easy, data, tmp_path):
    with FaultyWorld(easy) as server:
        start(settings(data, tmp_path / "w", server.url, **ONE_ROUND))
        assert not any("traceparent" in r.headers for r in server.requests)
    assert not isinstance(trace.get_tracer_provider(), TracerProvider)


def test_a_run_its_nodes_stages_and_calls_are_one_trace(easy, data, tmp_path, spans, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    bad = Reply(text="", finish_reason="stop")
    with FaultyWorld(
        easy, lambda body, n: bad if "temperature" in body and len(str(body)) % 7 == 0 else None
    ) as server:
        outcome = start(settings(data, tmp_path / "w", server.url, **ONE_ROUND))
        asked = server.asked.total()
        headers = [r.headers for r in server.requests if r.path.endswith("/chat/completions")]
        texts = texts_of(server)
    found = spans.get_finished_spans()
    by_id = {s.context.span_id: s for s in found}
    assert len({s.context.trace_id for s in found}) == 1
    [root] = [s for s in found if s.parent is None]
    assert root.name == f"run {outcome.folder.run_id}"
    nodes = {s.name for s in found if s.name.startswith("node ")}
    assert {"node perturb", "node judge", "node validate"} <= nodes
    calls = [s for s in found if s.name.startswith("chat ")]
    assert len(calls) == asked
    assert {s.attributes["biasscope.role"] for s in calls} >= {"teacher", "judge"}
    assert sum(s.attributes["gen_ai.usage.input_tokens"] for s in calls) > 0
    parents = {by_id[s.parent.span_id].name.split()[0] for s in calls}
    assert parents <= {"stage", "node"} and "stage" in parents
    for s in found:
        if s.name.startswith("stage "):
            assert by_id[s.parent.span_id].name.startswith("node ")
    # The endpoint can go on with the trace.
    ids = {f"{s.context.trace_id:032x}-{s.context.span_id:016x}" for s in calls}
    assert {h["traceparent"][3:52] for h in headers} == ids
    kept = json.dumps([json.loads(s.to_json()) for s in found])
    assert KEY not in kept
    assert not any(json.dumps(text[-60:])[1:-1] in kept for text in texts)


def test_failed_calls_are_told_by_kind(easy, data, tmp_path, spans):
    with FaultyWorld(easy, lambda body, n: Reply(status=400, error={"message": "no"})) as server:
        start(settings(data, tmp_path / "w", server.url, **ONE_ROUND))
    calls = [s for s in spans.get_finished_spans() if s.name.startswith("chat ")]
    assert calls and {s.attributes["error.type"] for s in calls} == {"bad_request"}
    assert {s.status.status_code for s in calls} == {trace.StatusCode.ERROR}
    assert all(s.status.description is None and not s.events for s in calls)


def test_the_command_sends_spans_to_a_collector(easy, data, tmp_path):
    received, guard = [], threading.Lock()

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            content = self.rfile.read(int(self.headers["content-length"]))
            content = gzip.decompress(content) if self.headers.get("content-encoding") == "gzip" else content
            with guard:
                received.append((self.path, content))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    with FaultyWorld(easy) as server:
        config = write_config(tmp_path / "c.yaml", settings(data, tmp_path / "w", server.url, **ONE_ROUND))
        env = {
            **os.environ,
            "BIASSCOPE_TRACING": "1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OPENAI_API_KEY": KEY,
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run([*COMMAND, "discover", str(config)], env=env, capture_output=True, text=True)
        asked, texts = server.asked.total(), texts_of(server)
    collector.shutdown()
    collector.server_close()
    assert done.returncode == 0, done.stderr
    assert {path for path, _ in received} == {"/v1/traces"}
    sent = []
    for _, content in received:
        for resource in ExportTraceServiceRequest.FromString(content).resource_spans:
            assert any(a.value.string_value == "biasscope" for a in resource.resource.attributes)
            sent += [s for scope in resource.scope_spans for s in scope.spans]
    assert sum(s.name.startswith("chat ") for s in sent) == asked
    assert len({s.trace_id for s in sent}) == 1 and "run trial" in {s.name for s in sent}
    everything = b"".join(content for _, content in received)
    assert KEY.encode() not in everything
    assert not any(text[-60:].encode() in everything for text in texts)


def test_a_switch_that_is_neither_is_refused(monkeypatch):
    monkeypatch.setenv("BIASSCOPE_TRACING", "maybe")
    with pytest.raises(ConfigError, match="write 1"):
        start_tracing()
