"""Run several calls in parallel; calls that share a resource run one after another."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from functools import partial
from itertools import starmap
from threading import current_thread, main_thread
from typing import Any

from pydantic import SecretStr

from toolbench.core.executor import FunctionExecutor
from toolbench.core.registry import the_tool
from toolbench.core.schema import Action, Observation
from toolbench.core.secrets import given, values_of
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import warn_of_earlier_class
from toolbench.errors import ToolbenchError
from toolbench.runs.control import INTERRUPTED, Cancellable, active, stop
from toolbench.runs.dialogue import Desk, settle, withdrawable
from toolbench.runs.perform import call_of, execute, perform
from toolbench.runs.questions import Answer, Asker, Question, decline
from toolbench.runs.run import Run, run_here
from toolbench.threads import have_threads
from toolbench.values import sentence

Call = tuple[ToolDefinition[Any, Any] | Tool | str, Mapping[str, Any] | Action]
"""A tool (or its registered name, or its spec) and its arguments."""

# Frames up to the cell: it calls `run_tools`, which calls `_run`
_CALLER = 3
# Seconds that a call waits for the main thread, which may itself be waiting for the user
_LONGEST_TURN = 0.5
# Seconds within which no call can have started a process and waited for it
_SWIFT = 0.001


def run_tools(
    calls: Sequence[Call],
    *,
    max_parallel: int = 4,
    executor: Executor | None = None,
) -> list[Observation]:
    """Run *calls* in parallel and return their observations, in the order of *calls*.

    Calls whose tools declare the same resource (`ToolDefinition.declared_resources`) run one after
    another, in order. If a tool declares no resources, its executor object runs one call at a time.
    Plain functions and read-only tools may run any number of calls at a time. Every run is recorded
    in `history()`. An interrupt stops all runs.

    Args:
        calls: Pairs of a tool and its arguments.
        max_parallel: The maximum number of calls to run at once.
        executor: A `concurrent.futures.Executor` that does the work in other processes or on a
            cluster, such as a process pool, or the executor of `dask` or `ipyparallel`. Tools,
            arguments and results are pickled. Therefore, the classes of a tool must be defined in a
            module, and tools made by `@tool` cannot be used. Locks and records stay in this
            process.

    Raises:
        ValueError: If *max_parallel* is less than 1.
        ToolNotFoundError: If no tool is registered under one of the names.
        NotImplementedError: If a tool has no executor.
        TypeError: If *calls* has something other than a tool, or arguments that are neither a
            mapping nor an action.

    Examples:
        >>> from toolbench import run_tools, tool
        >>> @tool(read_only=True)
        ... def length(word: str) -> int:
        ...     "Count the letters of a word."
        ...     return len(word)
        >>> calls = [(length, {"word": word}) for word in ("tool", "bench")]
        >>> [result.text for result in run_tools(calls, max_parallel=2)]
        ['4', '5']
    """
    runs = list(starmap(_run, calls))
    perform_together(runs, max_parallel=max_parallel, executor=executor)
    return [run.outcome for run in runs]


def perform_together(
    runs: Sequence[Run],
    *,
    max_parallel: int = 4,
    executor: Executor | None = None,
    work_in: Callable[[Run], AbstractContextManager[object]] | None = None,
    is_left: Callable[[], bool] = lambda: False,
) -> None:
    """Perform *runs* in parallel, as `run_tools` does, and return when all have ended.

    Args:
        runs: The runs. Their tools must have executors.
        max_parallel: The maximum number of runs at once.
        executor: An executor that does the work in other processes or on a cluster; see
            `run_tools`.
        work_in: A function that gets a run and returns a context manager, for example from
            `redirect_to`. The run is performed inside this context.
        is_left: A function that is called regularly. If it returns True, `perform_together` returns
            immediately: the started runs continue, and the others never start.

    Raises:
        ValueError: If *max_parallel* is less than 1.
    """
    if max_parallel < 1:
        msg = f"max_parallel must be at least 1, not {max_parallel!r}."
        raise ValueError(msg)
    running: list[_Job] = []

    def meanwhile() -> None:
        if is_left():
            desk.tell(None)
        for job in running:
            job.run.progress_view.draw()

    desk = Desk(decline, meanwhile)
    waiting = [_Job(run, executor, desk, work_in) for run in runs]
    try:
        _perform_all(waiting, running, desk, max_parallel)
    except BaseException:
        # Usually KeyboardInterrupt: no run may continue
        for job in running:
            stop(job.run, INTERRUPTED)
        raise
    finally:
        desk.close()


def _perform_all(waiting: list["_Job"], running: list["_Job"], desk: Desk, most: int) -> None:
    """Perform the jobs in *waiting*, up to *most* at a time, until all end or the caller leaves.

    Jobs that are being performed are moved to *running*.
    """
    while waiting or running:
        for job in _startable(waiting, running, most):
            waiting.remove(job)
            running.append(job)
            job.start()
        ended: _Job | None = desk.serve()
        if ended is None:
            return
        running.remove(ended)
        ended.run.progress_view.erase()


def _run(tool: ToolDefinition[Any, Any] | Tool | str, call: Mapping[str, Any] | Action) -> Run:
    tool = the_tool(tool)
    tool.as_executable()
    warn_of_earlier_class(tool, stacklevel=_CALLER)
    return run_here(tool, call_of(tool, call))


class _Job:
    """One of the calls: its run, its resources, and how it is started."""

    def __init__(
        self,
        run: Run,
        executor: Executor | None,
        desk: Desk,
        work_in: Callable[[Run], AbstractContextManager[object]] | None,
    ) -> None:
        self.run = run
        self._in = work_in or nullcontext
        # Without threads, this thread asks
        if have_threads():
            dialogue = run.dialogue
            # Not the run, which would then wait for the garbage collector, as it has the dialogue
            dialogue.asker = partial(_ask, desk, dialogue.asker, run.control)
        self._desk = desk
        # Python tells only the main thread of an interrupt
        self._can_be_interrupted = have_threads() and current_thread() is main_thread()
        self.keys = _keys(self.run)
        self._work = execute
        if executor is not None:
            self._work = partial(_elsewhere, executor)

    def start(self) -> None:
        """Perform the run in a new thread, then report its end."""
        active.start(self.run, self._carry_out, partial(self._desk.tell, self))

    def _carry_out(self) -> None:
        with self._in(self.run):
            perform(self.run, work=self._executed)

    def _executed(self, run: Run) -> Observation:
        try:
            return self._work(run)
        finally:
            run.end_work()
            # An interrupt may just have ended the call's wait for the user
            if self._can_be_interrupted and run.seconds + run.dialogue.seconds > _SWIFT:
                self._let_interrupt_come_first()

    def _let_interrupt_come_first(self) -> None:
        """Wait until the main thread has noticed an interrupt, if there was one.

        Ctrl-C and Kernel > Interrupt also reach the processes of an executor and those that a call
        has started. The result of a killed process must not count as the result of the call.
        """
        turn = self._desk.put(None, lambda _: Answer("accept"))
        forget = self.run.on_cancel(partial(settle, turn, Answer("cancel")))
        with suppress(TimeoutError):
            turn.result(_LONGEST_TURN)
        forget()


def _elsewhere(executor: Executor, run: Run) -> Observation:
    """Let *executor* do the work of *run*, and wait for its observation."""
    future: Future[Observation]
    # A thread can use the run directly
    if isinstance(executor, ThreadPoolExecutor):
        future = executor.submit(copy_context().run, execute, run)
    else:
        # As secret strings, because workers log the arguments of a call that fails
        secrets = {key: SecretStr(value) for key, value in values_of(run.tool.secrets).items()}
        future = executor.submit(_executed, run.tool, run.action, secrets)
    run.on_cancel(future.cancel)
    try:
        return future.result()
    except Exception as error:
        # An executor may raise any error for objects it cannot send
        if (reason := _unpicklable(executor, run)) is not None:
            msg = (
                f"{run.tool.name} cannot be sent to another process: {reason}. Define its "
                "classes and functions in a module, or run it in threads."
            )
            raise ToolbenchError(msg) from error
        raise


def _executed(
    tool: ToolDefinition[Any, Any], action: Any, secrets: Mapping[str, SecretStr]
) -> Observation:
    """Execute *tool* in a worker process, with *secrets* that only this session may have."""
    with given({key: value.get_secret_value() for key, value in secrets.items()}):
        observation: Observation = tool.execute(action)
        return observation


def _unpicklable(executor: Executor, run: Run) -> str | None:
    """Return the reason why *run* cannot be sent to a process of *executor*; None if it can.

    The error that *executor* raises does not help, because its type and message depend on the
    Python version.
    """
    from concurrent.futures import (  # noqa: PLC0415 - brings multiprocessing
        ProcessPoolExecutor,
    )

    # Other executors pickle in other ways
    if not isinstance(executor, ProcessPoolExecutor):
        return None
    try:
        pickle.dumps((run.tool, run.action))
    except Exception as error:  # noqa: BLE001 - objects of the tool may raise anything
        return sentence(error)
    return None


def _startable(waiting: list[_Job], running: list[_Job], most: int) -> list[_Job]:
    """Return the jobs in *waiting* that can start now.

    At most *most* jobs run at once, and a job waits for earlier jobs that share its resource.
    """
    keys = set().union(*(job.keys for job in running))
    startable: list[_Job] = []
    for job in waiting:
        if len(running) + len(startable) < most and not job.keys & keys:
            startable.append(job)
        keys |= job.keys
    return startable


def _keys(run: Run) -> frozenset[Any]:
    tool = run.tool
    try:
        action = run.build()
    except Exception:  # noqa: BLE001 - the run will raise the same error, and use no resource
        return frozenset()
    resources = tool.declared_resources(action)
    if resources.declared:
        return frozenset(resources.keys)
    if tool.hints.readOnlyHint or isinstance(tool.executor, FunctionExecutor):
        # A plain function holds no resources
        return frozenset()
    return frozenset({id(tool.executor)})


def _ask(desk: Desk, asker: Asker, work: Cancellable, question: Question) -> Answer:
    """Let the thread that serves *desk* call *asker*; return a cancel when *work* is stopped."""
    answer = desk.put(question, withdrawable(asker, work))
    forget = work.on_cancel(partial(settle, answer, Answer("cancel")))
    try:
        return answer.result()
    finally:
        forget()
