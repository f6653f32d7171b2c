"""Servers that answer as real ones did, but for one answer; and what must hold after it.

Of all mutations a few are drawn, the same ones in each run; with `--cases 0` none is left out. One
server takes many of them, each in a subtest of its own.
"""

import asyncio
import json
import logging
import re
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from patience import eventually

from test_mcp.peers import children, is_running
from test_mcp.test_mutated_answers.real_answers import ERAS, FILE, REQUESTS
from toolbench.core.background_loop import portal
from toolbench.errors import ToolbenchError
from toolbench.mcp import MCPClient

ANSWERS = json.loads(FILE.read_text())
SERVER = Path(__file__).with_name("planned_server.py")
# Seconds: more than a busy machine needs; less than a test may wait
LONG, SHORT = (
    90,
    0.2,
)
# Of the mutations of a server's answers, for each way to it
DRAWN = 6
NOT_OURS = re.compile(
    r"Traceback \(most|File \"|pydantic|validation error|input_value|\"jsonrpc\"|object at 0x"
)
"""What a sentence of ours never has: of the SDK, of Python, of the wire."""
# Threads that anyio keeps for a while for the next file or keyring
IDLE = 4
# And of a terminal
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")


class Planned:
    """A server with a plan: what it writes instead of the answers of a real one."""

    def __init__(self, server, folder):
        self.server = server
        self.plan = folder / f"{server} plan.json"
        self.keep()

    @property
    def entry(self):
        """The entry of the server, for the protocol of its era."""
        words = ["-I", "-S", str(SERVER), str(FILE), self.server, str(self.plan)]
        mode = ERAS[self.server.split()[0]]
        return {"command": sys.executable, "args": words, "mode": mode}

    def keep(self, **plan):
        """Write *plan*, by method; without one, all answers are the real ones."""
        self.plan.write_text(json.dumps(plan))


def outcome(act, *arguments):
    """What *act* returns, or the text of our own error; nothing else comes out, and in time."""
    end = Future()

    def run():
        try:
            end.set_result(act(*arguments))
        except BaseException as error:  # noqa: BLE001 - it is raised in the other thread
            end.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return end.result(3 * LONG)
    except ToolbenchError as error:
        return check_sentence(str(error))


def check_sentence(text):
    """The *text* says in our words what happened, and is short enough to be read.

    The lines below it may quote what the server wrote where a message has its place.
    """
    head = text.partition("\n")[0].strip()
    assert head
    assert len(text) < 1_500, text[:3_000]
    assert not NOT_OURS.search(head), text
    assert not CONTROL.search(text), text
    return text


def work():
    """The tasks in the background loop."""
    return asyncio.all_tasks(portal.loop)


@pytest.fixture(autouse=True)
def no_loud_log(caplog):
    """Nothing is logged as an error: no traceback in the log of the kernel."""
    caplog.set_level(logging.ERROR)
    yield
    assert [record.getMessage() for record in caplog.records] == []


@pytest.fixture
def drawn(pytestconfig, request):
    """A function that draws some of the mutations it is given, by name."""

    def some_of(mutations):
        if pytestconfig.getoption("--cases", 8) == 0 or len(mutations) <= DRAWN:
            return mutations.items()
        return Random(request.node.name).sample(list(mutations.items()), DRAWN)

    return some_of


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A function that returns the session of a server, its plan, and the number of usual tasks.

    Each server is connected once for a module.
    When the module ends, so do all processes, and the tasks of the loop.
    """
    folder = tmp_path_factory.mktemp("plans")
    before, tasks = children(), len(work())
    threads = threading.active_count()
    servers, usual = {}, []
    with MCPClient(timeout=LONG) as client:

        def of(server):
            if server not in servers:
                plan = Planned(server, folder)
                session = client.connect(server, plan.entry)
                REQUESTS[server.split()[1]]["tools/call"](session)
                servers[server] = session, plan
                usual[:] = [len(work())]
            return *servers[server], usual[0]

        yield of
    eventually(lambda: not any(map(is_running, children() - before)))
    eventually(lambda: len(work()) <= tasks)
    eventually(lambda: threading.active_count() <= threads + IDLE)
