"""Changes of a server and results of requests to it, delivered in the ticker's thread."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from toolbench.errors import ToolbenchError
from toolbench.mcp.elicitation import Answer, Question, answering, for_person
from toolbench.mcp.server_session import MCPServerSession
from toolbench.runs.control import CancelToken
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.ticker import ticker

T = TypeVar("T")


class PendingUpdates:
    """Collects the changes of one server until the next tick."""

    def __init__(self, session: MCPServerSession, show: Callable[[frozenset[str]], None]) -> None:
        """Make the ticker's thread call *show* with the names of the parts that have changed."""
        self._show = show
        self._names: set[str] = set()
        self._lock = Lock()
        self.close = session.observe(self._heard)
        """Stop listening to changes."""

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


@dataclass(frozen=True)
class Failure:
    """The reason why a request to a server failed, in one sentence."""

    text: str


class ServerRequest(Generic[T]):
    """Sends requests to a server in threads, so that the page does not wait.

    A new request replaces the previous one. The result of the previous request is then ignored.
    """

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        """Send nothing yet. *lock* is held while a result is shown."""
        self._lock = lock
        self._turn_lock = Lock()
        self._turn = 0

    def start(self, ask: Callable[[], T], show: Callable[[T | Failure], None]) -> None:
        """Call *ask* in a new thread, then call *show* with the result in the ticker's thread."""
        work = partial(self._run, self._next(), ask, show)
        Thread(target=work, name="toolbench-server-request", daemon=True).start()

    def forget(self) -> None:
        """Ignore the result of a request that is still running."""
        self._next()

    def _next(self) -> int:
        with self._turn_lock:
            self._turn += 1
            return self._turn

    def _run(self, turn: int, ask: Callable[[], T], show: Callable[[T | Failure], None]) -> None:
        result: T | Failure
        try:
            result = ask()
        except ToolbenchError as error:
            result = Failure(str(error))
        except Exception as error:  # noqa: BLE001 - otherwise the user would not see it
            result = Failure(f"{type(error).__name__}: {error}")
        ticker.watch(partial(self._deliver, turn, result, show))

    def _deliver(self, turn: int, result: T | Failure, show: Callable[[T | Failure], None]) -> bool:
        with self._lock:
            if turn == self._turn:
                show(result)
        return False


class AskingRequest(ServerRequest[T]):
    """A request during which the server may ask the user questions. `widget` shows them."""

    def __init__(self, lock: AbstractContextManager[Any], parts: Parts) -> None:
        """Send nothing yet. *parts* makes the widgets."""
        super().__init__(lock)
        self._box = QuestionBox(parts)
        self.widget = self._box.widget
        """The place for questions; it is empty until the server asks one."""
        self._over = CancelToken()

    def start(self, ask: Callable[[], T], show: Callable[[T | Failure], None]) -> None:
        """Cancel the question of an earlier request, and call *ask* as `ServerRequest` does."""
        self._over.cancel()
        self._over = over = CancelToken()

        def answer(question: Question) -> Answer:
            return self._box.ask(for_person(question), over)

        def answered() -> T:
            with answering(answer):
                return ask()

        super().start(answered, show)

    def forget(self) -> None:
        """Ignore the result of a request that is still running, and cancel its open question."""
        super().forget()
        self._over.cancel()
