"""`${NAME}` in a call of a server's tool: the conversation's secret, which only the server sees."""

import asyncio

import pytest
from patience import eventually

from test_mcp.peers import scripted
from toolbench import Conversation, ConversationState, history, run_tool, tool
from toolbench.core.tool import ToolDefinition
from toolbench.mcp.config.placeholders import with_secrets
from toolbench.redaction import MARK
from toolbench.redaction.known import Secrets, remembered
from toolbench.runs.current_run import current_run
from toolbench.runs.perform import perform
from toolbench.runs.run import run_here
from toolbench.testing import FakeMCPServer

SECRET = "s3cret-token-value"


@pytest.fixture
def conversation():
    return Conversation(ConversationState(secrets={"API_TOKEN": SECRET}))


@pytest.fixture(params=["modern", "legacy"])
def server(request):
    """A server whose tool says in every way what it was given."""
    server = FakeMCPServer("echo", era=request.param)

    @server.tool
    def echo(message: str) -> str:
        """Say it again, in the log too."""
        current_run().log(f"logged {message}")
        current_run().progress(1, 2, message)
        return f"got {message}"

    return server


def test_reaches_the_server_and_nobody_else(client, server, conversation):
    """The server has the value; result, record, log, traffic and reprs have the mark or the name."""
    session = client.connect("echo", server)
    tool = session.tool("echo")
    arguments = {"message": "Bearer ${API_TOKEN}"}
    observation = perform(run_here(tool, arguments, conversation=conversation))
    assert server.calls[0].arguments == {"message": f"Bearer {SECRET}"}
    assert observation.text == f"got Bearer {MARK}"
    eventually(lambda: len(session.log))
    record = history()[-1]
    texts = [
        observation,
        record.to_dict(),
        record.to_html(),
        session.traffic.to_ndjson(),
    ]
    texts += [entry.text for entry in session.log] + [
        session,
        tool,
        list(session.stderr),
    ]
    assert SECRET not in "\n".join(map(str, texts))
    assert record.arguments == {"message": "Bearer ${API_TOKEN}"}


def test_is_expanded_however_the_tool_is_called(client, server, conversation):
    """Called directly, awaited, or written down and found again: the same."""
    tool = client.connect("echo", server).tool("echo")
    again = ToolDefinition.from_dict(tool.to_dict())
    action = {"message": "${API_TOKEN}"}
    tool(action, conversation)
    asyncio.run(tool.acall(action, conversation))
    again(action, conversation)
    assert [call.arguments["message"] for call in server.calls] == [SECRET] * 3


def test_of_the_run_that_calls_stay_out_of_the_traffic(client, server):
    """A tool that hands its secret to a server, under a name that says nothing, tells it alone."""
    session = client.connect("echo", server)

    @tool
    def outer(password: str) -> str:
        """Hand it on."""
        session.call("echo", {"message": password})
        return run_tool(session.tool("echo"), message=password).text

    assert SECRET in run_tool(outer, password=SECRET).text
    eventually(lambda: len(session.log) > 1)
    assert [call.arguments["message"] for call in server.calls] == [SECRET] * 2
    records = f"{session.traffic.to_ndjson()} {[e.text for e in session.log]}"
    assert SECRET not in records + history().to_json()
    assert MARK in records


def test_show_in_no_result_of_a_session(client, server):
    """What a session returns is as the server sent it, and a cell shows it masked."""

    @server.tool
    def login(password: str) -> str:
        """Log in."""
        return f"got {password}"

    server.prompt("write", "Log in with {password}.", arguments=["password"])
    session = client.connect("echo", server)
    for result in (
        session.call("login", {"password": SECRET}),
        session.get_prompt("write", password=SECRET),
    ):
        assert SECRET in result.text
        text = f"{result!r} {result._repr_mimebundle_()}"
        assert SECRET not in text
        assert MARK in text


def test_that_only_the_schema_marks_show_in_no_result_of_a_call(client):
    """A password with a harmless name is hidden if the server says it again, without a run too."""
    server, schema = FakeMCPServer("n"), {"word": {"type": "string", "format": "password"}}
    server.answer("log_in", "welcome sesame-4711", schema={"properties": schema})
    tool = client.connect("n", server).tool("log_in")
    for observation in (tool(word="sesame-4711"), asyncio.run(tool.acall({"word": "sesame-4711"}))):
        assert MARK in repr(observation)
        assert "sesame" not in repr(observation)


def test_in_the_address_of_a_resource_stay_out_of_the_traffic(client, server):
    """The token in a URI reaches the server, and no record of the talk with it."""
    uri = f"res://files/a?token={SECRET}"
    server.resource(uri, f"body for {SECRET}")
    session = client.connect("echo", server)
    resource = session.read_resource(uri)
    assert SECRET in resource.text
    text = f"{session.traffic.to_ndjson()} {resource!r} {resource._repr_mimebundle_()}"
    assert SECRET not in text
    assert f"token={MARK}" in text


def test_in_what_a_completion_is_asked_for_show_nowhere(client, tmp_path):
    """A value is known as a secret by the name of its argument or variable."""
    about = {"name": "s", "version": "1"}
    opened = {"protocolVersion": "2025-11-25", "serverInfo": about}
    script = {
        "initialize": [{"result": {**opened, "capabilities": {"completions": {}}}}],
        "completion/complete": [{"result": {"completion": {"values": [f"{SECRET}-4"]}}}],
    }
    session = client.connect("s", scripted(tmp_path / "script", script))
    more = {"token": f"{SECRET}-5"}
    assert session.complete("login", "password", f"{SECRET}-4", **more) == [f"{SECRET}-4"]
    assert SECRET not in session.traffic.to_ndjson()


def test_that_are_defaults_of_a_tool_stay_with_the_server(client, server, tmp_path):
    """A key that the tool's schema holds as a default shows in no record, list or display."""
    api = {"type": "string", "default": SECRET}
    headers = {"type": "object", "default": {"Authorization": "Bearer hdr-default-44"}}
    mode = {"type": "string", "default": "plain-mode-1"}
    schema = {"properties": {"api_key": api, "headers": headers, "mode": mode}}
    text = f"{SECRET} hdr-default-44 plain-mode-1"
    server.answer("fetch", text, schema={"type": "object", **schema})
    history().persist(tmp_path / "journal")
    session = client.connect("echo", server)
    fetch = session.tool("fetch")
    observation = run_tool(fetch)
    assert observation.text == text
    for record in (
        session.traffic.to_ndjson(),
        history().to_json(),
        (tmp_path / "journal").read_text(),
        f"{fetch!r} {fetch._repr_mimebundle_()}",
        f"{observation!r} {observation._repr_mimebundle_()}",
    ):
        assert SECRET not in record and "hdr-default-44" not in record
        assert "mode" in record
    assert fetch.input_schema["properties"]["api_key"]["default"] == SECRET


def test_only_the_conversations_secrets_are_looked_up(client, server, conversation, monkeypatch):
    """Neither the environment, nor another syntax, nor a call without the conversation expands."""
    monkeypatch.setenv("HOME_TOKEN", "from the environment")
    tool = client.connect("echo", server).tool("echo")
    text = "${HOME_TOKEN} $API_TOKEN ${API_TOKEN:-x} ${env:API_TOKEN}"
    tool({"message": text}, conversation)
    tool({"message": "${API_TOKEN}"})
    assert [call.arguments["message"] for call in server.calls] == [
        text,
        "${API_TOKEN}",
    ]


def test_reaches_into_lists_and_objects_once():
    """Every string of the arguments is looked through, names are not, values not again."""
    secrets = Secrets({"A": "${B}", "B": "b"})
    arguments = {"${A}": ["${A}${B}", {"x": ("${B}", 1, None)}]}
    assert with_secrets(arguments, secrets) == {"${A}": ["${B}b", {"x": ["b", 1, None]}]}


def test_of_an_earlier_call_show_in_no_later_one(client, server, tmp_path):
    """A server may keep what it was given, and say it when nobody thinks of it any more."""
    passwords = []

    @server.tool
    def login(password: str) -> str:
        """Log in."""
        passwords.append(password)
        return "in"

    @server.tool
    def later() -> str:
        """Say it."""
        current_run().progress(1, 2, passwords[0])
        return f"as {passwords[0]}"

    history().persist(tmp_path / "journal")
    session = client.connect("echo", server)
    run_tool(session.tool("login"), password=SECRET)
    # Only the session knows it now, as after very many others
    remembered.forget()
    observation = run_tool(session.tool("later"))
    assert observation.text == f"as {SECRET}"
    again = session.call("later")
    record = history()[-1]
    for text in (
        history().to_json(),
        (tmp_path / "journal").read_text(),
        f"{record!r} {record._repr_mimebundle_()}",
        f"{observation!r} {observation._repr_mimebundle_()}",
        f"{again!r} {again._repr_mimebundle_()}",
    ):
        assert SECRET not in text
    assert MARK in history().to_json()
    history().clear()
