"""docs/mcp-failures.md says what a user sees of servers that misbehave: each cell is compared.

Every mode and every tool of ../shared/servers/misbehaving_server.py is in it, over stdio and
HTTP, in both eras. None may hang past its time limit, lose a result or hide a neighbour.
"""

import sys
from functools import cache
from pathlib import Path

import pytest
from loading import loaded
from patience import PATIENCE

from test_mcp import seen
from test_mcp.peers import MISBEHAVING, children, eventually, is_running, misbehaving
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient

ROOT = Path(__file__).parents[2]
DEAF = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: print("asked to end", file=sys.stderr, flush=True))
while True:
    time.sleep(60)
"""
pytestmark = pytest.mark.skipif(
    not MISBEHAVING.is_file(), reason=f"NOT TESTED: {MISBEHAVING} is missing"
)


@cache
def script():
    """`python scripts/mcp_failures.py` writes the page."""
    return loaded(ROOT / "scripts" / "mcp_failures.py")


def rows(text):
    """The lines of a table of the page, by the mode or tool that they are about."""
    return {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}


# Of these much is sent
MUCH = ("endless-pages", "flood", "huge")
MODES, TOOLS = map(
    rows, (ROOT / "docs" / "mcp-failures.md").read_text("utf-8").split("## Calling a tool")
)


def each(names, transport):
    """The ways of *transport* and those of *names* that can be tried so."""
    cases = []
    for way in seen.WAYS:
        for name in names:
            if way.startswith(transport) and seen.can_be_tried(name, way):
                marks = ()
                if name in MUCH:
                    marks = pytest.mark.slow
                cases.append(pytest.param(way, name, id=f"{name} over {way}", marks=marks))
    return {"argvalues": cases}


def check(row, way, text):
    """The last cell of *row* has *text*, by itself or behind the ways in which it is seen."""
    cell = row.rsplit(" | ", 1)[-1].removesuffix(" |")
    known = {part.partition(": `")[0]: part for part in cell.split("<br>")}
    entry = next((part for ways, part in known.items() if way in ways.split(", ")), cell)
    assert script().code(text) in entry


def test_every_mode_and_tool_has_a_row():
    """A new kind of misbehaviour must get one, which says what it does."""
    for known, described in zip((MODES, TOOLS), seen.described(), strict=True):
        assert known.keys() == described.keys()
        for name, what in described.items():
            assert script().escaped(what) in known[name]


class TestConnecting:
    """What is listed can be exported, and the neighbour of what cannot be is there."""

    @pytest.mark.parametrize(("way", "mode"), **each(MODES, "stdio"))
    def test_over_stdio(self, way, mode):
        check(MODES[mode], way, seen.connecting(mode, way))

    @pytest.mark.parametrize(("way", "mode"), **each(MODES, "HTTP"))
    def test_over_http(self, way, mode):
        check(MODES[mode], way, seen.connecting(mode, way))


class TestCalling:
    """One server for all calls of a way: it must survive each, or come back."""

    @pytest.fixture(scope="module")
    @staticmethod
    def session(request):
        with seen.server("calls", request.param) as (client, entry):
            yield request.param, client.connect("demo", entry)

    @pytest.mark.parametrize(("session", "tool"), **each(TOOLS, "stdio"), indirect=["session"])
    def test_over_stdio(self, session, tool):
        way, session = session
        check(TOOLS[tool], way, seen.calling(session, tool))

    @pytest.mark.parametrize(("session", "tool"), **each(TOOLS, "HTTP"), indirect=["session"])
    def test_over_http(self, session, tool):
        way, session = session
        check(TOOLS[tool], way, seen.calling(session, tool))

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
        client.timeout = 3
        with pytest.raises(ServerError, match="no answer within 3 s"):
            client.connect("s", {"command": sys.executable, "args": ["-c", DEAF]})
        eventually(lambda: not any(map(is_running, children() - before)))
        assert client.servers["s"].stderr.text == "asked to end"
