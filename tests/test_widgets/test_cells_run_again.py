"""What cells show in a real kernel, and what is left of it when they run again."""

import sys

import pytest
from patience import PATIENCE
from test_runs.kernel import Kernel

SETUP = """
%load_ext toolbench
from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from mcp.types import ResourceLink
from toolbench import bench, tool
from toolbench.evals import Cases
from toolbench.llm.models import ScriptedModel
from toolbench.widgets import SchemaForm, ToolPanel

@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> float:
    '''Split a bill.'''
    return total / people

@tool(read_only=True)
def tip(total: float) -> float:
    '''Add a tip.'''
    return 1.1 * total

server = FastMCP("library")

@server.tool(annotations={"readOnlyHint": True})
def search():
    return ToolResult(content=[ResourceLink(type="resource_link", uri="memo://emma", name="emma")])

@server.resource("memo://emma")
def emma() -> str:
    return "handsome, clever, and rich"

call = {"id": "1", "type": "function", "function": {"name": "tip", "arguments": '{"total": 84}'}}
%model scripted ScriptedModel([{"role": "assistant", "tool_calls": [call]}] * 20)
"""
CONNECT = "%mcp connect library server"
DRAWN = f"from toolbench.widgets.kit.ticker import ticker\nticker.wait_idle({PATIENCE})"
# Each way in which a cell can show a view
WAYS = {
    "a tool": "split_bill",
    "%tool": "%tool split_bill",
    "%tool --bg": "%tool split_bill total=3 --bg",
    "a panel": "ToolPanel(split_bill)",
    "a panel, displayed": "panel = ToolPanel(split_bill)\ndisplay(panel)",
    "a form": "SchemaForm(split_bill.input_schema)",
    "a bench": "bench(split_bill, tip)",
    "%%tool_call": '%%tool_call\n{"name": "split_bill", "arguments": {"total": 84}}',
    "%%chat --step": "%%chat --step --new --tools tip\nHello.",
    "a chat": "chat",
    "cases": "Cases([])",
    "%mcp explore": "%mcp explore",
    "a server": "server_session",
    "%mcp serve": "%mcp serve split_bill",
}


@pytest.fixture(scope="module")
def kernel():
    """A kernel in which nothing was shown yet."""
    with Kernel(sys.executable) as kernel:
        kernel.run(SETUP)
        yield kernel


@pytest.mark.slow
def test_the_first_view_of_a_kernel_can_have_a_link(kernel):
    """What a link needs is loaded by a run, before anybody has seen an explorer."""
    kernel.run(CONNECT)
    kernel.run("%tool search", cell="search")
    kernel.click("Run")
    kernel.click("Read emma")
    kernel.wait_for("handsome, clever, and rich")


@pytest.mark.slow
def test_a_cell_that_runs_again_leaves_no_more_widgets(kernel):
    """However a cell shows a view: after each run, the page has as many widgets as after the first."""
    kernel.run(CONNECT)
    kernel.run("from toolbench.mcp.servers import connected")
    kernel.run("server_session = connected.session('library')")
    counts = {}
    for way, code in WAYS.items():
        for _ in range(3):
            kernel.run(code, stdin=True, cell=way)
            kernel.run(DRAWN)
            kernel.listen()
            counts.setdefault(way, []).append(len(kernel.states))
    first = {way: numbers[0] for way, numbers in counts.items()}
    assert counts == {way: [number] * 3 for way, number in first.items()}
    # Each has shown something
    assert len(set(first.values())) == len(WAYS)
