import gc
import linecache
import re
import signal
import sys
import threading
from base64 import b64decode

import pytest
from patience import PATIENCE, join, when
from shells import new_shell

from toolbench import ImageContent, TextContent, run_tool
from toolbench.runs.control import RunCancelled
from toolbench.tools.ipython import IPythonAction, IPythonExecutor, IPythonTool
from toolbench.tools.ipython.breaker import Breaker
from toolbench.tools.ipython.impl import run_cell

PNG = b"\x89PNG\r\n\x1a\n and more"


class Cells(IPythonExecutor):
    """An executor called with code."""

    def run(self, code: str, **arguments):
        return self(IPythonAction(code=code, **arguments))


@pytest.fixture(name="cells")
def _cells():
    with Cells(namespace="fresh") as executor:
        yield executor


class TestWhatACellGives:
    def test_is_the_value_of_its_last_expression(self, cells):
        """As in a notebook; a semicolon, a statement and None give nothing."""
        assert cells.run("x = 20\nx + 1").text == "21"
        for quiet in ("x;", "y = x", "None", "", "# nothing"):
            assert cells.run(quiet).text == "Done. Nothing to show."

    def test_is_all_it_printed_in_order(self, cells):
        """stdout, stderr, subprocesses and the value come in the order they came."""
        code = "import sys\nprint('a')\nprint('b', file=sys.stderr)\n!echo c\n'd'"
        assert cells.run(code).text == "a\nb\nc\n'd'"

    def test_stays_for_the_next(self, cells):
        """Variables, imports and functions live on."""
        cells.run("import math\ndef f(x):\n    return math.sqrt(x)")
        assert cells.run("f(9)").text == "3.0"

    def test_has_images_as_images(self, cells):
        """Displayed and returned images reach the model between the texts around them."""
        result = cells.run(
            "from IPython.display import Image, display\n"
            f"print('before'); display(Image({PNG!r}, format='png')); print('after')\n"
            "class Plot:\n"
            f"    def _repr_png_(self): return {PNG!r}\n"
            "Plot()"
        )
        kinds = [type(block) for block in result.content]
        assert kinds == [TextContent, ImageContent, TextContent, ImageContent]
        for block in result.content[1::2]:
            head, _, data = block.image_urls[0].partition(",")
            assert head == "data:image/png;base64"
            assert b64decode(data) == PNG

    def test_has_the_text_that_says_most(self, cells):
        """Markdown as Markdown, not as the address of an object."""
        assert cells.run("from IPython.display import Markdown; Markdown('*hi*')").text == "*hi*"
        assert (
            cells.run(
                "class A:\n  def _repr_html_(self): return '<b>'\n  def __repr__(self): return 'an A'\nA()"
            ).text
            == "an A"
        )

    def test_is_what_its_threads_print_too(self, cells):
        """A thread the cell starts belongs to it."""
        code = "import threading\nt = threading.Thread(target=print, args=('in a thread',))\nt.start(); t.join()"
        assert cells.run(code).text == "in a thread"

    def test_is_bounded(self, cells):
        """A cell that prints a lot is shown in part, and says so."""
        result = cells.run("for n in range(100000): print(n)")
        assert result.text.startswith("0\n1\n")
        assert result.text.endswith("99999")
        assert "left out here" in result.text
        assert len(result.text) < 31_000
        assert len(cells.run("'x' * 100000").text) < 31_000

    def test_can_be_awaited(self, cells):
        """`await` works at the top, and what runs in the loop goes on between cells."""
        assert cells.run("import asyncio\nawait asyncio.sleep(0)\nprint('in')\n5").text == "in\n5"
        cells.run("task = asyncio.ensure_future(asyncio.sleep(0, 'done'))\nawait asyncio.sleep(0)")
        assert cells.run("await task").text == "'done'"

    def test_may_come_by_magic(self, cells):
        """Line magics, cell magics and their values work in this namespace."""
        assert cells.run("%%capture out\nprint('kept')").text == "Done. Nothing to show."
        assert cells.run("out.stdout").text == "'kept\\n'"
        assert "loop" in cells.run("%timeit -n1 -r1 pass").text
        cells.run("%%time\nz = 3")
        assert cells.run("z").text == "3"

    def test_may_be_a_package_installed(self, cells):
        """`%pip` reaches the pip of this Python, whatever that says."""
        assert "pip" in cells.run("%pip --version").text


class TestFailure:
    def test_is_a_traceback_of_the_cell_alone(self, cells):
        """The model sees its own lines and the error, none of ours."""
        result = cells.run("def f():\n    raise ValueError('no')\n\nprint('first')\nf()")
        assert result.is_error
        assert result.error == "ValueError"
        assert result.text.startswith("first\nTraceback (most recent call last):")
        assert result.text.endswith("ValueError: no")
        assert re.search(r'File "<cell \d+>", line 5', result.text)
        assert "raise ValueError('no')" in result.text
        assert "toolbench" not in result.text

    def test_shows_the_lines_of_its_own_session(self, cells):
        """Another session's cells are not taken for it; what is closed leaves no lines."""
        known = set(linecache.cache)
        with Cells(namespace="fresh") as others:
            cells.run("def f():\n    raise ValueError('mine')")
            others.run("def g():\n    never = 'theirs'")
            text = cells.run("f()").text
            assert "raise ValueError('mine')" in text
            assert "theirs" not in text
        cells.close()
        assert {n for n in linecache.cache if n.startswith("<cell")} <= known

    @pytest.mark.parametrize("code", ["1", "1 / 0", "import asyncio\nawait 1"])
    def test_is_between_what_comes_before_and_after_a_cell(self, cells, code):
        """Whatever waits for the begin or the end of a cell is told of each, however it ends."""
        cells_run = []
        shell = cells._shell()
        shell.events.register("pre_execute", lambda: cells_run.append("begins"))
        shell.events.register("post_execute", lambda: cells_run.append(code))
        cells.run(code)
        assert cells_run == ["begins", code]

    @pytest.mark.parametrize(
        ("code", "error"),
        [
            ("x =", "SyntaxError"),
            ("  x = 1\n y = 2", "IndentationError"),
            ("%nosuchmagic", "UsageError"),
            ("import sys; sys.exit(3)", "SystemExit"),
            ("raise BaseException('all of it')", "BaseException"),
            ("raise GeneratorExit", "GeneratorExit"),
            ("import asyncio\nraise asyncio.CancelledError", "CancelledError"),
        ],
    )
    @pytest.mark.parametrize("awaits", ["", "import asyncio\nawait asyncio.sleep(0)\n"])
    def test_of_any_kind_ends_the_cell_only(self, cells, awaits, code, error):
        """Nothing a cell raises gets out, and the next one runs."""
        result = cells.run(awaits + code)
        assert (result.is_error, result.error) == (True, error)
        assert not result.timeout
        assert cells.run("1").text == "1"
        assert cells.run("import asyncio\nawait asyncio.sleep(0)\n2").text == "2"

    def test_leaves_what_was_assigned(self, cells):
        """As in a notebook."""
        cells.run("a = 5\n1/0")
        assert cells.run("a").text == "5"


STUCK = (
    "while True: pass",
    "import time\ntime.sleep(100)",
    "import asyncio\nawait asyncio.sleep(100)",
)


class TestStopping:
    @pytest.mark.parametrize("code", STUCK)
    def test_after_the_timeout(self, cells, code):
        """Loops, sleeps and awaits end; the observation says that and why."""
        cells.run("kept = 1")
        result = cells.run(code, timeout=0.1)
        assert (result.is_error, result.timeout) == (True, True)
        assert "interrupted after 0.1 s" in result.text
        assert "toolbench" not in result.text
        assert cells.run("kept").text == "1"

    @pytest.mark.parametrize("code", STUCK)
    def test_by_interrupt_from_another_thread(self, cells, code):
        """An interrupt ends the cell that runs, not the one after it."""
        begun = threading.Event()
        cells._shell().user_ns["begun"] = begun
        with when(begun.is_set, cells.interrupt):
            result = cells.run(f"begun.set()\n{code}")
        assert (result.error, result.timeout) == ("KeyboardInterrupt", False)
        cells.interrupt()
        assert cells.run("2").text == "2"

    @pytest.mark.parametrize("code", [STUCK[0], STUCK[2]])
    def test_in_a_thread_that_is_not_the_main_one(self, cells, code):
        """A run from a button can be stopped as well."""
        results = []
        thread = threading.Thread(target=lambda: results.append(cells.run(code, timeout=0.1)))
        thread.start()
        join(thread)
        assert results[0].timeout

    def test_by_a_signal_is_for_the_whole_cell(self, cells):
        """Kernel > Interrupt gets out: the loop of an agent around the tool ends too."""
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(KeyboardInterrupt):
            cells.run("import signal\nsignal.raise_signal(signal.SIGINT)")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert cells.run("2").text == "2"

    def test_by_a_cancelled_run_gets_out(self, cells):
        """Who stops the run is told that it ended, not that it failed."""
        code = "from toolbench.runs.control import RunCancelled\nraise RunCancelled"
        with pytest.raises(RunCancelled):
            cells.run(code)


class TestOthers:
    def test_keep_their_output(self, cells, capsys):
        """What other threads print while a cell runs is none of its business."""
        begun, done = threading.Event(), threading.Event()

        def other():
            assert begun.wait(PATIENCE)
            print("from outside")
            done.set()

        thread = threading.Thread(target=other)
        thread.start()
        cells._shell().user_ns.update(begun=begun, done=done)
        result = cells.run(f"begun.set(); done.wait({PATIENCE}); print('from inside')")
        join(thread)
        assert result.text == "from inside"
        assert capsys.readouterr().out == "from outside\n"

    def test_keep_their_namespace(self):
        """Fresh namespaces know nothing of each other, nor of this module."""
        with Cells(namespace="fresh") as one, Cells(namespace="fresh") as two:
            one.run("x = 1")
            assert two.run("x").error == "NameError"
            assert two.run("PNG").error == "NameError"
            assert one.run("x").text == "1"

    def test_find_everything_as_it_was(self):
        """Streams, `__main__` and the shell of the process are the same afterwards."""
        import IPython

        before = sys.stdout, sys.stderr, sys.modules["__main__"], IPython.get_ipython()
        with Cells(namespace="fresh") as cells:
            cells.run("import sys; print('x'); 1/0")
        after = sys.stdout, sys.stderr, sys.modules["__main__"], IPython.get_ipython()
        assert all(a is b for a, b in zip(before, after, strict=True))

    def test_do_not_run_in_what_was_closed(self):
        """A closed session says so; closing twice is fine."""
        cells = Cells(namespace="fresh")
        cells.run("x = 1")
        cells.close()
        cells.close()
        assert "closed" in cells.run("x").text


class TestTool:
    def test_has_the_name_of_the_seeds(self):
        """It is `execute_ipython_cell`, and says where its cells run."""
        [tool] = IPythonTool.create(namespace="fresh")
        with tool.executor:
            assert run_tool(tool, code="6 * 7").text == "42"
        assert tool.name == "execute_ipython_cell"
        assert "of their own" in tool.description


def test_an_interrupt_before_a_coroutine_begins_leaves_none_behind():
    """One that comes between the cell's start and its first step costs no warning."""

    def interrupted(coroutine):
        raise KeyboardInterrupt

    with new_shell() as shell, pytest.raises(KeyboardInterrupt):
        run_cell(shell, "import asyncio\nawait asyncio.sleep(0)", "<cell>", interrupted)
    # A coroutine that nobody awaited would complain, which fails the test
    gc.collect()


def test_a_late_timer_does_not_stop_the_next_cell(monkeypatch):
    """A timer that cannot be cancelled any more belongs to a cell that has ended."""
    timers = []

    class Late(threading.Timer):
        def start(self):
            timers.append(self)

        def cancel(self):
            """It is too late."""

        def run(self):
            self.function()

    monkeypatch.setattr(threading, "Timer", Late)
    breaker = Breaker()
    with breaker.breakable(1):
        pass
    with breaker.breakable(None):
        threading.Thread.start(timers[0])
        join(timers[0])
    assert not breaker.reason
