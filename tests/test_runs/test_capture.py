"""What a background run says stays with it; everybody else's words go where they always did."""

import logging
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from test_runs import tools
from toolbench import current_run, tool
from toolbench.runs.engine import start
from toolbench.runs.run import Run


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
        assert run.done.wait(20)
        expected = "printed\ncomplained\nprinted in a thread\ninfo: logged\n"
        assert run.output.text == expected

    def test_leaves_the_streams_as_they_were(self, monkeypatch):
        """Other code prints where it always did, during a run and after."""
        mine = StringIO()
        monkeypatch.setattr(sys, "stdout", mine)
        steps = tools.Steps()
        run, thread = background(steps.tool)
        assert steps.begun.wait(20)
        print("from a cell")
        steps.go_on.set()
        thread.join(20)
        assert mine.getvalue() == "from a cell\n"
        assert sys.stdout is mine
        assert run.output.text == ""

    def test_of_two_runs_is_not_mixed(self):
        """Each run has its own, however they take turns."""
        turn = threading.Barrier(2)

        @tool
        def count(name: str) -> None:
            """Print a hundred lines, in step with another."""
            for n in range(100):
                turn.wait(20)
                print(name, n)

        runs = [background(count, {"name": name})[0] for name in ("a", "b")]
        for run, name in zip(runs, ("a", "b"), strict=True):
            assert run.done.wait(20)
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
                thread.join()

        run, _ = background(flood)
        assert run.done.wait(60)
        lines = run.output.text.splitlines()
        assert sorted(lines) == sorted(f"{i}-{n}" for i in range(8) for n in range(600))
        assert run.version >= 2 * 8 * 600

    def test_survives_somebody_who_replaces_the_streams(self, monkeypatch):
        """A stream put over ours in the meantime is left alone."""
        steps = tools.Steps()
        _, thread = background(steps.tool)
        assert steps.begun.wait(20)
        theirs = StringIO()
        monkeypatch.setattr(sys, "stdout", theirs)
        steps.go_on.set()
        thread.join(20)
        assert sys.stdout is theirs


class TestLogs:
    def test_and_warnings_are_kept(self):
        """Warnings and log messages of libraries belong to the run too."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            run, thread = background(tools.warn)
            thread.join(20)
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
                thread.join(20)
            logging.getLogger("cell").warning("mine")
        finally:
            root.removeHandler(handler)
        assert "low on memory" in run.output.text
        assert screen.getvalue() == "mine\n"
        assert handler.filters == []


class TestDisplay:
    def test_is_kept_with_its_looks(self, shell):
        """What is displayed, in threads too, is kept as safe HTML; an update replaces it."""
        with capture_output() as outside:
            run, thread = background(tools.show)
            thread.join(20)
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
            assert steps.begun.wait(20)
            tools.display({"text/plain": "mine"}, raw=True)
            steps.go_on.set()
            thread.join(20)
        assert run.output.text == ""
        assert [output.data for output in outside.outputs] == [{"text/plain": "mine"}]


class TestInheriting:
    def test_leaves_no_trace(self):
        """Threads and processes start as they always did when no run is active."""
        background(tools.talk)[1].join(20)
        assert threading.Thread.start.__module__ == "threading"
        assert subprocess.Popen.__init__.__module__ == "subprocess"
        assert not hasattr(threading.Thread.start, "__wrapped__")

    def test_holds_in_pools(self):
        """A pool an executor makes works for its run."""

        @tool
        def pooled() -> None:
            """Print in a pool."""
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(print, range(20)))

        run, _ = background(pooled)
        assert run.done.wait(20)
        assert sorted(run.output.text.split(), key=int) == list(map(str, range(20)))


class TestSecrets:
    def test_are_hidden_in_what_is_said(self, shell):
        """A secret argument the tool prints, displays or raises is hidden for people."""
        given = {"user": "nobody", "password": "hunter2!"}
        run, thread = background(tools.unlock, given)
        thread.join(20)
        assert run.state == "error"
        said = run.output.text + run.traceback + run.observation.text
        assert "hunter2" not in said
        assert "trying <secret-hidden>" in said
