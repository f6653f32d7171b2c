"""The tab History of a tool, if several servers have a tool of its name."""

import pytest
from patience import eventually

from test_widgets.front import named, receive
from test_widgets.tooling import shown, tabs
from toolbench import run_tool
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.tabs import TABS

pytestmark = pytest.mark.usefixtures("no_records")


def test_has_the_runs_at_its_server():
    """In its title, in its list, and while it is open: another server's runs are not there."""
    servers = {name: FakeMCPServer(name) for name in ("git", "desk")}
    for name, server in servers.items():
        server.answer("status", name)
    with create_mcp_tools({"mcpServers": servers}) as client:
        git, desk = (client.servers[name].tools["status"] for name in servers)
        for _ in range(3):
            run_tool(git)
        panel, place = ToolPanel(desk), TABS.index("History")
        receive(tabs(panel), selected_index=place)
        view = tabs(panel).children[place]
        assert "No runs yet." in shown(view)
        assert "History" in tabs(panel).titles
        run_tool(client["desk_status"])
        eventually(lambda: "History (1)" in tabs(panel).titles)
        assert len(named(view, "Run").options) == 1
        assert "History (3)" in tabs(ToolPanel(git)).titles
