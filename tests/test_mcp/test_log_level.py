"""How much of its log a server sends: what it is asked for, in both protocols."""

import os
import signal

import pytest
from patience import eventually

from test_mcp.peers import light, scripted
from test_mcp.servers.good import mcp as good
from toolbench.errors import ServerError, ToolbenchError

INFO = {
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "s", "version": "1"},
    "capabilities": {"tools": {}, "logging": {}},
}


class TestOlderProtocol:
    @pytest.fixture
    def entry(self, tmp_path):
        """A server that takes a level."""
        answers = {
            "initialize": [{"result": INFO}],
            "logging/setLevel": [{"result": {}}],
        }
        return scripted(tmp_path / "script", answers)

    def test_asks_by_a_request_and_again_after_a_reconnect(self, client, entry):
        """The level belongs to a connection; a new one gets it too."""
        session = client.connect("s", entry)
        session.log.set_level("warning")
        os.kill(session.connection.pid, signal.SIGKILL)
        eventually(lambda: session.status == "lost")
        assert session.call("t").text == "fine"
        sent = session.traffic.find(method="logging/setLevel", kind="request")
        assert len(sent) == 2
        assert all('"level":"warning"' in message.text for message in sent)

    def test_a_refusal_is_told_and_not_kept(self, client, tmp_path):
        """A level that the server did not take is not asked for again."""
        script = scripted(tmp_path / "script", {"initialize": [{"result": INFO}]})
        session = client.connect("s", script)
        with pytest.raises(ServerError, match="did not take the level of its log: No"):
            session.log.set_level("debug")
        session.reconnect()
        sent = session.traffic.find(method="logging/setLevel", kind="request")
        assert len(sent) == 1


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
class TestNewerProtocol:
    def test_marks_each_later_request(self, client):
        """There is no request for it: each request after it says the level, none before."""
        session = client.connect("good", {"server": good})
        assert session.era == "modern"
        steps = session.tool("steps")
        steps({"count": 1})
        session.log.set_level("warning")
        steps({"count": 1})
        session.reconnect()
        steps({"count": 1})
        sent = session.traffic.find(method="tools/call", kind="request")
        mark = '"io.modelcontextprotocol/logLevel":"warning"'
        assert [mark in message.text for message in sent] == [False, True, True]
        assert session.traffic.find(method="logging/setLevel") == []


def test_wrong_levels_and_servers_without_a_log_are_one_sentence(client):
    """A level is one of eight; a server without the capability takes none."""
    session = client.connect("a", light("a", "x"))
    with pytest.raises(ToolbenchError, match=r"'warn' is not a log level\. .* 'warning'"):
        session.log.set_level("warn")
    with pytest.raises(ServerError, match="'a' does not declare `logging`"):
        session.log.set_level("warning")
