"""Icons in the explorer: of a server, its tools, resources, templates and prompts."""

from base64 import b64encode

import pytest
from patience import PATIENCE
from test_mcp.peers import light, scripted

from test_widgets.front import page, picker_of, walk
from test_widgets.panes import choose, go, listed
from test_widgets.tooling import wait_for_ticker
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer

WEB = {"src": "https://a.test/icon.png"}


def picture(name):
    """The `data:` URL of a picture that is told apart by *name*."""
    return f"data:image/png;base64,{b64encode(name.encode()).decode()}"


def item(**fields):
    """An item of a server, with an icon on the web and one whose data is here."""
    return {**fields, "icons": [WEB, {"src": picture(next(iter(fields.values())))}]}


TOOL = item(name="t", inputSchema={"type": "object"})
RESOURCE = item(uri="data://rows", name="Rows")
TEMPLATE = item(uriTemplate="data://{row}", name="Row")
PROMPT = item(name="ask", description="Asks.")
PLAIN = {"uri": "data://plain", "name": "Plain"}


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def explorer(client, tmp_path):
    """The explorer of a server with icons, beside another server."""
    opening = {
        "protocolVersion": "2025-11-25",
        "serverInfo": item(name="s", version="1"),
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    }
    lists = {
        "tools/list": {"tools": [TOOL]},
        "resources/list": {"resources": [RESOURCE, PLAIN]},
        "resources/templates/list": {"resourceTemplates": [TEMPLATE]},
        "prompts/list": {"prompts": [PROMPT]},
    }
    script = {method: [{"result": result}] for method, result in lists.items()}
    script["initialize"] = [{"result": opening}]
    client.connect("demo", scripted(tmp_path / "script", script))
    client.connect("other", light("other", "x"))
    explorer = Explorer(client, "demo")
    yield explorer
    explorer.close()


@pytest.mark.parametrize(
    ("tab", "start", "icon"),
    [
        ("Tools", "t", "t"),
        ("Resources", "data://rows", "data://rows"),
        ("Resources", "template: ", "data://{row}"),
        ("Prompts", "ask", "ask"),
    ],
)
def test_an_item_has_its_icon_in_the_list_and_beside_its_name(explorer, tab, start, icon):
    """The icon that came along is shown; one on the web is not even in the page."""
    pane = go(explorer, tab)
    choose(pane, start)
    wait_for_ticker()
    assert picture(icon) in icons(pane.widget).values()
    [head] = [text for text in texts(pane.detail) if picture(icon) in text]
    assert head.index("<strong") < head.index(picture(icon)) < head.index("</strong")
    for part in (pane.widget, pane.detail):
        assert "a.test" not in page(part)


def test_an_item_without_an_icon_has_none(explorer):
    """Neither in the list nor in its card, whatever its neighbours have."""
    pane = go(explorer, "Resources")
    assert len(listed(pane)) == 3
    choose(pane, "data://plain")
    wait_for_ticker()
    assert icons(pane.widget)["data://plain"] == ""
    assert "<img" not in page(pane.detail)


def test_a_server_has_its_icon_in_the_list_and_in_its_card(explorer):
    """The same holds for servers."""
    assert icons(explorer) == {"demo": picture("s"), "other": ""}
    [card] = [text for text in texts(go(explorer, "Server").widget) if "<img" in text]
    assert picture("s") in card
    assert "<strong" in card
    assert "a.test" not in page(explorer)


def texts(root):
    """The texts of the widgets in *root*."""
    return [str(getattr(widget, "value", "")) for widget in walk(root)]


def icons(root):
    """The icon of each item of the first list in *root*, by the key of the item."""
    sent = picker_of(root)
    sources = [*sent.icons, ""]
    return {row[0]: sources[row[5]] for row in sent.items}
