"""The connection of one client to a fake server: JSON-RPC over streams in this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types
from anyio.to_thread import run_sync
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.shared.message import SessionMessage

from toolbench.core.tool import ToolDefinition
from toolbench.mcp.wire.texts import written
from toolbench.runs.current import enter
from toolbench.runs.questions import Answer
from toolbench.testing.answers import HANG_UP, NEVER, RpcError, result_of
from toolbench.testing.run import FakeRun
from toolbench.testing.server import ReceivedCall

if TYPE_CHECKING:
    from toolbench.testing.server import FakeMCPServer

_MODERN, _LEGACY = "2026-07-28", "2025-11-25"
_QUESTION = "question"


@dataclass
class FakeTransport(ClientTransport):
    """Leads to *server*, for the time of one session."""

    server: "FakeMCPServer"
    ended: bool = False
    """Whether the server hung up."""

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Yield a session with the server."""
        make = (transport_options or TransportOptions()).session_class
        to_client, incoming = anyio.create_memory_object_stream[Any](inf)
        outgoing, from_client = anyio.create_memory_object_stream[Any](inf)

        def hang_up() -> None:
            self.ended = True
            to_client.close()

        async with anyio.create_task_group() as tasks:
            session = FakeSession(self.server, to_client, tasks, hang_up)
            tasks.start_soon(session.serve, from_client)
            leave = self.server.enter(session)
            try:
                async with make(incoming, outgoing, **session_kwargs) as client:
                    yield client
            finally:
                leave()
                tasks.cancel_scope.cancel()
                for stream in (to_client, incoming, outgoing, from_client):
                    stream.close()


@dataclass(eq=False)
class _Call:
    """One call of a tool under way."""

    received: ReceivedCall
    request_id: Any
    """Which request the next answer goes to: in the newer protocol it changes with each round."""
    progress_token: Any
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    replies: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)


class FakeSession:
    """The server's end of a connection; all but `say` and `hang_up` stays in the loop."""

    def __init__(
        self,
        server: "FakeMCPServer",
        to_client: Any,
        tasks: Any,
        hang_up: Callable[[], None],
    ) -> None:
        """Serve *server* to whoever reads from *to_client*."""
        self._server = server
        self._to_client = to_client
        self._tasks = tasks
        self._hang_up = hang_up
        self._loop = asyncio.get_running_loop()
        self._calls: dict[str, _Call] = {}
        self._asking: dict[str, _Call] = {}
        self._ids = count(1)

    def say(self, message: Mapping[str, Any]) -> None:
        """Send *message*, from any thread."""
        with suppress(RuntimeError):  # the loop ended meanwhile
            self._loop.call_soon_threadsafe(self._send, dict(message))

    def hang_up(self) -> None:
        """End the connection, from any thread."""
        with suppress(RuntimeError):  # as above
            self._loop.call_soon_threadsafe(self._hang_up)

    async def serve(self, from_client: Any) -> None:
        """Take what the client sends until the connection ends."""
        async for item in from_client:
            self._take(json.loads(written(item).text))

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
        is_modern = self._server.era == "modern"
        if method == "server/discover" and is_modern:
            told = self._server.described()
            stamp = {mcp_types.SERVER_INFO_META_KEY: told.pop("serverInfo")}
            return {"supportedVersions": [_MODERN], "_meta": stamp, **told}
        if method == "initialize" and not is_modern:
            return {"protocolVersion": _LEGACY, **self._server.described()}
        return self._server.reply(method, params)

    def _answer(self, request_id: Any, result: Callable[[], dict[str, Any]]) -> None:
        head = {"jsonrpc": "2.0", "id": request_id}
        try:
            body = {"result": self._stamped(result())}
        except RpcError as error:
            body = {"error": error.wire}
        self._send({**head, **body})

    def _stamped(self, result: dict[str, Any]) -> dict[str, Any]:
        if self._server.era == "legacy":
            return result
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} | result

    def _send(self, message: dict[str, Any]) -> None:
        read = mcp_types.jsonrpc_message_adapter
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._to_client.send_nowait(
                SessionMessage(read.validate_python(message, by_name=False))
            )

    # --- calls --------------------------------------------------------------------

    def _called(self, request_id: Any, params: dict[str, Any]) -> None:
        """Start a call, or go on with one whose question the client has answered."""
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
            answer = self._server.scripted(call.received)
            if isinstance(answer, ToolDefinition):
                answer = await self._run(answer, call)
        except RpcError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - a tool that fails answers with its error
            answer = error
        if answer is HANG_UP:
            self._hang_up()
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

    # --- what a running tool says -------------------------------------------------

    def _progress(
        self, call: _Call, value: float, total: float | None, message: str
    ) -> None:
        if call.progress_token is None:
            return
        told = {"progress": value, "total": total, "message": message or None}
        params = {k: v for k, v in told.items() if v is not None}
        self.say(
            {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {"progressToken": call.progress_token, **params},
            }
        )

    def _log(self, message: str, level: str) -> None:
        params = {"level": level, "data": message, "logger": self._server.name}
        self.say(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
        )

    async def _ask(
        self, call: _Call, message: str, schema: Mapping[str, Any]
    ) -> Answer:
        """Ask the client's person: by a request, or in the newer protocol by an answer."""
        key = f"question-{next(self._ids)}"
        params = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
        question = {"method": "elicitation/create", "params": params}
        self._asking[key] = call
        if self._server.era == "legacy":
            self._send({"jsonrpc": "2.0", "id": key, **question})
        else:
            asked = {
                "resultType": "input_required",
                "inputRequests": {_QUESTION: question},
                "requestState": key,
            }
            self._calls.pop(str(call.request_id), None)
            self._answer(call.request_id, lambda: asked)
        reply = await call.replies.get()
        if not isinstance(reply, Mapping):  # an error: the client cannot ask anybody
            return Answer("decline")
        return Answer(reply.get("action", "decline"), reply.get("content") or None)
