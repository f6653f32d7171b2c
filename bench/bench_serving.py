"""What serving costs: a call beside a bare FastMCP server, and what five thousand calls leave."""

import gc
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import comm
import psutil
import pytest
from bench_mcp import Raw, once
from fastmcp.client.transports import StreamableHttpTransport
from measuring import WALL
from wire import Wire

from toolbench import history, tool
from toolbench.serving import serve
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.served_panel import ServedPanel

CALLS = 300
MANY = (1_000, 2_000, 5_000)
OURS = """
import sys
from toolbench import tool
from toolbench.serving import serve

@tool(read_only=True)
def echo(text: str) -> str:
    "Say it."
    return text

served = serve([echo], name="bench")
print(served.url, str(served.token), flush=True)
sys.stdin.read()
"""
BARE = """
import asyncio, socket, sys, threading
import uvicorn
from fastmcp import FastMCP

mcp = FastMCP("bench")

@mcp.tool
def echo(text: str) -> str:
    "Say it."
    return text

bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
bound.bind(("127.0.0.1", 0))
config = uvicorn.Config(mcp.http_app(), log_level="critical")
server = uvicorn.Server(config)
threading.Thread(target=server.run, args=([bound],), daemon=True).start()
while not server.started:
    pass
print(f"http://127.0.0.1:{bound.getsockname()[1]}/mcp -", flush=True)
sys.stdin.read()
"""


@contextmanager
def connected(code):
    """A client of the server that *code* starts in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    url, token = process.stdout.readline().split()
    client = Raw(StreamableHttpTransport(url, auth=None if token == "-" else token))
    try:
        yield client
    finally:
        client.close()
        process.communicate()


def test_a_call(ledger):
    """At most 1.1 times a server without a run, a record, consent and a token."""
    with connected(OURS) as ours, connected(BARE) as bare:
        assert ours.call().content == bare.call().content
        ledger.compare(
            "a served call",
            ours=once(ours.call),
            peer=once(bare.call),
            peer_name="a bare FastMCP server",
            goal=1.1,
            rounds=CALLS,
            clock=WALL,
            note="over HTTP, median of {rounds}",
        )


@tool(read_only=True)
def echo(text: str) -> str:
    """Say it."""
    return text


def kept():
    """Threads, open files, and megabytes of this process."""
    gc.collect()
    memory = psutil.Process().memory_info().rss / 1e6
    return threading.active_count(), len(list(Path("/proc/self/fd").iterdir())), memory


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_many_calls(ledger, monkeypatch):
    """Threads, open files and memory stay, with the panel open; history keeps what it keeps."""
    monkeypatch.setattr(comm, "create_comm", Wire().comm)
    points = {}
    with serve([echo], name="bench-many") as served:
        panel = ServedPanel(served)
        client = Raw(StreamableHttpTransport(served.url, auth=str(served.token)))
        done = 0
        for count in MANY:
            for _ in range(count - done):
                client.call()
            done = count
            history().clear()
            assert ticker.wait_idle(60)
            points[count] = kept()
        client.close()
        panel.close()
    for place, name in enumerate(("threads", "open files", "megabytes")):
        values = {count: each[place] for count, each in points.items()}
        ledger.curve(f"served calls: {name}", values, unit=name, order=0)
