"""What passes between the SDK's session and a server."""

from math import inf, nan

import pytest

from test_mcp.peers import scripted, serving
from toolbench import current_run
from toolbench.errors import ServerError
from toolbench.mcp.elicitation import reporting
from toolbench.testing import FakeMCPServer

FINE = {"result": {"content": [{"type": "text", "text": "fine"}]}}
LOG = '{"jsonrpc":"2.0","method":"notifications/message","params":%s}'
DEEP = "[" * 400 + "]" * 400


@pytest.fixture
def far(client):
    """A server whose tool tells of its progress: 1, then more than a float holds, then 2."""
    server = FakeMCPServer("far")

    @server.tool
    def go() -> str:
        """Go."""
        for value in (1, 10**400, 2):
            current_run().progress(value)
        return "there"

    return client.connect("far", server)


class TestNotifications:
    @pytest.mark.parametrize("params", ['{"data":%s}', '{"level":%s}', '{"logger":%s}'])
    def test_that_are_odd_end_no_connection(self, client, tmp_path, params):
        """One that nobody can read is in the traffic; the answer after it counts."""
        odd = LOG % (params % DEEP)
        entry = scripted(tmp_path / "script", {"tools/call": [odd, FINE]})
        session = client.connect("odd", entry)
        pid = session.connection.pid
        assert session.call("t").text == "fine"
        assert (session.status, session.connection.pid) == ("connected", pid)
        assert session.traffic.find(DEEP)

    def test_of_progress_beyond_a_float_are_left_out(self, far):
        """JSON has no largest number: what no float holds is told to nobody."""
        values = []
        with reporting(lambda value, *rest: values.append(value)):
            assert far.call("go").text == "there"
        assert values == [1, 2]

    def test_a_callback_that_fails_fails_no_call(self, far, caplog):
        """It hears no more of the call, and the failure is logged once."""
        values = []

        def fail(value, total, message):
            values.append(value)
            raise ValueError("closed")

        with reporting(fail):
            assert far.call("go").text == "there"
        assert values == [1]
        assert [record.exc_info[0] for record in caplog.records] == [ValueError]


class TestRequests:
    @pytest.mark.parametrize("way", ["process", "http", "object"])
    def test_that_cannot_be_written_are_refused(self, client, tmp_path, way):
        """What JSON has not (half of a surrogate pair, nan) is said at once, and the next call works."""
        if way == "process":
            check_refusal(client, scripted(tmp_path / "script", {}))
        elif way == "object":
            check_refusal(client, echo())
        else:
            with serving(echo()) as url:
                check_refusal(client, url)
                client.sync_close()


def echo():
    from fastmcp import FastMCP

    server = FastMCP("echo")

    @server.tool
    def t(x: str) -> str:
        return "fine"

    return server


def check_refusal(client, entry):
    session = client.connect("s", entry)
    session.call_seconds = 10
    for value, why in (
        ("\ud800", "surrogates not allowed"),
        (nan, "x is nan, and JSON has no such number."),
        ({"deep": [1, -inf]}, "x.deep.1 is -inf, and JSON has no such number."),
        ({nan}, "x.0 is nan, and JSON has no such number."),
    ):
        refused = session.call("t", {"x": value})
        assert refused.is_error
        assert refused.text.startswith("The request cannot be sent: ")
        assert why in refused.text
    with pytest.raises(ServerError, match="y is nan"):
        session.request("resources/read", {"y": nan})
    assert session.call("t", {"x": "y"}).text == "fine"
    assert len(session.traffic.find(method="tools/call", kind="request")) == 1
