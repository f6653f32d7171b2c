"""What the explorer offers for a server that did not connect."""

import re
from threading import RLock

import pytest
from patience import PATIENCE, eventually
from test_mcp.peers import light

from test_widgets.front import click
from test_widgets.tooling import buttons, wait_for_ticker
from toolbench.mcp import MCPClient
from toolbench.mcp.lists.listing import ToolsDiff
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.explorer.log import LogPane
from toolbench.widgets.explorer.tabs import changes_html


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


def test_disconnecting_is_said_at_once(client):
    """A process may take two seconds to end; until then there is nothing to press."""
    session = client.connect("demo", light("demo", "x"))
    explorer = Explorer(client, "demo")
    offers = buttons(explorer.page.details.widget)
    texts = []
    for button in (offers["Disconnect"], offers["Reconnect"]):
        button.observe(lambda change: texts.append(change.new), "description")
        button.observe(lambda change: texts.append(change.new), "disabled")
    click(offers["Disconnect"])
    eventually(lambda: offers["Disconnect"].description == "Disconnect")
    assert texts[:3] == [True, True, "Disconnecting …"]
    eventually(lambda: len(texts) == 6)
    assert sorted(texts[3:], key=str) == ["Connect", "Disconnect", False]
    assert session.status == "closed"
    explorer.close()
    wait_for_ticker()


def test_long_news_and_log_lines_are_short_until_opened(client):
    """A notice names a few of many tools; of a long line the beginning shows, and all is there."""
    news = changes_html(ToolsDiff(tuple(f"tool_{n}" for n in range(1_000)), (), ()))
    assert "tool_5 and 994 more." in news
    assert "tool_6" not in news
    session = client.connect("demo", light("demo", "x"))
    session.log.add({"level": "info", "data": "short"})
    session.log.add({"level": "error", "data": "long " * 100 + "end"})
    pane = LogPane(session, RLock())
    text = "".join(str(getattr(one, "value", "")) for one in every(pane.widget))
    pane.close()
    assert text.count("<details") == 1
    assert "short</div>" in text
    assert re.search(r"<summary>(long ){40}…</summary>.*end</details>", text)


def every(*widgets):
    """The widgets in *widgets*, at any depth, each once."""
    known = {}
    for widget in widgets:
        known[id(widget)] = widget
        for child in getattr(widget, "children", ()):
            known |= {id(one): one for one in every(child)}
    return known.values()
