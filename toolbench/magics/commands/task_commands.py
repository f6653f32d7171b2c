"""%mcp tasks: the tasks of a server, listed, opened, waited for and cancelled."""

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolbench.magics.table import Listing
from toolbench.magics.usage_error import UsageError
from toolbench.runs.kernel import has_kernel

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession
    from toolbench.mcp.tasks.task_list import MCPTask

_COLUMNS = ("task", "tool", "state", "what it says", "since")


def add_parsers(commands: Any) -> None:
    """Add the sub-command `tasks` to %mcp."""
    tasks = commands.add_parser(
        "tasks", help="its tasks; with an ID, open, --result or --cancel one"
    )
    tasks.add_argument("name")
    tasks.add_argument("id", nargs="?", help="the id of a task, or how it begins")
    tasks.add_argument("--result", action="store_true", help="wait for the result of the task")
    tasks.add_argument("--cancel", action="store_true", help="cancel the task")


def _tasks(options: Namespace, server: "Callable[[str], MCPServerSession]") -> Any:
    if options.id is None and (options.result or options.cancel):
        option = "--result" if options.result else "--cancel"
        msg = f"{option} is for one task: %mcp tasks {options.name} ID {option}"
        raise UsageError(msg)
    if options.result and options.cancel:
        msg = "Give --result or --cancel, not both."
        raise UsageError(msg)
    session = server(options.name)
    if options.id is None:
        return listing(session, list(session.tasks))
    task = session.tasks[options.id]
    if options.result:
        return task.result()
    if options.cancel:
        return listing(session, [task.cancel()])
    if not has_kernel():
        return listing(session, [task])
    from toolbench.widgets.panel.panel import ToolPanel  # noqa: PLC0415 - only for a view

    panel = ToolPanel(task.as_tool())
    panel.run()
    return panel


def listing(session: "MCPServerSession", tasks: "list[MCPTask]") -> Listing:
    """Return a table of *tasks*, which are tasks of the server *session*."""
    rows = [(t.id, t.tool, t.status, t.message, t.created) for t in tasks]
    line = f"%mcp tasks {session.name} ID"
    notes = [f"{line} opens one, --result waits for its result, --cancel cancels it."]
    return Listing(
        _COLUMNS,
        rows,
        f"{session.name} has no tasks that are known here.",
        notes=notes if rows else [],
    )


COMMANDS = {"tasks": _tasks}
"""The function of the sub-command."""
