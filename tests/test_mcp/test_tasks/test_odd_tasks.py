"""Servers whose tasks are not as they should be."""

import json

import pytest
from patience import eventually

from test_mcp.peers import scripted
from toolbench.mcp.tasks import task_following
from toolbench.mcp.tasks.task_state import TaskState, started_task, wants_task
from toolbench.runs.perform import start
from toolbench.runs.run import ENDED, Run

TOOL = {
    "name": "t",
    "inputSchema": {"type": "object"},
    "execution": {"taskSupport": "required"},
}
TASK = {"taskId": "1", "status": "working", "pollInterval": 50}


@pytest.fixture
def call(client, tmp_path):
    """A function that calls the tool of a server that answers as told."""

    def call(task=TASK, **answers):
        features = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
        info = {"protocolVersion": "2025-11-25", "capabilities": features}
        results = {
            "initialize": {**info, "serverInfo": {"name": "s", "version": "1"}},
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"task": task},
        }
        script = {method: [{"result": body}] for method, body in results.items()}
        for method, body in answers.items():
            key = "error" if "code" in body else "result"
            script[f"tasks/{method}"] = [{key: body}]
        entry = scripted(tmp_path / "script.json", script)
        return client.connect("odd", entry).tools["t"]({})

    return call


@pytest.fixture
def waiting(client, tmp_path, monkeypatch):
    """A session, and a run that waits a minute before it asks for the state of its task."""
    monkeypatch.setattr(task_following, "FIRST_PAUSE", 60.0)
    slow = {**TASK, "pollInterval": 60_000}
    features = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
    news = {
        "method": "notifications/tasks/status",
        "params": {**slow, "status": "completed"},
    }
    results = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {**features, "prompts": {}},
            "serverInfo": {"name": "s", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"task": slow},
        "tasks/get": {**slow, "status": "completed"},
        "tasks/result": {"content": [{"type": "text", "text": "done"}]},
    }
    script = {method: [{"result": body}] for method, body in results.items()}
    script["prompts/list"] = [
        json.dumps({"jsonrpc": "2.0", **news}),
        {"result": {"prompts": []}},
    ]
    session = client.connect("odd", scripted(tmp_path / "script.json", script))
    run = Run(session.tools["t"], {}, source="code")
    start(run)
    eventually(lambda: any(call.task_id for call in session.connection.inbox.calls))
    assert not session.traffic.find(method="tasks/get")
    return session, run


class TestALongPause:
    def test_ends_with_an_announced_change(self, waiting):
        """Where the server says that a task changed, its state is asked for before the pause ends."""
        session, run = waiting
        assert list(session.prompts) == []
        eventually(lambda: run.state in ENDED)
        assert run.outcome.text == "done"

    def test_ends_with_the_connection(self, waiting):
        """A run does not stay behind when the person disconnects the server."""
        session, run = waiting
        session.close()
        eventually(lambda: run.state in ENDED)
        assert "is disconnected" in run.outcome.text


class TestOddTasks:
    @pytest.mark.parametrize("task", [{}, {"taskId": 7, "status": "working"}, {"taskId": ""}])
    def test_without_an_id_is_an_error(self, call, task):
        """It cannot be followed, so it is no success."""
        result = call(task)
        assert result.is_error
        assert "started a task without a taskId" in result.text

    def test_without_a_state_is_an_error(self, call):
        """In the first answer or in a later one."""
        assert "no state" in call({"taskId": "1"}).text
        assert "no state" in call(get={"taskId": "1", "status": 3}).text

    def test_that_is_unknown_at_once_is_an_error(self, call):
        """The sentence of the server is in it."""
        result = call(get={"code": -32602, "message": "gone"})
        assert result.is_error
        assert "does not know task '1': gone" in result.text

    def test_that_the_server_cannot_tell_of_is_an_error(self, call):
        """A server without tasks/get."""
        result = call(get={"code": -32601, "message": "no"})
        assert result.text.startswith("The server does not give the state of task '1'")

    def test_whose_result_is_refused_is_an_error(self, call):
        """Completed is not enough."""
        done = {**TASK, "status": "completed"}
        result = call(get=done, result={"code": -32603, "message": "lost"})
        assert result.is_error
        assert "The task failed: lost (MCP error -32603)." in result.text

    def test_that_failed_with_a_result_is_an_error(self, call):
        """Also if the result does not say so."""
        content = [{"type": "text", "text": "half of it"}]
        done = {**TASK, "status": "failed"}
        result = call(get=done, result={"content": content})
        assert result.is_error
        assert "half of it" in result.text

    def test_marks_of_a_terminal_do_not_reach_the_message(self, call):
        """What a server says is hostile until it is made visible."""
        result = call(
            {"taskId": "\x1b[31m", "status": "working"},
            get={"code": -32602, "message": "\x1b]8;;evil"},
        )
        assert "\x1b" not in result.text


class TestTaskState:
    @pytest.mark.parametrize(
        ("interval", "pause"),
        [
            *((None, 1.0), (-5, 1.0), (0, 1.0), (1, 0.05), ("fast", 1.0), (True, 1.0)),
            *((300_000, 300.0), (10**12, 600.0), (10**400, 1.0), (float("nan"), 1.0)),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_asks_neither_too_often_nor_never(self, interval, pause):
        """Whatever the server names as its interval."""
        for key in ("pollInterval", "pollIntervalMs"):
            state = TaskState.of({"taskId": "1", "status": "working", key: interval})
            assert state.pause == pause

    def test_says_how_often_it_is_asked_for(self):
        """Without an interval of the server, the first requests come sooner than the later ones."""
        raw = {"taskId": "1", "status": "working"}
        assert TaskState.of(raw).words == "task working · asked at least every 1 s"
        words = TaskState.of({**raw, "pollIntervalMs": 5_000}).words
        assert words == "task working · asked every 5 s"

    def test_a_result_with_content_is_no_task(self):
        """A tool may have a field called task."""
        assert started_task({"content": [], "task": {"taskId": "1"}}) is None
        assert started_task({"structuredContent": {"task": 1}}) is None

    def test_is_asked_for_only_where_server_and_tool_say_so(self):
        """The older protocol forbids it otherwise."""
        declared = {"tasks": {"requests": {"tools": {"call": {}}}}}
        assert wants_task(TOOL, declared)
        assert not wants_task(TOOL, {"tasks": {}})
        assert not wants_task({"execution": {"taskSupport": "forbidden"}}, declared)
        assert not wants_task({"execution": "odd"}, declared)
        assert not wants_task({}, {"tasks": {"requests": {"tools": {"call": None}}}})
