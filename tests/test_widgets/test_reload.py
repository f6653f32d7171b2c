"""A tool of the explorer that the server changed, taken anew while it runs."""

from threading import Event, RLock, Thread

import pytest
from patience import PATIENCE, join
from test_mcp.servers.shop import shop as server
from test_runs.tools import Steps

from test_widgets.front import click
from test_widgets.tooling import buttons
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer.panes.tools import OpenTool


@pytest.fixture
def shop():
    """A server; it ends with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client.connect("shop", server)


def test_a_tool_is_not_marked_after_reload(shop):
    """Also if a tick of the old panel is telling its state at that moment."""
    states, records = [], []
    tick, go_on, is_empty = Event(), Event(), Event()

    def tell(state):
        if state:
            tick.set()
            assert go_on.wait(PATIENCE)
        else:
            is_empty.set()
        states.append(state)

    steps = Steps().tool
    opened = OpenTool(shop, RLock(), steps, tell, records.append)
    opened.panel.run()
    assert tick.wait(PATIENCE)
    opened.compare(steps.model_copy(update={"description": "Newer."}))
    reload = Thread(target=click, args=(buttons(opened.widget)["Reload"],))
    reload.start()
    # Only if the tick does not keep it back; if it does, there is nothing to wait for
    is_empty.wait(0.2)
    go_on.set()
    join(reload)
    opened.close()
    assert states == ["running", ""]
