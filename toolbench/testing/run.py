"""What `current_run()` is inside a tool of a fake server: it speaks to the client."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.runs.questions import Answer, Question


@dataclass(eq=False)
class FakeRun:
    """One call of a tool, as the tool sees it; it may be used from any thread."""

    put_question: Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
    tell_progress: Callable[[float, float | None, str], None]
    tell_log: Callable[[str, str], None]
    loop: asyncio.AbstractEventLoop
    cancelled: bool = False
    """Whether nobody waits for the call any more."""
    _callbacks: list[Callable[[], object]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def progress(
        self, value: float, total: float | None = None, message: str = ""
    ) -> None:
        """Send a progress notification, if the client asked for them."""
        self.tell_progress(value, total, message)

    def log(self, message: str, level: str = "info") -> None:
        """Send a log notification."""
        self.tell_log(message, level)

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the client's person by an elicitation; see `CurrentRun.ask`.

        Raises:
            ToolbenchError: If called by a coroutine, which would wait for itself.
        """
        with suppress(RuntimeError):  # there is none in a thread: as it should be
            asyncio.get_running_loop()
            msg = "ask() waits: a tool of a fake server that asks is a plain function."
            raise ToolbenchError(msg)
        question = Question.about(message, schema, "")
        asking = self.put_question(question.message, question.schema)
        waited = asyncio.run_coroutine_threadsafe(_awaited(asking), self.loop)
        stop = self.on_cancel(waited.cancel)
        try:
            answer = waited.result()
        except CancelledError:
            return Answer("cancel")
        finally:
            stop()
        said_no = answer and schema is None and not answer.value
        return Answer("decline") if said_no else answer

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have *callback* called when nobody waits any more; see `CurrentRun.on_cancel`."""
        with self._lock:
            if not self.cancelled:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], object]) -> None:
        with self._lock, suppress(ValueError):
            self._callbacks.remove(callback)

    def cancel(self) -> None:
        """Tell the tool that nobody waits for it any more."""
        with self._lock:
            self.cancelled, callbacks = True, list(self._callbacks)
        for callback in callbacks:
            callback()


async def _awaited(awaitable: Awaitable[Answer]) -> Answer:
    return await awaitable
