"""Servers of a kernel that is gone: none is left, also behind a launcher."""

import os
import select
import signal
import sys
from contextlib import suppress

import pytest
from patience import PATIENCE
from socket_kernel import SocketKernelManager

from test_mcp.peers import LIGHT

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="watches the ends of processes by pidfd"
)

CELL = f"""
import psutil, sys
from toolbench.mcp import MCPClient
client = MCPClient(timeout=60)
command = [sys.executable, {str(LIGHT)!r}, "far", "x"]
session = client.connect("far", {{"command": "sh", "args": ["-c", '"$@"; :', "sh", *command]}})
assert session.call("x").text == "far"
(server,) = psutil.Process(session.connection.pid).children()
"""
ENDS = {
    "killed": lambda manager: os.kill(manager.provisioner.pid, signal.SIGKILL),
    "asked to end": lambda manager: os.kill(manager.provisioner.pid, signal.SIGTERM),
    "shut down now": lambda manager: manager.shutdown_kernel(now=True),
    "shut down": lambda manager: manager.shutdown_kernel(now=False),
    "restarted now": lambda manager: manager.restart_kernel(now=True),
}


@pytest.fixture
def kernel():
    """A kernel in a process of its own."""
    manager = SocketKernelManager(kernel_name="python3")
    manager.start_kernel()
    try:
        yield manager
    finally:
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [
        "killed",
        "shut down",
        pytest.param("restarted now", marks=pytest.mark.long),
        pytest.param("shut down now", marks=pytest.mark.long),
        pytest.param("asked to end", marks=pytest.mark.long),
    ],
)
def test_no_server_outlives_its_kernel(kernel, end):
    """However a kernel ends, the server that a launcher started ends with it."""
    client = kernel.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=2 * PATIENCE)
        expressions = {"pid": "server.pid"}
        reply = client.execute(CELL, user_expressions=expressions, reply=True, timeout=2 * PATIENCE)
        assert reply["content"]["status"] == "ok", reply["content"]
        pid = int(
            reply["content"]["user_expressions"]["pid"]["data"]["text/plain"],
        )
        watch = os.pidfd_open(pid)
        ENDS[end](kernel)
    finally:
        client.stop_channels()
    ended, _, _ = select.select([watch], [], [], PATIENCE)
    os.close(watch)
    if not ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert ended
