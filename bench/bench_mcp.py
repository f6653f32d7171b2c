"""What MCP costs: calls, lists and connecting beside the raw FastMCP client."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from measuring import WALL, Cold, by_turns, fewer

from toolbench.mcp import MCPClient
from toolbench.runs.perform import run_tool

# Its servers
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_mcp.peers import eventually, misbehaving

SERVER = """
import sys
from fastmcp import FastMCP
mcp = FastMCP("bench")
def echo(text: str) -> str: return text
for name in ["echo", *[f"tool_{n}" for n in range(int(sys.argv[1]))]]:
    mcp.tool(echo, name=name)
if len(sys.argv) > 2:
    mcp.run("http", port=int(sys.argv[2]), show_banner=False, log_level="critical")
else:
    mcp.run(show_banner=False)
"""


def entry(tools=0):
    return {"command": sys.executable, "args": ["-c", SERVER, str(tools)]}


class Raw:
    """The FastMCP client by itself, in a loop of its own."""

    def __init__(self, transport):
        self.loop = asyncio.new_event_loop()
        self.client = Client(transport)
        self.run(self.client.__aenter__())
        self.run(self.client.list_tools())

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def call(self, tool="echo", **arguments):
        given = arguments or {"text": "x"}
        return self.run(self.client.call_tool(tool, given))

    def listed(self):
        return self.run(self.client.list_tools())

    def close(self):
        self.run(self.client.close())
        self.loop.close()


class Threaded(Raw):
    """The same, with its loop in a thread: the least that a call needs that a cell can interrupt."""

    def __init__(self, transport):
        self.thread = None
        super().__init__(transport)
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, coroutine):
        if self.thread is None or not self.thread.is_alive():
            return super().run(coroutine)
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        super().close()


def raw_process(started=None, kind=Raw):
    started = started or entry()
    words = {name: started[name] for name in ("command", "args", "env") if name in started}
    return kind(StdioTransport(**words, log_file=Path(os.devnull), keep_alive=False))


CALLS = 200
PEER = "FastMCP's client"


def once(work):
    """Time single calls: each is long enough for the clock."""
    return Cold(lambda: None, lambda _: work(), WALL)


def beside_raw(ledger, work, ours, theirs, goal, rounds=CALLS):
    ledger.compare(
        work,
        ours=once(ours),
        peer=once(theirs),
        peer_name=PEER,
        goal=goal,
        rounds=rounds,
        clock=WALL,
        note="median of {rounds}",
    )


def beside_both(ledger, work, ours, raw, threaded, goal, least_goal=None, rounds=CALLS):
    """Enter two rows of the same rounds: beside the raw client, and beside one in a thread.

    The second is the least that the work takes. Rounds of its own may fall in another minute, in
    which all are slower.
    """
    watches = [once(ours), once(raw), once(threaded)]
    mine, theirs, least = by_turns(watches, rounds)
    note = f"median of {fewer(rounds)}"
    ledger.beside(work, mine, "s wall", peer=theirs, peer_name=PEER, goal=goal, note=note)
    ledger.beside(
        f"{work}, beside a client in a thread",
        mine,
        "s wall",
        peer=least,
        peer_name="FastMCP's client, its loop in a thread",
        goal=least_goal,
    )


@pytest.fixture
def client():
    with MCPClient(timeout=60) as client:
        yield client


def test_a_call_over_stdio(ledger, client):
    """At most 1.05 times the raw client."""
    tool = client.connect("bench", entry()).tool("echo")
    raw, threaded = raw_process(), raw_process(kind=Threaded)
    call = partial(tool, {"text": "x"})
    beside_both(ledger, "call over stdio", call, raw.call, threaded.call, 1.05)
    raw.close()
    threaded.close()


@contextmanager
def serving(tools=0, started=None):
    """The URL of the same server, behind HTTP, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*(started or entry(tools)).values()]
    process = subprocess.Popen([words[0], *words[1], str(port)], stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _answers(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def _answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_call_over_http(ledger, client):
    """At most 1.05 times the raw client."""
    with serving() as url:
        tool = client.connect("bench", url).tool("echo")
        raw = Raw(StreamableHttpTransport(url))
        threaded = Threaded(StreamableHttpTransport(url))
        call = partial(tool, {"text": "x"})
        beside_both(ledger, "call over HTTP", call, raw.call, threaded.call, 1.05, 1.1)
        raw.close()
        threaded.close()
        client.sync_close()


def test_connecting_and_listing_over_http(ledger, client):
    """At most 1.1 times the raw client."""
    with serving(tools=100) as url:
        beside_raw(
            ledger,
            "a server connected over HTTP, 100 tools listed, and left",
            lambda: (client.connect("bench", url), client.disconnect("bench")),
            lambda: Raw(StreamableHttpTransport(url)).close(),
            1.1,
            rounds=40,
        )
        session, raw = client.connect("bench", url), Raw(StreamableHttpTransport(url))
        threaded = Threaded(StreamableHttpTransport(url))
        beside_both(
            ledger,
            "100 tools listed over HTTP",
            session.refresh,
            raw.listed,
            threaded.listed,
            1.1,
            rounds=40,
        )
        raw.close()
        threaded.close()
        client.sync_close()


def test_a_run_of_a_tool(ledger, client):
    """A call with a record, secrets hidden: at most 1.3 times the raw client."""
    tool = client.connect("bench", entry()).tool("echo")
    raw, threaded = raw_process(), raw_process(kind=Threaded)
    beside_both(
        ledger,
        "run_tool over stdio, recorded in the history",
        lambda: run_tool(tool, {"text": "x"}),
        raw.call,
        threaded.call,
        1.3,
    )
    raw.close()
    threaded.close()


def test_a_call_in_memory(ledger, client):
    """At most 1.15 times the raw client."""
    server = FastMCP("bench")
    server.tool(lambda text: text, name="echo")
    tool = client.connect("bench", server).tool("echo")
    raw = Raw(server)
    beside_raw(ledger, "call in memory", lambda: tool({"text": "x"}), raw.call, 1.15)
    raw.close()


def test_listing_a_thousand_tools(ledger, client):
    """At most as long as the raw client."""
    session = client.connect("bench", entry(1000))
    raw, threaded = raw_process(entry(1000)), raw_process(entry(1000), Threaded)
    beside_both(
        ledger,
        "1,000 tools listed",
        session.refresh,
        raw.listed,
        threaded.listed,
        1.0,
        1.0,
        rounds=15,
    )
    raw.close()
    threaded.close()


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_connecting(ledger, client):
    """Starting a server, greeting it and listing its tools: at most 1.1 times the raw client."""

    def ours():
        client.connect("bench", entry())
        client.disconnect("bench")

    beside_raw(
        ledger,
        "a server connected over stdio, and ended",
        ours,
        lambda: raw_process().close(),
        1.1,
        # Each takes three seconds
        rounds=3,
    )


def test_connecting_to_five_servers(ledger, client):
    """At most 1.1 times the slowest of them: they are connected side by side."""
    slow = misbehaving("slow-start", "--delay", "2")
    quick = misbehaving("ok")
    five = {"slow": slow, **{f"quick-{n}": quick for n in range(4)}}
    pairs = [
        (
            seconds(lambda: client.connect("alone", slow)),
            seconds(lambda: client.add(five)),
        )
        for _ in range(3)
    ]
    alone, together = (median(times) for times in zip(*pairs, strict=True))
    ledger.beside(
        "five servers connected",
        together,
        "s wall",
        peer=alone,
        peer_name="the slowest alone",
        goal=1.1,
    )


def test_a_large_result(ledger, client):
    """4 MB of text: at most 1.1 times the raw client."""
    session = client.connect("bench", misbehaving("calls"))
    session.call_seconds = 60
    tool = session.tool("huge")
    raw = raw_process(misbehaving("calls"))
    beside_raw(
        ledger,
        "a result of 4 MB over stdio",
        lambda: tool({"megabytes": 4}),
        lambda: raw.call("huge", megabytes=4),
        1.1,
        rounds=15,
    )
    raw.close()


def test_a_result_of_forty_megabytes(ledger, client):
    """In proportion to what a tenth of it takes."""
    session = client.connect("bench", misbehaving("calls"))
    session.call_seconds = 60
    tool = session.tool("huge")

    def read(megabytes):
        def work():
            assert len(tool({"megabytes": megabytes}).text) == megabytes << 20

        return median(seconds(work) for _ in range(5))

    def piped(megabytes):
        def work():
            assert len(ask(megabytes)["text"]) == megabytes << 20

        return median(seconds(work) for _ in range(5))

    sizes = (1, 4, 40)
    with echoing() as ask:
        plain = {megabytes: piped(megabytes) for megabytes in sizes}
    points = {megabytes: read(megabytes) for megabytes in sizes}
    ledger.curve("megabytes of a result over stdio", points, unit="s wall", plain=plain)


ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"text": "x" * (int(line) << 20)}), flush=True)
"""


@contextmanager
def echoing():
    """What asks a process for so many megabytes of JSON, in plain Python."""
    command = [sys.executable, "-c", ECHO]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:

        def ask(megabytes):
            print(megabytes, file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()
