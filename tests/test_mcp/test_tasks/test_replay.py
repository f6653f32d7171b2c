"""A recording of calls that ran as tasks, replayed."""

import pytest
from patience import PATIENCE

from test_mcp.test_tasks.conftest import task_entry
from toolbench import history, run_tool
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.elicitation import reporting
from toolbench.mcp.recording import Recording
from toolbench.testing import FakeMCPServer


@pytest.fixture
def recorded(tmp_path):
    """The file of a recording, and the results of its calls."""
    file = tmp_path / "tasks.jsonl"
    with MCPClient(
        timeout=PATIENCE, elicitation_handler=lambda question: {"name": "Ada"}
    ) as client:
        session = client.connect("long", task_entry("modern"), record=file)
        return file, called(session.tools)


def called(tools):
    """The text and the state of a run of each of *tools* that ends."""
    names = ("add_up", "greet", "fails", "is_stopped")
    return [(run_tool(tools[name]).text, history()[-1].state) for name in names]


class TestTheCallsOfARecording:
    def test_have_the_results_of_their_tasks(self, recorded):
        """A call whose task ended has its result or error, not the start of the task."""
        calls = {call.tool: call for call in Recording.read(recorded[0]).calls}
        for name in ("add_up", "greet"):
            assert calls[name].result["content"][0]["type"] == "text"
        assert calls["fails"].error["message"] == "the disk is full"
        assert calls["is_stopped"].result is calls["is_stopped"].error is None

    def test_are_answered_so_by_a_fake_server(self, recorded):
        """It needs no tasks for that."""
        file, results = recorded
        fake = FakeMCPServer.from_recording(file)
        with create_mcp_tools(fake) as tools:
            assert tools["add_up"]({}).text == results[0][0]
            assert "he disk is full" in tools["fails"]({}).text


class TestAReplay:
    def test_goes_the_way_of_the_tasks_again(self, recorded):
        """Results, questions, failures and cancels are those of the recording."""
        file, results = recorded
        assert [state for _, state in results] == ["ok", "ok", "error", "cancelled"]
        with create_mcp_tools(replay=file) as tools:
            assert called(tools) == results

    def test_has_the_progress_of_the_task(self, recorded):
        """It came after the answer to the call."""
        reports = []
        with (
            create_mcp_tools(replay=recorded[0]) as tools,
            reporting(lambda *report: reports.append(report[:2])),
        ):
            tools["add_up"]({})
        assert (2, 2) in reports
