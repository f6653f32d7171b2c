"""Whoever floods what a kernel serves: the kernel and the agents it serves go on."""

import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE, eventually
from test_runs.kernel import Kernel

from test_serving.clients import ERAS, talk, talk_at
from test_serving.flood import KINDS
from toolbench import http_limits, tool
from toolbench.serving import serve

# More than a kernel without a limit could have open and pass the proof
COUNT = 500
SERVE = """
import os, resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, most))
%load_ext toolbench
from toolbench import tool
from toolbench.serving import serve
@tool(read_only=True)
def add(a: int, b: int) -> int:
    '''Add two numbers.'''
    return a + b
served = serve([add])
"""
PROOF = "print('open files are few:', len(os.listdir('/proc/self/fd')) < 300)"
PROVED = "open files are few: True\n"
COMPLETE = (
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n"
    "Authorization: Bearer {token}\r\n\r\n{{}}"
)


@pytest.fixture(scope="module")
def serving():
    """A kernel that may open as many files as most systems let it, and the address of its server."""
    with Kernel(sys.executable) as kernel:
        kernel.run(SERVE)
        yield kernel, *kernel.value("[served.url, str(served.token)]")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
class TestManyConnections:
    @pytest.mark.every_case  # each is another way to use up the kernel
    @pytest.mark.parametrize("kind", KINDS)
    def test_leave_the_kernel_as_it_was(self, serving, kind):
        """During and after it, cells print, files open, and an agent calls."""
        kernel, url, token = serving
        with flooded(url, kind, token):
            assert PROVED in kernel.run(PROOF)
            # Who has the token may take all places, until the time is over
            if "{token}" not in KINDS[kind][0]:
                assert talk_at(url, token, added) == 3
        assert PROVED in kernel.run(PROOF)
        assert talk_at(url, token, added) == 3


@contextmanager
def flooded(url, kind, token):
    """Many connections of one *kind*, from another process."""
    command = [sys.executable, str(Path(__file__).with_name("flood.py"))]
    command += [str(urlsplit(url).port), kind, str(COUNT), token]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as flood:
        try:
            assert flood.stdout.readline()
            yield
        finally:
            flood.stdin.close()
            flood.wait(PATIENCE)


async def added(client):
    """The result of a call, over the connection of *client*."""
    return (await client.call_tool("add", {"a": 1, "b": 2})).data


# Each is another state of the protocol
NO_REQUESTS = (
    "",
    "POST /mc",
    # uvicorn's own limit begins again with each byte after the answer
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nP",
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000,
    "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
    "POST /mcp HTTP/1.0\r\nContent-Length: 9\r\n\r\n1",
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"
    "Authorization: Bearer {token}\r\nExpect: 100-continue\r\n\r\n1",
    "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
)


class TestTime:
    """A second here: strangers have that long in all, known clients that long for each request."""

    @pytest.fixture(autouse=True)
    def a_second(self, monkeypatch):
        monkeypatch.setattr(http_limits, "REQUEST_SECONDS", 1)

    def test_ends_whoever_does_not_send_a_request(self):
        """With a word or without; all of them wait for the same second."""
        with serve([shout]) as served, ExitStack() as stack:
            clients = {sent: stack.enter_context(connected(served)) for sent in NO_REQUESTS}
            for sent, client in clients.items():
                client.sendall(sent.format(token=served.token).encode())
            for client in clients.values():
                assert is_closed(client)

    def test_ends_whoever_drips(self):
        """A byte now and then is no request."""
        with serve([shout]) as served, connected(served) as client:
            client.settimeout(0.1)
            closed = []

            def drip():
                try:
                    client.sendall(b"P")
                    closed.append(client.recv(100) == b"")
                except TimeoutError:
                    pass
                except OSError:
                    closed.append(True)
                return any(closed)

            eventually(drip)

    @pytest.mark.parametrize("era", ERAS)
    def test_is_no_limit_for_a_call(self, era):
        """It takes what it takes, and the streams of its client stay open."""
        ready = threading.Event()

        @tool(read_only=True)
        def wait() -> str:
            """Wait."""
            threading.Timer(2.2, ready.set).start()
            ready.wait(PATIENCE)
            return "done"

        async def waited(client):
            result = await client.call_tool("wait", {})
            return result.content[0].text

        with serve([wait]) as served:
            assert talk(served, waited, ERAS[era]) == "done"


@tool(read_only=True)
def shout(text: str) -> str:
    """Say it again."""
    return text


@contextmanager
def connected(served):
    """A connection to what is *served*."""
    with socket.create_connection(("127.0.0.1", urlsplit(served.url).port)) as client:
        client.settimeout(PATIENCE)
        yield client


def is_closed(client):
    """Read until the server closes the connection."""
    try:
        while client.recv(100_000):
            pass
    except ConnectionResetError:
        pass
    return True


class TestPlaces:
    def test_strangers_make_room_for_known_clients(self, monkeypatch):
        """The stranger that waits longest goes; a known client never does."""
        monkeypatch.setattr(http_limits, "_MOST_CONNECTIONS", 2)
        with serve([shout]) as served, connected(served) as known, connected(served) as stranger:
            known.sendall(COMPLETE.format(token=served.token).encode())
            assert known.recv(100)
            with connected(served) as other:
                assert is_closed(stranger)
                other.sendall(COMPLETE.format(token=served.token).encode())
                assert other.recv(100)
                # All places are taken by known clients
                with connected(served) as third:
                    assert is_closed(third)
            known.sendall(COMPLETE.format(token=served.token).encode())
            assert known.recv(100)
