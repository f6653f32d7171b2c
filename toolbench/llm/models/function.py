"""Use a function as a model."""

from collections.abc import Awaitable, Callable
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate, isawaitable, iscoroutine
from threading import current_thread, main_thread
from typing import Any

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
    Send,
    StoppedError,
    in_loop,
    in_thread,
    result,
)
from toolbench.llm.providers import Provider
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import current_run
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
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
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
                returned = result(in_thread(partial(self._call, arguments)), cancel)
            except StoppedError:
                raise stopped(self.name) from None
        if isawaitable(returned):
            returned = self._awaited(returned, cancel)
        return whole_answer(returned, self.provider, len(messages), on_chunk)

    def _call(self, arguments: tuple[Any, ...], send: Send) -> None:
        send(self._function(*arguments))

    def _awaited(self, returned: Awaitable[Any], cancel: Cancellable) -> Any:
        """Return the result of an async function, which runs in the background loop."""

        async def work(send: Send) -> None:
            send(await returned)

        try:
            return result(in_loop(work), cancel)
        except StoppedError:
            raise stopped(self.name) from None
        finally:
            if iscoroutine(returned) and getcoroutinestate(returned) == CORO_CREATED:
                # It never began
                returned.close()
