"""What a background run says stays with it; everybody else's words go where they always did."""

import logging
import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from operator import is_, is_not
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from patience import PATIENCE, join

from test_runs import tools
from toolbench import current_run, tool
from toolbench.runs.perform import start
from toolbench.runs.run import Run
from toolbench.tools.ipython import IPythonAction, IPythonExecutor


def background(tool, arguments=None, **options):
    run = Run(tool, arguments or {}, source="button", **options)
    return run, start(run)


@pytest.fixture
def shell():
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


class TestOutput:
    def test_is_kept_in_order(self):
        """What the tool and threads it starts print belongs to the run, in order."""
        run, _ = background(tools.talk)
        assert run.done.wait(PATIENCE)
        expected = "printed\ncomplained\nprinted in a thread\ninfo: logged\n"
        assert run.output.text == expected

    def test_leaves_the_streams_as_they_were(self, monkeypatch):
        """Other code prints where it always did, and by the same object, in a run and after."""
        mine = StringIO()
        monkeypatch.setattr(sys, "stdout", mine)
        steps = tools.Steps()
        run, thread = background(steps.tool)
        assert steps.begun.wait(PATIENCE)
        assert sys.stdout is mine
        print("from a cell")
        steps.go_on.set()
        join(thread)
        assert mine.getvalue() == "from a cell\n"
        assert sys.stdout is mine
        assert not {"write", "isatty"} & set(vars(mine))
        assert run.output.text == ""

    def test_of_two_runs_is_not_mixed(self):
        """Each run has its own, however they take turns."""
        turn = threading.Barrier(2)

        @tool
        def count(name: str) -> None:
            """Print a hundred lines, in step with another."""
            for n in range(100):
                turn.wait(PATIENCE)
                print(name, n)

        runs = [background(count, {"name": name})[0] for name in ("a", "b")]
        for run, name in zip(runs, ("a", "b"), strict=True):
            assert run.done.wait(PATIENCE)
            assert run.output.text == "".join(f"{name} {n}\n" for n in range(100))

    def test_from_many_threads_loses_nothing(self):
        """8 threads x 600 updates, and progress and logs between them: all arrive."""

        @tool
        def flood() -> None:
            """Print from eight threads at once."""

            def work(name):
                for n in range(600):
                    print(f"{name}-{n}\n", end="")
                    current_run().progress(n, 600)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                join(thread)

        run, _ = background(flood)
        assert run.done.wait(PATIENCE)
        lines = run.output.text.splitlines()
        assert sorted(lines) == sorted(f"{i}-{n}" for i in range(8) for n in range(600))
        assert run.version >= 2 * 8 * 600

    def test_survives_somebody_who_replaces_the_streams(self, monkeypatch):
        """A stream put over ours in the meantime is left alone."""
        steps = tools.Steps()
        _, thread = background(steps.tool)
        assert steps.begun.wait(PATIENCE)
        theirs = StringIO()
        monkeypatch.setattr(sys, "stdout", theirs)
        steps.go_on.set()
        join(thread)
        assert sys.stdout is theirs

    def test_survives_somebody_who_wraps_the_streams(self, monkeypatch):
        """What is put around a stream, or over its `write`, during a run goes on working."""
        mine = StringIO()
        monkeypatch.setattr(sys, "stdout", mine)
        steps = tools.Steps()
        _, thread = background(steps.tool)
        assert steps.begun.wait(PATIENCE)
        before = mine.write
        mine.write = lambda text: before(text.upper())
        steps.go_on.set()
        join(thread)
        print("after")
        run, thread = background(tools.talk)
        join(thread)
        print("after that")
        assert mine.getvalue() == "AFTER\nAFTER THAT\n"
        assert run.output.text.startswith("printed\n")

    def test_of_a_cell_in_a_run_is_the_cells(self):
        """The innermost work takes its output; what outlives it, the work around it."""
        begun, over = threading.Event(), threading.Event()

        @tool
        def outer() -> str:
            """Print around a cell whose thread outlives it."""
            print("before")
            with IPythonExecutor(namespace="fresh") as executor:
                code = (
                    "import threading\n"
                    "def late(): print('in'); told.set(); over.wait(60); print('late')\n"
                    "thread = threading.Thread(target=late); thread.start()\n"
                    "told.wait(60);"
                )
                shell = executor._shell()
                shell.user_ns.update(told=begun, over=over)
                text = executor(IPythonAction(code=code)).text
                thread = shell.user_ns["thread"]
                over.set()
                join(thread)
            return text

        run, thread = background(outer)
        join(thread)
        assert run.observation.text == "in"
        assert run.output.text == "before\nlate\n"

    def test_that_begins_under_a_redirection_outlives_it(self, monkeypatch, shell):
        """A run that a captured cell begins keeps its output when that cell is over."""
        screen = StringIO()
        monkeypatch.setattr(sys, "stdout", screen)
        join(background(tools.add, {"a": 1})[1])
        go_on = threading.Event()

        @tool
        def late() -> None:
            """Print and display when the cell is over."""
            assert go_on.wait(PATIENCE)
            print("late")
            tools.display({"text/plain": "shown"}, raw=True)

        with capture_output() as outside:
            run, thread = background(late)
        go_on.set()
        join(thread)
        assert run.output.text == "late\nshown\n"
        assert (screen.getvalue(), outside.stdout, outside.outputs) == ("", "", [])

    def test_is_no_terminal(self, monkeypatch):
        """A tool that asks before it writes colours is told that nobody sees them."""
        screen = StringIO()
        monkeypatch.setattr(screen, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdout", screen)

        @tool
        def ask() -> bool:
            """Ask the stream."""
            return sys.stdout.isatty()

        run, thread = background(ask)
        join(thread)
        assert run.observation.result is False
        assert sys.stdout.isatty()

    def test_is_all_that_differs_in_the_streams(self, tmp_path):
        """A run asks its stdout for the encoding or the file, and is told the real one's."""

        @tool
        def look() -> list:
            """Look at the stream, and let a process write to it."""
            sys.stdout.writelines(["a\n", "b\n"])
            subprocess.run(["echo", "hello"], stdout=sys.stdout, check=True)
            return [sys.stdout.encoding, sys.stdout.errors, sys.stdout.isatty()]

        with (tmp_path / "out").open("w+", encoding="latin-1") as real:
            with redirect_stdout(real):
                run, thread = background(look)
                join(thread)
            assert (tmp_path / "out").read_text() == "hello\n"
        assert run.observation.result == ["latin-1", "strict", False]
        assert run.output.text == "a\nb\n"


class TestLogs:
    def test_and_warnings_are_kept(self):
        """Warnings and log messages of libraries belong to the run too."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            run, thread = background(tools.warn)
            join(thread)
        assert "warning: UserWarning: soon gone" in run.output.text
        assert "warning: a.library: low on memory" in run.output.text

    def test_do_not_go_to_the_screen_as_well(self, monkeypatch):
        """A handler that writes to stderr, as `basicConfig` makes one, is passed over."""
        screen = StringIO()
        monkeypatch.setattr(sys, "stderr", screen)
        handler = logging.StreamHandler(screen)
        root = logging.getLogger()
        root.addHandler(handler)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run, thread = background(tools.warn)
                join(thread)
            logging.getLogger("cell").warning("mine")
        finally:
            root.removeHandler(handler)
        assert "low on memory" in run.output.text
        assert screen.getvalue() == "mine\n"
        assert handler.filters == []

    def test_keep_the_traceback(self):
        """`logger.exception` says where."""

        @tool
        def log() -> None:
            """Log an exception."""
            try:
                raise OSError("disk full")
            except OSError:
                logging.getLogger("a.library").exception("not saved")

        run, thread = background(log)
        join(thread)
        assert run.output.text.startswith("error: a.library: not saved\nTraceback ")
        assert 'raise OSError("disk full")' in run.output.text

    def test_that_cannot_be_written_fail_nothing(self, monkeypatch):
        """A log call whose words do not fit is said like anywhere, and the tool goes on."""
        # pytest's raise
        monkeypatch.setattr(logging.getLogger(), "handlers", [])

        @tool
        def log() -> str:
            """Log what cannot be formatted."""
            logging.getLogger("a.library").warning("%d items", "three")
            return "done"

        run, thread = background(log)
        join(thread)
        assert (run.state, run.observation.text) == ("ok", "done")
        assert "Arguments: ('three',)" in run.output.text

    def test_and_warnings_for_a_file_go_there(self, monkeypatch):
        """`warnings.showwarning(file=...)` is no word to the person."""
        file = StringIO()

        def real(message, category, filename, lineno, file=None, line=None):
            file.write(f"{filename}:{lineno} {message} {line}")

        monkeypatch.setattr(warnings, "showwarning", real)

        @tool
        def show() -> None:
            """Show a warning in a file, and one on the screen."""
            for where in (file, None):
                warning = UserWarning("soon"), UserWarning, "f", 1
                warnings.showwarning(*warning, file=where, line="1 / 0")

        run, thread = background(show)
        join(thread)
        assert run.output.text == "warning: UserWarning: soon\n"
        assert file.getvalue() == "f:1 soon 1 / 0"


class TestDisplay:
    def test_is_kept_with_its_looks(self, shell):
        """What is displayed, in threads too, is kept as safe HTML; an update replaces it."""
        with capture_output() as outside:
            run, thread = background(tools.show)
            join(thread)
        html = [c.html for c in run.output.chunks() if c.stream == "display"]
        assert len(html) == 3
        assert "<strong>bold</strong>" in html[0]
        assert "alert" not in html[0]
        assert "second" in html[1]
        assert "<em>thread</em>" in html[2]
        assert outside.outputs == []
        assert "publish" not in vars(shell.display_pub)

    def test_outside_runs_goes_where_it_always_did(self, shell):
        """A cell that displays while a run goes on shows it in the cell."""
        steps = tools.Steps()
        with capture_output() as outside:
            run, thread = background(steps.tool)
            assert steps.begun.wait(PATIENCE)
            tools.display({"text/plain": "mine"}, raw=True)
            steps.go_on.set()
            join(thread)
        assert run.output.text == ""
        assert [output.data for output in outside.outputs] == [{"text/plain": "mine"}]


class TestInheriting:
    def test_leaves_no_trace(self, shell):
        """Everything is called as it always was when no run is active, whichever ended last."""

        def called():
            owners = {
                "write": (sys.stdout, sys.stderr),
                "isatty": (sys.stdout, sys.stderr),
                "publish": (shell.display_pub,),
                "clear_output": (shell.display_pub,),
                "start": (threading.Thread,),
                "__init__": (subprocess.Popen,),
                "callHandlers": (logging.Logger,),
                "showwarning": (warnings,),
            }
            return [vars(o).get(name) for name, several in owners.items() for o in several]

        before, streams = called(), (sys.stdout, sys.stderr)
        first, second = tools.Steps(), tools.Steps()
        threads = [background(steps.tool)[1] for steps in (first, second)]
        assert first.begun.wait(PATIENCE)
        assert second.begun.wait(PATIENCE)
        assert all(map(is_not, called(), before))
        for steps, thread in zip((first, second), threads, strict=True):
            steps.go_on.set()
            join(thread)
        assert all(map(is_, called(), before))
        assert (sys.stdout, sys.stderr) == streams

    def test_holds_in_pools(self):
        """A pool an executor makes works for its run."""

        @tool
        def pooled() -> None:
            """Print in a pool."""
            # `print` writes a value and the end of its line one after the other
            lines = [f"{number}\n" for number in range(20)]
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(sys.stdout.write, lines))

        run, _ = background(pooled)
        assert run.done.wait(PATIENCE)
        assert sorted(run.output.text.split(), key=int) == list(map(str, range(20)))


class TestTheInterpreter:
    @pytest.mark.slow
    def test_lives_while_something_prints(self):
        """However often runs and cells begin and end beside a print, nothing is lost or freed."""
        script = Path(__file__).parents[2] / "scripts" / "stress.py"
        done = subprocess.run(
            [sys.executable, str(script), "2"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert int(re.search(r"beside ([\d,]+) runs", done.stdout)[1].replace(",", ""))


class TestSecrets:
    def test_are_hidden_in_what_is_said(self, shell):
        """A secret argument the tool prints, displays or raises is hidden for people."""
        arguments = {"user": "nobody", "password": "hunter2!"}
        run, thread = background(tools.unlock, arguments)
        join(thread)
        assert run.state == "error"
        text = run.output.text + run.traceback + run.observation.text
        assert "hunter2" not in text
        assert "trying <secret-hidden>" in text
