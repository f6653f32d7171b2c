"""What a real kernel serves: the token is nowhere to be read, and every end leaves nothing behind."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from kernels import TOOLS
from patience import PATIENCE, eventually
from test_runs.kernel import Kernel

from test_serving.clients import ERAS, call
from toolbench.errors import ServerError
from toolbench.serving.access.connection_file import connections, folder

pytestmark = pytest.mark.slow
PROGRAM = Path(sys.executable).with_name("toolbench")
HERE = Path("/proc/self/cmdline").exists()
ASK = """
from toolbench import policy, history
@tool(read_only=True)
def greet(who: str) -> str:
    '''Greet.'''
    return f"hello {who}"
"""


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    """The folder of a person, in which kernels and commands keep their files."""
    folder = tmp_path_factory.mktemp("person")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield folder


@contextmanager
def started():
    """A kernel with tools, and a history on disk."""
    with Kernel(sys.executable) as kernel:
        kernel.run(TOOLS + ASK)
        yield kernel


@pytest.fixture(scope="module")
def kernel(person):
    """One kernel for all tests that leave it as it was."""
    with started() as kernel:
        yield kernel


@contextmanager
def serving(kernel):
    """Where the kernel serves, until the block ends."""
    kernel.run("%load_ext toolbench")
    kernel.run("served = get_ipython().run_line_magic('mcp', 'serve greet slow')\nserved")
    [connection] = connections("notebook")
    yield connection
    # Unless its kernel is gone
    if connection.is_current:
        kernel.run("served.close()")


@pytest.fixture
def served(kernel):
    """Where the kernel serves."""
    with serving(kernel) as served:
        yield served


@contextmanager
def bridging():
    """`toolbench connect`, as an agent's program starts it and leaves it open."""
    process = subprocess.Popen(
        [str(PROGRAM), "connect", "notebook"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    process.stdin.write(f"{json.dumps(hello)}\n")
    process.stdin.flush()
    assert '"result"' in process.stdout.readline()
    yield process
    process.kill()
    process.wait(PATIENCE)
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(BrokenPipeError):
            stream.close()


def command_lines():
    """What `ps` shows of every process."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(path.read_bytes().decode(errors="replace"))
    return lines


def is_open(url):
    """Whether something listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", httpx2.URL(url).port)) == 0


def nothing_is_left(served):
    """No port, no file."""
    eventually(lambda: not is_open(served.url))
    assert not list(folder().iterdir())


@pytest.fixture
def bridge(served):
    """That program, while the kernel serves."""
    with bridging() as bridge:
        yield bridge


class TestToken:
    @pytest.mark.skipif(not HERE, reason="needs /proc")
    def test_is_in_nothing_that_can_be_read(self, person, kernel, served, bridge):
        """Outputs, widgets, histories, command lines; calls in both eras, with the panel open.

        An agent's program that is connected is told when the serving ends, by the magic.
        """
        for mode in ERAS.values():
            result = call(served, "greet", {"who": "you"}, mode)
            assert result.content[0].text == "hello you"
        kernel.wait_for("succeeded: hello you")
        kernel.run("served; print(served, vars(served), served.calls, history().to_json())")
        kernel.run("print(served.client_config('claude')); get_ipython().user_ns")
        kernel.run("%tools history --json")
        kernel.run("%history -g -o")
        kernel.run("get_ipython().history_manager.writeout_cache()")
        texts = [repr(kernel.messages), repr(kernel.states), *command_lines()]
        files = [path for path in person.rglob("*") if path.is_file()]
        mine = served.path
        assert mine in files
        texts += [p.read_bytes().decode(errors="replace") for p in files if p != mine]
        assert any("toolbench" in line and "connect" in line for line in texts)
        assert [text[:200] for text in texts if served.token[:20] in text] == []
        kernel.run("%mcp serve --stop")
        nothing_is_left(served)
        assert bridge.wait(PATIENCE) == 1
        assert "cannot be reached" in bridge.stderr.read()


class TestEnd:
    @pytest.mark.parametrize("cell", ["%unload_ext toolbench", "served.close()"])
    def test_by_a_cell(self, kernel, served, cell):
        """The kernel goes on, without a thread of ours."""
        kernel.run(cell)
        nothing_is_left(served)
        names = kernel.value("[t.name for t in __import__('threading').enumerate()]")
        assert not [name for name in names if "serve" in name]

    def test_an_interrupt_stops_the_calls_and_goes_on_serving(self, kernel, served):
        """A run that is stopped is told to its agent; the next call runs."""
        kernel.run("import threading, time\nfrom toolbench.runs.control import active\n")
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(call, served, "slow")
            kernel.listen_until(lambda: kernel.value("len(active)") == 1, "it runs")
            kernel.interrupt()
            assert "interrupted" in str(slow.result(PATIENCE))
        assert call(served, "greet", {"who": "me"}).content[0].text == "hello me"

    def test_a_call_that_is_over_leaves_no_thread(self, kernel, served):
        """Nor an open file: as many after five calls as after one."""
        count = "[len(__import__('threading').enumerate()), len(__import__('os').listdir('/proc/self/fd'))]"
        call(served, "greet", {"who": "you"})
        before = kernel.value(count)
        for _ in range(5):
            call(served, "greet", {"who": "you"})
        kernel.listen_until(
            lambda: all(
                now <= then + 1 for now, then in zip(kernel.value(count), before, strict=True)
            ),
            "they are gone",
        )


def test_of_the_kernel(person):
    """Kernel > Restart; then by a kill, after which the file is of no use, and is taken away."""
    with started() as kernel:
        with serving(kernel) as served:
            kernel.restart()
            nothing_is_left(served)
        kernel.run(TOOLS + ASK)
        with serving(kernel) as served, bridging() as bridge:
            kernel.kill()
            eventually(lambda: not is_open(served.url))
            assert bridge.wait(PATIENCE) == 1
            assert not served.is_current
            with pytest.raises(ServerError, match="its kernel ended"):
                connections("notebook")
            assert not served.path.exists()
