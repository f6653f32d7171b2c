"""What the explorer offers for a server that did not connect."""

import re
from contextlib import suppress
from threading import RLock

import pytest
from patience import PATIENCE, eventually
from test_mcp.peers import light, misbehaving

from test_widgets.front import click
from test_widgets.tooling import buttons, wait_for_ticker
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.lists.listing import ToolsDiff
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.explorer.log import LogPane
from toolbench.widgets.explorer.tabs import changes_html

NOBODY = {"url": "http://127.0.0.1:9/mcp"}
MISSING = {"command": "no-such-command-anywhere"}
OLDER, NEWER = "Use the older protocol", "Use the newer protocol"


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


def offered(client, entry):
    """What the explorer has to click after an attempt to connect to *entry*."""
    with suppress(ServerError):
        client.connect("demo", entry)
    return set(buttons(Explorer(client, "demo").page.details.widget))


class TestOtherProtocol:
    @pytest.mark.parametrize("entry", [MISSING, NOBODY])
    def test_is_not_offered_where_nobody_spoke(self, client, entry):
        """No protocol starts a command that is missing."""
        assert offered(client, entry) == {"Reconnect", "Disconnect"}

    def test_is_not_offered_where_both_were_tried_in_vain(self, client):
        """A server that dies at once would die again."""
        assert OLDER not in offered(client, misbehaving("exit-at-start"))

    def test_is_offered_where_the_server_answered(self, client):
        """It may have meant: not in this way."""
        assert OLDER in offered(client, misbehaving("init-error"))

    def test_is_offered_where_only_one_was_tried(self, client):
        """What was sent was perhaps not understood."""
        entry = {**misbehaving("exit-at-start"), "mode": "legacy"}
        assert NEWER in offered(client, entry)
        assert NEWER not in offered(client, {**MISSING, "mode": "legacy"})

    def test_is_offered_of_a_server_that_is_there(self, client):
        """To see how it does in the other one, if it may know it."""
        entry = light("demo", "x")
        assert NEWER in offered(client, {**entry, "mode": "legacy"})

    def test_is_not_offered_where_the_server_knows_the_older_one_only(self, client):
        """It was asked for the newer one, and said that it does not know it."""
        assert NEWER not in offered(client, light("demo", "x"))


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
    eventually(lambda: not offers["Reconnect"].disabled)
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
