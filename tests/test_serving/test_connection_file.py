"""The files by which servers are found: one for each, and none of a server that is gone."""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import time

import pytest
from patience import PATIENCE

from test_serving.clients import call, talk_at
from toolbench import tool
from toolbench.errors import ServerError
from toolbench.serving import serve
from toolbench.serving.access.connection_file import ConnectionFile, connections

FORKING = """
import os, sys
from toolbench import tool
from toolbench.serving import serve
@tool(read_only=True)
def where() -> str:
    "Say where."
    return sys.argv[1]
served = serve([where], name=sys.argv[1])
worker = os.fork()
if not worker:  # one that ends by itself
    served.close()
    sys.exit()
os.waitpid(worker, 0)
waits, ends = os.pipe()
worker = os.fork()
if not worker:  # one that outlives what is served
    os.close(ends)
    os.read(waits, 1)
    os._exit(0)
print("serves", flush=True)
sys.stdin.readline()
served.close()
print("closed", flush=True)
sys.stdin.read()
os.close(ends)
os.waitpid(worker, 0)
"""
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@tool(read_only=True)
def now() -> str:
    """Say the time."""
    return "noon"


@contextmanager
def other_process(name):
    """Another process of this person, which serves as *name* and forks."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKING, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    ) as process:
        assert process.stdout.readline() == "serves\n"
        yield process
        process.stdin.close()


def urls(name):
    return [one.url for one in connections(name)]


def is_called(connection):
    """Whether what is served there answers."""
    return talk_at(connection.url, connection.token, lambda client: client.call_tool("where", {}))


class TestOneName:
    def test_is_of_the_server_that_began_last(self):
        """Each closes in its turn, in any order; the other one is found still."""
        first = serve([now], name="twice")
        second = serve([now], name="twice")
        assert urls("twice") == [second.url, first.url]
        second.close()
        assert urls("twice") == [first.url]
        with serve([now], name="twice") as third:
            first.close()
            assert urls("twice") == [third.url]

    @pytest.mark.slow
    def test_of_two_is_said_to_be(self):
        """By the bridge, which takes the later one."""
        with serve([now], name="pair"), serve([now], name="pair"):
            done = subprocess.run(
                [str(Path(sys.executable).with_name("toolbench")), "connect", "pair"],
                input="",
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
                env=os.environ,
            )
        assert done.returncode == 0
        assert "2 servers are called 'pair'" in done.stderr


@FORKS
@pytest.mark.slow
def test_a_fork_neither_ends_the_server_nor_holds_its_port():
    """One that ended closed nothing; for one that lives on, a client would wait for ever.

    Another process has a server of the same name, which is found as long as it is there.
    """
    with serve([now], name="fork") as served, other_process("fork") as process:
        connection, ours = connections("fork")
        assert ours.url == served.url
        assert is_called(connection).content[0].text == "fork"
        process.stdin.write("close\n")
        process.stdin.flush()
        assert process.stdout.readline() == "closed\n"
        with pytest.raises(Exception, match=r"(?i)connect"):
            is_called(connection)
        assert urls("fork") == [served.url]


@pytest.fixture
def killed():
    """The file of a process that is gone, as one that was killed leaves it; a test writes it anew.

    A kernel that is really killed is in test_in_a_kernel.
    """
    with serve([now], name="killed"):
        [connection] = connections("killed")
    process = subprocess.Popen(["true"])
    process.wait(PATIENCE)
    return replace(connection, process=process.pid)


class TestKilledProcess:
    def test_is_said_to_be_gone(self, killed):
        """Once; then nothing has that name."""
        killed.write()
        with pytest.raises(ServerError, match="its kernel ended or was restarted"):
            connections("killed")
        assert not killed.path.exists()
        with pytest.raises(ServerError, match="Nothing is served as 'killed'"):
            connections("killed")

    def test_hides_no_living_server(self, killed):
        """That has its name, and began before it."""
        with serve([now], name="killed") as served:
            replace(killed, began=time()).write()
            assert urls("killed") == [served.url]

    def test_leaves_nothing_after_the_next_serve(self, killed):
        """Which touches nothing that is served."""
        killed.write()
        with serve([now], name="living") as living, serve([now], name="other"):
            assert not killed.path.exists()
            assert call(living, "now").content[0].text == "noon"
            assert urls("living") == [living.url]

    def test_whose_number_is_another_s_is_gone(self, killed):
        """Nothing listens at its port."""
        replace(killed, process=os.getpid()).write()
        with pytest.raises(ServerError, match="its kernel ended"):
            connections("killed")


class TestOtherMachine:
    def test_s_file_is_left_alone(self):
        """Two machines may share a home directory; whether it lives cannot be seen from here."""
        far = ConnectionFile("far", "http://127.0.0.1:9/mcp", "t", machine="elsewhere")
        far.write()
        with serve([now], name="near") as near:
            with pytest.raises(ServerError, match=r"another machine \(elsewhere\)"):
                connections("far")
            assert urls("near") == [near.url]
        assert far.path.exists()
        far.remove()


def test_a_file_that_cannot_be_read_hides_no_other():
    """Nothing is known of who wrote it."""
    with serve([now], name="whole") as served:
        [connection] = connections("whole")
        broken = [connection.path.with_stem(f"whole~{n}") for n in range(3)]
        for path, text in zip(broken, ["", "[]", '{"url": 1}'], strict=True):
            path.write_text(text)
        assert urls("whole") == [served.url]
        for path in broken:
            path.unlink()


@pytest.mark.parametrize("url", ["http://127.0.0.1:port/mcp", "http://[::1/mcp"])
def test_a_file_without_an_address_goes_with_the_next_serve(url):
    """No server can be there; nobody is kept from serving."""
    damaged = ConnectionFile("damaged", url, "of nobody")
    damaged.write()
    with serve([now], name="damaged") as served:
        assert urls("damaged") == [served.url]
        assert not damaged.path.exists()


@pytest.mark.parametrize("text", ['{"url": "", "token": "", "process": 1e999}', "[" * 100_000])
def test_a_file_of_impossible_values_keeps_nobody_from_serving(text):
    """It is left as it is: nothing is known of who wrote it."""
    damaged = ConnectionFile("damaged", "http://127.0.0.1:1/mcp", "of nobody")
    damaged.write()
    damaged.path.write_text(text)
    with serve([now], name="damaged") as served:
        assert urls("damaged") == [served.url]
    damaged.remove()
