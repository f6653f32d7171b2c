"""An interrupt of a kernel, and what it means for the task that a run waits for."""

import pytest
from patience import eventually

from test_mcp.peers import serving_app
from test_mcp.task_server import TaskServer, app

pytestmark = pytest.mark.slow
CONNECT = "%load_ext toolbench\n%mcp connect long {url}/mcp"
TOOL = "tool = get_ipython().meta.toolbench.client[{name!r}]"
IN_A_CELL = "tool({})"
A_PANEL = "from toolbench.widgets.panel import ToolPanel; panel = ToolPanel(tool); panel"
IN_A_PANEL = f"{A_PANEL}.run()"
WAYS = {"a cell waits": IN_A_CELL, "a panel waits": IN_A_PANEL}


@pytest.fixture
def server():
    """A server over HTTP, which outlives the kernel."""
    server = TaskServer("modern")
    with serving_app(app(server)) as server.url:
        yield server


def begin(kernel, server, name, way):
    """Call the tool *name* in the kernel, and wait until the client follows the task."""
    kernel.run(CONNECT.format(url=server.url))
    kernel.run(TOOL.format(name=name))
    kernel.start(way)
    eventually(lambda: server.asked("tasks/get"))


class TestAnInterrupt:
    @pytest.mark.parametrize("way", WAYS)
    def test_cancels_the_task(self, shared_kernel, server, way):
        """No request to end follows, so a person wanted the run to stop."""
        kernel = shared_kernel
        begin(kernel, server, "never_ends", WAYS[way])
        kernel.interrupt()
        eventually(lambda: server.asked("tasks/cancel"))

    def test_of_a_session_that_is_closed_at_once_cancels_the_task(self, shared_kernel, server):
        """The connection waits for the request before it closes."""
        kernel = shared_kernel
        kernel.run("%load_ext toolbench\nfrom toolbench.mcp import create_mcp_tools")
        kernel.start(
            f"with create_mcp_tools({server.url + '/mcp'!r}) as tools:\n"
            "    tools['never_ends']({})"
        )
        eventually(lambda: server.asked("tasks/get"))
        kernel.interrupt()
        eventually(lambda: server.asked("tasks/cancel"))
