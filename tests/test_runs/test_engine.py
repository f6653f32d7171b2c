import os
import sys
import threading
import warnings
from io import StringIO

import pytest

from test_runs import tools
from toolbench import current_run, history, run_tool
from toolbench.runs import engine
from toolbench.runs.engine import active, perform, start, stop
from toolbench.runs.questions import preset
from toolbench.runs.run import Run


def background(tool, arguments=None, **options):
    run = Run(tool, arguments or {}, source="button", **options)
    return run, start(run)


class TestRunTool:
    def test_returns_the_observation(self):
        """A tool that works gives its observation, and the Python object in it."""
        assert run_tool(tools.add, {"a": 2}, b=3).result == 5

    def test_says_what_does_not_fit_a_line_each(self):
        """Arguments that do not fit give an error observation with one line per field."""
        observation = run_tool(tools.add, a="many", c=1)
        lines = observation.text.splitlines()
        assert observation.is_error
        assert [line.partition(":")[0] for line in lines[1:]] == ["- a", "- c"]

    def test_keeps_what_went_wrong_from_the_model_but_its_message(self):
        """An executor that raises gives its message; the traceback is for people."""
        observation = run_tool(tools.fail)
        record = history()[-1]
        assert observation.text == "ValueError: the disk is full"
        assert "raise ValueError" in record.traceback
        assert "toolbench/runs" not in record.traceback

    def test_passes_an_interrupt_on(self):
        """Kernel > Interrupt during a cell's run reaches the cell, and is recorded."""

        def interrupted(action):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_tool(tools.add.set_executor(interrupted), a=1)
        assert history()[-1].state == "cancelled"

    def test_needs_an_executor(self):
        """A tool that cannot run is wrong use, not a failed run."""
        with pytest.raises(NotImplementedError, match="'add' has no executor"):
            run_tool(tools.add.set_executor(None), a=1)


class TestPlainCalls:
    @pytest.fixture(autouse=True)
    def _recorded(self):
        engine.record_calls()
        yield
        engine.forget_calls()

    def test_are_recorded(self):
        """`tool(action)` is a run like any other once toolbench is loaded."""
        tools.add({"a": 2})
        assert (history()[-1].tool, history()[-1].source) == ("add", "python")

    def test_raise_what_the_tool_raises(self):
        """A plain call stays plain: the executor's own exception comes out."""
        with pytest.raises(ValueError, match="disk is full"):
            tools.fail({})
        assert history()[-1].state == "error"


class TestBackground:
    def test_ends_with_the_observation(self):
        """A background run ends as ok, with what the tool returned."""
        run, _ = background(tools.add, {"a": 1})
        assert run.done.wait(20)
        assert (run.state, run.observation.result) == ("ok", 2)

    def test_keeps_what_is_printed(self):
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

    def test_keeps_warnings_and_logs(self):
        """Warnings and log messages of libraries belong to the run too."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            run, thread = background(tools.warn)
            thread.join(20)
        assert "soon gone" in run.output.text
        assert "low on memory" in run.output.text

    def test_leave_nothing_behind(self):
        """When all runs are over no thread of theirs is left."""
        started = [background(tools.add, {"a": n}) for n in range(50)]
        for run, thread in started:
            assert run.done.wait(20)
            thread.join(20)
        assert {run.state for run, _ in started} == {"ok"}
        assert len(active) == 0
        left = [t.name for t in threading.enumerate() if "toolbench-run" in t.name]
        assert left == []


class TestCancel:
    def test_asks_first(self):
        """A tool that listens ends by itself, and what it returns is kept."""
        steps = tools.Steps()
        run, _ = background(steps.tool)
        assert steps.begun.wait(20)
        stop(run)
        assert run.done.wait(20)
        assert steps.told.is_set()
        assert (run.state, run.observation.text) == ("cancelled", "stopped early")

    def test_then_breaks_off(self, monkeypatch):
        """A tool that does not listen is broken off."""
        monkeypatch.setattr("toolbench.runs.cancel.GRACE", 0.05)
        spinner = tools.Spinner()
        run, thread = background(spinner.tool)
        assert spinner.begun.wait(20)
        stop(run)
        assert run.done.wait(20)
        thread.join(20)
        assert run.state == "cancelled"

    @pytest.mark.skipif(
        sys.platform != "linux", reason="only Linux tells whose child it is"
    )
    def test_kills_processes_the_tool_waits_for(self, monkeypatch):
        """A tool that waits for a process ends, and the process with it."""
        monkeypatch.setattr("toolbench.runs.cancel.GRACE", 0.05)
        sleeper = tools.Sleeper()
        run, _ = background(sleeper.tool)
        assert sleeper.begun.wait(20)
        stop(run)
        assert run.done.wait(20)
        with pytest.raises(ProcessLookupError):
            os.kill(sleeper.pid, 0)

    def test_after_a_timeout(self):
        """A run that takes too long is cancelled, and says so."""
        steps = tools.Steps()
        run = Run(steps.tool, {}, source="button")
        start(run, timeout=0.05)
        assert run.done.wait(20)
        assert (run.state, run.reason) == ("cancelled", "timed out after 0.05 s")

    def test_of_a_finished_run_changes_nothing(self):
        """Cancelling what is over is fine."""
        run, _ = background(tools.add, {"a": 1})
        assert run.done.wait(20)
        stop(run)
        assert run.state == "ok"


class TestQuestions:
    def test_are_answered_by_whoever_asks(self):
        """The run's asker answers; the tool gets the content."""
        run = Run(tools.ask_name, {}, source="magic", asker=preset({"name": "Ada"}))
        assert perform(run).text == "Hello Ada."

    def test_are_declined_where_nobody_can_answer(self):
        """A background run without anybody to ask goes on with a decline."""
        run, _ = background(tools.ask_name)
        assert run.done.wait(20)
        assert run.observation.text == "Nobody: decline."

    def test_go_through_input_in_a_cell(self, monkeypatch):
        """In a cell each field is asked for by input(), again while it does not fit."""
        said = iter(["x", "Ada"])
        monkeypatch.setattr("builtins.input", lambda prompt: next(said))
        assert run_tool(tools.ask_name).text == "Hello Ada."

    def test_are_declined_without_input(self, monkeypatch):
        """Where the front end has no input(), as under nbconvert, a question is declined."""

        def no_input(prompt):
            raise EOFError

        monkeypatch.setattr("builtins.input", no_input)
        assert run_tool(tools.ask_name).text == "Nobody: decline."

    def test_outside_a_run_find_nobody(self):
        """An executor that asks works anywhere: outside a run it is declined."""
        assert not current_run().ask("Really?")


class TestConsent:
    @pytest.mark.parametrize(
        ("answer", "state", "text"),
        [
            ({"answer": True}, "ok", "erased x"),
            ({"answer": False}, "denied", "erase was not run: nobody agreed"),
            (None, "denied", "erase was not run: nobody agreed"),
        ],
    )
    def test_is_asked_for_before_something_is_destroyed(self, answer, state, text):
        """A destructive tool runs only if somebody agreed; the record says what was decided."""
        asker = preset(*([answer] if answer else []))
        run = Run(tools.erase, {"path": "x"}, source="button", asker=asker)
        observation = perform(run, confirm=True)
        assert run.state == state
        assert observation.text.startswith(text)
        assert history()[-1].decision.endswith("erase may delete or overwrite")

    def test_is_asked_for_when_the_call_is_rated_high(self):
        """A call its model rated HIGH asks, whatever the tool says of itself."""
        run = Run(tools.add, {"a": 1, "security_risk": "HIGH"}, source="magic")
        perform(run, confirm=True)
        assert run.state == "denied"

    def test_is_not_asked_for_by_default_hints(self):
        """MCP's default for the hint is no declaration: nothing is asked."""
        run = Run(tools.add, {"a": 1}, source="button")
        perform(run, confirm=True)
        assert run.state == "ok"
