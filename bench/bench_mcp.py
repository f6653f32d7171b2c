"""What MCP costs beside the raw FastMCP client, in one run: calls, lists, connecting."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from toolbench.mcp import MCPClient

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # its servers

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

    def call(self):
        return self.run(self.client.call_tool("echo", {"text": "x"}))

    def close(self):
        self.run(self.client.close())
        self.loop.close()


def raw_process(tools=0):
    started = entry(tools)
    nowhere = Path(os.devnull)
    return Raw(StdioTransport(started["command"], started["args"], log_file=nowhere))


def taking_turns(ours, theirs, rounds):
    """The seconds of each, taking turns: the median of the rounds."""

    def seconds(function):
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    for _ in range(10):
        ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return tuple(median(times) for times in zip(*pairs, strict=True))


@pytest.fixture
def client():
    with MCPClient(timeout=60) as client:
        yield client


def test_a_call_over_stdio(client):
    """At most 1.05 times the raw client."""
    tool = client.connect("bench", entry()).tool("echo")
    raw = raw_process()
    ours, theirs = taking_turns(lambda: tool({"text": "x"}), raw.call, 300)
    raw.close()
    print(f"\nstdio: {ours * 1000:.2f} ms, raw {theirs * 1000:.2f} ms")
    assert ours <= 1.05 * theirs


@contextmanager
def serving():
    """The URL of the same server, behind HTTP, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*entry().values()]
    process = subprocess.Popen(
        [words[0], *words[1], str(port)], stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: _answers(port), 60)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def _answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_call_over_http(client):
    """At most 1.05 times the raw client."""
    with serving() as url:
        tool = client.connect("bench", url).tool("echo")
        raw = Raw(StreamableHttpTransport(url))
        ours, theirs = taking_turns(lambda: tool({"text": "x"}), raw.call, 300)
        raw.close()
        client.sync_close()
    print(f"\nHTTP: {ours * 1000:.2f} ms, raw {theirs * 1000:.2f} ms")
    assert ours <= 1.05 * theirs


def test_a_call_in_memory(client):
    """At most 1.15 times the raw client."""
    server = FastMCP("bench")
    server.tool(lambda text: text, name="echo")
    tool = client.connect("bench", server).tool("echo")
    raw = Raw(server)
    ours, theirs = taking_turns(lambda: tool({"text": "x"}), raw.call, 300)
    raw.close()
    print(f"\nmemory: {ours * 1000:.2f} ms, raw {theirs * 1000:.2f} ms")
    assert ours <= 1.15 * theirs


def test_listing_a_thousand_tools(client):
    """At most 1.1 times the raw client."""
    session = client.connect("bench", entry(1000))
    raw = raw_process(1000)
    ours, theirs = taking_turns(
        session.refresh, lambda: raw.run(raw.client.list_tools()), 15
    )
    raw.close()
    print(f"\nlist: {ours * 1000:.1f} ms, raw {theirs * 1000:.1f} ms")
    assert ours <= 1.1 * theirs


def test_connecting_to_five_servers(client):
    """At most 1.1 times the slowest of them: they are connected side by side."""
    slow = misbehaving("slow-start", "--delay", "2")
    quick = misbehaving("ok")
    start = time.perf_counter()
    client.connect("alone", slow)
    alone = time.perf_counter() - start
    start = time.perf_counter()
    client.add({"slow": slow, **{f"quick-{n}": quick for n in range(4)}})
    together = time.perf_counter() - start
    print(f"\nfive servers: {together:.2f} s, the slowest alone {alone:.2f} s")
    assert together <= 1.1 * alone


def test_a_result_of_forty_megabytes(client):
    """In proportion to what a tenth of it takes."""
    session = client.connect("bench", misbehaving("calls"))
    session.call_seconds = 60
    tool = session.tool("huge")

    def seconds(megabytes):
        start = time.perf_counter()
        assert len(tool({"megabytes": megabytes}).text) == megabytes << 20
        return time.perf_counter() - start

    tenth, whole = seconds(4), seconds(40)
    print(f"\n40 MB: {whole:.2f} s, 4 MB: {tenth:.2f} s")
    assert whole <= 20 * tenth
