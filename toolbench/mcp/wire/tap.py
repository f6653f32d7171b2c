"""Report each message between the SDK and a server to the inbox, with secrets hidden."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Self

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.monitoring.traffic import Direction, Kind
from toolbench.mcp.recording.recorder import OPENING
from toolbench.mcp.wire.messages import WrittenMessage, written
from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.redactor import Redactor


class _Stream:
    """A wrapper around an SDK stream, with the stream's context manager and attributes."""

    def __init__(self, inner: Any, inbox: Inbox) -> None:
        self._inner = inner
        self._inbox = inbox
        self._connection = inbox.connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def _note(self, direction: Direction, item: WrittenMessage) -> None:
        inbox = self._inbox
        kind, method = _kind_of(item.message)
        entry = inbox.traffic.note(
            direction,
            item.text,
            kind=kind,
            method=method,
            request_id=getattr(item.message, "id", None),
            connection=self._connection,
        )
        if entry.method in OPENING:
            inbox.opening.messages.append((direction, item))
        if inbox.changes.listeners:
            inbox.changes.note("traffic")
        if inbox.recorder is not None:
            inbox.recorder.message(direction, item, inbox.redactor)


class TappedReader(_Stream):
    """The stream of messages from the server."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._next(self._inner.__anext__)

    async def receive(self) -> Any:
        """Return the next item for the SDK."""
        return await self._next(self._inner.receive)

    async def _next(self, receive: Callable[[], Awaitable[Any]]) -> Any:
        """Return the next item for the SDK; report the end of the stream to the inbox."""
        while True:
            try:
                item = await receive()
            except (StopAsyncIteration, anyio.EndOfStream, anyio.ClosedResourceError):
                self._connection.note()
                self._inbox.changes.note("status")
                if self._inbox.recorder is not None:
                    self._inbox.recorder.ended(None)
                raise
            if not self._take(item):
                return item

    def _take(self, item: Any) -> bool:
        """Report *item* to the inbox; return True if the SDK must not receive the item."""
        if isinstance(item, Exception):
            self._inbox.note_noise(str(item))
            return True
        message = item.message
        if self._inbox.entry_redactor:
            hide(self._inbox.entry_redactor, message)
        is_notification = isinstance(message, mcp_types.JSONRPCNotification)
        try:
            if isinstance(message, mcp_types.JSONRPCResponse) and "tools" in message.result:
                # Must happen before the list itself is kept
                self._inbox.keep_secret(defaults_in(message.result["tools"]))
            self._note("received", written(item))
            return is_notification and self._inbox.take(message.method, message.params or {})
        except Exception as error:  # noqa: BLE001 - one odd message must not end the connection
            self._inbox.note_noise(f"{type(message).__name__}: {error}")
            return is_notification


class TappedWriter(_Stream):
    """The stream of messages to the server."""

    async def send(self, item: SessionMessage) -> None:
        """Report *item* to the inbox, and send it."""
        item = written(item)
        self._note("sent", item)
        await self._inner.send(item)


def _kind_of(message: Any) -> tuple[Kind, str]:
    match message:
        case mcp_types.JSONRPCRequest():
            return "request", message.method
        case mcp_types.JSONRPCNotification():
            return "notification", message.method
        case mcp_types.JSONRPCError():
            return "error", ""
        case _ if _is_failed_call(getattr(message, "result", None)):
            return "error", ""
        case _:
            return "response", ""


def _is_failed_call(result: Any) -> bool:
    """Tell whether *result* belongs to a failed tool call, or to a task whose call failed."""
    if not isinstance(result, Mapping):
        return False
    if result.get("isError") is True:
        return True
    if "taskId" not in result:
        return False
    # The newer protocol sends the result of the call with the state of its task
    of_call = result.get("result")
    has_error = isinstance(of_call, Mapping) and of_call.get("isError") is True
    return has_error or result.get("status") == "failed"


def hide(redactor: Redactor, message: Any) -> None:
    """Hide the secrets of *redactor* in the result, error or parameters of *message*."""
    match message:
        case mcp_types.JSONRPCError(error=error):
            error.message = redactor.text(error.message)
            error.data = redactor.value(error.data)
        case mcp_types.JSONRPCResponse():
            message.result = _hidden(redactor, message.result)
        case _ if message.params is not None:
            message.params = _hidden(redactor, message.params)


def defaults_in(tools: Any) -> Iterator[str]:
    """Yield the secrets in the default values of *tools*, a server's list."""
    if not isinstance(tools, list):
        return
    for tool in tools:
        if isinstance(tool, Mapping) and isinstance(tool.get("inputSchema"), Mapping):
            yield from Secrecy(tool["inputSchema"]).defaults


def _hidden(redactor: Redactor, message: dict[str, Any]) -> dict[str, Any]:
    hidden = redactor.value(message)
    # A message that is nested too deeply is hidden completely
    if isinstance(hidden, dict):
        return hidden
    return {"hidden": MARK}
