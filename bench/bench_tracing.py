"""What spans cost: a call of a server with a configured tracer, beside the same call without our spans."""

import sys

import pytest
from measuring import WALL
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from toolbench import run_tool
from toolbench.mcp.client import MCPClient
from toolbench.tracing import tracing

CALLS = 50
ROUNDS = 40


@pytest.fixture
def calls(monkeypatch):
    """Fifty calls over stdio, with our spans or without; those of the SDK are there in both."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    begin = tracing.begin

    def made(*, is_traced):
        def work():
            if is_traced:
                monkeypatch.setattr(tracing, "begin", begin)
            else:
                monkeypatch.setattr(tracing, "begin", lambda *args, **options: None)
            for _ in range(CALLS):
                # A plain call from Python is no run, and has no span of ours
                run_tool(find, {"query": "a"})

        return work

    with MCPClient() as client:
        example = {"command": sys.executable, "args": ["-m", "toolbench.mcp.example"]}
        find = client.connect("example", example).tool("find")
        yield made
    provider.shutdown()


def test_traced_calls(ledger, calls):
    """Our spans cost at most 2 % of a call of a local server."""
    ledger.compare(
        f"{CALLS} traced calls over stdio",
        ours=calls(is_traced=True),
        peer=calls(is_traced=False),
        peer_name="without our spans",
        goal=1.02,
        rounds=ROUNDS,
        clock=WALL,
    )
