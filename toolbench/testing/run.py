"""What `current_run()` is inside a tool of a fake server: it speaks to the client."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.runs.questions import Answer, Question
from toolbench.runs.stopping import StopSign


@dataclass(eq=False)
class FakeRun:
    """One call of a tool, as the tool sees it; it may be used from any thread."""

    put_question: Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
    tell_progress: Callable[[float, float | None, str], None]
    tell_log: Callable[[str, str], None]
    loop: asyncio.AbstractEventLoop
    _stop: StopSign = field(default_factory=StopSign)

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the call any more."""
        return self._stop.is_up

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
            ToolbenchError: If called by a coroutine, whose loop would wait.
        """
        with suppress(RuntimeError):  # there is none in a thread: as it should be
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

    async def ask_async(
        self, message: str, schema: Mapping[str, Any] | None = None
    ) -> Answer:
        """Ask without blocking the running loop; see `CurrentRun.ask_async`."""
        return await asyncio.to_thread(self.ask, message, schema)

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have *callback* called when nobody waits any more; see `CurrentRun.on_cancel`."""
        return self._stop.on_up(callback)

    def cancel(self) -> None:
        """Tell the tool that nobody waits for it any more."""
        for callback in self._stop.put_up():
            callback()


async def _awaited(awaitable: Awaitable[Answer]) -> Answer:
    return await awaitable
