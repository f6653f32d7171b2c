"""What a run costs beside the work of its tool: seconds, and bytes sent to the page."""

import json
import time
from statistics import median
from threading import Event

import comm
import pytest
from comm.base_comm import BaseComm

from toolbench import Action, ToolDefinition, history, run_tool, tool
from toolbench.runs.calls import forget_calls, record_calls
from toolbench.widgets.bench import bench
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.ticker import ticker

_ROUNDS = 200
_LINE = (
    "\x1b[32m2026-11-21 10:00:00\x1b[0m \x1b[1;34mINFO\x1b[0m request "
    "\x1b[33m/api/v1/things?x=1\x1b[0m took 12 ms & returned <200>\n"
)
_MEGABYTE = _LINE * (1_000_000 // len(_LINE))


class Wire:
    """Counts comms and the bytes of what they send."""

    def __init__(self):
        self.comms = self.bytes = 0

    def comm(self, *args, **options):
        wire = self

        class CountingComm(BaseComm):
            def publish_msg(self, msg_type, data=None, *_, **__):
                wire.comms += msg_type == "comm_open"
                wire.bytes += len(json.dumps(data, default=str))

        return CountingComm(*args, **options)


@pytest.fixture(autouse=True)
def wire(monkeypatch):
    wire = Wire()
    monkeypatch.setattr(comm, "create_comm", wire.comm)
    history().clear()
    yield wire
    ticker.wait_idle(20)
    history().clear()


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def stream(lines: int) -> str:
    """Print lines of a hundred bytes, a hundred a second."""
    pause = Event()
    for n in range(lines):
        print(f"{n:04} {'x' * 94}")
        pause.wait(0.01)
    return "done"


@tool
def prints() -> str:
    """Print a megabyte of ANSI."""
    print(_MEGABYTE)
    return "done"


@tool
def returns() -> str:
    """Return a megabyte of ANSI."""
    return _MEGABYTE


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_turns(with_it, without):
    """The median seconds that one takes more than the other, taking turns."""
    for _ in range(20):
        with_it(), without()
    pairs = [(seconds(with_it), seconds(without)) for _ in range(_ROUNDS)]
    return median(mine - theirs for mine, theirs in pairs)


class TestOverhead:
    def test_from_a_cell(self, benchmark):
        """`run_tool(tool, ...)` beside the bare function: at most 0.2 ms."""
        benchmark(run_tool, add, a=1)
        more = in_turns(lambda: run_tool(add, a=1), lambda: add.execute({"a": 1}))
        benchmark.extra_info["milliseconds of a run"] = more * 1000
        assert more <= 0.0002

    def test_of_a_plain_call(self, benchmark):
        """`tool(action)` recorded beside unrecorded: at most 0.2 ms."""
        action = add.action_from_arguments({"a": 1})
        record_calls()
        try:
            benchmark(add, action)
            more = in_turns(lambda: add(action), lambda: add.execute(action))
        finally:
            forget_calls()
        benchmark.extra_info["milliseconds of a run"] = more * 1000
        assert more <= 0.0002

    def test_from_a_button(self, benchmark):
        """From the click to the end of a run that does nothing: at most 5 ms."""
        panel = ToolPanel(add, {"a": 1})

        def click():
            panel._clicked()
            assert panel._run.done.wait(20)

        benchmark.pedantic(click, rounds=_ROUNDS, warmup_rounds=20)
        panel.close()
        assert benchmark.stats.stats.median <= 0.005


class TestOutput:
    def test_of_streamed_lines(self, benchmark, wire):
        """300 lines of 100 bytes in three seconds: at most 0.2 MB of comm, result and all."""
        panel = ToolPanel(stream, {"lines": 300})
        before = wire.bytes

        def run():
            assert panel.run().done.wait(60)
            assert ticker.wait_idle(20)

        benchmark.pedantic(run, rounds=1)
        benchmark.extra_info["bytes"] = sent = wire.bytes - before
        panel.close()
        assert sent <= 200_000

    @pytest.mark.parametrize("flood", [prints, returns], ids=lambda flood: flood.name)
    def test_of_a_megabyte(self, benchmark, wire, flood):
        """1 MB of ANSI, printed or returned: at most 0.2 s of CPU and 0.3 MB, run and all."""
        panel, sent = ToolPanel(flood), []

        def run():
            before = wire.bytes
            assert panel.run().done.wait(60)
            assert ticker.wait_idle(20)
            sent.append(wire.bytes - before)

        run()
        cpu = time.process_time()
        benchmark.pedantic(run, rounds=10)
        spent = (time.process_time() - cpu) / 10
        benchmark.extra_info |= {"CPU seconds": spent, "bytes": sent[-1]}
        panel.close()
        assert spent <= 0.2
        assert max(sent) <= 300_000


class TestBench:
    def test_of_a_thousand_tools(self, benchmark, wire):
        """At most 60 comms before a tool is opened."""
        tools = [
            ToolDefinition(name=f"tool_{n}", description=f"{n}", action_type=Action)
            for n in range(1_000)
        ]

        def show():
            wire.comms = wire.bytes = 0
            bench(tools).close()

        benchmark(show)
        benchmark.extra_info |= {"comms": wire.comms, "bytes": wire.bytes}
        assert wire.comms <= 60
