"""What `current_run()` returns inside a tool of a fake server: it sends messages to the client."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.runs.control import CancelToken
from toolbench.runs.questions import Answer, Question


@dataclass(eq=False)
class FakeRun:
    """The run of one call of a fake server's tool; the tool may use it in any thread."""

    put_question: Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
    tell_progress: Callable[[float, float | None, str], None]
    tell_log: Callable[[str, str], None]
    loop: asyncio.AbstractEventLoop
    _cancel_token: CancelToken = field(default_factory=CancelToken)

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled."""
        return self._cancel_token.cancelled

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the call; None if it is not cancelled."""
        return self._cancel_token.cancelled_in

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Send a progress notification, if the client asked for progress."""
        self.tell_progress(value, total, message)

    def log(self, message: str, level: str = "info") -> None:
        """Send *message* to the client as a log notification."""
        self.tell_log(message, level)

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the person at the client by an elicitation; see `CurrentRun.ask`.

        Raises:
            ToolbenchError: If a coroutine calls this method, because it would block the event loop.
        """
        # No running loop: `ask` may wait in this thread
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            msg = (
                "ask() waits, and a coroutine must not: "
                "`await current_run().ask_async(message, schema)`."
            )
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

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the person without blocking the event loop; see `CurrentRun.ask_async`."""
        return await asyncio.to_thread(self.ask, message, schema)

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call *callback* when the call is cancelled; see `CurrentRun.on_cancel`."""
        return self._cancel_token.on_cancel(callback)

    def cancel(self) -> None:
        """Cancel the call, and call the callbacks that the tool added."""
        for callback in self._cancel_token.request():
            callback()


async def _awaited(awaitable: Awaitable[Answer]) -> Answer:
    return await awaitable
