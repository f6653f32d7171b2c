"""Stopping runs: asked, insisted, and never more than the run."""

import subprocess
import sys
import threading

import psutil
import pytest
from patience import PATIENCE, eventually, join

from test_runs import tools
from toolbench import ToolExecutor, current_run, history, tool
from toolbench.runs.control import RunCancelled, Stop, stop
from toolbench.runs.perform import perform, start
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run


def background(tool, arguments=None, **options):
    run = Run(tool, arguments or {}, source="button", **options)
    return run, start(run)


class TestAsking:
    def test_comes_first(self):
        """A tool that listens ends by itself; what it returns is kept, and told to be partial."""
        steps = tools.Steps()
        run, _ = background(steps.tool)
        assert steps.begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert steps.cancel_event.is_set()
        note = "[The user cancelled the run. The result above may be incomplete.]"
        text = f"stopped early\n{note}"
        assert (run.state, run.observation.text) == ("cancelled", text)
        assert run.observation.data == "stopped early"
        assert not run.observation.is_error

    def test_cancels_what_is_awaited(self):
        """A coroutine is cancelled at its `await`; it was part of the run until then."""
        waiter = tools.Waiter()
        run, _ = background(waiter.tool)
        assert waiter.begun.wait(PATIENCE)
        assert run.output.text == "waiting\n"
        assert run.progress_view.state.value == 1
        stop(run)
        assert waiter.cancelled.wait(PATIENCE)
        assert run.done.wait(PATIENCE)
        assert run.state == "cancelled"

    def test_leaves_other_runs_of_the_executor_alone(self):
        """One that stops at its callback is not told through the executor they share."""
        interrupted = threading.Event()
        begun = threading.Barrier(3)

        class Shared(ToolExecutor):
            def __call__(self, action, conversation=None):
                stopped = threading.Event()
                current_run().on_cancel(stopped.set)
                begun.wait(PATIENCE)
                assert stopped.wait(PATIENCE)

            def interrupt(self):
                interrupted.set()

        shared = tools.add.set_executor(Shared())
        one, _ = background(shared, {"a": 1})
        other, _ = background(shared, {"a": 2})
        begun.wait(PATIENCE)
        stop(one)
        assert one.done.wait(PATIENCE)
        assert not interrupted.is_set()
        assert not other.done.is_set()
        stop(other)
        assert other.done.wait(PATIENCE)

    def test_tells_an_executor_that_has_no_callback(self):
        """`interrupt()` is called at once where the run registered nothing."""

        class Interruptible(ToolExecutor):
            def __init__(self):
                self.begun, self.stop = threading.Event(), threading.Event()

            def __call__(self, action, conversation=None):
                self.begun.set()
                assert self.stop.wait(PATIENCE)

            def interrupt(self):
                self.stop.set()

        executor = Interruptible()
        run, _ = background(tools.add.set_executor(executor), {"a": 1})
        assert executor.begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert run.state == "cancelled"

    def test_survives_bad_callbacks(self):
        """A callback that fails is noted; the others are called."""
        steps = tools.Steps()
        run, _ = background(steps.tool)
        assert steps.begun.wait(PATIENCE)
        run.on_cancel(lambda: 1 / 0)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert steps.cancel_event.is_set()

    def test_is_heard_at_once_by_who_registers_late(self):
        """A callback registered after the cancel is called there and then."""
        run = Run(tools.add, {"a": 1}, source="button")
        run.control.request()
        calls = []
        run.on_cancel(lambda: calls.append(1))
        assert calls == [1]

    def test_can_be_taken_back(self):
        """A callback that was taken back is not called."""
        run = Run(tools.add, {"a": 1}, source="button")
        calls = []
        run.on_cancel(lambda: calls.append(1))()
        run.control.request()
        assert calls == []

    def test_before_the_start_means_no_start(self):
        """A run that is cancelled before its turn never executes."""
        run = Run(tools.fail, {}, source="button")
        stop(run)
        perform(run)
        assert (run.state, run.traceback) == ("cancelled", "")

    def test_of_a_finished_run_changes_nothing(self):
        """Cancelling what is over is fine."""
        run, _ = background(tools.add, {"a": 1})
        assert run.done.wait(PATIENCE)
        stop(run)
        assert run.state == "ok"

    def test_while_it_asks_ends_the_question(self):
        """A run that waits for an answer stops waiting, and stays as stopping till it ends."""
        question_event, answers = threading.Event(), []

        def never(question):
            question_event.set()
            while not run.cancelled:
                pass
            return Answer("cancel")

        @tool
        def asking() -> str:
            """Ask."""
            answer = current_run().ask("Really?")
            answers.append((answer.action, run.state))
            return "ended"

        run = Run(asking, {}, source="button", asker=never)
        start(run)
        assert question_event.wait(PATIENCE)
        assert run.state == "waiting"
        stop(run)
        assert run.done.wait(PATIENCE)
        assert answers == [("cancel", "stopping")]


class TestInsisting:
    def test_breaks_off_what_does_not_listen(self, impatient):
        """A loop that never looks is broken off."""
        spinner = tools.Spinner()
        run, thread = background(spinner.tool)
        assert spinner.begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        join(thread)
        assert run.state == "cancelled"

    def test_is_repeated(self, impatient):
        """A tool that catches everything is struck again."""
        begun, caught = threading.Event(), []

        @tool
        def stubborn() -> None:
            """Go on after the first exceptions."""
            while len(caught) < 3:
                try:
                    begun.set()
                    while True:
                        pass
                except RunCancelled as error:
                    caught.append(type(error))

        run, _ = background(stubborn)
        assert begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert caught == [RunCancelled] * 3
        assert run.state == "cancelled"

    def test_waits_for_a_call_blocked_in_c(self, impatient):
        """Nobody waits for it: it is given up, and stopping until the call returns."""
        blocked = tools.Blocked()

        @tool
        def block() -> None:
            """Block in C."""
            blocked()
            while True:
                pass

        run, _ = background(block)
        blocked.wait()
        stop(run)
        assert run.state == "stopping"
        assert eventually(lambda: run.control.is_given_up)
        assert run.state == "stopping"
        blocked.let_go()
        assert run.done.wait(PATIENCE)
        assert run.state == "cancelled"

    @pytest.mark.parametrize("in_a_thread", [True, False])
    def test_kills_processes_with_theirs(self, impatient, in_a_thread):
        """A tool that waits for a process ends, and the process with its children."""
        started = threading.Event()
        processes = []
        command = [sys.executable, "-c", _PARENT]

        @tool
        def work() -> int:
            """Start a process that starts another, and wait."""
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            with process:
                pids = process.pid, int(process.stdout.readline())
                processes.extend(map(psutil.Process, pids))
                started.set()
                return process.wait()

        run, _ = background(_in_a_thread(work) if in_a_thread else work)
        assert started.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert all(map(_is_gone, processes))

    def test_leaves_processes_of_others_alone(self, impatient):
        """What was not started by the run is not its to kill."""
        spinner = tools.Spinner()
        with subprocess.Popen(["sleep", "300"]) as mine:
            run, _ = background(spinner.tool)
            assert spinner.begun.wait(PATIENCE)
            stop(run)
            assert run.done.wait(PATIENCE)
            assert mine.poll() is None
            mine.kill()

    def test_comes_when_an_interrupt_hangs(self, impatient):
        """An executor whose `interrupt()` never returns is broken off all the same."""
        begun, hang = threading.Event(), threading.Event()

        class Hanging(ToolExecutor):
            def __call__(self, action, conversation=None):
                begun.set()
                while True:
                    pass

            def interrupt(self):
                assert hang.wait(PATIENCE)

        run, _ = background(tools.add.set_executor(Hanging()), {"a": 1})
        assert begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        hang.set()


_PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(child.pid, flush=True)
time.sleep(300)
"""


def _in_a_thread(inner):
    @tool
    def threaded() -> str:
        """Do it in a thread."""
        result = []
        thread = threading.Thread(target=lambda: result.append(inner.execute({})))
        thread.start()
        join(thread)
        return result[0].text

    return threaded


def _is_gone(process):
    """Wait until *process* is gone; one that nobody has waited for yet is gone too."""

    def is_gone():
        try:
            return process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    return eventually(is_gone)


class TestTimeLimit:
    def test_cancels_and_says_so(self):
        """A run that takes too long is cancelled, and the model is told why."""
        steps = tools.Steps()
        run = Run(steps.tool, {}, source="button")
        start(run, timeout=0.05)
        assert run.done.wait(PATIENCE)
        assert (run.state, run.control.why) == ("cancelled", Stop.timeout(0.05))

    def test_breaks_off_a_run_in_a_cell_too(self, impatient):
        """A run in the main thread ends as an observation, and nothing else is interrupted."""
        run = Run(tools.Spinner().tool, {}, source="magic")
        observation = perform(run, timeout=0.05)
        assert observation.text == "The run was timed out after 0.05 s."
        assert history()[-1].state == "cancelled"

    def test_is_told_where_the_tool_returned(self):
        """What a tool that heard of it gives back is kept, with a line that says so."""
        run = Run(tools.Steps().tool, {}, source="magic")
        # Enough to begin on a busy machine
        observation = perform(run, timeout=0.5)
        text = "stopped early\n[The run was timed out after 0.5 s. The result above may be incomplete.]"
        assert observation.text == history()[-1].observation.text == text
        assert not observation.is_error
        assert run.state == "cancelled"

    def test_of_an_outer_run_is_the_reason_of_the_inner_one(self):
        """No model reads that a person stopped it."""
        inner = Run(tools.Outer(tools.Steps().tool).tool, {}, source="magic")
        # Enough to begin the inner run on a busy machine
        perform(inner, timeout=1)
        texts = [record.observation.text for record in history()]
        assert len(texts) == 2
        assert all("timed out after 1 s" in text for text in texts)
        assert "person" not in "".join(texts)

    def test_of_a_run_in_time_changes_nothing(self):
        """The clock is stopped when the run is over."""
        perform(Run(tools.add, {"a": 1}, source="magic"), timeout=60)
        clocks = [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
        for clock in clocks:
            join(clock)
        assert history()[-1].state == "ok"


class TestRunsInRuns:
    def test_are_shown_as_the_outer_one(self):
        """What the inner tool prints and asks belongs to the run a person looks at."""

        @tool
        def inner() -> str:
            """Print and ask."""
            print("from inside")
            return f"told {current_run().ask('Name?', {'type': 'string'}).value}"

        outer = tools.Outer(inner)
        run, _ = background(outer.tool, asker=lambda question: Answer("accept", {"answer": "Ada"}))
        assert run.done.wait(PATIENCE)
        assert run.output.text == "from inside\n"
        assert run.observation.text == "inner: told Ada"
        assert [record.tool for record in history()] == ["inner", "outer"]

    def test_stop_with_it(self, impatient):
        """Cancelling the outer run tells the inner one, and both end as cancelled."""
        steps = tools.Steps()
        run, _ = background(tools.Outer(steps.tool).tool)
        assert steps.begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert {record.state for record in history()} == {"cancelled"}

    def test_are_broken_off_with_it(self, impatient):
        """A strike goes through the inner run: the outer one does not go on with its result."""
        spinner = tools.Spinner()
        run, _ = background(tools.Outer(spinner.tool).tool)
        assert spinner.begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert (run.state, run.observation.text) == (
            "cancelled",
            "The user cancelled the run.",
        )
