"""%mcp tasks."""

from test_mcp.test_tasks.conftest import task_entry


def test_the_tasks_of_a_session_are_listed(shell):
    """With the tool that was called, and the state that the server sent last."""
    shell.user_ns["long"] = task_entry("modern")
    mcp = lambda text: shell.run_line_magic("mcp", text)  # noqa: E731
    mcp("connect long long")
    assert "No call" in repr(mcp("tasks long"))
    shell.run_line_magic("tool", "add_up {}")
    assert [row[1:3] for row in mcp("tasks long").rows] == [("add_up", "completed")]
    mcp("disconnect long")
