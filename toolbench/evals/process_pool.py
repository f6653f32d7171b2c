"""Send a tool to a pool of processes, and replace a pool that broke."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.errors import CaseError
from toolbench.install_commands import how_to_install_extra
from toolbench.runs.exception_text import sentence_of

_IN_A_ROW = 20
"""How often pools may break one after another, without a finished call in between. If they break
more often, the cause is not a single call."""

# Requests given to a cluster at once
_WIDTH = 64


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
    """Return how many requests *executor* gets at a time.

    The number is small: if a pool breaks, all requests in it fail.
    """
    workers: int = executor._max_workers if is_process_pool(executor) else _WIDTH // 2  # type: ignore[attr-defined]
    return 2 * workers


class LastingExecutor(Executor):
    """An executor that goes on in a new pool of processes after its pool broke.

    Work that was in the broken pool has failed: its futures hold the error.
    """

    def __init__(self, executor: Executor, shut_down_later: Callable[..., object]) -> None:
        """Work in *executor*; let *shut_down_later* shut down each new pool at the end."""
        self._executor, self._shut_down_later = executor, shut_down_later
        self._breaks = 0
        self.is_broken = False
        """Whether the broken executor is not replaced: too many pools broke, or it was not a
        pool."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit the work. If the pool broke and cannot be replaced, the future has the error."""
        try:
            future = self._executor.submit(function, *args, **kwargs)
        except BrokenExecutor as error:
            if not self._renew():
                failed: Future[Any] = Future()
                failed.set_exception(error)
                return failed
            future = self._executor.submit(function, *args, **kwargs)
        future.add_done_callback(self._note)
        return future

    def _renew(self) -> bool:
        """Replace the broken pool by a new pool with the same settings; return False if not possible."""
        self._breaks += 1
        pool: Any = self._executor
        if not is_process_pool(pool) or self._breaks > _IN_A_ROW:
            self.is_broken = True
            return False
        self._executor = type(pool)(
            pool._max_workers,
            mp_context=pool._mp_context,
            initializer=pool._initializer,
            initargs=pool._initargs,
        )
        self._shut_down_later(self._executor.shutdown, wait=False, cancel_futures=True)
        return True

    def _note(self, future: "Future[Any]") -> None:
        if not future.cancelled() and future.exception() is None:
            self._breaks = 0
