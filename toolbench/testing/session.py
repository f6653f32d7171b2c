"""The session of one client with a fake server, and the run of a tool that the client calls."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Thread
from typing import Any

import anyio
import mcp_types
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.mcp.wire.memory import ServerEnd
from toolbench.runs.control import CancelToken
from toolbench.runs.current_run import enter
from toolbench.runs.questions import Answer, Question
from toolbench.testing.answers import HANG_UP, NEVER, RpcError, result_of
from toolbench.testing.script import ReceivedCall, Script


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


_MODERN, _LEGACY = "2026-07-28", "2025-11-25"
_QUESTION = "question"


@dataclass(eq=False)
class _Call:
    """A call of a tool that has no answer yet."""

    received: ReceivedCall
    request_id: Any
    """The id of the request that gets the next answer; in the newer protocol, each round has a new one."""
    progress_token: Any
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    replies: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)


class FakeSession:
    """The session of one client with a fake server; it runs in the background loop."""

    def __init__(self, script: Script, end: ServerEnd) -> None:
        """Make a session that reads messages from *end*, and answers them as *script* says."""
        self._script = script
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._tasks: TaskGroup = anyio.create_task_group()
        self._calls: dict[str, _Call] = {}
        self._asking: dict[str, _Call] = {}
        self._ids = count(1)

    async def serve(self) -> None:
        """Answer the client's messages until the connection ends."""
        async with self._tasks:
            async for message in self._end:
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        params = message.get("params") or {}
        match message:
            case {"method": "notifications/cancelled"}:
                self._cancel(str(params.get("requestId")))
            case {"method": "tools/call", "id": request_id}:
                self._called(request_id, params)
            case {"method": method, "id": request_id}:
                self._answer(request_id, partial(self._reply, method, params))
            case {"id": request_id} if str(request_id) in self._asking:
                call = self._asking.pop(str(request_id))
                call.replies.put_nowait(message.get("result"))

    def _reply(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        is_modern = self._script.era == "modern"
        if method == "server/discover" and is_modern:
            description = self._script.described()
            stamp = {mcp_types.SERVER_INFO_META_KEY: description.pop("serverInfo")}
            return {"supportedVersions": [_MODERN], "_meta": stamp, **description}
        if method == "initialize" and not is_modern:
            return {"protocolVersion": _LEGACY, **self._script.described()}
        return self._script.reply(method, params)

    def _answer(self, request_id: Any, result: Callable[[], dict[str, Any]]) -> None:
        head = {"jsonrpc": "2.0", "id": request_id}
        try:
            body = {"result": self._stamped(result())}
        except RpcError as error:
            body = {"error": error.wire}
        self._end.send({**head, **body})

    def _stamped(self, result: dict[str, Any]) -> dict[str, Any]:
        if self._script.era == "legacy":
            return result
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} | result

    # --- calls --------------------------------------------------------------------

    def _called(self, request_id: Any, params: dict[str, Any]) -> None:
        """Start a call; or continue the call whose question the client answers with this request."""
        call = self._asking.pop(str(params.get("requestState")), None)
        if call is not None:
            self._calls[str(request_id)] = call
            call.request_id = request_id
            call.replies.put_nowait((params.get("inputResponses") or {}).get(_QUESTION))
            return
        received = ReceivedCall(str(params.get("name")), params.get("arguments") or {})
        token = (params.get("_meta") or {}).get("progressToken")
        call = self._calls[str(request_id)] = _Call(received, request_id, token)
        self._tasks.start_soon(self._perform, call)

    async def _perform(self, call: _Call) -> None:
        with call.scope:
            result = await self._outcome(call)
            self._answer(call.request_id, result)
        self._calls.pop(str(call.request_id), None)

    async def _outcome(self, call: _Call) -> Callable[[], dict[str, Any]]:
        def refused(error: RpcError) -> dict[str, Any]:
            raise error

        try:
            answer = self._script.answer_to(call.received)
            if isinstance(answer, ToolDefinition):
                answer = await self._run(answer, call)
        except RpcError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - a tool that fails answers with its error
            answer = error
        if answer is HANG_UP:
            self._end.hang_up()
        if answer is NEVER or answer is HANG_UP:
            await anyio.sleep_forever()
        if isinstance(answer, RpcError):
            return partial(refused, answer)
        return partial(result_of, call.received.tool, answer)

    async def _run(self, tool: ToolDefinition[Any, Any], call: _Call) -> Any:
        run = FakeRun(
            put_question=partial(self._ask, call),
            tell_progress=partial(self._progress, call),
            tell_log=self._log,
            loop=self._loop,
        )

        def work() -> Any:
            leave = enter(run)
            try:
                return tool.execute(call.received.arguments)
            finally:
                leave()

        try:
            return await run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            run.cancel()
            raise

    def _cancel(self, request_id: str) -> None:
        if (call := self._calls.get(request_id)) is not None:
            call.received.was_cancelled = True
            call.scope.cancel()

    # --- messages of a running tool -----------------------------------------------

    def _progress(self, call: _Call, value: float, total: float | None, message: str) -> None:
        if call.progress_token is None:
            return
        fields = {"progress": value, "total": total, "message": message or None}
        params = {k: v for k, v in fields.items() if v is not None}
        self._end.send_soon(
            {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {"progressToken": call.progress_token, **params},
            }
        )

    def _log(self, message: str, level: str) -> None:
        params = {"level": level, "data": message, "logger": self._script.name}
        self._end.send_soon({"jsonrpc": "2.0", "method": "notifications/message", "params": params})

    async def _ask(self, call: _Call, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the person at the client a question during *call*, and return the answer.

        In the older protocol, the question is sent as a request of the server. In the newer
        protocol, it is sent as the answer to the client's call.
        """
        key = f"question-{next(self._ids)}"
        params = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
        question = {"method": "elicitation/create", "params": params}
        self._asking[key] = call
        if self._script.era == "legacy":
            self._end.send({"jsonrpc": "2.0", "id": key, **question})
        else:
            request = {
                "resultType": "input_required",
                "inputRequests": {_QUESTION: question},
                "requestState": key,
            }
            self._calls.pop(str(call.request_id), None)
            self._answer(call.request_id, lambda: request)
        reply = await call.replies.get()
        # An error: the client cannot ask
        if not isinstance(reply, Mapping):
            return Answer("decline")
        return Answer(reply.get("action", "decline"), reply.get("content") or None)
