"""How far a run is, on a line of the cell that waits for it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher

from toolbench import current_run, tool
from toolbench.display.escape import NO_MATHS
from toolbench.runs import progress
from toolbench.runs.perform import perform
from toolbench.runs.progress import Progress, ProgressView
from toolbench.runs.run import run_here

IN_A_KERNEL = """
%load_ext toolbench
import asyncio
from pathlib import Path
from time import sleep
import ipywidgets
from fastmcp import Context, FastMCP
from toolbench import current_run, tool
from toolbench.runs.parallel import run_tools
from toolbench.tools.ipython import IPythonTool
from toolbench.mcp import MCPClient
from toolbench.runs import progress

soon, progress.SOON = progress.SOON, 0

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
def told() -> str:
    '''Say how far this is.'''
    current_run().progress(1, 2, "half")
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
AFTERWARDS = "progress.SOON = soon; client.sync_close()"


EMPTY = {"text/plain": "", "text/html": ""}


class Publisher:
    """A kernel's `display_pub`, as far as it is asked."""

    def __init__(self):
        self.published = []

    def publish(self, data, *, transient, update):
        self.published.append((data, transient["display_id"], update))


Publisher.__module__ = "ipykernel.zmqshell"


class Shell:
    """A shell that runs a cell of a kernel, as far as it is asked."""

    def __init__(self):
        self.kernel, self.display_pub, self.events = self, Publisher(), self
        self.callbacks = []
        self.parent = {"msg_type": "execute_request", "header": {"msg_id": "cell"}}

    def get_parent(self):
        return self.parent

    def register(self, event, callback):
        assert event == "post_run_cell"
        self.callbacks.append(callback)

    def unregister(self, event, callback):
        self.callbacks.remove(callback)

    def end_cell(self):
        for callback in list(self.callbacks):
            callback(None)

    @property
    def texts(self):
        return [data["text/plain"] for data, _, _ in self.display_pub.published]


@pytest.fixture
def shell(monkeypatch):
    """A cell in which everything is shown at once."""
    shell = Shell()
    monkeypatch.setattr(progress, "SOON", 0)
    monkeypatch.setattr(progress, "EVERY", 0)
    monkeypatch.setattr(progress, "running_shell", lambda: shell)
    progress.line.reset()
    yield shell
    progress.line.reset()


def of_a_cell(name="Copy"):
    view = ProgressView(name)
    view.in_cell = True
    return view


def draw(view, *progress):
    view.state = Progress(*progress)
    view.draw()


def in_a_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


class TestMeter:
    def test_is_one_line_that_goes_away(self, shell):
        """One output, drawn again, and empty once the run is over."""
        line = of_a_cell()
        draw(line, 1, 3, "a.txt")
        draw(line, 2, 3, "b.txt")
        line.erase()
        data, names, updates = zip(*shell.display_pub.published, strict=True)
        assert shell.texts == ["Copy: a.txt · 1 of 3", "Copy: b.txt · 2 of 3", ""]
        assert data[-1] == EMPTY
        assert len(set(names)) == 1
        assert updates == (False, True, True)

    def test_is_not_there_without_progress(self, shell):
        """Most runs say nothing on the way, and leave nothing."""
        line = of_a_cell()
        draw(line)
        draw(line, 0, 0)
        line.erase()
        shell.end_cell()
        assert shell.texts == []

    def test_waits_a_while(self, shell, monkeypatch):
        """What is done at once needs no line, and nobody reads a hundred lines a second."""
        monkeypatch.setattr(progress, "SOON", 3600)
        draw(of_a_cell(), 1, 2)
        assert shell.texts == []
        monkeypatch.setattr(progress, "SOON", 0)
        monkeypatch.setattr(progress, "EVERY", 3600)
        line = of_a_cell()
        draw(line, 1, 2)
        draw(line, 2, 2)
        assert shell.texts == ["Copy: 1 of 2"]

    def test_is_not_sent_twice(self, shell):
        """Progress that does not change costs no message."""
        line = of_a_cell()
        for _ in range(3):
            draw(line, 1, 2)
        assert shell.texts == ["Copy: 1 of 2"]

    def test_is_drawn_by_its_own_thread(self, shell):
        """Front ends lose what others display; what they cannot draw, they cannot erase."""
        line = of_a_cell()
        in_a_thread(lambda: draw(line, 1, 2))
        assert shell.texts == []
        draw(line, 1, 2)
        in_a_thread(line.erase)
        assert shell.texts == ["Copy: 1 of 2"]
        assert in_a_thread(lambda: line.drawer) is None

    def test_is_markup_of_nobody(self, shell):
        """What a tool says on the way is spelled out, in text and in HTML, and is no maths."""
        draw(of_a_cell("\x1b[2J"), 1, 2, "\x1b]0;owned\x07<script>$x$</script>")
        [(data, _, _)] = shell.display_pub.published
        assert "\x1b" not in data["text/plain"] + data["text/html"]
        assert "<script>" not in data["text/html"]
        assert NO_MATHS in data["text/html"]

    def test_is_one_line_of_a_screen(self, shell):
        """A page of text becomes its beginning."""
        draw(of_a_cell(), 0, None, "a\nb\t" + "c" * 1_000_000)
        [text] = shell.texts
        assert text.startswith("Copy: a b ccc")
        assert len(text) <= 200

    def test_fails_no_work(self, shell, monkeypatch):
        """A front end that is gone is asked, and is no reason to fail."""
        requests = []

        def publish(*args, **options):
            requests.append(options)
            raise OSError("the front end is gone")

        monkeypatch.setattr(shell.display_pub, "publish", publish)

        @tool
        def copy() -> str:
            current_run().progress(1, 2)
            return "copied"

        monkeypatch.setattr(progress, "SOON", 0)
        assert perform(run_here(copy, {})).text == "copied"
        assert requests, "nothing was drawn: this proves nothing"
        # Of another make, that tells nothing of cells
        shell.kernel = object()
        assert perform(run_here(copy, {})).text == "copied"

    @pytest.mark.parametrize("where", ["click", "captured"])
    def test_is_only_in_what_a_cell_shows(self, shell, where):
        """A widget's click has no output; what is captured is somebody's result."""
        if where == "click":
            shell.parent = {"msg_type": "comm_msg", "header": {"msg_id": "click"}}
        else:
            shell.display_pub = CapturingDisplayPublisher()
        draw(of_a_cell(), 1, 2)
        assert progress.line.is_empty

    def test_is_not_in_scripts(self, monkeypatch):
        """Nor in a terminal's IPython: they have no line that could be drawn again."""
        assert of_a_cell().drawer is None
        monkeypatch.setattr(progress, "running_shell", object)
        assert of_a_cell().drawer is None


class TestLine:
    def test_is_shared(self, shell):
        """Runs side by side stand side by side, in one output of the cell."""
        one, other = (
            of_a_cell("one"),
            of_a_cell("other"),
        )
        draw(one, 1, 2)
        draw(other, 1, 3)
        one.erase()
        other.erase()
        both = "one: 1 of 2  |  other: 1 of 3"
        assert shell.texts == ["one: 1 of 2", both, "other: 1 of 3", ""]
        assert len({name for _, name, _ in shell.display_pub.published}) == 1

    def test_ends_with_its_cell(self, shell):
        """A task that goes on behind it shows nothing more: saved files would keep that."""
        line = of_a_cell()
        draw(line, 1, 2)
        shell.end_cell()
        draw(line, 2, 2)
        assert shell.texts == ["Copy: 1 of 2", ""]
        assert shell.callbacks == []

    def test_is_anothers_in_another_cell(self, shell):
        """The next cell has an output of its own."""
        draw(of_a_cell(), 1, 2)
        shell.end_cell()
        shell.parent = {"msg_type": "execute_request", "header": {"msg_id": "next"}}
        draw(of_a_cell(), 1, 2)
        (_, first, _), _, (_, second, update) = shell.display_pub.published
        assert first != second
        assert not update


class TestARun:
    def test_shows_how_far_it_is(self, shell):
        """From the executor's own calls, until it ends."""

        @tool
        def count(n: int) -> int:
            """Count."""
            for step in range(n):
                current_run().progress(step + 1, n)
            return n

        perform(run_here(count, {"n": 2}))
        assert shell.texts == ["count: 1 of 2", "count: 2 of 2", ""]

    def test_shows_no_secret(self, shell):
        """Neither on its line, nor to whoever looks at the run."""

        @tool
        def login(password: str) -> str:
            """Log in."""
            current_run().progress(1, 2, f"with {password}")
            return "in"

        run = run_here(login, {"password": "hunter2"})
        perform(run)
        assert shell.texts[0] == "login: with <secret-hidden> · 1 of 2"
        assert "hunter2" not in run.progress_view.state.message


@pytest.mark.slow
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
        file = tmp_path / "seen"
        request = kernel.start(code.format(name, file))
        kernel.listen_until(lambda: drawn(kernel, request), "it is shown")
        assert "half · 1 of 2" in drawn(kernel, request)[0]["text/plain"]
        file.touch()
        assert kernel.reply(request)["status"] == "ok"
        kernel.listen_until(lambda: drawn(kernel, request)[-1] == EMPTY, "it is empty")

    def test_calls_side_by_side_share_the_line(self, kernel, tmp_path):
        """Also those of `run_tools`, which work in threads."""
        file = tmp_path / "seen"
        request = kernel.start(f"run_tools([(t, {{'seen': '{file}'}}) for t in (plain, loop)])")
        both = "plain: half · 1 of 2  |  loop: half · 1 of 2"
        kernel.listen_until(
            lambda: both in [d["text/plain"] for d in drawn(kernel, request)],
            "it is shown",
        )
        file.touch()
        assert kernel.reply(request)["status"] == "ok"
        kernel.listen_until(lambda: drawn(kernel, request)[-1] == EMPTY, "it is empty")

    def test_is_no_part_of_what_a_model_reads(self, kernel, tmp_path):
        """A cell that the IPython tool runs shows its result, not how far it was."""
        text = kernel.value("IPythonTool.create()[0]({'code': 'told({}).text'}).text")
        assert "done" in text
        assert "half" not in text

    def test_a_cell_without_progress_shows_nothing(self, kernel):
        """A run that says nothing on the way leaves no line."""
        request = kernel.start("silent({}).text")
        assert kernel.reply(request)["status"] == "ok"
        assert drawn(kernel, request) == []


def drawn(kernel, request):
    """What a cell displayed so far, updates included."""
    kernel.listen()
    kinds = ("display_data", "update_display_data")
    return [m["content"]["data"] for m in kernel.of(request) if m["msg_type"] in kinds]
