"""What is new at a server, and what came of waiting for one: shown by the ticker, never elsewhere."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from toolbench.errors import ToolbenchError
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.kit.ticker import ticker

T = TypeVar("T")


class PendingUpdates:
    """Collects what changed at one server until the next tick."""

    def __init__(
        self, session: MCPServerSession, show: Callable[[frozenset[str]], None]
    ) -> None:
        """Call *show* with the names of what changed, in the thread of the ticker."""
        self._show = show
        self._names: set[str] = set()
        self._lock = Lock()
        self._stop = session.observe(self._heard)

    def _heard(self, names: frozenset[str]) -> None:
        with self._lock:
            first = not self._names
            self._names |= names
        if first:
            ticker.watch(self._look)

    def _look(self) -> bool:
        with self._lock:
            names = frozenset(self._names)
            self._names.clear()
        self._show(names)
        return False

    def close(self) -> None:
        """Hear no more."""
        self._stop()


@dataclass(frozen=True)
class Failure:
    """Why something asked of a server came to nothing, in a sentence."""

    text: str


class ServerRequest(Generic[T]):
    """Something asked of a server, in a thread of its own: the page goes on meanwhile.

    Of several, only the last one that was started is shown.
    """

    def __init__(self, shared: AbstractContextManager[Any]) -> None:
        """Wait for nothing; what comes is shown while *shared* is held."""
        self._shared = shared
        self._lock = Lock()
        self._turn = 0

    def start(self, ask: Callable[[], T], show: Callable[[T | Failure], None]) -> None:
        """Call *ask* in a thread, then *show* with what came, in the thread of the ticker."""
        work = partial(self._run, self._next(), ask, show)
        Thread(target=work, name="toolbench-server-request", daemon=True).start()

    def forget(self) -> None:
        """Show nothing any more of what is under way."""
        self._next()

    def _next(self) -> int:
        with self._lock:
            self._turn += 1
            return self._turn

    def _run(
        self, turn: int, ask: Callable[[], T], show: Callable[[T | Failure], None]
    ) -> None:
        result: T | Failure
        try:
            result = ask()
        except ToolbenchError as error:
            result = Failure(str(error))
        except Exception as error:  # noqa: BLE001 - otherwise the person would not hear of it
            result = Failure(f"{type(error).__name__}: {error}")
        ticker.watch(partial(self._deliver, turn, result, show))

    def _deliver(
        self, turn: int, result: T | Failure, show: Callable[[T | Failure], None]
    ) -> bool:
        with self._shared:
            if turn == self._turn:
                show(result)
        return False
