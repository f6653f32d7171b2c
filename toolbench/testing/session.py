"""The session of one client with a fake server, and the run of a tool that the client calls."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Thread
from typing import Any

import anyio
import mcp_types
from anyio.to_thread import run_sync

from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.mcp.recording.tape import mapping_of
from toolbench.mcp.wire.memory import ServerEnd
from toolbench.runs.control import CancelToken
from toolbench.runs.current_run import run_of_code
from toolbench.runs.questions import Answer, Question
from toolbench.testing.answers import HANG_UP, NEVER, RpcError, result_of
from toolbench.testing.script import ReceivedCall, Script

_MODERN, _LEGACY = "2026-07-28", "2025-11-25"
_QUESTION = "question"


@dataclass(eq=False)
class _Call:
    """A call of a tool that has no answer yet."""

    received: ReceivedCall
    request_id: Any
    """The id of the request to answer next.

    In the newer protocol, the client sends a new request with each answer to a question.
    """
    progress_token: Any
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    replies: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)


class FakeSession:
    """The session of one client with a fake server; it runs in the background loop."""

    def __init__(self, script: Script, end: ServerEnd) -> None:
        """Make a session that reads messages from *end*, and answers them as *script* says."""
        self.loop = asyncio.get_running_loop()
        """The background loop."""
        self.server = script.name
        """The name of the server."""
        self._script = script
        self._end = end
        self._tasks = anyio.create_task_group()
        self._calls: dict[str, _Call] = {}
        self._asking: dict[str, _Call] = {}
        self._ids = count(1)

    async def serve(self) -> None:
        """Answer the client's messages until the connection ends."""
        async with self._tasks:
            async for message in self._end:
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        params = mapping_of(message.get("params"))
        match message:
            case {"method": "notifications/cancelled"}:
                self._cancel(str(params.get("requestId")))
            case {"method": "tools/call", "id": request_id}:
                self._take_call(request_id, params)
            case {"method": method, "id": request_id}:
                try:
                    self._answer(request_id, self._result(method, params))
                except RpcError as error:
                    self._refuse(request_id, error)
            case {"id": request_id} if str(request_id) in self._asking:
                call = self._asking.pop(str(request_id))
                call.replies.put_nowait(message.get("result"))

    def _result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request other than a tool call."""
        if method == "server/discover" and self._script.era == "modern":
            description = self._script.described()
            stamp = {mcp_types.SERVER_INFO_META_KEY: description.pop("serverInfo")}
            return {"supportedVersions": [_MODERN], "_meta": stamp, **description}
        if method == "initialize" and self._script.era == "legacy":
            return {"protocolVersion": _LEGACY, **self._script.described()}
        return self._script.reply(method, params)

    def _answer(self, request_id: Any, result: dict[str, Any]) -> None:
        if self._script.era == "modern":
            result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
        self._end.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def _refuse(self, request_id: Any, error: RpcError) -> None:
        self._end.send({"jsonrpc": "2.0", "id": request_id, "error": error.wire})

    # --- calls --------------------------------------------------------------------

    def _take_call(self, request_id: Any, params: Mapping[str, Any]) -> None:
        """Start a call, or continue the call whose question this request answers."""
        call = self._asking.pop(str(params.get("requestState")), None)
        if call is not None:
            self._calls[str(request_id)] = call
            call.request_id = request_id
            call.replies.put_nowait(mapping_of(params.get("inputResponses")).get(_QUESTION))
            return
        received = ReceivedCall(str(params.get("name")), params.get("arguments") or {})
        token = mapping_of(params.get("_meta")).get("progressToken")
        call = self._calls[str(request_id)] = _Call(received, request_id, token)
        self._tasks.start_soon(self._perform, call)

    async def _perform(self, call: _Call) -> None:
        # The client may cancel the call
        with call.scope:
            try:
                answer = self._script.answer_to(call.received)
                if isinstance(answer, ToolDefinition):
                    answer = await self._run(answer, call)
            except Exception as error:  # noqa: BLE001 - a tool that fails answers with its error
                answer = error
            if answer is HANG_UP:
                self._end.hang_up()
            if answer is NEVER or answer is HANG_UP:
                await anyio.sleep_forever()
            if isinstance(answer, RpcError):
                self._refuse(call.request_id, answer)
            else:
                self._answer(call.request_id, result_of(call.received.tool, answer))
        self._calls.pop(str(call.request_id), None)

    async def _run(self, tool: ToolDefinition[Any, Any], call: _Call) -> Any:
        run = FakeRun(self, call)

        def work() -> Any:
            leave = run_of_code.enter(run)
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
        call = self._calls.get(request_id)
        if call is not None:
            call.received.was_cancelled = True
            call.scope.cancel()

    # --- messages of a running tool -----------------------------------------------

    def notify_soon(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification; any thread may call this."""
        self._end.send_soon({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def ask(self, call: _Call, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the user of the client a question during *call*, and return the user's answer.

        In the legacy protocol, the server sends the question as a request. In the modern protocol,
        the server sends the question as its answer to *call*.
        """
        key = f"question-{next(self._ids)}"
        params = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
        question = {"method": "elicitation/create", "params": params}
        self._asking[key] = call
        if self._script.era == "legacy":
            self._end.send({"jsonrpc": "2.0", "id": key, **question})
        else:
            self._calls.pop(str(call.request_id), None)
            request = {
                "resultType": "input_required",
                "inputRequests": {_QUESTION: question},
                "requestState": key,
            }
            self._answer(call.request_id, request)
        reply = await call.replies.get()
        # An error: the client cannot ask
        if not isinstance(reply, Mapping):
            return Answer("decline")
        return Answer(reply.get("action", "decline"), reply.get("content") or None)


class FakeRun:
    """What `current_run()` returns inside a tool of a fake server; any thread may use it."""

    def __init__(self, session: FakeSession, call: _Call) -> None:
        """Make the run of *call*, whose messages *session* sends to the client."""
        self._session = session
        self._call = call
        self._cancel_token = CancelToken()

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
        if self._call.progress_token is None:
            return
        params = {"progressToken": self._call.progress_token, "progress": value}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        self._session.notify_soon("notifications/progress", params)

    def log(self, message: str, level: str = "info") -> None:
        """Send *message* to the client as a log notification."""
        params = {"level": level, "data": message, "logger": self._session.server}
        self._session.notify_soon("notifications/message", params)

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the user of the client a question, as an elicitation; see `CurrentRun.ask`.

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
        asking = self._session.ask(self._call, question.message, question.schema)
        waited = asyncio.run_coroutine_threadsafe(asking, self._session.loop)
        stop = self.on_cancel(waited.cancel)
        try:
            answer = waited.result()
        except CancelledError:
            return Answer("cancel")
        finally:
            stop()
        if answer and schema is None and not answer.value:
            # A "no"
            return Answer("decline")
        return answer

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the user without blocking the event loop; see `CurrentRun.ask_async`."""
        return await asyncio.to_thread(self.ask, message, schema)

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call *callback* when the call is cancelled; see `CurrentRun.on_cancel`."""
        return self._cancel_token.on_cancel(callback)

    def cancel(self) -> None:
        """Cancel the call, and call the callbacks that the tool added."""
        for callback in self._cancel_token.request():
            callback()
