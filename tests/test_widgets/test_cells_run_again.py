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
REPEATS = 5
# The widgets that ipywidgets has registered, and those that are in memory
COUNTS = "[len(widget._instances), (gc.collect(), sum(map(is_widget, gc.get_objects())))[1]]"
COUNTING = """
import gc
import ipywidgets.widgets.widget as widget

def is_widget(value):
    return issubclass(type(value), widget.Widget)
"""
# Each way in which a cell can show a view
WAYS = {
    "a tool": "split_bill",
    "%tool": "%tool split_bill",
    "%tool --bg": "%tool split_bill total=3 --bg",
    "a panel": "ToolPanel(split_bill)",
    "a panel, displayed": "panel = ToolPanel(split_bill)\ndisplay(panel)",
    "a run": "panel = ToolPanel(split_bill, {'total': 3})\ndisplay(panel)\npanel.run()",
    "a form": "SchemaForm(split_bill.input_schema)",
    "a bench": "bench(split_bill, tip)",
    "%%tool_call": '%%tool_call\n{"name": "split_bill", "arguments": {"total": 84}}',
    "%%chat --step": "%%chat --step --new --tools tip\nHello.",
    "a chat": "chat",
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
    """However a cell shows a view: after each run, the page has as many widgets as after the first.

    The kernel keeps no widget of the earlier runs, not even in `Out`.
    """
    kernel.run(CONNECT)
    kernel.run(COUNTING)
    kernel.run("from toolbench.mcp.servers import connected")
    kernel.run("server_session = connected.session('library')")
    counts = {}
    for way, code in WAYS.items():
        for _ in range(REPEATS):
            kernel.run(code, stdin=True, cell=way)
            kernel.run(DRAWN)
            kernel.listen()
            registered, kept = kernel.value(COUNTS)
            counts.setdefault(way, []).append((len(kernel.states), registered, kept))
    for way, numbers in counts.items():
        states, registered, kept = zip(*numbers, strict=True)
        assert (len(set(states)), len(set(registered))) == (1, 1), (way, numbers)
        # IPython keeps the last three values
        assert kept[-1] <= kept[-2], way
    # Each has shown something
    assert len({numbers[0][0] for numbers in counts.values()}) == len(WAYS)
