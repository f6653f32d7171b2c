"""Roots: what a server is told of them, at the start and after a change."""

import sys
from pathlib import Path

import pytest
from patience import PATIENCE, eventually

from test_mcp.test_questions import curious
from toolbench.errors import ToolbenchError
from toolbench.mcp import MCPClient
from toolbench.mcp.client_features import root_url

ASKING = Path(__file__).parent / "servers" / "asks_roots.py"
CHANGED = "notifications/roots/list_changed"


def asking():
    """The entry of a server of the older protocol that asks for roots after each announcement."""
    return {"command": sys.executable, "args": [str(ASKING)], "mode": "legacy"}


def answers(session):
    """The answers to `roots/list` so far, as they were sent."""
    sent = session.traffic.find(direction="sent", kind="response")
    return [
        [root["uri"] for root in message.json["result"]["roots"]]
        for message in sent
        if "roots" in message.json.get("result", {})
    ]


def announcements(session):
    """The announcements of a change so far."""
    return session.traffic.find(method=CHANGED, direction="sent")


def test_a_change_is_announced_on_the_live_connection(client, tmp_path):
    """The older protocol has a notification, after which the server asks and gets the new ones."""
    session = client.connect("asking", asking(), roots=[tmp_path])
    pid = session.connection.pid
    eventually(lambda: answers(session) == [[tmp_path.as_uri()]])
    session.roots.change("file:///elsewhere", tmp_path)
    eventually(lambda: len(answers(session)) == 2)
    assert answers(session)[1] == ["file:///elsewhere", tmp_path.as_uri()]
    assert len(announcements(session)) == 1
    session.roots.change("file:///elsewhere", tmp_path)
    session.roots.change()
    eventually(lambda: answers(session)[2:] == [[]])
    assert len(announcements(session)) == 2
    assert session.connection.pid == pid


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_the_newer_protocol_gets_them_with_the_next_call():
    """There is no notification in it: a call that needs roots gets those of now."""
    with MCPClient(timeout=PATIENCE, roots=["file:///work"]) as client:
        session = client.connect("curious", curious(), mode="auto")
        assert session.tool("where")({}).text == "file:///work"
        session.roots.change("file:///play")
        assert session.tool("where")({}).text == "file:///play"
        assert session.roots == ["file:///play"]
        assert announcements(session) == []


def test_a_server_that_was_told_of_none_learns_of_them_at_a_reconnect(client, tmp_path):
    """It did not hear that there are roots, so it does not ask; nothing is announced in vain."""
    session = client.connect("asking", asking())
    session.roots.change(tmp_path)
    assert not session.roots.is_declared
    assert session.call("ping").text == "pong"
    assert announcements(session) == [] == answers(session)
    session.reconnect()
    assert session.roots.is_declared
    eventually(lambda: answers(session) == [[tmp_path.as_uri()]])


@pytest.mark.parametrize("root", ["/no/such/folder", "https://example.com/x", __file__])
def test_what_is_no_folder_changes_nothing(client, tmp_path, root):
    """The sentence names it; the roots stay as they were."""
    session = client.connect("asking", asking(), roots=[tmp_path])
    with pytest.raises(ToolbenchError, match=r"A root is a folder.*" + root[-9:]):
        session.roots.change(tmp_path, root)
    assert session.roots == [tmp_path.as_uri()]
    with pytest.raises(ToolbenchError, match="A root is a folder"):
        client.connect("other", asking(), roots=[root])


def test_a_root_is_the_absolute_url_of_its_folder(tmp_path, monkeypatch):
    """A relative path, a home and a link mean the folder that they mean in the kernel."""
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "work")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    urls = [root_url(each) for each in ("work", Path("work/.."), "~/work", "link")]
    work, home = (tmp_path / "work").resolve().as_uri(), tmp_path.resolve().as_uri()
    assert urls == [work, home, work, work]
