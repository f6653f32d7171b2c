"""Give executors many tasks, a few at a time, and yield results as they arrive."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import lru_cache, partial
from numbers import Integral
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from toolbench.core.tool import ToolDefinition
from toolbench.errors import CaseError
from toolbench.install_commands import how_to_install_extra
from toolbench.runs.exception_text import sentence_of
from toolbench.runs.progress import wait
from toolbench.threads import have_threads


def check_options(*, repeats: Any, workers: Any, executor: Any) -> None:
    """Check the options that a user gave.

    Raises:
        CaseError: If an option cannot be used.
    """
    for name, value in (("repeats", repeats), ("workers", workers)):
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < 1:
            msg = f"{name} must be a whole number of at least 1, not {value!r}."
            raise CaseError(msg)
    if executor is not None and not isinstance(executor, Executor):
        msg = (
            "executor must be a concurrent.futures.Executor, for example "
            f"ThreadPoolExecutor() or dask's client.get_executor(), not {executor!r:.100}."
        )
        raise CaseError(msg)


Task = TypeVar("Task")


class InThisThread(Executor):
    """An executor that works in the calling thread, for example so that the user can answer."""

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
    """Submit `function(*args)` to *executor*, and return the future.

    If submitting fails, the future has the error. *is_near* tells whether the executor uses threads
    of this process. If so, the function runs in a copy of the caller's context, for example with
    the answers that `answering` has preset.
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
    """The tasks for one executor: running tasks, and tasks that it gets later."""

    executor: Executor
    tasks: Iterator[Task]
    submit: Callable[[Executor, Task], "Future[Any]"]
    width: int
    """How many tasks the executor may have at the same time."""
    running: dict[Task, "Future[Any]"] = field(default_factory=dict)
    next_task: Task | None = None
    """The next task; None if it was not fetched yet, or if there are no more."""
    broken: str = ""
    """Why the executor cannot work any more, such as a dead process in its pool; "" if it can."""

    def fill(
        self,
        on_end: Callable[[tuple["Lane[Task]", Task]], object],
        may_begin: Callable[[Task], bool],
    ) -> None:
        """Submit tasks until the executor has `width` tasks, or until `may_begin(task)` is false.

        When a task ends, *on_end* is called with a tuple of this lane and the task.
        """
        while len(self.running) < self.width and not self.broken:
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
    """Run the tasks of *lanes*, and yield each finished task with its future.

    Args:
        lanes: The tasks, in one lane for each executor.
        may_begin: A function that tells whether a task may begin. If it returns False, the task
            waits until another task has finished.
        draw: A function that is called again and again while this thread waits for a task to
            finish, for example to show the progress.
    """
    queue: SimpleQueue[tuple[Lane[Task], Task]] = SimpleQueue()
    while True:
        for lane in lanes:
            lane.fill(queue.put, may_begin)
        if not any(lane.running for lane in lanes):
            return
        lane, task = wait(queue, draw)
        future = lane.running[task]
        if not future.cancelled() and isinstance(error := future.exception(), BrokenExecutor):
            lane.broken = sentence_of(error)
        yield task, future
        # Only now: an interrupt before this loses no task
        del lane.running[task]


def ended(lanes: list[Lane[Task]]) -> "Iterator[tuple[Task, Future[Any]]]":
    """Yield the finished tasks that `completed` did not yield because of an interrupt."""
    for lane in lanes:
        for task, future in list(lane.running.items()):
            if not future.done() or future.cancelled():
                continue
            if not isinstance(future.exception(), KeyboardInterrupt):
                yield task, lane.running.pop(task)


def cancel(lanes: list[Lane[Any]]) -> None:
    """Cancel those tasks of *lanes* that have not begun."""
    for lane in lanes:
        for future in lane.running.values():
            future.cancel()


# Workers of an executor that does not say how many it has, such as a cluster's
_WORKERS = 32


@dataclass(frozen=True)
class PickledTool:
    """A pickled tool for another process, for example a tool from a notebook's cell."""

    data: bytes

    @contextmanager
    def resolved(self) -> Iterator[Any]:
        """Yield the tool; each process loads it only once."""
        yield _loaded(self.data)


@lru_cache(maxsize=8)
def _loaded(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 - written by the process that started this one


def is_process_pool(executor: Executor) -> bool:
    """Tell whether *executor* is a `ProcessPoolExecutor` of the standard library."""
    from concurrent.futures import (  # noqa: PLC0415 - brings multiprocessing
        ProcessPoolExecutor,
    )

    return isinstance(executor, ProcessPoolExecutor)


def for_processes(tool: ToolDefinition[Any, Any]) -> Any:
    """Return *tool* as an object that can be sent to another process.

    Raises:
        CaseError: If the tool cannot be sent.
    """
    try:
        import cloudpickle  # noqa: PLC0415 - an extra
    except ImportError:
        dumps, advice = pickle.dumps, f"`{how_to_install_extra('processes')}`, or"
    else:
        dumps, advice = cloudpickle.dumps, "Remove that object from the tool, or"
    try:
        return PickledTool(dumps(tool))
    except Exception as error:
        # A part of a tool may raise any error when it is pickled
        msg = (
            f"{tool.name} cannot be sent to another process: {sentence_of(error).rstrip('.')}. "
            f"{advice} sweep in threads."
        )
        raise CaseError(msg) from error


def room(executor: Executor) -> int:
    """Return how many tasks *executor* should have at the same time.

    The number is small, because all submitted tasks fail if a pool breaks.
    """
    workers: int = getattr(executor, "_max_workers", _WORKERS)
    return 2 * workers


def threads(count: int, undo: ExitStack) -> Executor:
    """Return an executor with *count* threads, which *undo* shuts down.

    In Pyodide, which has no threads, the executor works in the calling thread.
    """
    if not have_threads():
        return InThisThread()
    pool = ThreadPoolExecutor(count, thread_name_prefix="toolbench-eval")
    undo.callback(pool.shutdown, wait=False, cancel_futures=True)
    return pool
