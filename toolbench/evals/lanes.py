"""Let executors do many tasks, each executor a few at a time, and yield results as they arrive."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from toolbench.runs.progress import wait

Task = TypeVar("Task")


class InThisThread(Executor):
    """An executor that works in the calling thread, for example so that a person can answer."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do the work now, and return a finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the future holds the error
            future.set_exception(error)
        return future


def submitted(
    executor: Executor, function: Callable[..., Any], *args: Any, is_near: bool
) -> "Future[Any]":
    """Submit `function(*args)` to *executor*. If it is refused, the returned future has the error.

    If *is_near*, the executor works in threads of this process: the work is part of the caller's
    context then, and preset answers count in it.
    """
    if is_near:
        function = partial(copy_context().run, function)
    try:
        return executor.submit(function, *args)
    except Exception as error:  # noqa: BLE001 - each kind of executor has its own error
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


@dataclass
class Lane(Generic[Task]):
    """The tasks for one executor: those that run, and those that it gets later."""

    executor: Executor
    tasks: Iterator[Task]
    submit: Callable[[Executor, Task], "Future[Any]"]
    width: int
    """The most tasks that the executor has at a time."""
    running: dict[Task, "Future[Any]"] = field(default_factory=dict)
    next_task: Task | None = None
    """The next task; None if it is not known yet, or if there are no more."""

    def fill(
        self,
        on_end: Callable[[tuple["Lane[Task]", Task]], object],
        may_begin: Callable[[Task], bool],
    ) -> None:
        """Give tasks to the executor, until it has as many as allowed or a task may not begin.

        *on_end* gets this lane and the task when a task has ended.
        """
        while len(self.running) < self.width:
            if self.next_task is None:
                self.next_task = next(self.tasks, None)
            if (task := self.next_task) is None or not may_begin(task):
                return
            self.next_task = None
            future = self.submit(self.executor, task)
            self.running[task] = future
            future.add_done_callback(partial(_tell, on_end, self, task))


def _tell(on_end: Callable[[Any], object], lane: Any, task: Any, _: Any) -> None:
    on_end((lane, task))


def completed(
    lanes: list[Lane[Task]],
    *,
    may_begin: Callable[[Task], bool] = lambda _: True,
    draw: Callable[[], object] | None = None,
) -> "Iterator[tuple[Task, Future[Any]]]":
    """Yield each task of *lanes* with its future, when it has finished.

    Args:
        lanes: The tasks, in one lane for each executor.
        may_begin: Called with each task before it begins; if it returns False, the task waits until another
            one has finished.
        draw: Called repeatedly in this thread while no task finishes.
    """
    queue: SimpleQueue[tuple[Lane[Task], Task]] = SimpleQueue()
    while True:
        for lane in lanes:
            lane.fill(queue.put, may_begin)
        if not any(lane.running for lane in lanes):
            return
        lane, task = wait(queue, draw)
        yield task, lane.running[task]
        # Only now: an interrupt before this loses no task
        del lane.running[task]


def ended(lanes: list[Lane[Task]]) -> "Iterator[tuple[Task, Future[Any]]]":
    """Yield tasks that finished but that `completed` did not yield, because of an interrupt."""
    for lane in lanes:
        for task, future in list(lane.running.items()):
            if not future.done() or future.cancelled():
                continue
            if not isinstance(future.exception(), KeyboardInterrupt):
                yield task, lane.running.pop(task)


def cancel(lanes: list[Lane[Any]]) -> None:
    """Cancel the tasks of *lanes* that have not begun."""
    for lane in lanes:
        for future in lane.running.values():
            future.cancel()
