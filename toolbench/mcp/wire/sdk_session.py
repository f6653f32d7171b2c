"""The SDK's session, with all messages reported to the inbox, and answers left unchanged."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Any

import anyio
import mcp_types
from mcp import ClientSession, MCPError
from mcp.client.session import ClientRequestContext
from mcp.shared.dispatcher import CallOptions
from mcp.shared.inbound import (
    MCP_NAME_HEADER,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from toolbench.errors import SchemaError, ServerError
from toolbench.jsonschema.extent import check_extent
from toolbench.mcp.connection.open_calls import Call, current_call
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.sampling import answer_schema, message_of
from toolbench.mcp.wire.tap import TappedReader, TappedWriter

# Seconds without an answer after which `_nudge` sends a notification
_SILENCE = 2.5
# Seconds until a request is sent again if the server wants that
_POLL = 0.05
# The warnings of these loggers are in the traffic and the error already
for _sdk in ("mcp", "client"):
    logging.getLogger(_sdk).addHandler(logging.NullHandler())


class _Dispatcher(JSONRPCDispatcher[Any]):
    """The dispatcher of one connection, whose request ids are unique over all connections."""

    def __init__(self, read_stream: Any, write_stream: Any, inbox: Inbox) -> None:
        super().__init__(TappedReader(read_stream, inbox), TappedWriter(write_stream, inbox))
        self._ids = inbox.request_ids

    def _allocate_id(self) -> int:
        return next(self._ids)


class SdkSession(ClientSession):
    """An SDK session that reports each message to the inbox, and returns answers unchecked."""

    def __init__(
        self,
        read_stream: Any,
        write_stream: Any,
        *,
        inbox: Inbox,
        probe_seconds: float,
        roots: list[str],
        extensions_of_modern: Collection[str] = (),
        is_process: bool = False,
        **settings: Any,
    ) -> None:
        """Create a session over two streams.

        Args:
            read_stream: The stream of messages from the server.
            write_stream: The stream of messages to the server.
            inbox: Receives the notifications and questions of the server.
            probe_seconds: The time limit for the first request, which finds out whether the server
                supports the newer protocol (MCP 2026-07-28).
            roots: The file URLs for the server; if the list is empty, the client declares no roots.
            extensions_of_modern: Extensions to declare to servers of the newer protocol.
            is_process: Whether the server is a process, to which `_nudge` sends a second message if
                it does not answer the first request.
            **settings: Further arguments of the SDK's session.
        """
        self.inbox = inbox
        self.probe_seconds = probe_seconds
        self.roots = roots
        self._extensions_of_modern = extensions_of_modern
        self.is_process = is_process
        self.header_maps: dict[str, Mapping[tuple[str, ...], str]] = {}
        """For each tool with such arguments, those that HTTP headers repeat, and their headers."""
        self._wire = _Dispatcher(read_stream, write_stream, inbox)
        settings |= {
            "elicitation_callback": self._elicit,
            "sampling_callback": self._sample,
            "sampling_capabilities": mcp_types.SamplingCapability(
                tools=mcp_types.SamplingToolsCapability()
            ),
            # The inbox handles log messages
            "logging_callback": None,
            "message_handler": None,
        }
        if roots:
            settings["list_roots_callback"] = self._list_roots
        super().__init__(dispatcher=self._wire, **settings)

    def _build_capabilities(self, version: str) -> mcp_types.ClientCapabilities:
        """Declare extensions only in the newer protocol, because tasks differ in the older one."""
        capabilities = super()._build_capabilities(version)
        if version in MODERN_PROTOCOL_VERSIONS:
            ours: dict[str, Any] = {name: {} for name in self._extensions_of_modern}
            # Extensions of the user take precedence
            capabilities.extensions = {**ours, **(capabilities.extensions or {})}
        return capabilities

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request with *params*, a JSON object; return the result as the server sent it.

        Unlike the SDK's own methods, this one accepts results that violate the protocol.

        Raises:
            MCPError: If the server answers with an error, or the connection ends.
        """
        meta = dict(params.get("_meta", {}))
        stamped = {**params, "_meta": meta}
        options: CallOptions = {}
        # Adds the version and the client's identity to the parameters, and HTTP headers to the
        # options
        self._stamp({"method": method, "params": stamped}, options)
        if self.is_modern:
            self._mark(stamped, options["headers"], method)
        return await self._wire.send_raw_request(method, stamped, options)

    def _mark(self, params: dict[str, Any], headers: dict[str, str], method: str) -> None:
        """Add what the newer protocol requires in a request, but the SDK does not send."""
        if self.inbox.log_level is not None:
            params["_meta"][mcp_types.LOG_LEVEL_META_KEY] = self.inbox.log_level
        if isinstance(task := params.get("taskId"), str):
            headers[MCP_NAME_HEADER] = encode_header_value(task)
        if method == "tools/call" and params["name"] in self.header_maps:
            paths = self.header_maps[params["name"]]
            headers.update(mcp_param_headers(paths, params["arguments"]))

    async def answers_to(self, result: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the questions in *result* one after another, and return parameters with the answers.

        The caller then sends the request again with these parameters. Return None if *result* is a
        final result, or if its questions are invalid.

        Raises:
            MCPError: If a question is refused because it must not be asked.
        """
        if result.get("resultType") != "input_required" or not self.is_modern:
            return None
        try:
            asked = mcp_types.InputRequiredResult.model_validate(result, by_name=False)
        except ValidationError:
            return None
        answers: dict[str, Any] = {}
        if asked.request_state:
            answers["requestState"] = asked.request_state
        if not asked.input_requests:
            # The server only wants the request again
            await anyio.sleep(_POLL)
            return answers
        responses = answers["inputResponses"] = {}
        for key, question in asked.input_requests.items():
            # The callbacks read only the parameters of a question
            context = ClientRequestContext(session=self, request_id=key, meta=None)
            response = await self.dispatch_input_request(context, question)
            if isinstance(response, mcp_types.ErrorData):
                raise MCPError(response.code, response.message, response.data)
            responses[key] = response.model_dump(by_alias=True, mode="json", exclude_none=True)
        return answers

    @property
    def is_modern(self) -> bool:
        """Whether both sides use the newer protocol, which has no handshake."""
        return self.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def send_discover(self, version: str) -> dict[str, Any]:
        """Try the newer protocol, but give up early to leave time for the older protocol."""
        nudge = None
        if self.is_process:
            nudge = asyncio.ensure_future(self._nudge())
        try:
            call = current_call() or Call(seconds=self.probe_seconds)
            with call.within(self.probe_seconds):
                return await super().send_discover(version)
        except TimeoutError:
            self.inbox.ignores_newer = True
            msg = "server/discover was not answered"
            raise MCPError(mcp_types.REQUEST_TIMEOUT, msg) from None
        finally:
            if nudge is not None:
                nudge.cancel()

    async def _nudge(self) -> None:
        """After a pause, send a harmless notification to a process that has not answered.

        With an early Python SDK, a server fails at the first request, but does not exit until it
        reads another line; the notification is this line. A server that is merely slow ignores the
        notification and answers later.
        """
        await anyio.sleep(_SILENCE)
        await self._wire.notify("notifications/cancelled", {"requestId": "none"})

    async def _elicit(
        self, context: ClientRequestContext, params: Any
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        if isinstance(params, mcp_types.ElicitRequestURLParams):
            answer = await self.inbox.ask_url(params.message, params.url)
            return mcp_types.ElicitResult(action=answer.action)
        if problem := _too_large(params.requested_schema):
            return problem
        answer = await self.inbox.ask_form(params.message, params.requested_schema)
        if answer.action != "accept":
            return mcp_types.ElicitResult(action=answer.action)
        return mcp_types.ElicitResult(action="accept", content=dict(answer.content or {}))

    async def _sample(
        self, context: ClientRequestContext, params: Any
    ) -> (
        mcp_types.CreateMessageResult | mcp_types.CreateMessageResultWithTools | mcp_types.ErrorData
    ):
        request = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        messages = list(request.get("messages", []))
        if problem := _too_large(answer_schema(request)):
            return problem
        answer = await self.inbox.ask_message(dict(request))
        if answer.action != "accept":
            msg = "The client has no handler for sampling, or the request was declined."
            return mcp_types.ErrorData(code=-1, message=msg)
        try:
            message = message_of(answer, messages, request)
        except ServerError as error:
            return mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message=str(error))
        if params.tools:
            return mcp_types.CreateMessageResultWithTools.model_validate(message)
        return mcp_types.CreateMessageResult.model_validate(message)

    async def _list_roots(self, context: ClientRequestContext) -> mcp_types.ListRootsResult:
        return mcp_types.ListRootsResult.model_validate(
            {"roots": [{"uri": uri} for uri in self.roots]}
        )


def _too_large(schema: Any) -> mcp_types.ErrorData | None:
    """Return an error if *schema* is too large for a question, which is then not asked."""
    try:
        check_extent(schema)
    except SchemaError as error:
        message = f"The question was not asked: {error}"
        return mcp_types.ErrorData(code=mcp_types.INVALID_PARAMS, message=message)
    return None


def header_problem(schema: dict[str, Any]) -> str | None:
    """Return why `x-mcp-header` annotations in *schema* are invalid; None if they are valid."""
    return find_invalid_x_mcp_header(schema)


def header_map(schema: dict[str, Any]) -> Mapping[tuple[str, ...], str]:
    """Return the paths of the arguments to send as HTTP headers too, with the header names."""
    return x_mcp_header_map(schema)
