"""The servers of an explorer: those that come, go, are replaced, and the one that was chosen."""

import pytest
from patience import eventually
from test_mcp.peers import light

from test_widgets.front import click, labels, listing, named, page, receive, search_field
from test_widgets.panes import open_details
from test_widgets.tooling import buttons, wait_for_ticker
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient() as client:
        yield client


def test_follows_the_servers(client):
    """Those that come, go, or are replaced, when it looks."""
    client.connect("one", light("one", "x"))
    explorer = Explorer(client)
    client.connect("two", light("two", "x", "y"))
    explorer.look()
    servers = labels(listing(explorer, "Servers"))
    assert servers == ["one — connected", "two — connected"]
    explorer.choose("two")
    assert explorer.page.lists.widget.titles[0] == "Tools (2)"
    client.connect("two", light("two", "z"))
    explorer.look()
    assert explorer.page.lists.widget.titles[0] == "Tools (1)"


def test_keeps_the_filter_of_the_tools_when_the_server_is_replaced(client):
    """As a changed server is that is connected, and approved, again."""
    client.connect("one", light("one", "ping", "pong", "other"))
    explorer = Explorer(client)
    receive(search_field(explorer, "Tools"), value="p")
    client.connect("one", light("one", "ping", "pull", "else"))
    explorer.look()
    assert search_field(explorer, "Tools").value == "p"
    assert labels(listing(explorer, "Tools")) == ["ping", "pull"]


def test_shows_no_other_server_in_place_of_the_chosen_one(client):
    """While it is forgotten the explorer says so; when it is back its own tools are there."""
    client.connect("one", light("one", "x"))
    client.connect("two", light("two", "y"))
    explorer = Explorer(client, "two")
    client.forget("two")
    explorer.look()
    assert explorer.page is None
    assert "two is not connected now. %mcp connect two ..." in page(explorer)
    assert labels(listing(explorer, "Servers")) == ["one — connected"]
    client.connect("two", light("two", "y", "z"))
    explorer.look()
    assert explorer.page.session.name == "two"
    assert explorer.page.lists.widget.titles[0] == "Tools (2)"
    assert "is not connected now" not in page(explorer)


def test_shows_the_next_server_if_none_was_chosen(client):
    """The first one was only the first."""
    client.connect("one", light("one", "x"))
    client.connect("two", light("two", "y"))
    explorer = Explorer(client)
    client.forget("one")
    explorer.look()
    assert explorer.server == "two"


@pytest.mark.parametrize("way", ["line", "button"])
def test_keeps_a_disconnected_server_with_a_way_back(client, way):
    """However it was disconnected, its page has *Connect*, which makes it a server of the client again."""
    session = client.connect("one", light("one", "x"))
    client.connect("two", light("two", "y"))
    explorer = Explorer(client, "one")
    if way == "line":
        client.disconnect("one")
    else:
        open_details(explorer)
        click(named(explorer, "Disconnect"))
        eventually(lambda: session.status == "closed")
    explorer.look()
    eventually(lambda: "one — disconnected" in labels(listing(explorer, "Servers")))
    assert explorer.page.session is session
    eventually(lambda: "Connect" in buttons(explorer))
    click(named(explorer, "Connect"))
    eventually(lambda: "one — connected" in labels(listing(explorer, "Servers")))
    assert client.servers["one"] is session
    assert not client.former
    assert {tool.name for tool in client} == {"x", "y"}
    explorer.close()
    wait_for_ticker()
