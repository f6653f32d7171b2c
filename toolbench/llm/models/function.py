"""Use a function as a model."""

import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import (
    CORO_CREATED,
    getcoroutinestate,
    isawaitable,
    iscoroutine,
)
from threading import current_thread, main_thread
from typing import Any

from toolbench.core.background_loop import portal
from toolbench.llm.models.answer import whole_answer
from toolbench.llm.models.protocol import (
    Answer,
    Messages,
    OfferedTools,
    OnChunk,
    copied,
    offered,
    stopped,
)
from toolbench.llm.models.transport.inbox import (
    Ended,
    Send,
    StoppedError,
    ending,
    received,
)
from toolbench.llm.providers import Provider
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import current_run
from toolbench.threads import daemon_thread
from toolbench.values import whole_characters


class FunctionModel:
    """A model that calls a function `(messages, tools) -> message`.

    Args:
        function: Gets the messages and the tools in the provider's format; returns a
            message, an `Answer`, a text, or a provider's response. It may be async: then it
            runs in the background loop.
        name: The name of the model, for people; the function's own name if left out.
        provider: The dialect of the model's messages.
        written_calls: Whether the model writes calls into its text.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        provider: Provider = "openai",
        written_calls: bool = False,
    ) -> None:
        self._function = function
        self.written_calls = written_calls
        """Whether calls in the model's text are read as calls."""
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))
        self.provider = provider

    def __repr__(self) -> str:
        return f"<FunctionModel {self.name}>"

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the function's answer to *messages* and *tools*.

        Raises:
            ModelError: If the function returns no message.
            ModelStoppedError: If *cancel* was cancelled.
        """
        cancel = current_run() if cancel is None else cancel
        # The function may send them
        copies = whole_characters(copied(messages))
        arguments = (copies, whole_characters(offered(tools, self.provider)))
        if cancel.cancelled:
            raise stopped(self.name)
        # Here it may ask, and can be interrupted
        if current_thread() is main_thread():
            returned = self._function(*arguments)
            # During the call: the answer is not used
            if cancel.cancelled:
                raise stopped(self.name)
        else:
            try:
                (returned,) = received(partial(self._start, arguments), cancel)
            except StoppedError:
                raise stopped(self.name) from None
        if isawaitable(returned):
            returned = self._awaited(returned, cancel)
        return whole_answer(returned, self.provider, len(messages), on_chunk)

    def _awaited(self, returned: Awaitable[Any], cancel: Cancellable) -> Any:
        """Return the result of an async function, which runs in the background loop."""
        try:
            (value,) = received(partial(_start_awaiting, returned), cancel)
        except StoppedError:
            raise stopped(self.name) from None
        finally:
            if iscoroutine(returned) and getcoroutinestate(returned) == CORO_CREATED:
                # It never began
                returned.close()
        return value

    def _start(self, arguments: tuple[Any, ...], send: Send) -> Callable[[], object]:
        """Call the function in a new thread. The thread goes on if the caller stops waiting.

        *send* gets the result, or the error.
        """

        def work() -> None:
            try:
                send(self._function(*arguments))
            except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
                send(Ended(error))
            else:
                send(Ended())

        context = contextvars.copy_context()
        daemon_thread(context.run, work, name="toolbench-model").start()
        return lambda: None


def _start_awaiting(awaitable: Awaitable[Any], send: Send) -> Callable[[], object]:
    async def work() -> None:
        with ending(send):
            send(await awaitable)

    return portal.start(work).cancel
