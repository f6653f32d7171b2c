"""The history as a file of spans, which a receiver of OTLP takes; a real exporter sends it the same."""

import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import Request, urlopen

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import SecretStr

from toolbench import answering, current_run, history, run_tool, tool
from toolbench.errors import FileError


@tool(read_only=True)
def halve(total: float) -> str:
    """Halve a number."""
    return f"{total / 2:g}"


@tool(read_only=True)
def ask(token: SecretStr) -> str:
    """Ask something, and halve."""
    answer = current_run().ask("Go on?")
    run_tool(halve, total=8)
    return f"{bool(answer)} {token.get_secret_value()}"


@pytest.fixture
def receiver():
    """An OTLP receiver on this machine: its address, and the spans that it got."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            request = ExportTraceServiceRequest()
            if self.headers["content-type"] == "application/json":
                # OTLP writes ids in hex, and the JSON of protobuf in base64
                text = json.loads(body)
                Parse(json.dumps(_in_base64(text)), request)
            else:
                request.ParseFromString(body)
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    got.extend((scope.scope.name, span) for span in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", got
    server.shutdown()
    thread.join()
    server.server_close()


def _in_base64(value):
    from base64 import b64encode

    if isinstance(value, list):
        return [_in_base64(part) for part in value]
    if not isinstance(value, dict):
        return value
    parts = {}
    for key, part in value.items():
        parts[key] = _in_base64(part)
        if key in ("traceId", "spanId", "parentSpanId"):
            parts[key] = b64encode(bytes.fromhex(part)).decode()
    return parts


def test_half_a_character_is_readable(no_records, tmp_path):
    """A receiver would refuse the file with all other runs."""

    @tool
    def cut() -> str:
        """Return half a character."""
        return "x\ud83d"

    run_tool(cut)
    text = json.loads(history().to_otlp(tmp_path / "runs.json", content=True).read_text())
    Parse(json.dumps(_in_base64(text)), ExportTraceServiceRequest())


def test_file_is_what_an_exporter_sends(spans, receiver, tmp_path):
    """Names, times, parents, questions and errors; no secret, and content only on request."""
    url, got = receiver
    with answering(True):
        run_tool(ask, token="hunter2-hunter2")
    run_tool(halve, total="much")
    OTLPSpanExporter(endpoint=url).export(spans.all)
    exported = [span for scope, span in got if scope == "toolbench"]
    got.clear()
    path = history().to_otlp(tmp_path / "runs.json", content=True)
    body = path.read_bytes()
    assert b"hunter2" not in body
    urlopen(Request(url, body, {"content-type": "application/json"})).close()
    written = [span for _, span in got]
    assert sorted(span.name for span in written) == sorted(span.name for span in exported)
    for there, here in zip(exported, written, strict=True):
        assert (there.name, there.kind, there.status.code) == (
            here.name,
            here.kind,
            here.status.code,
        )
        assert abs(there.end_time_unix_nano - here.end_time_unix_nano) < 50_000_000
    inner, outer, refused = written
    assert inner.parent_span_id == outer.span_id
    assert inner.trace_id == outer.trace_id != refused.trace_id
    assert [event.name for event in outer.events] == ["question"]
    attributes = {pair.key: pair.value.string_value for pair in refused.attributes}
    assert attributes["error.type"] == "invalid_arguments"
    plain = history().to_otlp(tmp_path / "plain.json").read_text()
    assert "Go on?" not in plain and "call.arguments" not in plain
    with pytest.raises(FileError):
        history().to_otlp(tmp_path / "plain.json", content=True)
