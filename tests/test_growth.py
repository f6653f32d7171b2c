"""What stays after work that is over: objects, threads, open files, comms and widgets do not grow.

Small numbers, so that it is quick: work that is done 30 times and leaves one object each time
shows. `bench/bench_endurance.py` does the same a thousand times and looks at the memory.
"""

import gc
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import comm
import ipywidgets
import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually
from test_mcp.peers import light
from test_widgets.front import Wire, click, named
from test_widgets.tooling import finish

from toolbench import (
    Action,
    ToolDefinition,
    ToolRegistry,
    bench,
    history,
    run_tool,
    tool,
)
from toolbench.magics.catalog import Catalog
from toolbench.mcp import MCPClient
from toolbench.mcp.monitoring.traffic import Traffic
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

OPEN_FILES = Path("/proc/self/fd")
TIMES = 30
# Fewer than one for each time: Python and asyncio keep some, in caches and in threads.
SPARE = 20


@dataclass
class Left:
    """What is there now, after the garbage is gone."""

    objects: int
    widgets: int
    comms: int
    threads: int
    files: int

    @classmethod
    def now(cls, wire: Wire) -> "Left":
        """Count it."""
        gc.collect()
        objects = gc.get_objects()
        return cls(
            objects=len(objects),
            widgets=sum(issubclass(type(each), ipywidgets.Widget) for each in objects),
            comms=len(wire.live),
            threads=threading.active_count(),
            files=len(list(OPEN_FILES.iterdir())) if OPEN_FILES.is_dir() else 0,
        )

    def beyond(self, earlier: "Left") -> "Left":
        """Return how much more it is than *earlier*."""
        pairs = zip(astuple(self), astuple(earlier), strict=True)
        return Left(*(now - before for now, before in pairs))

    @property
    def is_flat(self) -> bool:
        """Whether this, a difference, is no growth."""
        rest = (self.widgets, self.comms, self.threads, self.files)
        return self.objects < SPARE and max(rest) <= 0


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    print(a, b)
    return a + b


@tool
def fail(a: int) -> int:
    """Fail."""
    raise ValueError(a)


@pytest.fixture
def wire(monkeypatch) -> Iterator[Wire]:
    wire = Wire()
    monkeypatch.setattr(comm, "create_comm", wire.comm)
    monkeypatch.setattr(logging.getLogger("fastmcp"), "disabled", True)
    yield wire
    assert ticker.wait_idle(PATIENCE)
    ipywidgets.Widget.close_all()
    history().clear()


def check(work: Callable[[], object], wire: Wire, *, first: int = 5) -> None:
    """Do *work* a few times, and then 30 times more: after that, nothing more is there."""

    def left() -> Left:
        assert ticker.wait_idle(PATIENCE)
        history().clear()
        wire.messages.clear()
        return Left.now(wire)

    for _ in range(first):
        work()
    earlier = left()
    for _ in range(TIMES):
        work()
    last: list[Left] = []

    def is_flat() -> bool:
        last[:] = [left().beyond(earlier)]
        return last[-1].is_flat

    # A thread may be on its way out
    try:
        eventually(is_flat)
    except AssertionError:
        pytest.fail(f"After {TIMES} times more there is {last[-1]}.")


@pytest.mark.long
class TestRuns:
    @pytest.mark.parametrize("what", ["add", "fail"])
    def test_from_cells(self, what, wire):
        """Runs of a cell leave their record in the history, and nothing else."""
        each = {"add": add, "fail": fail}[what]
        check(lambda: run_tool(each, a=1), wire)

    def test_that_time_out(self, wire):
        """A run with a time limit that was not reached leaves no timer."""
        panel = ToolPanel(add, {"a": 1}, timeout=PATIENCE)

        def work() -> None:
            run = panel.run()
            assert run is not None
            assert run.done.wait(PATIENCE)
            finish(panel)

        # The panel lists ten runs
        check(work, wire, first=12)

    def test_kept_in_the_history(self, wire):
        """The history keeps a limited number of records, however many runs there were."""
        for _ in range(1_050):
            run_tool(add, a=1)
        assert len(history()) == 1_000


@pytest.mark.long
class TestPanels:
    def test_opened_and_closed(self, wire):
        """All widgets of a panel go with it."""
        check(lambda: ToolPanel(add, {"a": 1}).close(), wire)

    def test_run_and_closed(self, wire):
        """Also after a run by a click, with its output, its result and its row of the history."""

        def work() -> None:
            panel = ToolPanel(add, {"a": 1})
            click(named(panel, "Run", ipywidgets.Button))
            finish(panel)
            panel.close()

        check(work, wire)

    def test_benches(self, wire):
        """All widgets of a bench go with it, those of the tools that were opened too."""
        check(lambda: bench(add, fail).close(), wire)


class TestServers:
    @pytest.mark.long
    def test_connected_and_disconnected(self, wire):
        """A server's process, its threads, its pipes and its tools go with the connection."""
        client = MCPClient(timeout=PATIENCE)

        def work() -> None:
            client.connect("light", light("light", "add", "sub")).tool("add")({})
            client.disconnect("light")

        check(work, wire, first=3)
        client.sync_close()

    def test_messages(self, wire):
        """A session keeps a limited number of messages, however many there were."""
        server = FastMCP("echo")
        server.tool(lambda text: text, name="echo")
        with MCPClient(timeout=PATIENCE) as client:
            session = client.connect("echo", server)
            session.traffic.limit = 20
            echo = session.tool("echo")
            check(lambda: echo({"text": "x"}), wire, first=20)
            assert len(session.traffic) == 20

    def test_requests_without_an_answer(self):
        """Of requests that the server did not answer, as many are remembered as messages are kept."""
        traffic = Traffic(limit=10)
        for number in range(100):
            traffic.note("sent", "{}", kind="request", method="m", request_id=number)
        known, forgotten = (
            traffic.note("received", "{}", kind="response", request_id=number) for number in (99, 5)
        )
        assert (known.method, forgotten.method) == ("m", "")


class TestListing:
    def test_of_tools_is_linear(self):
        """`%tools` makes as many calls of Python for each of 1,000 tools as for each of 100."""

        def calls(count: int) -> int:
            tools = {
                f"tool_{n}": ToolDefinition(name=f"tool_{n}", action_type=Action)
                for n in range(count)
            }
            catalog, number = Catalog(tools, lambda: None, ToolRegistry()), [0]
            before = sys.getprofile()
            sys.setprofile(lambda *_: number.__setitem__(0, number[0] + 1))
            try:
                entries = catalog.entries()
            finally:
                sys.setprofile(before)
            assert len(entries) == count
            return number[0]

        assert calls(1_000) <= 10.1 * calls(100)
