"""What a run costs: seconds more than the work of its tool, and bytes sent to the page."""

from threading import Event

import comm
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from measuring import CPU, WALL, Cold
from pydantic_core import to_json
from wire import Wire

from toolbench import Action, ToolDefinition, history, run_tool, tool
from toolbench.redaction.known import remembered
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.runs.redirect import forget_secrets
from toolbench.widgets.bench import bench
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

_ROUNDS = 200
# Seconds that a run may cost more than the work
_RUN = 0.0002
_LINE = (
    "\x1b[32m2026-11-21 10:00:00\x1b[0m \x1b[1;34mINFO\x1b[0m request "
    "\x1b[33m/api/v1/things?x=1\x1b[0m took 12 ms & returned <200>\n"
)
_MEGABYTE = _LINE * (1_000_000 // len(_LINE))


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


_ROWS = [{"id": n, "name": f"row {n}", "score": n / 3} for n in range(100_000)]


@tool
def rows() -> dict:
    """Return 100,000 rows."""
    return {"rows": _ROWS}


@tool
def take(rows: list[dict], password: str = "") -> int:
    """Take rows."""
    return len(rows)


_TABLE = pd.DataFrame(_ROWS)


@tool
def table() -> pd.DataFrame:
    """Return a table of 100,000 rows."""
    return _TABLE


@tool
def lines() -> str:
    """Print 10,000 lines."""
    for n in range(10_000):
        print("printed", n)
    return "done"


class TestOverhead:
    def test_from_a_cell(self, ledger):
        """`run_tool(tool, ...)` beside the tool without its record: at most 0.2 ms more."""
        ledger.more(
            "run from a cell: run_tool",
            ours=lambda: run_tool(add, a=1),
            peer=lambda: add.execute({"a": 1}),
            peer_name="unrecorded",
            limit=_RUN,
            clock=WALL,
        )

    def test_of_a_plain_call(self, ledger):
        """`tool(action)` recorded beside unrecorded: at most 0.2 ms more."""
        action = add.action_from_arguments({"a": 1})
        record_calls()
        try:
            ledger.more(
                "run from a cell: tool(action)",
                ours=lambda: add(action),
                peer=lambda: add.execute(action),
                peer_name="unrecorded",
                limit=_RUN,
                clock=WALL,
            )
        finally:
            forget_calls()

    @pytest.mark.parametrize("secret", ["", "correct-horse-9"], ids=["no secret", "a secret"])
    def test_of_a_large_result(self, ledger, secret):
        """A recorded call that returns 100,000 rows: at most 1.5 times what it takes to write their JSON."""
        record_calls()
        known = ""
        if secret:
            remembered.add([secret])
            known = ", one secret known"
        try:
            ledger.compare(
                f"recorded call of 100,000 rows{known}",
                ours=rows,
                peer=lambda: to_json({"rows": _ROWS}, indent=2, fallback=str).decode(),
                peer_name="to_json alone",
                goal=1.5,
                rounds=5,
            )
        finally:
            forget_calls()
            forget_secrets()

    @pytest.mark.parametrize("secret", ["", "correct-horse-9"], ids=["no secret", "a secret"])
    def test_of_a_large_argument(self, ledger, secret):
        """A recorded call that gets 100,000 rows, in which secrets are looked for."""
        record_calls()
        beside = ""
        if secret:
            beside = " and a secret"
        try:
            ledger.time(
                f"recorded call with 100,000 rows{beside}",
                lambda: take(rows=_ROWS, password=secret),
                limit=4.0,
                rounds=3,
            )
        finally:
            forget_calls()
            forget_secrets()

    def test_from_a_button(self, ledger):
        """From the click to the end of a run that does nothing: at most 5 ms."""
        panel = ToolPanel(add, {"a": 1})

        def click(_):
            # A double click would not count
            panel.controls.expect_click()
            panel.controls.buttons[0].click()
            assert panel.runs.latest.done.wait(20)

        ledger.time(
            "run from a button",
            Cold(lambda: None, click, WALL),
            limit=0.005,
            rounds=_ROUNDS,
            clock=WALL,
        )
        panel.close()


class TestOutput:
    def test_of_streamed_lines(self, ledger, wire):
        """300 lines of 100 bytes in three seconds: at most 0.2 MB of comm, result and all."""
        panel = ToolPanel(stream, {"lines": 300})
        before = wire.bytes
        assert panel.run().done.wait(60)
        assert ticker.wait_idle(20)
        ledger.limit("300 streamed lines: sent", wire.bytes - before, "B", 200_000)
        panel.close()

    @pytest.mark.parametrize("flood", [prints, returns], ids=lambda flood: flood.name)
    def test_of_a_megabyte(self, ledger, wire, flood):
        """1 MB of ANSI, printed or returned: at most 0.2 s of CPU and 0.3 MB, run and all."""
        panel, sent = ToolPanel(flood), []

        def run(_):
            before = wire.bytes
            assert panel.run().done.wait(60)
            assert ticker.wait_idle(20)
            sent.append(wire.bytes - before)

        what = f"run that {flood.name} 1 MB of ANSI"
        watch = Cold(lambda: None, run, CPU)
        ledger.time(what, watch, limit=0.2, rounds=9)
        ledger.limit(f"{what}: sent", max(sent), "B", 300_000)
        panel.close()


class TestOneSecret:
    """What each run costs once a secret is known: at most 1.3 times as much."""

    @pytest.fixture(autouse=True)
    def _recorded(self):
        record_calls()
        yield
        forget_calls()
        forget_secrets()

    @pytest.mark.parametrize("flood", [rows, lines], ids=lambda flood: flood.name)
    def test_of_a_button(self, ledger, flood):
        """100,000 rows returned, or 10,000 lines printed, and shown in a panel."""
        panel = ToolPanel(flood)

        def run(_):
            assert panel.run().done.wait(60)
            assert ticker.wait_idle(20)

        self._compare(ledger, f"run from a button: {flood.name}", run)
        panel.close()

    @pytest.mark.parametrize("returns", [rows, table], ids=lambda returns: returns.name)
    def test_of_a_cell(self, ledger, returns):
        """100,000 rows returned, also as a table, and shown by a cell."""
        self._compare(
            ledger,
            f"run from a cell: {returns.name}",
            lambda _: DisplayFormatter().format(returns()),
        )

    def _compare(self, ledger, work, run):
        ledger.compare(
            f"{work}, one secret known",
            ours=Cold(lambda: remembered.add(["correct-horse-9"]), run),
            peer=Cold(forget_secrets, run),
            peer_name="no secret known",
            goal=1.3,
            rounds=5,
        )


class TestBench:
    def test_of_a_thousand_tools(self, ledger, wire):
        """At most 60 comms before a tool is opened."""
        tools = [
            ToolDefinition(name=f"tool_{n}", description=f"{n}", action_type=Action)
            for n in range(1_000)
        ]
        before = wire.comms
        bench(tools).close()
        ledger.limit("bench of 1,000 tools: comms", wire.comms - before, "comms", 60)
