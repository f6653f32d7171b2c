"""How far one use of a tool travels through the package: calls, files, moves between files.

python bench/trips.py            # a table, in Markdown
python bench/trips.py click      # the files of one trip too, in the order they are entered

Counted is what the calling thread and those it starts do, on the second use of each kind:
what is made once is made by then. A file is *entered* when a function of it begins; a *move* is an entry into
another file than the one before.
"""

import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import comm
from comm.base_comm import BaseComm
from IPython.core.interactiveshell import InteractiveShell

import toolbench
from toolbench import Action, Conversation, ToolDefinition, history, run_tool, tool
from toolbench.agent import Agent
from toolbench.llm import parse_tool_calls
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.testing import FakeMCPServer
from toolbench.widgets.kit import clicks as clicks_module
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel import run as run_module

PACKAGE = str(Path(toolbench.__file__).parent)
SECONDS = 20


@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> float:
    """Split a bill.

    Args:
        total: What is to be paid.
        people: How many pay.
    """
    return total / people


def traced(work: Callable[[], object]) -> tuple[int, list[str]]:
    """Do *work*; return how many Python functions were called, and the files of ours, in order."""
    calls, visits = 0, list[str]()

    def note(frame: Any, event: str, _: object) -> None:
        nonlocal calls
        if event == "call":
            calls += 1
            name = frame.f_code.co_filename
            if name.startswith(PACKAGE):
                visits.append(name[len(PACKAGE) + 1 :])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # the stubs know no None
    return calls, visits


def moves(visits: list[str]) -> int:
    """Count how often the next file is another one."""
    return sum(a != b for a, b in pairwise(visits))


class Quietly(BaseComm):
    """A comm to nobody."""

    def publish_msg(self, *args: object, **options: object) -> None:
        pass


def click(panel: ToolPanel) -> None:
    """Fill the form in, press Run, and wait until the result is shown."""
    panel.form.value = {"total": 84, "people": 4}
    press_run(panel)


def press_at_once() -> None:
    """Let a click count at once, and only who waits for a result show it."""
    clicks_module.QUIET = run_module.QUIET = 0
    ticker._period = 1.0


def press_run(panel: ToolPanel) -> None:
    """Press Run, and wait until the result is shown."""
    run = next(b for b in _buttons(panel) if b.description == "Run")
    run.click()
    assert panel.runs.latest is not None
    assert panel.runs.latest.done.wait(SECONDS)
    report, pause = panel.runs.report, Event()
    while not report.is_ready:
        pause.wait(0.001)
    # Here, before the ticker does it in its thread
    panel.runs.refresh()


def _buttons(part: Any) -> list[Any]:
    below = [b for child in getattr(part, "children", ()) for b in _buttons(child)]
    return [part, *below] if hasattr(part, "description") and hasattr(part, "click") else below


def said(arguments: str) -> dict[str, Any]:
    """Return the message of a model that calls the tool."""
    function = {"name": "split_bill", "arguments": arguments}
    call = {"id": "1", "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call]}


def scripted() -> ScriptedModel:
    """Return a model that calls the tool, and then answers."""
    return ScriptedModel([said('{"total": 84, "people": 4}'), "21."])


def converse() -> None:
    """Let a model call the tool and answer; nothing is shown."""
    with Conversation(agent=Agent(scripted(), [split_bill])) as conversation:
        conversation.send_message("We are four, and the bill is 84.")
        assert conversation.run() == "answered"


def chat(shell: InteractiveShell) -> None:
    """The same in a cell of `%%chat`, which shows it."""
    shell.user_ns["model"] = scripted()
    with redirect_stdout(StringIO()):
        shell.run_cell_magic("chat", "bill --model model --tools split_bill --new", "Split it.")


def recorded(work: Callable[[], object]) -> Callable[[], None]:
    """Return *work* as it is done where plain calls are recorded."""

    def work_recorded() -> None:
        record_calls()
        try:
            work()
        finally:
            forget_calls()

    return work_recorded


def trips() -> dict[str, Callable[[], object]]:
    """Return every trip by its name."""
    comm.create_comm = Quietly
    press_at_once()
    arguments = {"total": 84, "people": 4}
    action: Action = split_bill.action_from_arguments(arguments)
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "toolbench")
    forget_calls()
    shell.user_ns["split_bill"] = split_bill
    panel = ToolPanel(split_bill)
    server = FakeMCPServer("fake")
    server.answer("bill", "21")
    client = create_mcp_tools(server)
    bill: ToolDefinition[Any, Any] = client["bill"]
    return {
        "call": lambda: split_bill(arguments),
        "recorded call": recorded(lambda: split_bill(action)),
        "run_tool": lambda: run_tool(split_bill, arguments),
        "line": lambda: shell.run_line_magic("tool", "split_bill total=84 people=4"),
        "panel": lambda: ToolPanel(split_bill),
        "click": lambda: click(panel),
        "MCP call": lambda: bill({}),
        "MCP run": lambda: run_tool(bill, {}),
        "message": lambda: parse_tool_calls(said('{"total": 84, "people": 4,}'), [split_bill]),
        "conversation": converse,
        "%%chat": lambda: chat(shell),
    }


def main(shown: list[str]) -> None:
    """Print the table, and the ways of the trips called *shown*."""
    print("| trip | Python calls | files entered | moves between files |")
    print("|---|---|---|---|")
    ways = {}
    for name, work in trips().items():
        work()
        ticker.wait_idle(SECONDS)
        calls, visits = traced(work)
        ticker.wait_idle(SECONDS)
        ways[name] = visits
        print(f"| {name} | {calls:,} | {len(set(visits))} | {moves(visits)} |")
        history().clear()
    for name in shown:
        print(f"\n{name}:")
        visits = ways[name]
        for file in dict.fromkeys(visits):
            print(f"  {visits.count(file):4} {file}")


if __name__ == "__main__":
    main(sys.argv[1:])
