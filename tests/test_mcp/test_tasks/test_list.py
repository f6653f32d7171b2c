"""The tasks of a server: listed, looked at, waited for and cancelled, also by a later kernel."""

import json
import stat
from time import time

import pytest
from patience import PATIENCE, eventually

from test_mcp.peers import serving_app
from test_mcp.task_server import RefusedError, TaskServer, app
from test_mcp.test_tasks.conftest import refusing, task_entry
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import answering
from toolbench.runs.perform import start
from toolbench.runs.run import Run


@pytest.fixture(params=["modern", "legacy"])
def left_behind(request, tmp_path, monkeypatch):
    """The entry of a server that keeps tasks in a file, and one task of a client that is gone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    entry = task_entry(request.param, tmp_path / "tasks.json")
    with MCPClient(timeout=PATIENCE) as earlier:
        session = earlier.connect("long", entry)
        run = Run(session.tools["never_ends"], {}, source="button")
        start(run)
        eventually(lambda: "looked at 1" in run.progress_view.state.message)
    assert run.done.wait(PATIENCE)
    # The client went away, not the task
    assert run.state == "error"
    assert "disconnected" in run.outcome.text
    return entry


@pytest.mark.slow
class TestALaterKernel:
    def test_finds_the_task_and_cancels_it(self, left_behind, client):
        """The task goes on at the server, and its state is there."""
        session = client.connect("long", left_behind)
        task = session.tasks[0]
        assert (task.tool, task.status, task.interval) == (
            "never_ends",
            "working",
            0.07,
        )
        assert task.cancel().status == "cancelled"
        assert session.tasks[task.id].has_ended

    def test_waits_for_the_result_in_a_run_of_its_own(self, left_behind, client):
        """The tool of the task has a panel like any other, and its run can be cancelled."""
        session = client.connect("long", left_behind)
        tool = session.tasks["1-a-long"].as_tool()
        assert tool.name == "never_ends_task_1-a-long"
        run = Run(tool, {}, source="button")
        start(run)
        eventually(lambda: "task working" in run.progress_view.state.message)
        tool.executor.interrupt()
        assert run.done.wait(PATIENCE)
        assert run.state == "cancelled"
        eventually(lambda: session.tasks[0].status == "cancelled")

    def test_forgets_a_task_that_the_server_forgot(self, left_behind, client, tmp_path):
        """It is not listed; it is asked for until its time at the server is over."""
        session = client.connect("long", left_behind)
        task = session.tasks[0]
        session.close()
        (tmp_path / "tasks.json").write_text("{}")
        session.reconnect()
        with pytest.raises(ServerError, match="does not know task '1-a-long"):
            task.refresh()
        assert list(session.tasks) == []
        (file,) = (tmp_path / "state" / "toolbench" / "tasks").glob("*/*")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        row = json.loads(file.read_text())
        # The server keeps it for a minute, or for the day that it was asked for
        assert 0 < row["expires"] - time() <= 24 * 60 * 60
        file.write_text(json.dumps({**row, "expires": 1.0}))
        assert list(session.tasks) == []
        assert not file.exists()


class TestTwoAccountsAtOneServer:
    def test_forget_no_task_of_each_other(self, client):
        """A server does not know a task of another account, and the owner still finds it."""
        server = TaskServer("modern")
        with serving_app(app(server)) as url:
            first, second = (
                client.connect(name, {"url": f"{url}/mcp", "auth": f"token-of-{name}"})
                for name in ("first", "second")
            )
            first.tools["add_up"]({})
            # What the second account sees
            of_first, server.tasks = server.tasks, {}
            assert list(second.tasks) == []
            server.tasks = of_first
            assert [task.tool for task in first.tasks] == ["add_up"]
            first.close()
            second.close()


class LostTask(TaskServer):
    """A server of the newer protocol; *answer* is its answer about the first task once *is_lost*."""

    is_lost = False

    def __init__(self, answer):
        super().__init__("modern")
        self.answer = answer

    async def modern_get(self, params, send):
        task = await super().modern_get(params, send)
        if not self.is_lost or params["taskId"][:2] != "1-":
            return task
        if "code" in self.answer:
            raise RefusedError(**self.answer)
        return {**task, **self.answer}


class TestATaskWithoutAState:
    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ({"code": -32603, "message": "Component not found"}, "Component not found"),
            ({"code": -32601, "message": "Method not found"}, "Method not found"),
            ({"status": "odd"}, 'the state "odd"'),
            ({}, "HTTP 500"),
        ],
        ids=["an error", "an unknown method", "an odd state", "an error of HTTP"],
    )
    def test_hides_no_other_task(self, client, answer, reason):
        """It is listed with the reason, and the other task with its state."""
        server = LostTask(answer)

        def fails(message):
            identity = (message.get("params") or {}).get("taskId", "")
            return server.is_lost and not answer and identity[:2] == "1-"

        with serving_app(refusing(app(server), fails, 500)) as url:
            session = client.connect("long", f"{url}/mcp")
            for _ in range(2):
                session.tools["add_up"]({})
            server.is_lost = True
            lost, other = session.tasks
            assert (lost.id[:2], lost.tool, lost.status) == ("1-", "add_up", "unknown")
            assert reason in lost.message
            assert (other.id[:2], other.status) == ("2-", "completed")
            session.close()


class TestHostileIds:
    def test_reach_no_message_and_no_tool_as_they_are(self, client):
        """A terminal would obey their marks, and long ids would hide the sentence."""
        server = TaskServer("legacy")
        with serving_app(app(server)) as url:
            session = client.connect("long", f"{url}/mcp")
            session.tools["add_up"]({})
            (task,) = server.tasks.values()
            ids = [f"7\x1b]8;;evil{'x' * 1_000}{number}" for number in range(30)]
            server.tasks = {identity: {**task, "id": identity} for identity in ids}
            for name in ("7", "7\x1b"):
                with pytest.raises(ToolNotFoundError, match="30 tasks of 'long'") as raised:
                    session.tasks[name]
                assert "\x1b" not in str(raised.value)
                assert len(str(raised.value)) < 1_000
            tool = session.tasks[0].as_tool()
            assert "\x1b" not in f"{tool.name}{tool.title}{tool.description}"
            session.close()


class TestTheTasks:
    def test_have_the_results_of_ended_calls(self, session):
        """As long as the server keeps them, results can be had again."""
        session.tools["add_up"]({})
        (task,) = session.tasks
        assert (task.tool, task.status) == ("add_up", "completed")
        assert task.result().text == "3 files"
        assert task.refresh() == task

    def test_ask_their_questions_of_whoever_waits(self, session):
        """A question that no one answered is asked again."""
        with answering(lambda question: {"name": "Ada"}):
            session.tools["greet"]({})
            assert session.tasks[-1].result().text == "hello Ada"

    def test_are_found_by_the_beginning_of_an_id(self, session):
        """One that is not there is named, with those that are near."""
        session.tools["add_up"]({})
        assert session.tasks["1-a"].tool == "add_up"
        with pytest.raises(ToolNotFoundError, match="has no task '9'"):
            session.tasks["9"]

    def test_wait_for_nobody_to_be_shown(self, session):
        """A repr asks no server."""
        assert repr(session.tasks) == "TaskList(not listed yet)"
