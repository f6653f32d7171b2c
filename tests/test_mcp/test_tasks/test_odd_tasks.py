"""Servers whose tasks are not as they should be."""

import pytest
from patience import eventually

from test_mcp.peers import scripted
from test_mcp.task_server import EXTENSION
from toolbench.mcp.tasks import TaskState
from toolbench.runs.perform import start
from toolbench.runs.run import ENDED, Run

TASK = {"taskId": "1", "status": "working", "pollIntervalMs": 50}
INFO = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def script_of(task, **answers):
    """The script of a server whose one tool runs as *task*, and which has *answers* about it."""
    results = {
        "server/discover": {
            **INFO,
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}},
            "serverInfo": {"name": "s", "version": "1"},
        },
        "tools/list": {**INFO, "tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        "tools/call": {"resultType": "task", **task},
    }
    script = {method: [{"result": body}] for method, body in results.items()}
    for method, body in answers.items():
        key = "error" if "code" in body else "result"
        script[f"tasks/{method}"] = [{key: body}]
    return script


@pytest.fixture
def call(client, tmp_path):
    """A function that calls the tool of a server that answers as told."""

    def call(task=TASK, **answers):
        entry = scripted(tmp_path / "script.json", script_of(task, **answers))
        return client.connect("odd", {**entry, "mode": "auto"}).tools["t"]({})

    return call


def test_a_disconnect_ends_a_long_pause(client, tmp_path):
    """A run does not stay behind when the user disconnects the server."""
    slow = {**TASK, "pollIntervalMs": 600_000}
    entry = scripted(tmp_path / "script.json", script_of(slow, get=slow))
    session = client.connect("odd", {**entry, "mode": "auto"})
    run = Run(session.tools["t"], {}, source="code")
    start(run)
    eventually(lambda: len(session.traffic.find(method="tasks/get")) == 2)
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

    def test_without_a_result_is_an_error(self, call):
        """Completed is not enough."""
        result = call(get={**TASK, "status": "completed"})
        assert result.is_error
        assert result.text == "Task '1' is completed, but the server sent no result."

    def test_that_failed_with_a_result_is_an_error(self, call):
        """Also if the result does not say so."""
        content = [{"type": "text", "text": "half of it"}]
        result = call(get={**TASK, "status": "failed", "result": {"content": content}})
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
        state = TaskState.of({"taskId": "1", "status": "working", "pollIntervalMs": interval})
        assert state.pause == pause

    def test_says_how_often_it_is_asked_for(self):
        """Without an interval of the server, the first requests come sooner than the later ones."""
        raw = {"taskId": "1", "status": "working"}
        assert TaskState.of(raw).words == "task working · asked at least every 1 s"
        words = TaskState.of({**raw, "pollIntervalMs": 5_000}).words
        assert words == "task working · asked every 5 s"
