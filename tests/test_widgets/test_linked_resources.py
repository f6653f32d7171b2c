"""Resources that a result links to: read by a click, never before, and shown as text."""

import pytest
from fastmcp import FastMCP
from fastmcp.tools.base import ToolResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import Annotations, ResourceLink
from patience import PATIENCE, eventually
from payloads import PAYLOADS

from test_widgets.front import click
from test_widgets.panes import choose, go, press
from test_widgets.tooling import buttons, finish, shown
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.resource_views import session_of

HOSTILE = PAYLOADS[0]


def link(uri, name, **more):
    """A link of a result."""
    return ResourceLink(type="resource_link", uri=uri, name=name, **more)


def library():
    """A server whose results link to its resources."""
    server = FastMCP("library")

    @server.tool(annotations={"readOnlyHint": True})
    def search(hits: int = 1) -> ToolResult:
        only = Annotations(audience=["assistant"])
        links = [
            link("library://emma", "emma", title="Emma"),
            link("library://gone", HOSTILE),
            link("library://emma", "for the model", annotations=only),
            *(link(f"library://more/{n}", f"more {n}") for n in range(hits)),
        ]
        return ToolResult(content=links)

    @server.resource("library://emma", mime_type="text/markdown")
    def emma() -> str:
        return f"# Emma\n\n**handsome** {HOSTILE}"

    return server


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


def reads(session):
    """The reads that were sent to the server."""
    return session.traffic.find(method="resources/read", kind="request")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_panel_reads_a_link_when_it_is_clicked(client, mode):
    """No read is sent before the click; then the contents stand below, as in the explorer."""
    session = client.connect("library", library(), mode=mode)
    panel = ToolPanel(session.tool("search"))
    assert not any(label.startswith("Read ") for label in buttons(panel))
    panel.run()
    finish(panel)
    assert "Read Emma" in buttons(panel)
    assert "Read for the model" not in buttons(panel)
    assert reads(session) == []
    click(buttons(panel)["Read Emma"])
    eventually(lambda: "<strong>handsome</strong>" in shown(panel))
    assert len(reads(session)) == 1
    with MCPClient(timeout=PATIENCE) as other:
        other.connect("library", library())
        assert session_of(panel.tool) is session
    panel.run()
    finish(panel)
    assert "handsome" not in shown(panel)
    panel.close()


def test_the_names_and_contents_of_links_stay_text(client):
    """What a server writes becomes no markup, and a failed read is a sentence."""
    session = client.connect("library", library())
    panel = ToolPanel(session.tool("search"))
    panel.run()
    finish(panel)
    click(buttons(panel)["Read Emma"])
    eventually(lambda: "handsome" in shown(panel))
    assert HOSTILE not in shown(panel)
    (label,) = [name for name in buttons(panel) if HOSTILE[:9] in name]
    click(buttons(panel)[label])
    eventually(lambda: "did not read" in shown(panel))
    assert "handsome" not in shown(panel)
    assert HOSTILE not in shown(panel)
    panel.close()


def test_many_links_are_counted(client):
    """A result with very many links makes a few buttons, and says how many are left."""
    session = client.connect("library", library())
    panel = ToolPanel(session.tool("search"), {"hits": 28})
    panel.run()
    finish(panel)
    readers = [label for label in buttons(panel) if label.startswith("Read ")]
    assert len(readers) == 20
    assert "10 more links" in shown(panel)
    panel.close()


def test_the_explorer_has_the_links_too(client):
    """The tool's panel in the explorer is the same; closing it leaves nothing."""
    client.connect("library", library())
    explorer = Explorer(client)
    pane = go(explorer, "Tools")
    choose(pane, "search")
    press(pane, "Run")
    eventually(lambda: "Read Emma" in buttons(pane.detail))
    click(buttons(pane.detail)["Read Emma"])
    eventually(lambda: "<strong>handsome</strong>" in shown(pane.detail))
    explorer.close()
    assert ticker.wait_idle(PATIENCE)


def test_links_of_a_prompt_are_read_in_its_pane(client):
    """A message of a prompt that is a link has a button, too."""
    server = MCPServer("prompts", log_level="ERROR")

    @server.prompt()
    def recommend() -> list[UserMessage]:
        return [UserMessage(link("library://emma", "emma"))]

    @server.resource("library://emma", mime_type="text/markdown")
    def emma() -> str:
        return "**handsome**"

    session = client.connect("library", server)
    explorer = Explorer(client)
    pane = go(explorer, "Prompts")
    choose(pane, "recommend")
    press(pane, "Get messages")
    press(pane, "Read emma")
    eventually(lambda: "<strong>handsome</strong>" in shown(pane.detail))
    assert len(reads(session)) == 1
    explorer.close()
    assert ticker.wait_idle(PATIENCE)
