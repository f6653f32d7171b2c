"""The tabs Recording and Changes of a server in the explorer."""

from threading import RLock

import pytest
from patience import PATIENCE, eventually
from test_mcp.peers import scripted

from test_widgets.front import click, named, page, type_into
from test_widgets.tooling import buttons
from toolbench.mcp import MCPClient
from toolbench.mcp.recording import Recording
from toolbench.mcp.trust.approvals import Approvals
from toolbench.testing import FakeMCPServer
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.explorer.over_time import ChangesPane, RecordingPane
from toolbench.widgets.kit.ticker import ticker


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The files go into a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def client(here):
    with MCPClient(approvals=Approvals(here / "approved")) as client:
        yield client


def offering(description, *required):
    """A server with a tool of that *description* and those *required* arguments."""
    server = FakeMCPServer("shop")
    properties = {name: {"type": "string"} for name in ("item", *required)}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    server.answer("buy", "bought", schema=schema, description=description)
    return {"server": server}


def listing(description):
    """What a scripted server says when it is asked for its tools."""
    tool = {"name": "t", "description": description, "inputSchema": {"type": "object"}}
    return {"tools/list": [{"result": {"tools": [tool]}}]}


@pytest.fixture
def opened():
    """Opens tabs, and closes them with the test."""
    panes = []

    def opened(kind, session):
        panes.append(kind(session, RLock()))
        return panes[-1]

    yield opened
    for pane in panes:
        pane.close()
    assert ticker.wait_idle(PATIENCE)


class TestRecording:
    def test_a_button_begins_and_ends_it(self, client, opened, here):
        """A recording goes into the named file, the tab says where, and it replays."""
        session = client.connect("shop", offering("Buy."))
        pane = opened(RecordingPane, session)
        type_into(named(pane.widget, "File"), "mine.jsonl")
        click(buttons(pane.widget)["Record"])
        into = f"shop is recorded in {here / 'mine.jsonl'}"
        eventually(lambda: into in page(pane.widget))
        eventually(lambda: "Stop recording" in buttons(pane.widget))
        session.call("buy", {"item": "tea"})
        click(buttons(pane.widget)["Stop recording"])
        eventually(lambda: f"{here / 'mine.jsonl'} is complete" in page(pane.widget))
        assert f"--replay {here / 'mine.jsonl'}" in page(pane.widget)
        assert len(Recording.read(here / "mine.jsonl").calls) == 1
        replay = client.connect("again", replay=here / "mine.jsonl")
        assert replay.call("buy", {"item": "tea"}).text == "bought"

    def test_a_button_does_what_it_says(self, client, opened, here):
        """After a line of a cell ended the recording, Stop recording begins no other one."""
        session = client.connect("shop", offering("Buy."), record=here / "r.jsonl")
        pane = opened(RecordingPane, session)
        session.stop_recording()
        click(buttons(pane.widget)["Stop recording"])
        eventually(lambda: "shop is not recorded" in page(pane.widget))
        assert session.recording is None
        assert not buttons(pane.widget)["Record"].disabled

    def test_a_file_that_is_something_else_is_left_alone(self, client, opened, here):
        """The tab says why nothing is recorded, and can be tried again."""
        (here / "shop.jsonl").write_text("precious")
        pane = opened(RecordingPane, client.connect("shop", offering("Buy.")))
        click(buttons(pane.widget)["Record"])
        eventually(lambda: "not overwritten" in page(pane.widget))
        assert (here / "shop.jsonl").read_text() == "precious"
        assert not buttons(pane.widget)["Record"].disabled

    def test_a_replay_says_what_it_is(self, client, opened, here):
        """What is replayed cannot be recorded; one that was recorded from the start can be ended."""
        client.connect("shop", offering("Buy."), record=here / "r.jsonl")
        pane = opened(RecordingPane, client.servers["shop"])
        assert "Stop recording" in buttons(pane.widget)
        pane = opened(RecordingPane, client.connect("old", replay=here / "r.jsonl"))
        assert "old is replayed from" in page(pane.widget)
        assert buttons(pane.widget)["Record"].disabled


class TestChanges:
    @pytest.mark.parametrize("source", ["snapshot", "recording", "server"])
    def test_are_shown_side_by_side(self, client, opened, here, source):
        """Compared with any of these, the words that changed are marked; a line writes them as a page."""
        before = client.connect("before", offering("Buy <b>one</b> item."), record=here / "r.jsonl")
        before.snapshot().write(here / "before.snapshot.json")
        other = {"snapshot": "before.snapshot.json", "recording": "r.jsonl"}
        session = client.connect("shop", offering("Buy <b>two</b> items.", "unit"))
        pane = opened(ChangesPane, session)
        box = named(pane.widget, "Compare with")
        assert other.get(source, "before") in box.options
        type_into(box, other.get(source, "before"))
        click(buttons(pane.widget)["Compare"])
        eventually(lambda: "<ins>two</ins>" in page(pane.widget))
        assert "<del>one</del>" in page(pane.widget)
        assert "<b>" not in page(pane.widget)
        assert "Approve" not in buttons(pane.widget)
        assert page(pane.widget).index("breaking") < page(pane.widget).index("routing")
        assert f"%mcp diff shop {other.get(source, 'before')} --html FILE" in page(pane.widget)

    def test_a_snapshot_of_today_is_compared_with_tomorrow(self, client, opened, here):
        """A button keeps what is offered; compared with it, the server has not changed."""
        pane = opened(ChangesPane, client.connect("shop", offering("Buy.")))
        click(buttons(pane.widget)["Save a snapshot"])
        box = named(pane.widget, "Compare with")
        eventually(lambda: box.value == "shop.snapshot.json")
        assert "shop.snapshot.json" in box.options
        assert "shop.snapshot.json: 1 tool." in page(pane.widget)
        click(buttons(pane.widget)["Compare"])
        eventually(lambda: "offers the same as shop.snapshot.json." in page(pane.widget))

    def test_an_older_snapshot_is_left_alone(self, client, opened, here):
        """The tab says that the file has other content, and what overwrites it."""
        file = here / "shop.snapshot.json"
        file.write_text("a year of notes")
        pane = opened(ChangesPane, client.connect("shop", offering("Buy.")))
        click(buttons(pane.widget)["Save a snapshot"])
        eventually(lambda: "already has other content" in page(pane.widget))
        assert "--overwrite in a line" in page(pane.widget)
        assert file.read_text() == "a year of notes"

    @pytest.mark.parametrize("other", ["", "nowhere", "broken.json"])
    def test_what_cannot_be_compared_is_told(self, client, opened, here, other):
        """What is no file and no server, or holds no snapshot, is a sentence in the tab."""
        (here / "broken.json").write_text("{}")
        pane = opened(ChangesPane, client.connect("shop", offering("Buy.")))
        type_into(named(pane.widget, "Compare with"), other)
        click(buttons(pane.widget)["Compare"])
        words = (
            "Enter a file or a server to compare with",
            "is not a file",
            "is not a snapshot",
        )
        eventually(lambda: any(word in page(pane.widget) for word in words))

    def test_of_an_approved_server_are_shown_and_approved(self, client, opened, here):
        """A server that changed since it was approved says so and shows how; Approve lets it be called."""
        path = here / "server.json"
        client.connect("my shop", scripted(path, listing("Does one thing.")))
        session = client.connect("my shop", scripted(path, listing("Does two things.")))
        assert "was not called" in session.call("t", {"unknown": 1}).text
        explorer = Explorer(client)
        assert "waits for your approval</span> <code>%mcp approve &#x27;my shop&#x27;" in page(
            explorer
        )
        session.snapshot().write(here / "now.json")
        pane = opened(ChangesPane, session)
        # At once: neither takes the place of the other
        type_into(named(pane.widget, "Compare with"), "now.json")
        click(buttons(pane.widget)["Compare"])
        eventually(lambda: "my shop offers the same as now.json" in page(pane.widget))
        eventually(lambda: "Approve" in buttons(pane.widget))
        assert "<ins>two</ins>" in page(pane.widget)
        click(buttons(pane.widget)["Approve"])
        assert "Approve" not in buttons(pane.widget)
        eventually(lambda: "waits for your approval" not in page(explorer))
        explorer.close()
        assert session.call("t").text == "fine"

    def test_that_were_not_shown_are_not_approved(self, client, opened, here):
        """Approve is about the page that is read: after another change it refuses, and shows that one."""
        path = here / "server.json"
        client.connect("shop", scripted(path, listing("Does one thing.")))
        session = client.connect("shop", scripted(path, listing("Does two things.")))
        pane = opened(ChangesPane, session)
        eventually(lambda: "Approve" in buttons(pane.widget))
        scripted(path, listing("Does three things."))
        session.refresh()
        approve = buttons(pane.widget)["Approve"]
        click(approve)
        eventually(lambda: "<ins>three</ins>" in page(pane.widget))
        # A click on the page before, which comes late
        click(approve)
        assert "was not approved: it changed again" in page(pane.widget)
        assert session.trust.has_changed
        click(buttons(pane.widget)["Approve"])
        assert session.call("t").text == "fine"
