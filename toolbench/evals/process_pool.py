"""Send a tool to a pool of processes, and replace a pool that broke."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.errors import CaseError
from toolbench.runs.output.exception_text import sentence_of

_IN_A_ROW = 20
"""How often a pool may break without a finished call; after that, the calls are not the cause."""

_WIDTH = 64  # requests given to a cluster at once


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
    """Tell whether *executor* is a pool of processes of the standard library."""
    from concurrent.futures import (  # noqa: PLC0415 - brings multiprocessing
        ProcessPoolExecutor,
    )

    return isinstance(executor, ProcessPoolExecutor)


def for_processes(tool: ToolDefinition[Any, Any]) -> Any:
    """Return *tool* in the form that is sent to a pool of processes.

    Raises:
        CaseError: If it cannot be sent.
    """
    try:
        import cloudpickle  # noqa: PLC0415 - an extra
    except ImportError:
        dumps, advice = pickle.dumps, "`pip install 'jupyter-toolbench[processes]'`, or"
    else:
        dumps, advice = cloudpickle.dumps, "Have the tool hold no such thing, or"
    try:
        return PickledTool(dumps(tool))
    except Exception as error:  # what a tool holds may raise anything as it is pickled
        msg = (
            f"{tool.name} cannot be sent to another process: {sentence_of(error).rstrip('.')}. "
            f"{advice} sweep in threads."
        )
        raise CaseError(msg) from error


class Renewal:
    """A maker of new pools, each in place of one that broke; all are shut down in the end."""

    def __init__(self, shut_down_later: Callable[..., object]) -> None:
        """Let *shut_down_later* shut down each pool at the end."""
        self._shut_down_later = shut_down_later
        self._breaks = 0

    def note_success(self) -> None:
        """Note that a call came back."""
        self._breaks = 0

    def of(self, pool: Any) -> Executor | None:
        """Return a new pool like *pool*; None if *pool* is of another kind, or if new pools break too."""
        self._breaks += 1
        if not is_process_pool(pool) or self._breaks > _IN_A_ROW:
            return None
        new_pool: Executor = type(pool)(
            pool._max_workers,
            mp_context=pool._mp_context,
            initializer=pool._initializer,
            initargs=pool._initargs,
        )
        self._shut_down_later(new_pool.shutdown, wait=False, cancel_futures=True)
        return new_pool


def lasting(executor: Executor, shut_down_later: Callable[..., object]) -> Executor:
    """Return *executor* in a form that accepts work without an error even after it broke."""
    if isinstance(executor, ThreadPoolExecutor):
        return executor
    return _LastingExecutor(executor, Renewal(shut_down_later))


def room(executor: Executor) -> int:
    """Return the number of requests for *executor* at once; all of them fail if a pool breaks."""
    workers: int = executor._max_workers if is_process_pool(executor) else _WIDTH // 2  # type: ignore[attr-defined]
    return 2 * workers


class _LastingExecutor(Executor):
    """An executor with a pool that is replaced if it breaks; work that was in the old pool has failed."""

    def __init__(self, executor: Executor, renewal: Renewal) -> None:
        self._executor, self._renewal = executor, renewal

    def submit(
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> "Future[Any]":
        """Submit the work; if there is no executor for it any more, the future says so."""
        try:
            future = self._executor.submit(function, *args, **kwargs)
        except BrokenExecutor as error:
            new_executor = self._renewal.of(self._executor)
            if new_executor is None:
                failed: Future[Any] = Future()
                failed.set_exception(error)
                return failed
            self._executor = new_executor
            future = new_executor.submit(function, *args, **kwargs)
        future.add_done_callback(self._note)
        return future

    def _note(self, future: "Future[Any]") -> None:
        if not future.cancelled() and future.exception() is None:
            self._renewal.note_success()
