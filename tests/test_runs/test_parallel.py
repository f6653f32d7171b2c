import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE, eventually

from test_runs import tools
from toolbench import (
    Action,
    Observation,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
    current_run,
    history,
    register_tool,
    tool,
)
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.declarations import DeclaredResources
from toolbench.core.registry import default_registry
from toolbench.errors import ToolNotFoundError
from toolbench.runs.control import active, stop
from toolbench.runs.parallel import run_tools
from toolbench.runs.perform import start
from toolbench.runs.questions import answering
from toolbench.runs.run import Run

[FINISH], [THINK] = FinishTool.create(), ThinkTool.create()


class UseAction(Action):
    what: str = ""
    n: int = 0


class Watched(ToolExecutor):
    """Notes who is inside together, and in which order they came."""

    def __init__(self, together=1):
        self.together = threading.Barrier(together)
        self.lock = threading.Lock()
        self.inside, self.met, self.order = set(), set(), []

    def __call__(self, action, conversation=None):
        with self.lock:
            self.inside.add(action.n)
            self.met.add(frozenset(self.inside))
            self.order.append(action.n)
        self.together.wait(PATIENCE)
        with self.lock:
            self.inside.discard(action.n)
        return Observation.from_text(str(action.n))


class Declaring(ToolDefinition):
    """Declares the resource its argument names."""

    def declared_resources(self, action):
        return DeclaredResources(keys=tuple(action.what.split()), declared=True)


def declaring(executor):
    return Declaring(name="use", action_type=UseAction, executor=executor)


def met(executor):
    return {group for group in executor.met if len(group) > 1}


def texts(observations):
    return [observation.text for observation in observations]


class TestSideBySide:
    def test_independent_calls_run_together(self):
        """Calls that share nothing are inside at the same time, or the barrier never opens."""
        executor = Watched(together=4)
        calls = [(declaring(executor), {"what": f"file:{n}", "n": n}) for n in range(4)]
        assert texts(run_tools(calls, max_parallel=4)) == ["0", "1", "2", "3"]

    def test_results_are_in_the_order_of_the_calls(self):
        """However they end, each result is where its call was."""
        last_is_done = threading.Event()

        @tool
        def answer(n: int):
            if n == 2:
                last_is_done.set()
            assert last_is_done.wait(PATIENCE)
            return n

        calls = [(answer, {"n": n}) for n in range(3)]
        assert texts(run_tools(calls, max_parallel=3)) == ["0", "1", "2"]
        assert texts(run_tools(calls, max_parallel=1)) == ["0", "1", "2"]

    def test_no_more_than_allowed_run_at_once(self):
        """`max_parallel` is a limit, also where everything is independent."""
        executor = Watched(together=2)
        calls = [(declaring(executor), {"what": str(n), "n": n}) for n in range(8)]
        run_tools(calls, max_parallel=2)
        assert max(len(group) for group in executor.met) == 2

    def test_nothing_is_nothing(self):
        """No calls, no results."""
        assert run_tools([]) == []

    def test_at_least_one_runs(self):
        """None at once would never end."""
        with pytest.raises(ValueError, match="max_parallel must be at least 1, not 0"):
            run_tools([], max_parallel=0)


class TestSharing:
    def test_calls_of_one_resource_run_one_after_another_in_order(self):
        """Whoever declares the same resource waits for the earlier one."""
        executor = Watched()
        calls = [(declaring(executor), {"what": "file:a", "n": n}) for n in range(6)]
        run_tools(calls, max_parallel=6)
        assert met(executor) == set()
        assert executor.order == list(range(6))

    def test_across_tools(self):
        """The resource is shared, not the tool: two tools that name it take turns."""
        executors = Watched(), Watched()
        inside = threading.Lock()

        def exclusive(executor):
            def use(action):
                assert inside.acquire(blocking=False), "two calls hold one resource"
                try:
                    return executor(action)
                finally:
                    inside.release()

            return declaring(use)

        both = [exclusive(executor) for executor in executors]
        observations = run_tools(
            [(both[n % 2], {"what": "db", "n": n}) for n in range(6)], max_parallel=6
        )
        assert not any(observation.is_error for observation in observations), texts(observations)

    def test_several_resources_of_one_call_are_all_held(self):
        """A call that names two waits for both; nobody deadlocks."""
        executor = Watched()
        resources = ["a b", "b c", "c a", "a", "b", "c"]
        calls = [(declaring(executor), {"what": w, "n": n}) for n, w in enumerate(resources)]
        run_tools(calls, max_parallel=6)
        for group in met(executor):
            names = [name for n in group for name in resources[n].split()]
            assert len(names) == len(set(names))

    def test_a_waiting_call_holds_no_place(self):
        """With two places, a call of another resource runs beside the first of a queue."""
        executor = Watched(together=2)
        queue = [(declaring(executor), {"what": "a", "n": n}) for n in (0, 1)]
        other = [(declaring(executor), {"what": "b", "n": n}) for n in (2, 3)]
        run_tools(queue + other, max_parallel=2)
        assert frozenset({0, 2}) in met(executor)
        assert not any({0, 1} <= group or {2, 3} <= group for group in met(executor))

    def test_an_executor_that_declares_nothing_does_one_call_at_a_time(self):
        """Nobody has thought about it: the safe way, for every tool of that executor."""
        executor = Watched()
        both = [ToolDefinition(name=n, action_type=UseAction, executor=executor) for n in "ab"]
        run_tools([(both[n % 2], {"n": n}) for n in range(4)], max_parallel=4)
        assert met(executor) == set()

    def test_read_only_tools_share_what_they_read(self):
        """A tool that changes nothing may be used by many."""
        executor = Watched(together=3)
        reading = ToolDefinition(
            name="read",
            action_type=UseAction,
            annotations=ToolAnnotations(readOnlyHint=True),
            executor=executor,
        )
        assert len(run_tools([(reading, {"n": n}) for n in range(3)], max_parallel=3)) == 3


class TestEachIsARun:
    def test_and_is_recorded(self):
        """Every call is in the history, with what it was given."""
        history().clear()
        run_tools([(FINISH, {"message": str(n)}) for n in range(3)])
        assert sorted(record.arguments["message"] for record in history()) == [
            "0",
            "1",
            "2",
        ]
        assert {record.state for record in history()} == {"ok"}
        assert len(active) == 0

    def test_and_fails_alone(self):
        """Arguments that do not fit, and executors that raise, spoil nothing else."""

        @tool
        def fail():
            raise OSError("disk full")

        calls = [(THINK, {}), (fail, {}), (FINISH, {"message": "fine"})]
        bad, failed, fine = run_tools(calls)
        assert bad.is_error and "thought: is required" in bad.text
        assert failed.is_error and failed.text == "OSError: disk full"
        assert fine.text == "fine"

    def test_and_knows_itself(self):
        """`current_run()` is the run of the call, in a pool of the user's too."""
        runs = {}

        @tool
        def look(n: int):
            runs[n] = current_run()
            return n

        run_tools([(look, {"n": n}) for n in range(2)])
        with ThreadPoolExecutor(2) as pool:
            run_tools([(look, {"n": n}) for n in (2, 3)], executor=pool)
        assert len({run.id for run in runs.values()}) == 4
        assert [runs[n].arguments["n"] for n in range(4)] == [0, 1, 2, 3]

    def test_and_may_ask(self):
        """Questions of runs side by side are asked one at a time."""

        @tool
        def ask(n: int):
            return str(bool(current_run().ask("Go on?")))

        with answering({"answer": True}, {"answer": True}):
            assert texts(run_tools([(ask, {"n": n}) for n in range(2)])) == [
                "True",
                "True",
            ]

    def test_an_action_is_as_good_as_its_arguments(self):
        """Calls take what a tool takes."""
        action = FINISH.action_type(message="m")
        assert texts(run_tools([(FINISH, action)])) == ["m"]
        [refused, refused_too] = run_tools([(THINK, action), (declaring(Watched()), action)])
        assert "TypeError: use takes a UseAction" in refused_too.text
        assert "TypeError: think takes a ThinkAction" in refused.text

    def test_and_takes_its_rating_out_of_the_arguments(self):
        """A `security_risk` is no argument of the tool, here or in a pool of the user's."""

        @tool
        def double(n: int):
            return 2 * n

        rated = {"n": 1, "security_risk": "LOW"}
        resources = declaring(Watched())
        with ThreadPoolExecutor(1) as pool:
            for executor in (None, pool):
                calls = [(double, rated), (resources, {"what": "a"} | rated)]
                assert texts(run_tools(calls, executor=executor)) == ["2", "1"]

    def test_and_shows_its_action(self):
        """What was called is known of the run, as of any other."""
        actions = []
        noting = tool(name="noting")(lambda: actions.append(current_run().action))
        run_tools([(noting, {})])
        assert isinstance(actions[0], noting.action_type)


class TestByName:
    def test_registered_tools_are_found(self):
        """A name stands for the tool."""
        register_tool("test_parallel", FINISH)
        try:
            assert texts(run_tools([("test_parallel", {"message": "m"})])) == ["m"]
        finally:
            default_registry.unregister("test_parallel")

    def test_wrong_use_raises_before_anything_runs(self):
        """A name nobody knows, or a tool that cannot run, is the caller's mistake."""
        calls = []
        noting = tool(name="noting")(lambda: calls.append(1))
        with pytest.raises(ToolNotFoundError):
            run_tools([(noting, {}), ("no such tool", {})])
        with pytest.raises(NotImplementedError, match="has no executor"):
            run_tools([(noting, {}), (FINISH.set_executor(None), {})])
        assert calls == []


class Stuck(ToolExecutor):
    """Has the kernel interrupted, and stops only when it is told to."""

    def __init__(self):
        self.stop_event = threading.Event()
        self.numbers = []

    def __call__(self, action):
        self.numbers.append(action.n)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        assert self.stop_event.wait(PATIENCE)
        return Observation()

    def interrupt(self):
        self.stop_event.set()


class Deaf(ToolExecutor):
    """Goes on until it is broken off."""

    def __init__(self):
        self.begun = threading.Event()

    def __call__(self, action):
        self.begun.set()
        while True:
            pass


class TestCancelling:
    @pytest.mark.parametrize("pooled", [False, True])
    def test_reaches_what_is_awaited(self, pooled):
        """Coroutines are cancelled at their `await` when the run around them is."""
        waiters = tools.Waiter(), tools.Waiter()

        @tool
        def outer() -> str:
            """Run two, side by side."""
            calls = [(waiter.tool, {}) for waiter in waiters]
            with ThreadPoolExecutor(2) as pool:
                return str(texts(run_tools(calls, executor=pool if pooled else None)))

        run = Run(outer, {}, source="button")
        start(run)
        assert all(waiter.begun.wait(PATIENCE) for waiter in waiters)
        stop(run)
        assert all(waiter.cancelled.wait(PATIENCE) for waiter in waiters)
        assert run.done.wait(PATIENCE)
        assert {record.state for record in history()} == {"cancelled"}

    def test_breaks_off_what_does_not_listen(self, impatient):
        """The threads of the calls are struck like that of the run they are part of."""
        deaf = Deaf()

        @tool
        def outer() -> str:
            """Run one that never looks."""
            call = ToolDefinition(name="deaf", action_type=UseAction, executor=deaf)
            return run_tools([(call, {})])[0].text

        run = Run(outer, {}, source="button")
        start(run)
        assert deaf.begun.wait(PATIENCE)
        stop(run)
        assert run.done.wait(PATIENCE)
        assert {record.state for record in history()} == {"cancelled"}


class TestInterrupting:
    @pytest.mark.usefixtures("no_collector")
    def test_stops_what_runs_and_starts_nothing_more(self):
        """Ctrl-C reaches the executors; calls that wait are never made."""
        stuck = Stuck()
        tool = ToolDefinition(name="stuck", action_type=UseAction, executor=stuck)
        with pytest.raises(KeyboardInterrupt):
            run_tools([(tool, {"n": n}) for n in range(3)])
        assert stuck.stop_event.wait(PATIENCE)
        assert stuck.numbers == [0]

    def test_counts_no_time_for_a_question_of_another_call(self, monkeypatch):
        """A call is recorded after the thread that asks had its turn, but took no longer for that."""
        turn = 2.0
        monkeypatch.setattr("toolbench.runs.parallel._LONGEST_TURN", turn)
        monkeypatch.setattr("toolbench.runs.parallel._SWIFT", 0)
        asked = threading.Event()

        def answer(prompt):
            asked.set()
            # Calls that earlier tests gave up may end now
            eventually(lambda: history().of(other), what="the record of the other call")
            return "y"

        monkeypatch.setattr("builtins.input", answer)

        @tool(read_only=True)
        def ask() -> str:
            return current_run().ask("Go on?").action

        @tool(read_only=True)
        def other() -> str:
            assert asked.wait(PATIENCE)
            return "done"

        results = run_tools([(other, {}), (ask, {})])
        assert [result.text for result in results] == ["done", "accept"]
        [record] = history().of(other)
        assert record.seconds < turn

    @pytest.mark.slow
    @pytest.mark.parametrize("executor", ["None", "ProcessPoolExecutor(3)"])
    def test_records_no_killed_call_as_ok(self, tmp_path, executor):
        """Ctrl-C also kills the processes of the calls, often before it reaches the cell."""
        (tmp_path / "waits.py").write_text(WAITS)
        program = INTERRUPTED_PROGRAM.replace("EXECUTOR", executor)
        command = [sys.executable, "-c", program]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
        ) as process:
            assert [process.stdout.readline() for _ in range(3)] == ["begun\n"] * 3
            os.killpg(process.pid, signal.SIGINT)
            states = process.stdout.read().split()
        assert states == ["cancelled"] * 3


WAITS = '''
import subprocess, sys
from toolbench import Action, Observation, ToolDefinition

CHILD = """
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.write(1, b"begun" + bytes([10]))
time.sleep(60)
"""

class Wait(Action):
    n: int

def wait(action):
    subprocess.run([sys.executable, "-c", CHILD])
    return Observation.from_text("ended")

tool = ToolDefinition(name="wait", action_type=Wait, executor=wait)
'''
INTERRUPTED_PROGRAM = """
import sys
sys.path.insert(0, "")
from concurrent.futures import ProcessPoolExecutor
from toolbench import history, run_tools
from toolbench.runs.control import active
from waits import tool

executor = EXECUTOR
try:
    run_tools([(tool, {"n": n}) for n in range(3)], executor=executor)
except KeyboardInterrupt:
    pass
for run in active:
    run.done.wait()
print(*[record.state for record in history()], flush=True)
"""
