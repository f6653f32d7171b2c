"""Run several calls side by side; those that share a resource, one after another."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from toolbench.core.executor import FunctionExecutor
from toolbench.core.registry import find_tool
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.plain import sentence
from toolbench.runs.background import active
from toolbench.runs.engine import call_of, execute, perform
from toolbench.runs.progress.cell_progress import EVERY
from toolbench.runs.questions import Answer, Asker, Question
from toolbench.runs.run import Run, run_here

Call = tuple[ToolDefinition[Any, Any] | str, Mapping[str, Any] | Action]
"""A tool, or the name it is registered under, and its arguments."""


def run_tools(
    calls: Sequence[Call],
    *,
    max_parallel: int = 4,
    executor: Executor | None = None,
) -> list[Observation]:
    """Run *calls* side by side and return their observations, in the order of *calls*.

    Calls whose tools declare the same resource (`ToolDefinition.declared_resources`) run one
    after another, in order. Where nothing is declared, an executor object does one call at a
    time; plain functions and read-only tools do as many as there are. Every run is recorded
    in `history()`. An interrupt stops them all.

    Args:
        calls: Pairs of a tool and its arguments.
        max_parallel: How many run at once.
        executor: Does the work elsewhere: a process pool, `dask`'s or `ipyparallel`'s
            executor. Tools, arguments and results travel there and back; locks and records
            stay here. To another process travels what is pickled: a tool whose classes a
            module defines. What `@tool` makes of a function is none of these.

    Raises:
        ValueError: If *max_parallel* is less than one.
        ToolNotFoundError: If no tool is registered under one of the names.
        NotImplementedError: If a tool has no executor.
        TypeError: If arguments are no mapping.
    """
    runs = [_run(tool, call) for tool, call in calls]
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
    """Carry *runs* out side by side, as `run_tools` does, and return when all are over.

    Args:
        runs: The runs, of tools that have executors.
        max_parallel: How many run at once.
        executor: Does the work elsewhere.
        work_in: What each run is carried out in, as `redirect_to`, in its thread.
        is_left: Is asked again and again whether to wait no longer: what runs then goes on by
            itself, and what does not run yet never does.

    Raises:
        ValueError: If *max_parallel* is less than one.
    """
    if max_parallel < 1:
        msg = f"At least one call runs at once, not {max_parallel!r}."
        raise ValueError(msg)
    events: SimpleQueue[_Message] = SimpleQueue()
    jobs = [_Job(run, executor, events.put, work_in) for run in runs]
    waiting, running = list(jobs), list[_Job]()
    try:
        while waiting or running:
            for job in _startable(waiting, running, max_parallel):
                waiting.remove(job)
                running.append(job)
                job.start()
            match _next(events, running, is_left):
                case None:
                    return
                case _Asked() as request:
                    request.answer()
                case job:
                    running.remove(job)
                    job.run.hide_progress()
    except (
        BaseException
    ):  # KeyboardInterrupt above all: nothing goes on behind its back
        for job in running:
            active.stop(job.run, "interrupted")
        raise


def _run(tool: ToolDefinition[Any, Any] | str, call: Mapping[str, Any] | Action) -> Run:
    tool = find_tool(tool) if isinstance(tool, str) else tool
    tool.as_executable()
    return run_here(tool, call_of(tool, call))


class _Asked:
    """A question of a job, put to whom it concerns by the thread that waits for them all."""

    def __init__(self, question: Question, asker: Asker) -> None:
        self._question, self._asker = question, asker
        self.answered: Future[Answer] = Future()

    def answer(self) -> None:
        self.answered.set_result(self._asker(self._question))


class _Job:
    """One call: its run, what it must not share, and how it is set going."""

    def __init__(
        self,
        run: Run,
        executor: Executor | None,
        say: "Callable[[_Message], object]",
        work_in: Callable[[Run], AbstractContextManager[object]] | None,
    ) -> None:
        self.run = run
        self._in = nullcontext if work_in is None else work_in
        self.run.asker = partial(_ask, say, self.run.asker, self.run)
        self._say = say
        self.keys = _keys(self.run)
        self._work = execute if executor is None else partial(_elsewhere, executor)

    def start(self) -> None:
        """Run in a thread of its own, and then say so."""
        active.start(self.run, self._carry_out, partial(self._say, self))

    def _carry_out(self) -> None:
        with self._in(self.run):
            perform(self.run, work=self._work)


def _elsewhere(executor: Executor, run: Run) -> Observation:
    """Have *executor* do the work of *run*."""
    future: Future[Observation]
    if isinstance(executor, ThreadPoolExecutor):  # the run is known there too
        future = executor.submit(copy_context().run, execute, run)
    else:
        future = executor.submit(run.tool.execute, run.action)
    run.on_cancel(future.cancel)
    try:
        return future.result()
    except Exception as error:  # whatever the executor raises for what it cannot send
        if (reason := _unpicklable(executor, run)) is not None:
            msg = (
                f"{run.tool.name} cannot be sent to another process: {reason}. Define its "
                "classes and functions in a module, or run it in threads."
            )
            raise ToolbenchError(msg) from error
        raise


def _unpicklable(executor: Executor, run: Run) -> str | None:
    """Return why the call of *run* cannot be sent to a process of *executor*, if it cannot.

    The error of *executor* does not tell: its kind and words differ from Python to Python.
    """
    from concurrent.futures import (  # noqa: PLC0415 - brings multiprocessing
        ProcessPoolExecutor,
    )

    if not isinstance(executor, ProcessPoolExecutor):  # others have ways of their own
        return None
    try:
        pickle.dumps((run.tool, run.action))
    except Exception as error:  # noqa: BLE001 - an object of the tool's may raise anything
        return sentence(error)
    return None


def _next(
    messages: "SimpleQueue[_Message]", running: list[_Job], is_left: Callable[[], bool]
) -> "_Message | None":
    """Take the next of *messages*, and show progress until it is there; None where the wait is over."""
    while True:
        with suppress(Empty):
            return messages.get(timeout=EVERY)
        if is_left():
            return None
        for job in running:
            job.run.show_progress()


def _startable(waiting: list[_Job], running: list[_Job], most: int) -> list[_Job]:
    """Return the jobs that can start now: no job starts before an earlier one that shares a resource."""
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
    except Exception:  # noqa: BLE001 - whatever it is, the run will raise it, and use nothing
        return frozenset()
    resources = tool.declared_resources(action)
    if resources.declared:
        return frozenset(resources.keys)
    if tool.hints.readOnlyHint or isinstance(tool.executor, FunctionExecutor):
        return frozenset()  # a plain function holds nothing of its own
    return frozenset({id(tool.executor)})


def _ask(
    say: "Callable[[_Message], object]", asker: Asker, run: Run, question: Question
) -> Answer:
    request = _Asked(question, asker)
    say(request)
    while not run.cancelled:
        with suppress(TimeoutError):
            return request.answered.result(timeout=0.05)
    return Answer("cancel")


_Message = _Job | _Asked
