"""What a user sees of servers that misbehave: a table, checked line by line.

Every mode and every tool of ../shared/servers/misbehaving_server.py is in it, over stdio and
HTTP, in both eras. None may hang past its time limit, lose a result or hide a neighbour.
"""

import re
import subprocess
import sys
from functools import cache

import pytest
from patience import PATIENCE

from test_mcp.peers import (
    MISBEHAVING,
    children,
    eventually,
    is_running,
    misbehaving,
    misbehaving_http,
)
from test_mcp.seen import NOT_OVER_HTTP
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient

DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(60)
"""
# Connected, and `ping` answers `pong`
CONNECTED = ""


def expect(error=CONNECTED, **more):
    return {"error": error, **more}


MODES = {
    # process
    "calls": expect(),
    "ok": expect(),
    "exit-at-start": expect("exit code 3.*missing API key MISBEHAVING_TOKEN"),
    "exit-after-init": expect("ended before it had answered.*exit code 0"),
    "exit-on-list": expect("exit code 4.*exiting on tools/list"),
    "slow-start": expect(),
    "never-init": expect(r"no answer within 1\.5 s", seconds=1.5),
    "never-list": expect(problem="no answer within 6 s", seconds=6),
    "ignore-close": expect(),
    "stderr-flood": expect(),
    # framing
    "junk-stdout": expect(),
    "binary-stdout": expect(),
    "binary-later": expect(),
    "crlf": expect(),
    "pretty-json": expect("lines on its stdout were not JSON-RPC messages", seconds=6),
    "no-newline": expect("and no newline: a message is one line", seconds=6),
    "slow-bytes": expect(),
    "batch": expect(),
    "notify-first": expect(),
    # handshake
    "init-error": expect("licence expired"),
    "wrong-version": expect("Unsupported protocol version from the server: 1999-01-01"),
    "future-version": expect("Unsupported protocol version from the server: 2099-12-31"),
    "no-capabilities": expect("does not follow the protocol: capabilities: Field required"),
    "claims-all": expect(),
    "bad-discover": expect(),
    "hang-discover": expect(seconds=6),
    "exit-on-discover": expect(mode="legacy"),
    # listing
    "list-error": expect(problem="database is locked"),
    "list-null": expect(problem="the server's list of tools is not a list"),
    "no-tools": expect(tools=0),
    "dup-names": expect(tools=2, disabled=2),
    "odd-names": expect(tools=27, disabled=2),
    "bad-schemas": expect(tools=21, disabled=4),
    "illegal-schemas": expect(tools=4, disabled=10),
    "missing-schema": expect(tools=1, disabled=1),
    "deep-schema": expect(tools=1, disabled=1),
    "bad-output-schema": expect(tools=6),
    "illegal-output-schema": expect(tools=2),
    "bad-annotations": expect(tools=6),
    "many-tools": expect(tools=1000),
    "one-big-page": expect(tools=5000),
    "endless-pages": expect(tools=250, problem="does not end: 250 pages"),
    "same-cursor": expect(tools=1, problem="same page twice"),
    "empty-pages": expect(tools=1),
    "bad-cursor": expect(tools=1, problem="Invalid cursor"),
    "list-changed-storm": expect(tools=1),
    "hostile-listing": expect(tools=2),
}
HTTP_MODES = {
    "http-401": expect("HTTP 401 Unauthorized.*invalid_token.*give 'auth' a token"),
    "http-403": expect("HTTP 403 Forbidden: forbidden"),
    "http-404": expect("HTTP 404 Not Found.*path of the URL"),
    "http-500": expect("HTTP 500 Internal Server Error: <html>"),
    "http-500-call": expect(ping="HTTP 500 Internal Server Error: boom"),
    "http-html": expect("Please log in.*page for people"),
    "http-empty": expect("could not be read: Invalid JSON"),
    "http-lost-session": expect(),
    "http-cut": expect(ping="broke during the call"),
    "http-cut-sse": expect(ping="server ended the stream before its answer came"),
    "http-hang": expect(ping=r"No answer within 0\.5 s"),
    "http-redirect": expect("Redirect to .* not followed"),
}
ERROR, WARNED = True, True
TOOLS = {
    "ping": ("pong",),
    "slow": (r"No answer within 0\.5 s", ERROR),
    "never": (r"No answer within 0\.5 s", ERROR),
    "crash": ("exit code 7.*crashing now", ERROR),
    "half_line_then_crash": ("exit code 8.*and no newline", ERROR),
    "huge": ("0123456789abcde",),
    "many_blocks": ("block 0\nblock 1",),
    "is_error": ("the tool failed: file not found", ERROR),
    "is_error_empty": ("did not say why", ERROR),
    "rpc_error": (r"Internal error \(MCP error -32603\).*frame 1", ERROR),
    "empty": ("Done",),
    "bad_structured": ("forty-two", False, WARNED),
    "missing_structured": ("42", False, WARNED),
    "structured_only": ("42",),
    "undeclared_structured": ("see structured",),
    "no_content": ("42", False, WARNED),
    "null_result": ("result is null", ERROR),
    "string_content": ("just text", False, WARNED),
    "unknown_block": ("fine.*hologram", False, WARNED),
    "bad_base64": ("unreadable", False, WARNED),
    "wrong_mime": ("unreadable", False, WARNED),
    "all_content": ("a text.*audio/wav.*hostname.*# Title.*application/zip",),
    "hostile_text": ("<script>",),
    "odd_text": ("emoji",),
    "lone_surrogate": ("before \ufffd after",),
    "odd_numbers": ("numbers",),
    "twice": ("first answer",),
    "wrong_id": (r"No answer within 0\.5 s", ERROR),
    "string_id": ("id was stringified",),
    "flood": ("flooded",),
    "odd_progress": ("done",),
    "odd_log": ("logged",),
    "stderr_flood": ("stderr flooded",),
    "junk_between": ("answered after junk", False, WARNED),
    "unknown_notification": ("Method not found",),
    "ask_sampling": ("client said: .*error",),
    "ask_form": ("client said: .*(decline|error)",),
    "ask_bad_form": ("client said: .*(decline|error)",),
    "ask_url": ("client said: .*(decline|error)",),
    "ask_forever": ("stopped at question 0",),
    "change_tools": ("tools changed",),
    "change_silently": ("ping changed",),
    "input_required": ("inputRequests", False, WARNED),
}
MODERN_TOOLS = TOOLS | {"input_required": ("asked 10 times", ERROR)}


@cache
def listed():
    """What the server itself says it can do."""
    if not MISBEHAVING.is_file():
        pytest.skip(f"NOT TESTED: {MISBEHAVING} is missing")
    text = subprocess.run(
        [sys.executable, str(MISBEHAVING), "--list"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    modes, _, tools = text.partition("tools of the mode calls:")
    return set(re.findall(r"^(\S+)", modes, re.M)), set(re.findall(r"^  (\S+)", tools, re.M))


def test_every_mode_and_tool_is_checked():
    """A new kind of misbehaviour must get a line here."""
    modes, tools = listed()
    assert MODES.keys() | HTTP_MODES.keys() == modes
    assert TOOLS.keys() == tools


def check_listing(client, entry, expected):
    """Connect, and compare what a user sees with what is *expected*."""
    client.timeout = expected.get("seconds", PATIENCE)
    if expected["error"]:
        with pytest.raises(ServerError) as caught:
            client.connect("s", entry)
        assert re.search(expected["error"], str(caught.value), re.S)
        return
    session = client.connect("s", entry)
    session.call_seconds = 0.5 if "No answer" in expected.get("ping", "") else PATIENCE
    assert expected.get("tools", len(session.tools)) == len(session.tools)
    assert expected.get("disabled", 0) == len(session.tools.disabled)
    assert all(tool.reason for tool in session.tools.disabled)
    assert re.search(expected.get("problem", "^$"), "".join(session.problems))
    assert session.connection.mode == expected.get("mode", "auto")
    assert re.search(expected.get("ping", "pong"), session.call("ping").text)
    # Whatever is listed can be exported and shown
    for tool in session.tools[:40]:
        tool.to_mcp_tool(), tool.to_openai_tool(), tool.to_responses_tool(), repr(tool)


class TestModes:
    @pytest.mark.parametrize("mode", MODES)
    def test_over_stdio(self, client, mode):
        """Each mode gives what the table says."""
        check_listing(client, misbehaving(mode, "--delay", "1"), MODES[mode])

    @pytest.mark.parametrize(
        "mode",
        [
            "ok",
            "illegal-schemas",
            "odd-names",
            "many-tools",
            "bad-cursor",
            "list-null",
        ],
    )
    def test_in_the_newer_protocol(self, client, mode):
        """What a mode does to lists is the same in the newer protocol."""
        check_listing(client, misbehaving(mode, "--modern"), MODES[mode])
        assert client.servers["s"].era == "modern"

    @pytest.mark.parametrize("mode", HTTP_MODES)
    def test_over_http(self, client, mode):
        """HTTP failures are told with status, body, and what to do."""
        with misbehaving_http(mode) as url:
            check_listing(client, url, HTTP_MODES[mode])
            client.sync_close()

    @pytest.mark.parametrize(
        "mode",
        [
            "illegal-schemas",
            "bad-annotations",
            "bad-cursor",
            "list-error",
            "no-capabilities",
        ],
    )
    def test_of_lists_over_http(self, client, mode):
        """A bad tool hides no other over HTTP either."""
        with misbehaving_http(mode) as url:
            check_listing(client, url, MODES[mode])
            client.sync_close()


def check_call(session, name, pattern, is_error=False, warned=False):
    """Call the tool *name*, and its neighbour after it."""
    session.call_seconds = 0.5 if "No answer" in pattern else PATIENCE
    observation = session.call(name)
    if name != "change_silently":
        observation = session.tool(name)({}) if "crash" not in name else observation
    assert re.search(pattern, observation.text, re.S)
    assert observation.is_error == is_error
    assert bool(observation.warnings) == warned
    session.call_seconds = PATIENCE
    assert session.call("ping").text == "pong"


class TestTools:
    @pytest.fixture(scope="module", params=["", "--modern"], ids=["legacy", "modern"])
    @staticmethod
    def session(request, shared):
        """One server for all calls: it must survive each, or come back."""
        flags = [request.param] if request.param else []
        return shared.connect(f"calls{request.param}", misbehaving("calls", *flags))

    @pytest.mark.parametrize("name", TOOLS)
    def test_over_stdio(self, session, name):
        """Each tool gives what the table says, and `ping` still answers afterwards."""
        table = MODERN_TOOLS if session.era == "modern" else TOOLS
        check_call(session, name, *table[name])

    @pytest.mark.slow
    def test_over_http(self):
        """The same over HTTP, as far as the test server can do it there."""
        with misbehaving_http("calls") as url, MCPClient(timeout=PATIENCE) as client:
            session = client.connect("s", url)
            # Over HTTP an answer that the SDK cannot read is not repaired
            unreadable = ("The server's answer could not be read", ERROR)
            expectations = {**TOOLS, "null_result": unreadable, "lone_surrogate": unreadable}
            for name, expected in expectations.items():
                # There it answers nothing
                if name not in NOT_OVER_HTTP | {"never"}:
                    check_call(session, name, *expected)

    @pytest.mark.slow
    def test_a_result_of_40_mb_takes_time_in_proportion(self, client):
        """Nothing on the way is quadratic: this took the SDK half a minute."""
        session = client.connect("s", misbehaving("calls"))
        session.call_seconds = 15
        observation = session.tool("huge")({"megabytes": 40})
        assert len(observation.text) == 40 * 1024 * 1024

    def test_a_flood_is_told_in_bundles(self, client):
        """Thousands of notifications reach whoever looks in a few pieces of news."""
        session = client.connect("s", misbehaving("calls"))
        news = []
        session.observe(news.append)
        before = session.log.total
        assert session.tool("flood")({"count": 5000}).text == "flooded"
        assert session.log.total == before + 5000
        assert len(news) < 500


class TestEnds:
    def test_no_process_is_left(self):
        """Closing a client with every kind of stubborn server leaves none of them."""
        client = MCPClient(timeout=PATIENCE)
        modes = ["ok", "ignore-close", "calls", "slow-bytes"]
        client.add({mode: misbehaving(mode) for mode in modes})
        client.servers["calls"].call_seconds = 0.2
        client.servers["calls"].call("never")
        pids = [session.connection.pid for session in client.servers.values()]
        assert all(map(is_running, pids))
        client.sync_close()
        assert not any(map(is_running, pids))

    @pytest.mark.slow
    def test_no_process_is_left_that_never_connected(self, client):
        """Nor one that answers nothing and ignores the end of its stdin and SIGTERM."""
        before = children()
        client.timeout = 1
        with pytest.raises(ServerError, match="no answer within 1 s"):
            client.connect("s", {"command": sys.executable, "args": ["-c", DEAF]})
        eventually(lambda: not any(map(is_running, children() - before)))
