"""FastMCP's own task extension as a peer: `fastmcp-tasks`, in an environment of its own."""

import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE, eventually

from toolbench import history, run_tool
from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import answering, reporting
from toolbench.runs.control import stop
from toolbench.runs.perform import start
from toolbench.runs.run import Run

SERVER = str(Path(__file__).with_name("task_peer.py"))


@pytest.fixture(scope="module")
def python(script):
    """The Python that has the extension; without it these tests are skipped."""
    if script.stamp(script.TASKS_PLACE) != "\n".join(script.TASKS):
        pytest.skip("FASTMCP'S TASK EXTENSION IS NOT TESTED: run `make peers`")
    return str(script.TASKS_PLACE / "bin" / "python")


@pytest.fixture
def url(python):
    """The URL of the server over HTTP; its process outlives the sessions of a test."""
    process = subprocess.Popen([python, SERVER, "--http"], stdout=subprocess.PIPE, text=True)
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture(params=["stdio", "http"])
def session(request, python):
    """A session with the server, by each transport."""
    entry = {"command": python, "args": [SERVER]}
    if request.param == "http":
        entry = {"url": request.getfixturevalue("url")}
    with MCPClient(timeout=2 * PATIENCE) as client:
        session = client.connect("peer", entry)
        assert session.era == "modern"
        yield session


class TestACall:
    def test_of_a_tool_that_requires_a_task(self, session):
        """Its result is the result of the tool, and the run was a success."""
        result = run_tool(session.tools["add_up"], {"numbers": [1, 2, 3]})
        assert (result.text, result.data) == ("6", 6)
        assert history()[-1].state == "ok"
        assert [(t.tool, t.status) for t in session.tasks] == [("add_up", "completed")]

    def test_of_a_tool_that_allows_a_task_and_fails(self, session):
        """The run failed, with the words of the tool."""
        result = run_tool(session.tools["fail"])
        assert result.is_error
        assert "the disk is full" in result.text
        assert history()[-1].state == "error"

    def test_that_asks_a_question(self, session):
        """The task waits for the answer, and goes on with it."""
        with answering(lambda question: {"name": "Ada"}):
            assert run_tool(session.tools["greet"]).text == "hello Ada"

    def test_reports_the_state_of_the_task(self, session):
        """A person sees that it is a task, and what it does."""
        reports = []
        with reporting(lambda *report: reports.append(report)):
            session.tools["add_up"]({"numbers": [1, 2, 3]})
        assert any("task " in words for _, _, words in reports)

    def test_that_is_cancelled(self, session):
        """The task is cancelled at the server too."""
        run = waiting(session)
        stop(run)
        assert run.done.wait(2 * PATIENCE)
        assert run.state == "cancelled"
        eventually(lambda: [t.status for t in session.tasks] == ["cancelled"])


def waiting(session):
    """A run whose task has begun at the server and does not end by itself."""
    run = Run(session.tools["wait_for_release"], {}, source="button")
    start(run)
    eventually(lambda: "task working" in run.progress_view.state.message)
    return run
