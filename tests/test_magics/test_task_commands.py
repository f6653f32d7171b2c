"""%mcp tasks."""

import pytest
from IPython.core.error import UsageError
from test_mcp.test_tasks.conftest import task_entry

from toolbench.errors import ToolNotFoundError


@pytest.fixture
def line(shell):
    """A function that runs a line of %mcp, with a server that has done one task."""
    shell.user_ns["long"] = task_entry("modern")
    mcp = lambda text: shell.run_line_magic("mcp", text)  # noqa: E731
    mcp("connect long long")
    assert "long has no tasks" in repr(mcp("tasks long"))
    shell.run_line_magic("tool", "add_up {}")
    yield mcp
    mcp("disconnect long")


class TestTasks:
    def test_are_listed_and_their_results_fetched(self, line):
        """The list names what each sub-command takes."""
        listing = line("tasks long")
        assert [row[1:3] for row in listing.rows] == [("add_up", "completed")]
        assert "%mcp tasks long ID" in listing.notes[0]
        assert line("tasks long 1-a --result").text == "3 files"
        assert len(line("tasks long 1-a")) == 1

    def test_are_cancelled_by_their_ids(self, line):
        """The state after it is shown."""
        assert line("tasks long 1-a --cancel").rows[0][2] == "cancelled"
        with pytest.raises(ToolNotFoundError, match="has no task '7'"):
            line("tasks long 7 --cancel")

    @pytest.mark.parametrize("words", ["--cancel", "--result", "1 --cancel --result", ""])
    def test_options_without_a_meaning_are_errors(self, line, words):
        """In one line, which says what to write."""
        name = "long " if words else ""
        with pytest.raises(UsageError):
            line(f"tasks {name}{words}")
