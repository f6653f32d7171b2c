"""How far a run is, on a line of the cell that waits for it."""

from threading import Thread

import pytest

from toolbench import current_run, tool
from toolbench.runs import meter
from toolbench.runs.engine import perform, run_here
from toolbench.runs.meter import Meter
from toolbench.runs.progress import Progress

IN_A_KERNEL = """
%load_ext toolbench
import asyncio
from pathlib import Path
from time import sleep
import ipywidgets
from fastmcp import Context, FastMCP
from toolbench import current_run, tool
from toolbench.mcp import MCPClient
from toolbench.runs import meter

meter.SOON = 0

@tool
def plain(seen: str) -> str:
    '''Wait until it is seen how far this is.'''
    while not Path(seen).exists():
        current_run().progress(1, 2, "half")
        sleep(0.01)
    return "done"

@tool
async def loop(seen: str) -> str:
    '''Wait in the background loop.'''
    current_run().progress(1, 2, "half")
    while not Path(seen).exists():
        await asyncio.sleep(0.01)
    return "done"

@tool
def silent() -> str:
    '''Say nothing on the way.'''
    return "done"

server = FastMCP("server")

@server.tool
async def far(seen: str, context: Context) -> str:
    "Wait in a server."
    await context.report_progress(1, 2, "half")
    while not Path(seen).exists():
        await asyncio.sleep(0.01)
    return "done"

client = MCPClient()
far = client.connect("server", server).tool("far")
"""


@pytest.fixture
def shown(monkeypatch):
    """A meter that shows everything at once, and what it showed."""
    monkeypatch.setattr(meter, "SOON", 0)
    monkeypatch.setattr(meter, "EVERY", 0)
    shown = []

    def publish(data, *, transient, update):
        shown.append((data["text/plain"], transient["display_id"], update))

    monkeypatch.setattr(
        Meter, "here", classmethod(lambda cls, name: cls(name, publish))
    )
    return shown


class TestMeter:
    def test_is_one_line_that_goes_away(self, shown):
        """One output, drawn again, and empty once the run is over."""
        line = Meter.here("Copy")
        line.draw(Progress(1, 3, "a.txt"))
        line.draw(Progress(2, 3, "b.txt"))
        line.erase()
        texts, names, updates = zip(*shown, strict=True)
        assert texts == ("Copy: a.txt · 1 of 3", "Copy: b.txt · 2 of 3", "")
        assert len(set(names)) == 1
        assert updates == (False, True, True)

    def test_is_not_there_without_progress(self, shown):
        """Most runs say nothing on the way, and leave nothing."""
        line = Meter.here("Copy")
        line.draw(Progress())
        line.erase()
        assert shown == []

    def test_waits_a_while(self, shown, monkeypatch):
        """What is done at once needs no meter, and nobody reads a hundred lines a second."""
        monkeypatch.setattr(meter, "SOON", 3600)
        Meter.here("Copy").draw(Progress(1, 2))
        assert shown == []
        monkeypatch.setattr(meter, "SOON", 0)
        monkeypatch.setattr(meter, "EVERY", 3600)
        line = Meter.here("Copy")
        line.draw(Progress(1, 2))
        line.draw(Progress(2, 2))
        assert len(shown) == 1

    def test_is_left_alone_by_other_threads(self, shown):
        """Front ends lose what these display."""
        thread = Thread(target=Meter.here("Copy").draw, args=(Progress(1, 2),))
        thread.start()
        thread.join()
        assert shown == []

    def test_moves_no_cursor(self, shown):
        """What a tool says on the way is spelled out."""
        Meter.here("\x1b[2J").draw(Progress(1, 2, "\x1b]0;owned\x07"))
        assert "\x1b" not in shown[0][0]

    def test_is_only_in_cells(self):
        """Scripts and tests have no line to draw on."""
        assert Meter.here("Copy") is None


class TestARun:
    def test_shows_how_far_it_is(self, shown):
        """From the executor's own calls, until it ends."""

        @tool
        def count(n: int) -> int:
            """Count."""
            for step in range(n):
                current_run().progress(step + 1, n)
            return n

        perform(run_here(count, {"n": 2}))
        assert [text for text, _, _ in shown] == ["count: 1 of 2", "count: 2 of 2", ""]

    def test_shows_no_secret(self, shown):
        """Neither on its line, nor to whoever looks at the run."""

        @tool
        def login(password: str) -> str:
            """Log in."""
            current_run().progress(1, 2, f"with {password}")
            return "in"

        run = run_here(login, {"password": "hunter2"})
        perform(run)
        assert shown[0][0] == "login: with <secret-hidden> · 1 of 2"
        assert "hunter2" not in run.progress_state.message


class TestInAKernel:
    @pytest.mark.parametrize("name", ["plain", "loop", "far"])
    @pytest.mark.parametrize(
        "code",
        [
            "%tool {} seen={}",
            "{}({{'seen': '{}'}})",
            "await {}.acall({{'seen': '{}'}})",
        ],
        ids=["magic", "called", "awaited"],
    )
    def test_a_cell_shows_how_far_its_run_is(self, kernel, name, code, tmp_path):
        """Of every kind of tool, while the cell goes on; afterwards the line is empty."""
        seen = tmp_path / "seen"
        request = kernel.start(code.format(name, seen))
        kernel.listen_until(lambda: drawn(kernel, request), "it is shown")
        assert "half · 1 of 2" in drawn(kernel, request)[0]["text/plain"]
        seen.touch()
        assert kernel.reply(request)["status"] == "ok"
        kernel.listen_until(lambda: drawn(kernel, request)[-1] == EMPTY, "it is empty")

    def test_a_cell_without_progress_shows_nothing(self, kernel):
        """A run that says nothing on the way leaves no line."""
        request = kernel.start("silent({}).text")
        assert kernel.reply(request)["status"] == "ok"
        assert drawn(kernel, request) == []


EMPTY = {"text/plain": "", "text/html": ""}


def drawn(kernel, request):
    """What a cell displayed so far, updates included."""
    kernel.listen()
    kinds = ("display_data", "update_display_data")
    return [m["content"]["data"] for m in kernel.of(request) if m["msg_type"] in kinds]
