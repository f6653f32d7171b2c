"""Have executors do many pieces of work, few at a time, and take results as they come."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from toolbench.runs.progress.cell_progress import wait

Task = TypeVar("Task")


class InThisThread(Executor):
    """Does the work in the thread that asks for it: where a person answers, or nothing else may."""

    def submit(
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Do the work, and return a future that is over."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future holds it, as of any executor
            future.set_exception(error)
        return future


@dataclass
class Lane(Generic[Task]):
    """Work for one executor."""

    executor: Executor
    tasks: Iterator[Task]
    submit: Callable[[Executor, Task], "Future[Any]"]
    width: int
    """How many pieces are given to the executor at most before it has done one."""
    running: dict[Task, "Future[Any]"] = field(default_factory=dict)
    next_task: Task | None = None
    """The one that is given next; None if that is not known yet, or none is left."""

    def fill(
        self,
        on_end: Callable[[tuple["Lane[Task]", Task]], object],
        may_begin: Callable[[], bool],
    ) -> None:
        """Give the executor as much as it may have."""
        while len(self.running) < self.width:
            if self.next_task is None:
                self.next_task = next(self.tasks, None)
            if (task := self.next_task) is None or not may_begin():
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
    may_begin: Callable[[], bool] = lambda: True,
    draw: Callable[[], object] | None = None,
) -> "Iterator[tuple[Task, Future[Any]]]":
    """Yield each task of *lanes* with its future, once that is over.

    Args:
        lanes: The work.
        may_begin: Is asked before each piece is begun; what may not, waits until another is over.
        draw: Is called again and again in this thread while nothing is over.
    """
    queue: SimpleQueue[tuple[Lane[Task], Task]] = SimpleQueue()
    while True:
        for lane in lanes:
            lane.fill(queue.put, may_begin)
        if not any(lane.running for lane in lanes):
            return
        lane, task = wait(queue, draw)
        yield task, lane.running[task]
        del lane.running[task]  # now: an interrupt before this does not lose it


def ended(lanes: list[Lane[Task]]) -> "Iterator[tuple[Task, Future[Any]]]":
    """Yield the tasks that are over and were not yielded: an interrupt loses none of them."""
    for lane in lanes:
        for task, future in list(lane.running.items()):
            if future.done() and not future.cancelled():
                yield task, lane.running.pop(task)


def cancel(lanes: list[Lane[Any]]) -> None:
    """Have the work of *lanes* not begin, where it has not begun."""
    for lane in lanes:
        for future in lane.running.values():
            future.cancel()
