"""The servers the tests talk to."""

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from patience import eventually, join

GOOD = Path(__file__).parent / "servers" / "good.py"
LIGHT = GOOD.with_name("light.py")
MISBEHAVING = Path(__file__).parents[3] / "shared" / "servers" / "misbehaving_server.py"


def good(*args):
    """The entry of the well-behaved server."""
    return {"command": sys.executable, "args": [str(GOOD), *args]}


def shop():
    """The entry of the server with one of each thing a person meets."""
    return {"command": sys.executable, "args": [str(GOOD.with_name("shop.py"))]}


def light(name, *tools):
    """The entry of a server called *name*, whose *tools* answer with that name."""
    return {"command": sys.executable, "args": [str(LIGHT), name, *tools]}


def scripted(path, script, **more):
    """The entry of a server that says what *script*, kept in *path*, has for each method.

    Call it again with the same path to change what that server says from now on.
    """
    info = {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "s", "version": "1"},
    }
    features = {"tools": {}, "resources": {"subscribe": True}}
    known = {
        "initialize": [{"result": {**info, "capabilities": features}}],
        "tools/list": [{"result": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}}],
        "tools/call": [{"result": {"content": [{"type": "text", "text": "fine"}]}}],
    }
    path.write_text(json.dumps(known | script))
    words = [str(GOOD.with_name("scripted.py")), str(path)]
    return {"command": sys.executable, "args": words, "mode": "legacy", **more}


def misbehaving(mode, *args):
    """The entry of the server that misbehaves in *mode*."""
    if not MISBEHAVING.is_file():
        pytest.skip(f"NOT TESTED: {MISBEHAVING} is missing")
    return {
        "command": sys.executable,
        "args": [str(MISBEHAVING), "--mode", mode, *args],
    }


@contextmanager
def misbehaving_http(mode, *args):
    """The URL of the server that misbehaves in *mode* over HTTP."""
    entry = misbehaving(mode, "--http", "0", *args)
    process = subprocess.Popen(
        [entry["command"], "-u", *entry["args"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process.stderr.readline().split(" on ")[1].strip()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def is_running(pid):
    """Whether process *pid* is there and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        # It ended a moment ago
        return False
    except FileNotFoundError:
        # Likewise, or this system has no such files
        return not Path("/proc/self/stat").exists()
    return stat.rpartition(")")[2].split()[0] != "Z"


def children():
    """The numbers of the processes this one has started and that are still there."""
    return {process.pid for process in psutil.Process().children()}


@contextmanager
def serving(server, transport="http"):
    """The URL of FastMCP object *server*, served over HTTP by a thread of this process."""
    with serving_app(server.http_app(transport=transport)) as url:
        yield f"{url}/{'sse' if transport == 'sse' else 'mcp'}"


@contextmanager
def serving_app(app):
    """The URL of ASGI application *app*, served by a thread of this process."""
    with serving_on_a_free_port(lambda url: app) as url:
        yield url


@contextmanager
def serving_on_a_free_port(make):
    """The URL of the application that `make(url)` returns, served by a thread of this process.

    It is gone afterwards, also for clients that still listen to it.
    """
    import uvicorn

    # asyncio sets TCP_NODELAY (small answers at once) only if the protocol is named
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        # From Python 3.12 on, not even `force_exit` ends a server while a stream is open
        config = uvicorn.Config(
            make(url), log_level="critical", ws="none", timeout_graceful_shutdown=0
        )
        http = uvicorn.Server(config)
        thread = threading.Thread(target=http.run, args=([listener],), daemon=True)
        thread.start()
        try:
            eventually(
                lambda: http.started,
                unless=lambda: not thread.is_alive() and "its thread has ended",
                what="the server",
            )
            yield url
        finally:
            http.should_exit = http.force_exit = True
            join(thread)
