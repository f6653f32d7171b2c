"""Runs, requests, answers of models and trials as OpenTelemetry spans, with the right parents."""

import subprocess
import sys
from threading import Thread

import pytest
from fastmcp import FastMCP
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.trace import StatusCode
from patience import eventually
from pydantic import SecretStr
from test_widgets.front import click, named

from toolbench import Conversation, run_tool, tool
from toolbench.agent import Agent
from toolbench.core.declarations import ToolAnnotations
from toolbench.evals import Case, evaluate
from toolbench.llm import ScriptedModel
from toolbench.llm.models import Answer, Usage
from toolbench.mcp.client import MCPClient
from toolbench.runs.parallel import run_tools
from toolbench.serving import serve
from toolbench.tracing import tracing
from toolbench.widgets.panel.panel import ToolPanel


@tool(read_only=True)
def halve(total: float) -> str:
    """Halve a number."""
    return f"{total / 2:g}"


@tool(read_only=True)
def login(token: SecretStr) -> str:
    """Log in."""
    return f"logged in by {token.get_secret_value()}"


@tool(read_only=True)
def explode() -> str:
    """Raise an error."""
    msg = "no"
    raise ValueError(msg)


@tool(destructive=True)
def wipe() -> str:
    """Wipe."""
    return "wiped"


@tool(read_only=True)
def elsewhere() -> str:
    """Halve in a thread."""
    thread = Thread(target=run_tool, args=(halve, {"total": 4}))
    thread.start()
    thread.join()
    return "done"


def call(name, arguments):
    function = {"name": name, "arguments": arguments}
    calls = [{"id": "1", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


@pytest.fixture
def shop():
    """A client of FastMCP's own server in this process."""
    server = FastMCP("shop")

    @server.tool(annotations=ToolAnnotations(readOnlyHint=True).model_dump(exclude_none=True))
    def add(a: int, b: int) -> int:
        return a + b

    with MCPClient() as client:
        client.connect("shop", server)
        yield client


def test_call_of_a_server_is_one_trace(spans, shop):
    """From the user's span to the server's own: the context goes out in `_meta`, and a request is one span."""
    spans.exporter.clear()
    with trace.get_tracer("user").start_as_current_span("user"):
        run_tool(shop["add"], a=1, b=2)
    names = [span.name for span in spans.all]
    assert names == ["tools/call add", "MCP send tools/call add", "execute_tool add", "user"]
    assert [spans.parent(name) for name in names] == [*names[1:], None]
    assert spans.traces == 1
    trace_id = format(spans.named("user").context.trace_id, "032x")
    assert f'"traceparent": "00-{trace_id}' in shop.servers["shop"].traffic.to_ndjson()


@pytest.mark.parametrize(
    ("used", "arguments", "error"),
    [
        (halve, {"total": 3}, None),
        (halve, {"total": "much"}, "invalid_arguments"),
        (explode, {}, "tool_error"),
    ],
)
def test_end_of_a_run(spans, used, arguments, error):
    """Its state is in the span, and what it was given is not."""
    run_tool(used, arguments)
    span = spans.named(f"execute_tool {used.name}")
    assert span.attributes.get("error.type") == error
    assert (span.status.status_code is StatusCode.ERROR) == (error is not None)
    assert span.attributes["gen_ai.tool.name"] == used.name
    assert not [key for key in span.attributes if "arguments" in key or "result" in key]


def test_content_is_asked_for_and_masked(spans):
    """It is what the history has."""
    tracing.content = True
    run_tool(login, token="hunter2-hunter2")
    run_tool(halve, total="\ud800")
    spans.named("execute_tool halve").attributes["gen_ai.tool.call.result"].encode()
    attributes = spans.named("execute_tool login").attributes
    assert "token" in attributes["gen_ai.tool.call.arguments"]
    assert "logged in by" in attributes["gen_ai.tool.call.result"]
    assert "hunter2" not in repr(dict(attributes))


def test_runs_of_other_threads_have_their_parent(spans):
    """Of a button, of several calls at once, and of a thread that a tool starts."""
    with trace.get_tracer("user").start_as_current_span("user"):
        panel = ToolPanel(elsewhere, {})
        click(named(panel, "Run"))
        run_tools([(login, {"token": "a"}), (explode, {})])
    eventually(lambda: len(spans.all) == 5)
    for name in ("elsewhere", "login", "explode"):
        assert spans.parent(f"execute_tool {name}") == "user"
    assert spans.parent("execute_tool halve") == "execute_tool elsewhere"
    panel.close()


class Broken(SpanProcessor):
    """A processor of the user's that fails."""

    def on_start(self, span, parent_context=None):
        raise OSError("no disk")


def test_broken_processor_ends_no_run(spans, provider):
    """A run goes on without its span, and the user is told."""
    provider.add_span_processor(Broken())
    with pytest.warns(RuntimeWarning, match="no span of execute_tool halve: OSError: no disk"):
        assert run_tool(halve, total=3).text == "1.5"


def test_served_call_is_a_part_of_its_callers_trace(spans):
    """The context comes in by `_meta`, over HTTP."""
    served = serve([halve])
    try:
        with MCPClient() as client:
            headers = {"Authorization": f"Bearer {served.token}"}
            client.connect("nb", {"url": served.url, "headers": headers})
            spans.exporter.clear()
            with trace.get_tracer("user").start_as_current_span("user"):
                client["halve"](total=3)
            assert spans.traces == 1
            names = [span.name for span in spans.all]
            assert names.count("execute_tool halve") == 1
            assert spans.parent("execute_tool halve") == "tools/call"
            assert spans.parent("tools/call") == "MCP send tools/call halve"
    finally:
        served.close()


def test_conversation_and_trial_are_parents(spans):
    """Of the model's answers, with their tokens, and of the runs of its calls."""
    usage = Usage(input_tokens=12, output_tokens=5)
    first = Answer(call("halve", '{"total": 8}'), "tool_calls", usage)
    conversation = Conversation(agent=Agent(ScriptedModel([first, "4"]), [halve]))
    conversation.send_message("Halve 8.")
    conversation.run()
    assert spans.traces == 1
    assert spans.parent("execute_tool halve") == "invoke_agent"
    assert spans.named("execute_tool halve").attributes["gen_ai.tool.call.id"] == "1"
    chat = next(span for span in spans.all if span.name == "chat scripted")
    assert chat.attributes["gen_ai.usage.input_tokens"] == 12
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert not [key for key in chat.attributes if "messages" in key]
    spans.exporter.clear()
    case = Case("Halve 8.", {"name": "halve", "arguments": {"total": 8}})
    evaluate(ScriptedModel([first]), [halve], [case], execute=True)
    assert spans.parent("chat scripted") == spans.parent("execute_tool halve") == "trial"
    assert spans.named("trial").attributes["toolbench.trial.passed"] is True


def test_nothing_is_imported():
    """Not by a session without servers."""
    code = (
        "import sys, toolbench.widgets\n"
        "from toolbench import tool, run_tool\n"
        "@tool\ndef f() -> str:\n    '''F.'''\n    return 'x'\n"
        "assert run_tool(f).text == 'x'\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_tracer_alone_is_enough():
    """A trial needs no more of OpenTelemetry than its tracer imports."""
    code = (
        "from opentelemetry import trace\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "trace.set_tracer_provider(TracerProvider())\n"
        "from toolbench import tool\n"
        "from toolbench.evals import Case, evaluate\n"
        "from toolbench.llm import ScriptedModel\n"
        "@tool\ndef f() -> str:\n    'F.'\n    return 'x'\n"
        "print(len(evaluate(ScriptedModel(['no']), [f], [Case('F.', {'name': 'f'})])))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
