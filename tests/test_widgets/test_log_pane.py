"""The tab Log of a server: its lines in order, and why there are none."""

import re
from threading import RLock

import pytest
from patience import PATIENCE
from test_mcp.peers import light

from test_widgets.front import named, page, receive
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer.log import LogPane
from toolbench.widgets.kit.feed import PIECE


@pytest.fixture
def session():
    """A server that logs only what a test notes."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client.connect("demo", light("demo", "x"))


@pytest.fixture
def log(session):
    """The tab Log of that server."""
    pane = LogPane(session, RLock())
    yield pane
    pane.close()


def note(session, level, text):
    """Let the server log *text*."""
    session.log.add({"level": level, "data": text})


def test_lines_stand_in_the_order_in_which_they_came(session, log):
    """Also where they are more than one widget holds: a person may copy them, or hear them read."""
    count = 3 * PIECE + 1
    for number in range(count):
        note(session, "info", f"line {number}.")
        log.refresh()
    text = page(log.widget)
    places = [text.index(f"line {number}.") for number in range(count)]
    assert places == sorted(places)


def test_an_empty_log_says_whether_anything_was_logged(session, log):
    """A filter that hides every message says how many there are; an unknown key is named."""
    assert "The server logged nothing." in page(log.widget)
    field = named(log.widget, "Filter log")
    receive(field, value="level>=warning")
    assert "The server logged nothing." in page(log.widget)
    for number in range(5):
        note(session, "info", f"line {number}")
        log.refresh()
    assert "The server logged nothing" not in page(log.widget)
    assert "None of 5 messages matches." in page(log.widget)
    note(session, "error", "smoke")
    log.refresh()
    assert "smoke" in page(log.widget) and "None of" not in page(log.widget)
    receive(field, value="levl:error")
    assert "Did you mean &#x27;level&#x27;?" in page(log.widget)
    receive(field, value="")
    assert "line 4" in page(log.widget)


def test_lines_have_their_colours(session, log):
    """What a terminal would show so; other sequences are left out, and nothing becomes markup."""
    session.stderr.add("\x1b[31mERROR\x1b[39m \x1b]0;title\x07<b>no</b>")
    log.refresh()
    text = page(log.widget)
    assert re.search(r'<span style="color:[^"]+">ERROR</span> &lt;b&gt;no&lt;/b&gt;', text)
    # For an error, which spells out the rest
    assert session.stderr.last(1) == ["ERROR \x1b]0;title\x07<b>no</b>"]
