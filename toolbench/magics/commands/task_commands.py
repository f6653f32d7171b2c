"""%mcp tasks: the tasks that calls of a server's tools started."""

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolbench.magics.table import Listing

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def add_parsers(commands: Any) -> None:
    """Add the sub-command `tasks` to %mcp."""
    tasks = commands.add_parser("tasks", help="the tasks that calls of this session started")
    tasks.add_argument("name")


def _tasks(options: Namespace, server: "Callable[[str], MCPServerSession]") -> Listing:
    session = server(options.name)
    rows = [(task.id, task.tool, task.status, task.message) for task in session.tasks]
    return Listing(
        ("task", "tool", "state", "what it says"),
        rows,
        f"No call of this session with {session.name} became a task.",
    )


COMMANDS = {"tasks": _tasks}
"""The function of the sub-command."""
