"""What an app may ask of the kernel, and what it gets: MCP Apps, SEP-1865."""

import json
from contextlib import closing
from queue import Queue
from threading import Event

import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually

from toolbench import history
from toolbench.mcp.apps import app_bridge
from toolbench.mcp.apps.app_bridge import (
    BURST,
    LARGEST_MESSAGE,
    MOST_CALLS,
    AppBridge,
)
from toolbench.runs.questions import Answer, answering
from toolbench.runs.run import Run

ADDS = {"destructiveHint": False, "readOnlyHint": False}
WIPES = {"destructiveHint": True, "readOnlyHint": False}
SECRET = "hunter2-of-the-app"


class Person:
    """Answers what is asked, and remembers it; without an answer, waits for the end."""

    def __init__(self, answer=None):
        self.questions = []
        self.answer = answer

    def ask(self, question, run):
        """Answer, or wait."""
        self.questions.append(question.message)
        if self.answer is None:
            eventually(lambda: run.cancelled)
            return Answer("cancel")
        return Answer(self.answer, {"answer": True})


class Page:
    """The end of the bridge in the page: sends requests, and takes answers."""

    def __init__(self, session, person):
        self.answers = Queue()
        self.bridge = AppBridge(session, ask=person.ask)

    def send(self, method, params=None, **more):
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.bridge.receive(json.dumps({**message, **more}), self.answers.put)

    def ask(self, method, params=None, **more):
        """Return the answer to a request."""
        self.send(method, params, **more)
        return json.loads(self.answers.get(timeout=PATIENCE))

    def call(self, name, arguments=None):
        """Return the answer to a call."""
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}})


@pytest.fixture
def session(client):
    """A server with tools for its app, for models, and one that destroys."""
    server, gate = FastMCP("counter"), Event()

    def hold() -> str:
        assert gate.wait(PATIENCE)
        return "held"

    def log_in(password: str) -> str:
        return f"in with {password}"

    server.tool(lambda: 7, name="count", annotations=ADDS)
    server.tool(lambda: "gone", name="wipe", annotations=WIPES)
    server.tool(hold, name="hold", annotations=ADDS)
    server.tool(log_in, name="log_in", annotations=ADDS)
    server.tool(lambda: 1, name="for_models", annotations=ADDS, meta=visible_to("model"))
    server.tool(lambda: 2, name="for_apps", annotations=ADDS, meta=visible_to("app"))
    server.resource("data://rows", mime_type="text/plain")(lambda: "three rows")
    client.connect("other", FastMCP("other"))
    yield client.connect("counter", server)
    gate.set()


def visible_to(*callers):
    """The meta of a tool that *callers* may call."""
    return {"ui": {"visibility": [*callers]}}


@pytest.fixture
def page(session):
    """An app, and a person who agrees to all."""
    page = Page(session, Person("accept"))
    with closing(page.bridge):
        yield page


def test_a_call_is_a_run_of_the_app(page, no_records):
    """Its result is the server's, and it stands in the history with its source."""
    result = page.call("for_apps")["result"]
    assert result["content"][0]["text"] == "2"
    assert result["isError"] is False
    [record] = history()
    assert (record.tool, record.source) == ("for_apps", "app")
    assert [run.tool.name for run in page.bridge.runs] == ["for_apps"]


@pytest.mark.parametrize("name", ["for_models", "nothing", "other_count"])
def test_other_tools_are_refused(page, name, no_records):
    """Those that are not for apps, and those that its own server does not have."""
    assert page.call(name)["error"]["code"] == -32602
    assert len(history()) == 0


def test_a_call_that_needs_consent_asks_the_person(session, no_records):
    """A no is an answer to the app, and nothing ran."""
    person = Person("decline")
    page = Page(session, person)
    result = page.call("wipe")["result"]
    assert result["isError"] is True
    assert "declined" in result["content"][0]["text"]
    assert len(person.questions) == 1
    assert "Wipe" in person.questions[0] or "wipe" in person.questions[0]
    assert history()[0].state == "denied"


def test_a_preset_answer_agrees_to_no_call_of_an_app(session, no_records):
    """It is for what the notebook's own block starts."""
    page = Page(session, Person("decline"))
    with closing(page.bridge), answering(True):
        assert "the user declined" in page.call("wipe")["result"]["content"][0]["text"]
    assert len(page.bridge.runs) == 1


def test_a_resource_is_read(page):
    """Of its server, or an error says why not."""
    answer = page.ask("resources/read", {"uri": "data://rows"})
    assert answer["result"]["contents"][0]["text"] == "three rows"
    assert "error" in page.ask("resources/read", {"uri": "data://none"})
    assert page.ask("resources/read", {"uri": 7})["error"]["code"] == -32602


def test_secrets_of_arguments_do_not_come_back(page):
    """The result is redacted, as it is where it is shown."""
    answer = page.call("log_in", {"password": SECRET})
    assert SECRET not in json.dumps(answer)
    assert "in with" in answer["result"]["content"][0]["text"]


def test_a_message_is_for_the_person(page):
    """No model gets it; one without text is refused."""
    block = {"type": "text", "text": "Buy <b>more</b>"}
    assert page.ask("ui/message", {"role": "user", "content": [block]})["result"] == {}
    assert page.bridge.messages == ["Buy <b>more</b>"]
    assert page.ask("ui/message", {"content": 7})["result"] == {"isError": True}


@pytest.mark.parametrize("params", [None, [], 7, {"name": 7}, {"name": "count", "arguments": [1]}])
def test_calls_without_sense_are_answered(page, params):
    """With an error of the protocol."""
    assert page.ask("tools/call", params)["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["tools/list", "sampling/createMessage", "x" * 999])
def test_other_methods_are_refused(page, method):
    """The message repeats no more than the beginning of it."""
    error = page.ask(method)["error"]
    assert error["code"] == -32601
    assert len(error["message"]) < 200


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "7", "[" * 100_000, None, b"{}"),
        '{"jsonrpc": "1.0", "id": 1, "method": "tools/call"}',
        '{"jsonrpc": "2.0", "id": true, "method": "tools/call"}',
        '{"jsonrpc": "2.0", "method": "tools/call"}',
        '{"jsonrpc": "2.0", "id": 1, "method": 7}',
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * LARGEST_MESSAGE}),
    ],
)
def test_what_is_no_request_is_dropped(page, text):
    """Whatever it is, nothing is raised and nothing is answered."""
    page.bridge.receive(text, page.answers.put)
    assert page.call("count")["id"] == 1
    assert page.answers.empty()


def test_a_flood_is_dropped(page):
    """An app gets a burst of answers, not one for each of its messages."""
    for _ in range(20 * BURST):
        page.send("nothing")
    assert BURST <= page.answers.qsize() < 10 * BURST


def test_few_calls_at_a_time_and_none_after_the_end(session):
    """One too many is refused at once; closing the app stops the others."""
    page = Page(session, Person())
    for _ in range(MOST_CALLS):
        # The person does not answer
        page.send("tools/call", {"name": "wipe"})
    assert page.call("count")["error"]["code"] == -32000
    assert page.ask("resources/read", {"uri": "data://rows"})["error"]["code"] == -32000
    runs = page.bridge.runs
    page.bridge.close()
    for run in runs:
        assert run.done.wait(PATIENCE)
    assert {run.state for run in runs} == {"cancelled"}
    page.send("tools/call", {"name": "count"})
    assert page.answers.empty()


def test_a_call_that_meets_the_end_does_not_run(page, session, monkeypatch, no_records):
    """Another thread closes the app after its call was checked, and before the run began."""

    def close_first(*args, **options):
        page.bridge.close()
        return Run(*args, **options)

    monkeypatch.setattr(app_bridge, "Run", close_first)
    page.send("tools/call", {"name": "count"})
    assert page.bridge.runs == []
    assert len(history()) == 0
    assert session.traffic.find(method="tools/call") == []
    assert page.answers.empty()
