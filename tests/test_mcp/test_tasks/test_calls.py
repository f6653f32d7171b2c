"""Calls that a server runs as tasks."""

from itertools import pairwise
from time import monotonic

import pytest
from patience import PATIENCE, eventually

from test_mcp.peers import serving_app
from test_mcp.task_server import TaskServer, app
from test_mcp.test_tasks.conftest import refusing, task_entry
from toolbench import history, run_tool
from toolbench.mcp.elicitation import Answer, answering, reporting
from toolbench.mcp.monitoring.traffic import paired
from toolbench.runs.control import stop
from toolbench.runs.perform import start
from toolbench.runs.run import Run


class TestTheResult:
    def test_is_that_of_the_tool_and_the_run_is_done(self, session):
        """A tool that requires a task runs as one, and gives what it gives."""
        result = run_tool(session.tools["add_up"])
        assert result.text == "3 files"
        assert not result.is_error
        assert history()[-1].state == "ok"

    def test_of_a_tool_without_tasks_is_as_ever(self, session):
        """Its answer is its result, and no task is asked about."""
        assert session.tools["at_once"]({}).text == "at once"
        assert not session.traffic.find(method="tasks/get")

    @pytest.mark.parametrize(
        ("tool", "text"),
        [("fails", "the disk is full"), ("reports_failure", "no more space")],
    )
    def test_of_a_failed_task_is_an_error(self, session, tool, text):
        """The run failed, and says why."""
        result = run_tool(session.tools[tool])
        assert result.is_error
        assert text in result.text
        assert history()[-1].state == "error"
        assert any(f"error: {text}" in exchange.outcome for exchange in paired(session.traffic))

    def test_of_a_task_that_the_server_stopped_is_a_cancelled_run(self, session):
        """Neither a success nor a failure of the tool."""
        result = run_tool(session.tools["is_stopped"])
        assert result.text.startswith("The task was cancelled at the server.")
        assert history()[-1].state == "cancelled"


class TestWhileItRuns:
    def test_a_question_is_asked_in_the_usual_way(self, session):
        """The answer reaches the task; the question names the tool."""
        questions = []

        def answer(question):
            questions.append((question.tool, question.message))
            return {"name": "Ada"}

        with answering(answer):
            assert session.tools["greet"]({}).text == "hello Ada"
        assert questions == [("greet", "Whom?")]

    def test_a_declined_question_reaches_the_task(self, session):
        """The tool decides what a decline means."""
        with answering(lambda question: Answer("decline")):
            assert session.tools["greet"]({}).text == "hello decline"

    def test_state_progress_and_interval_are_shown(self, session):
        """The progress of the tool, and with it what the server says of the task."""
        reports = []
        with reporting(lambda *report: reports.append(report)):
            session.tools["add_up"]({})
        words = [words for _, _, words in reports]
        assert any("task working · looked at 0 · asked every 0.07 s" in w for w in words)
        assert any(
            (value, total) == (1, 2) and "step 1 · task working" in text
            for value, total, text in reports
        )

    def test_a_cancelled_run_cancels_the_task(self, session):
        """The server is told."""
        run = Run(session.tools["never_ends"], {}, source="button")
        start(run)
        eventually(lambda: "looked at 1" in run.progress_view.state.message)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert run.state == "cancelled"
        eventually(lambda: [task.status for task in session.tasks] == ["cancelled"])
        assert session.traffic.find(method="tasks/cancel")


class TimedServer(TaskServer):
    """A server with the time of each request for a state in *times*."""

    def __init__(self, era):
        super().__init__(era)
        self.times = []

    async def take(self, message, send):
        if message.get("method") == "tasks/get":
            self.times.append(monotonic())
        await super().take(message, send)


def shortest_pause(times):
    """The least number of seconds between two of *times*."""
    return min(later - earlier for earlier, later in pairwise(times))


class TestTheIntervalOfTheServer:
    """Source: MCP, SEP-2663: clients should respect `pollIntervalMs`."""

    @pytest.fixture
    def timed(self, client):
        """A server that names an interval of 300 ms, and a session with it."""
        server = TimedServer("modern")
        server.interval = 300
        with serving_app(app(server)) as url:
            session = client.connect("long", f"{url}/mcp")
            yield server, session
            session.close()

    def test_lies_between_two_requests(self, timed):
        """The first comes at once."""
        server, session = timed
        session.tools["add_up"]({})
        assert len(server.times) == 2
        assert shortest_pause(server.times) > 0.29

    def test_lies_between_two_requests_with_an_answer_between(self, timed):
        """An answered question makes no request come sooner."""
        server, session = timed
        with answering(lambda question: {"name": "Ada"}):
            session.tools["greet"]({})
        assert len(server.times) == 2
        assert shortest_pause(server.times) > 0.29

    def test_starts_with_the_first_request(self, client):
        """That comes at once, so a short task does not wait for a long interval."""
        server = TaskServer("modern")
        server.interval = 60_000
        with serving_app(app(server)) as url:
            session = client.connect("long", f"{url}/mcp")
            run = Run(session.tools["never_ends"], {}, source="button")
            start(run)
            eventually(lambda: "asked every 60 s" in run.progress_view.state.message)
            eventually(lambda: server.asked("tasks/get"))
            session.close()


class TestAFailureThatPasses:
    @pytest.mark.parametrize("method", ["tasks/get", "tasks/update"])
    def test_does_not_end_the_run(self, client, method):
        """The request is repeated, so the answer of the person reaches the task."""
        failures = []

        def fails_once(message):
            if message.get("method") != method or failures:
                return False
            failures.append(message)
            return True

        served = refusing(app(TaskServer("modern")), fails_once)
        with serving_app(served) as url, answering(lambda question: {"name": "Ada"}):
            session = client.connect("long", f"{url}/mcp")
            assert session.tools["greet"]({}).text == "hello Ada"
            assert failures
            session.close()


class TestTwoTasks:
    def test_questions_go_to_the_call_that_they_are_about(self, session):
        """Two runs of one tool at the same time, each with answers of its own."""
        runs = [asking(session.tools["greet"], name) for name in ("Ada", "Bob")]
        for run in runs:
            start(run)
        assert all(run.done.wait(PATIENCE) for run in runs)
        assert [run.outcome.text for run in runs] == ["hello Ada", "hello Bob"]


def asking(tool, name):
    """A run of *tool* whose questions are answered with *name*."""
    return Run(tool, {}, source="python", asker=lambda _: Answer("accept", {"name": name}))


class TestAServerOfTheOlderProtocol:
    @pytest.fixture
    def older(self, client):
        """A session with a server whose tools are described as those of 2025-11-25."""
        session = client.connect("old", task_entry("legacy"))
        assert session.era == "legacy"
        yield session
        session.close()

    def test_is_not_asked_for_a_tool_that_runs_as_a_task_only(self, older):
        """Tasks of 2025-11-25 are not followed: the sentence says so, and nothing is sent."""
        result = run_tool(older.tools["add_up"])
        assert result.is_error
        assert "runs only as a task of MCP 2025-11-25" in result.text
        assert not older.traffic.find(method="tools/call")

    def test_is_asked_without_a_task_where_the_tool_allows_it(self, older):
        """The call is an ordinary one."""
        older.tools["greet"]({})
        (call,) = older.traffic.find(method="tools/call", direction="sent")
        assert '"task"' not in call.text
