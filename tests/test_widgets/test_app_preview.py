"""The network of an app in the explorer: off, until a person allows it for one preview."""

import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually

from test_widgets.front import click
from test_widgets.panes import choose, go, press
from test_widgets.tooling import buttons, shown
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.kit.ticker import ticker

API, CDN = "https://api.example.com", "https://cdn.example.com"
ALLOW = f"Allow {API}, {CDN} for one preview"


def weather(csp):
    """A server with an app that declares *csp*."""
    server = FastMCP("weather")

    @server.tool(meta={"ui": {"resourceUri": "ui://weather/map"}})
    def show() -> str:
        return "sunny"

    ui = {"ui": {"csp": csp}}
    mime = "text/html;profile=mcp-app"

    @server.resource("ui://weather/map", mime_type=mime, meta=ui)
    def app() -> str:
        return "<p>the map</p>"

    return server


@pytest.fixture
def pane():
    """A function that opens the tool of a server with an app that declares *csp*."""
    opened = []
    with MCPClient(timeout=PATIENCE) as client:

        def open_tool(csp):
            client.connect("weather", weather(csp))
            explorer = Explorer(client)
            opened.append(explorer)
            pane = go(explorer, "Tools")
            choose(pane, "show")
            return pane

        yield open_tool
        for explorer in opened:
            explorer.close()
        assert ticker.wait_idle(PATIENCE)


def test_is_allowed_by_a_button_for_one_preview(pane):
    """The button names the addresses; the next preview begins without them again."""
    pane = pane({"connectDomains": [API], "resourceDomains": [CDN]})
    assert ALLOW not in buttons(pane.detail)
    press(pane, "Preview its app")
    eventually(lambda: ALLOW in buttons(pane.detail))
    assert f"connect-src {API}" not in shown(pane.detail)
    click(buttons(pane.detail)[ALLOW])
    eventually(lambda: f"connect-src {API}" in shown(pane.detail))
    assert f"For this preview it may reach {API}, {CDN}" in shown(pane.detail)
    assert ALLOW not in buttons(pane.detail)
    press(pane, "Preview its app again")
    eventually(lambda: ALLOW in buttons(pane.detail))
    assert f"connect-src {API}" not in shown(pane.detail)


def test_is_not_offered_for_addresses_that_are_refused(pane):
    """There is no button, and a sentence."""
    pane = pane({"connectDomains": ["*", "https://a.com; script-src *"]})
    press(pane, "Preview its app")
    eventually(lambda: "that is never allowed" in shown(pane.detail))
    assert not any(label.startswith("Allow") for label in buttons(pane.detail))
