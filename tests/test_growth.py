"""What stays after work that is over, and what work costs in a large session: flat or linear, as counts.

Objects, threads, open files, comms, widgets and timers do not grow. Small numbers, so that it is
quick: work that is done 30 times and leaves one object each time shows. `bench/bench_endurance.py`
does the same a thousand times and looks at the memory.
"""

import asyncio
import gc
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import comm
import ipywidgets
import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually
from shells import new_shell
from test_mcp.peers import light, serving
from test_widgets.front import Wire, click, named
from test_widgets.tooling import finish

from toolbench import (
    Action,
    Conversation,
    ToolDefinition,
    ToolRegistry,
    bench,
    history,
    run_tool,
    tool,
)
from toolbench.agent import Agent
from toolbench.core.background_loop import portal
from toolbench.llm import as_openai_call
from toolbench.llm.models import Answer
from toolbench.magics.catalog import Catalog
from toolbench.mcp import MCPClient
from toolbench.mcp.monitoring.traffic import Traffic
from toolbench.redaction.known import remembered
from toolbench.runs.history import ListedRuns, RunHistory
from toolbench.testing import FakeMCPServer
from toolbench.widgets.history_panel import HistoryPanel
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
def log_in(password: str) -> str:
    """Log in."""
    return "ok"


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
        # Open panels show it at the next tick
        history().clear()
        assert ticker.wait_idle(PATIENCE)
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


def calls(work: Callable[[], object]) -> int:
    """Do *work*; return how many functions of Python and C it calls, in its threads too."""
    number, before = [0], sys.getprofile()

    def count(_frame: object, event: str, _: object) -> None:
        number[0] += event in ("call", "c_call")

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
    return number[0]


class TestListing:
    def test_of_tools_is_linear(self):
        """`%tools` makes as many calls for each of 1,000 tools as for each of 100."""

        def listed(count: int) -> int:
            tools = {
                f"tool_{n}": ToolDefinition(name=f"tool_{n}", action_type=Action)
                for n in range(count)
            }
            catalog = Catalog(tools, lambda: None, ToolRegistry())
            assert len(catalog.entries()) == count
            return calls(catalog.entries)

        assert listed(1_000) <= 10.1 * listed(100)

    def test_of_the_newest_runs_is_flat(self):
        """The history is shown with as many calls for 1,000 records as for 100."""
        run_tool(add, a=1)
        record = history()[-1]

        def shown(count: int) -> int:
            runs = RunHistory(size=count)
            for number in range(count):
                runs.add(replace(record, id=number))
            repr(runs)
            return calls(lambda: repr(runs))

        assert shown(1_000) <= 1.02 * shown(100)


class TestSecrets:
    """A session in which 500 secrets are known."""

    def test_known_before(self):
        """A run makes as many calls as with one."""

        def work(count: int) -> int:
            remembered.forget()
            remembered.add([f"secret-{n:03}" for n in range(count)])
            for _ in range(3):
                run_tool(add, a=1)
            return calls(lambda: run_tool(add, a=1))

        assert work(500) <= 1.1 * work(1)

    @pytest.mark.slow
    def test_learned_one_by_one(self):
        """The last runs that learn a new one make at most twice the calls of the first."""
        numbers = count()

        def runs(times: int) -> int:
            return calls(
                lambda: [
                    run_tool(log_in, password=f"secret-{next(numbers):03}") for _ in range(times)
                ]
            )

        runs(10)
        first = runs(50)
        for _ in range(380):
            run_tool(log_in, password=f"secret-{next(numbers):03}")
        assert len(remembered.redactor.secrets) == 440
        assert runs(50) <= 2 * first


class TestRecords:
    """A session with 10,000 records."""

    @pytest.mark.slow
    def test_a_run(self, wire, monkeypatch):
        """It makes as many calls as with ten records; with a list of them open, in proportion."""
        monkeypatch.setattr(history(), "_max_records", 20_000)
        record = run_tool(add, a=1) and history()[-1]

        def run() -> None:
            run_tool(add, a=1)
            assert ticker.wait_idle(PATIENCE)

        def work(records: int) -> tuple[int, int]:
            while len(history()) < records:
                history().add(record)
            run()
            alone = calls(run)
            panel = HistoryPanel(ListedRuns(history()))
            run()
            beside = calls(run)
            panel.close()
            return alone, beside

        few, many, most = work(10), work(1_000), work(10_000)
        # The ticker may wait, or be idle already
        assert most[0] <= 1.1 * few[0]
        assert most[1] <= 10.1 * many[1]


class Adding:
    """A model that calls `add` in each of *steps* steps, and keeps what it was sent at first."""

    name, provider = "adding", "openai"

    def __init__(self, steps: int) -> None:
        self.left, self.first = steps, None

    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        self.first = self.first or messages[0]
        self.left -= 1
        if self.left < 0:
            return Answer({"role": "assistant", "content": "Done."}, "stop")
        call = as_openai_call(add, {"a": self.left})
        return Answer({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")


def talk(steps: int) -> tuple[Adding, Conversation]:
    """Return a conversation of *steps* steps, and its model."""
    model = Adding(steps)
    conversation = Conversation(agent=Agent(model, [add], max_steps=steps + 1))
    with conversation:
        conversation.send_message("Count.")
        assert conversation.run() == "answered"
    return model, conversation


class TestConversations:
    def test_runs_need_no_garbage_collector(self):
        """A run is gone when its call is answered: in a long conversation, collecting is dear."""
        talk(2)
        gc.collect()
        gc.disable()
        try:
            _, conversation = talk(TIMES)
            assert gc.collect() < 5 * TIMES
        finally:
            gc.enable()
        assert len(conversation.requests) == TIMES + 1

    def test_requests_share_their_messages(self):
        """Thousands of requests with a list of thousands of messages each would fill the memory."""
        references = set[int]()
        for steps in (2, TIMES):
            model, conversation = talk(steps)
            assert len(conversation.requests[steps].messages) == 2 * steps + 1
            assert len(conversation.requests[1].messages) == 3
            references.add(sys.getrefcount(model.first))
        assert len(references) == 1


@pytest.mark.long
class TestCells:
    def test_run_again(self, wire):
        """A panel goes when its cell runs again; the last 20 stay in memory, to take over what was typed."""
        with new_shell(user_ns={"add": add, "ToolPanel": ToolPanel}) as shell:
            shell.run_line_magic("load_ext", "toolbench")

            def work() -> None:
                shell.run_cell("ToolPanel(add, {'a': 1})", cell_id="one").raise_error()
                # IPython's own record of what each cell showed
                shell.history_manager.outputs.clear()

            check(work, wire, first=25)
            shell.run_line_magic("unload_ext", "toolbench")


class TestManyServers:
    @pytest.mark.slow
    def test_connected(self):
        """A hundred take ten times the tasks and calls of ten, no thread each, and no timer."""

        def counted(number: int) -> tuple[int, ...]:
            threads, names = threading.active_count(), range(number)
            with MCPClient(timeout=PATIENCE) as client:
                for name in names:
                    server = FakeMCPServer(f"s{name}")
                    server.answer("add", "3")
                    client.connect(f"s{name}", server)
                one = client.servers["s5"].tool("add")
                one({})
                assert not timers()
                return (
                    threading.active_count() - threads,
                    calls(lambda: one({})),
                    len(asyncio.all_tasks(portal.loop)),
                    calls(lambda: client.tools),
                )

        counted(1 + 5)
        few, many = counted(10), counted(100)
        assert many[0] == few[0]
        # Whether an answer is waited for, or is there already, is a few calls
        assert many[1] <= 1.1 * few[1]
        assert max(many[2] / few[2], many[3] / few[3]) <= 11


def timers() -> list[asyncio.TimerHandle]:
    """Return what waits for its time in the loop of all sessions."""
    return [each for each in portal.loop._scheduled if not each.cancelled()]


class TestIdle:
    @pytest.mark.slow
    def test_for_a_day(self, wire, monkeypatch):
        """A panel is open, a run is over, servers are connected: 24 hours later nothing has woken up."""
        server = FastMCP("echo")
        server.tool(lambda text: text, name="echo")
        with serving(server) as url, MCPClient(timeout=PATIENCE) as client:
            panel = ToolPanel(add, {"a": 1})
            panel.run()
            finish(panel)
            client.connect("stdio", light("stdio", "add")).tool("add")({})
            echo = client.connect("HTTP", url).tool("echo")
            echo({"text": "x"})
            assert ticker.wait_idle(PATIENCE)
            # What connecting and calling leave for a moment
            eventually(lambda: not timers(), what="a loop without timers")
            loop, later, woken = portal.loop, [0], []
            now, call_at = loop.time, loop.call_at

            def noted(when: float, callback: Callable[..., object], *more: Any, **options: Any):
                woken.append(callback)
                return call_at(when, callback, *more, **options)

            monkeypatch.setattr(loop, "time", lambda: now() + later[0])
            monkeypatch.setattr(loop, "call_at", noted)
            wire.messages.clear()
            before = Left.now(wire)
            for minute in range(24 * 60):
                later[0] = 60 * minute
                portal.call(asyncio.sleep, 0)
            assert woken == wire.messages == timers() == []
            assert Left.now(wire).beyond(before).is_flat
            monkeypatch.undo()
            assert not echo({"text": "x"}).is_error
            panel.close()
