"""What a tab says of its list while the server is away, and when it is back."""

import pytest
from patience import PATIENCE, eventually
from test_mcp.peers import light
from test_mcp.servers.shop import shop as server

from test_widgets.front import click, page
from test_widgets.panes import go, listed
from test_widgets.tooling import buttons, wait_for_ticker
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def shop(client):
    """A server with resources and prompts, of which the connection is closed."""
    shop = client.connect("shop", server)
    shop.close()
    return shop


@pytest.mark.parametrize("tab", ["Resources", "Prompts"])
def test_a_server_that_is_away_is_not_one_that_offers_nothing(client, shop, tab):
    """Nobody knows what it offers until it is back, and then it is listed."""
    explorer = Explorer(client)
    pane = go(explorer, tab)
    assert "Not connected." in page(pane.widget)
    assert f"Its {tab.lower()} can be read when the server is connected" in page(pane.detail)
    assert "offers no" not in page(pane.detail)
    click(buttons(explorer)["Connect"])
    assert listed(pane)
    assert "Not connected." not in page(pane.widget)
    wait_for_ticker()


@pytest.mark.parametrize("tab", ["Resources", "Prompts"])
def test_a_list_that_is_back_is_called_connected(client, shop, tab):
    """Also if it is the same list as before."""
    explorer = Explorer(client)
    click(buttons(explorer)["Connect"])
    pane = go(explorer, tab)
    assert listed(pane)
    click(buttons(explorer)["Disconnect"])
    eventually(lambda: "Not connected." in page(pane.widget))
    eventually(lambda: "Connect" in buttons(explorer))
    click(buttons(explorer)["Connect"])
    eventually(lambda: shop.is_connected and "connected." not in page(pane.widget).lower())
    wait_for_ticker()


def test_a_server_without_prompts_offers_none(client):
    """When it was asked, and not before."""
    client.connect("one", light("one", "x"))
    pane = go(Explorer(client), "Prompts")
    eventually(lambda: "This server offers no prompts." in page(pane.detail))
