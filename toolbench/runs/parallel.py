"""Run several calls side by side; those that share a resource, one after another."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any

from toolbench.core.executor import FunctionExecutor
from toolbench.core.registry import resolve_one
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ArgumentsError
from toolbench.runs.active import active
from toolbench.runs.engine import executing, mapping_of, perform, run_here
from toolbench.runs.meter import wait
from toolbench.runs.questions import Answer, Asker, Question
from toolbench.runs.run import Run

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
    if max_parallel < 1:
        msg = f"At least one call runs at once, not {max_parallel!r}."
        raise ValueError(msg)
    said: SimpleQueue[_Said] = SimpleQueue()
    jobs = [_Job(tool, given, executor, said.put) for tool, given in calls]
    waiting, running = list(jobs), list[_Job]()
    try:
        while waiting or running:
            for job in _startable(waiting, running, max_parallel):
                waiting.remove(job)
                running.append(job)
                job.start()
            match wait(said, partial(_draw, running)):
                case _Asked() as asked:
                    asked.answer()
                case job:
                    running.remove(job)
                    job.run.hide_progress()
    except (
        BaseException
    ):  # KeyboardInterrupt above all: nothing goes on behind its back
        for job in running:
            active.stop(job.run, "interrupted")
        raise
    seen = [job.run.observation for job in jobs]
    return [Observation() if one is None else one for one in seen]


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
        tool: ToolDefinition[Any, Any] | str,
        given: Mapping[str, Any] | Action,
        executor: Executor | None,
        say: "Callable[[_Said], object]",
    ) -> None:
        tool = resolve_one(tool) if isinstance(tool, str) else tool
        tool.as_executable()
        arguments = given.to_arguments() if isinstance(given, Action) else given
        self.run = run_here(tool, mapping_of(tool, arguments))
        self.run.asker = partial(_ask, say, self.run.asker, self.run)
        self._say = say
        self._action = given if isinstance(given, Action) else None
        # as the run has them: it takes out how the call was rated
        self._given = given if isinstance(given, Action) else self.run.arguments
        self.keys = _keys(tool, self._given)
        self._executor = executor

    def start(self) -> None:
        """Run in a thread of its own, and then say so."""
        work = partial(perform, self.run, execute=self._execute)
        active.start(self.run, work, partial(self._say, self))

    def _execute(self) -> Observation:
        here = executing(self.run, self._action)
        if self._executor is None:
            return here()
        future: Future[Observation]
        if isinstance(self._executor, ThreadPoolExecutor):  # the run is known there too
            future = self._executor.submit(copy_context().run, here)
        else:
            future = self._executor.submit(self.run.tool.execute, self._given)
        self.run.on_cancel(future.cancel)
        return future.result()


def _draw(running: list[_Job]) -> None:
    for job in running:
        job.run.show_progress()


def _startable(waiting: list[_Job], running: list[_Job], most: int) -> list[_Job]:
    """The jobs that can start now: none overtakes an earlier one with which it shares."""
    taken = set().union(*(job.keys for job in running))
    found: list[_Job] = []
    for job in waiting:
        if len(running) + len(found) < most and not job.keys & taken:
            found.append(job)
        taken |= job.keys
    return found


def _keys(tool: ToolDefinition[Any, Any], given: Any) -> frozenset[Any]:
    try:
        action = (
            given if isinstance(given, Action) else tool.action_from_arguments(given)
        )
    except ArgumentsError:
        return frozenset()  # the run will say so, and use nothing
    if not isinstance(action, tool.action_type):
        return frozenset()  # as above
    resources = tool.declared_resources(action)
    if resources.declared:
        return frozenset(resources.keys)
    if tool.hints.readOnlyHint or isinstance(tool.executor, FunctionExecutor):
        return frozenset()  # a plain function holds nothing of its own
    return frozenset({id(tool.executor)})


def _ask(
    say: "Callable[[_Said], object]", asker: Asker, run: Run, question: Question
) -> Answer:
    asked = _Asked(question, asker)
    say(asked)
    while not run.cancelled:
        with suppress(TimeoutError):
            return asked.answered.result(timeout=0.05)
    return Answer("cancel")


_Said = _Job | _Asked
