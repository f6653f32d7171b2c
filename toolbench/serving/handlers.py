"""Answer `tools/list` and `tools/call`, in both versions of the protocol."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from toolbench.core.tool import ToolDefinition
from toolbench.errors import did_you_mean
from toolbench.runs.dialogue import settle
from toolbench.runs.questions import Answer, Question
from toolbench.serving.announcements import Announcements
from toolbench.serving.call import (
    EndEvent,
    LogEvent,
    ProgressEvent,
    QuestionEvent,
    ServedCall,
)
from toolbench.serving.client_questions import answer_of, can_ask, request_for
from toolbench.serving.offer import Offer
from toolbench.values import clip

Context = ServerRequestContext[Any, Any]
Begin = Callable[
    [ToolDefinition[Any, Any], Mapping[str, Any], str, Callable[[Question], bool]],
    ServedCall,
]
"""A function that creates and starts a call of a tool for a client."""
MOST_NAMES = 10_000
"""The maximum number of different names in the arguments of one call."""
MOST_QUESTIONS = 32
"""The maximum number of open questions to users of agents; beyond it, the oldest is cancelled."""
_QUESTION = "question"
_LEVELS = {"warn": "warning", "exception": "error", "fatal": "critical"}


class Handlers:
    """Answers the requests of clients; the methods run in the event loop of the server."""

    def __init__(self, offer: Offer, news: Announcements, begin: Begin) -> None:
        """Serve the tools of *offer*; call *begin* for each new call.

        Clients are added to *news*, which notifies them when the tools change.
        """
        self._offer = offer
        self._news = news
        self._begin = begin
        self._waiting_calls: dict[str, tuple[ServedCall, QuestionEvent]] = {}
        self._open_questions: deque[QuestionEvent] = deque()

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Answer `tools/list` with all tools on one page."""
        self._news.add(ctx)
        described = self._offer.described.values()
        return types.ListToolsResult(tools=[_as_tool(one) for one in described])

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Answer `tools/call`."""
        call = self._call_of(ctx, params)
        try:
            return await self._follow(ctx, call)
        except asyncio.CancelledError:
            call.stop("cancelled by the agent")
            raise

    def _call_of(self, ctx: Context, params: types.CallToolRequestParams) -> ServedCall:
        """Return the call to which a request belongs.

        It is a new call, unless the request answers the question of a waiting call.

        Raises:
            MCPError: If there is no such tool, or the waiting call has ended.
        """
        if params.request_state is not None:
            call, event = self._waiting_calls.pop(params.request_state, (None, None))
            if call is None or event is None or call.tool != params.name:
                msg = f"This call of {params.name} has ended: call the tool again."
                raise MCPError(types.INVALID_PARAMS, msg)
            reply = (params.input_responses or {}).get(_QUESTION)
            settle(event.reply, answer_of(reply, event.question))
            return call
        tools = self._offer.tools
        tool = tools.get(params.name)
        if tool is None:
            msg = f"There is no tool called {params.name!r}.{did_you_mean(params.name, tools)}"
            raise MCPError(types.INVALID_PARAMS, msg)
        _check_names(params.arguments or {})
        info = ctx.session.client_params
        client = info.client_info.name if info is not None else ""
        return self._begin(tool, params.arguments or {}, client, lambda q: can_ask(ctx, q))

    async def _follow(
        self, ctx: Context, call: ServedCall
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Send the events of *call* to the agent until it ends, and return its result.

        In the newer protocol (MCP 2026-07-28), also stop when the call asks a question, and return
        this question instead of a result.
        """
        asking: set[asyncio.Task[None]] = set()
        try:
            while True:
                event = await call.events.get()
                if isinstance(event, EndEvent):
                    return _as_result(event.result)
                if isinstance(event, QuestionEvent):
                    self._keep_open(event)
                    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                        return self._wait_for_return(call, event)
                    task = asyncio.create_task(_elicit(ctx, event))
                    asking.add(task)
                    task.add_done_callback(asking.discard)
                else:
                    await _notify(ctx, event)
        finally:
            for task in asking:
                task.cancel()

    def _keep_open(self, event: QuestionEvent) -> None:
        """Add *event* to the open questions; if there are too many, cancel the oldest.

        The number of open questions is limited because a thread waits for each of them.
        """
        still_open = (one for one in self._open_questions if not one.reply.done())
        self._open_questions = deque(still_open)
        self._open_questions.append(event)
        while len(self._open_questions) > MOST_QUESTIONS:
            oldest = self._open_questions.popleft()
            settle(oldest.reply, Answer("cancel", by_somebody=False))

    def _wait_for_return(self, call: ServedCall, event: QuestionEvent) -> types.InputRequiredResult:
        """Return the question of *event* as the result of the agent's request, and let *call* wait.

        In the newer protocol (MCP 2026-07-28), the agent sends the request again with the answer,
        and *call* then continues.
        """
        self._waiting_calls[call.key] = (call, event)
        event.reply.add_done_callback(lambda _: self._waiting_calls.pop(call.key, None))
        return types.InputRequiredResult(
            input_requests={_QUESTION: request_for(event.question)},
            request_state=call.key,
        )


def _check_names(arguments: Mapping[str, Any]) -> None:
    """Check that *arguments* do not have too many names, each of which must be compared.

    Raises:
        MCPError: If there are too many names.
    """
    names: set[str] = set()
    todo: list[Any] = [arguments]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            names.update(part)
        if len(names) > MOST_NAMES:
            msg = f"The arguments have more than {MOST_NAMES:,} different names, and are not read."
            raise MCPError(types.INVALID_PARAMS, msg)
        if isinstance(part, Mapping | list):
            inner = part.values() if isinstance(part, Mapping) else part
            todo += [each for each in inner if isinstance(each, Mapping | list)]


async def _elicit(ctx: Context, event: QuestionEvent) -> None:
    """Ask the client the question of *event* by a request (older protocol), and set the answer."""
    answer = Answer("decline", by_somebody=False)
    try:
        params = request_for(event.question).params
        if isinstance(params, types.ElicitRequestURLParams):
            result = await ctx.session.elicit_url(
                params.message,
                params.url,
                params.elicitation_id or event.question.url,
                ctx.request_id,
            )
        else:
            result = await ctx.session.elicit_form(
                params.message, params.requested_schema, ctx.request_id
            )
        answer = answer_of(result, event.question)
    except MCPError:
        # If the agent's program does not ask, the tool gets a refusal
        pass
    finally:
        settle(event.reply, answer)


async def _notify(ctx: Context, event: ProgressEvent | LogEvent) -> None:
    related: Any = ctx.request_id
    # A lost notification does no harm
    with suppress(MCPError):
        if isinstance(event, LogEvent):
            await _log(ctx, event)
        elif (token := (ctx.meta or {}).get("progress_token")) is not None:
            await ctx.session.send_progress_notification(
                token, event.value, event.total, event.message or None, related
            )


async def _log(ctx: Context, event: LogEvent) -> None:
    level: Any = _LEVELS.get(event.level, event.level)
    meta = (ctx.params or {}).get("_meta")
    if level not in allowed_log_levels(ctx.protocol_version, meta):
        return
    params = types.LoggingMessageNotificationParams(level=level, data=event.message)
    message = types.LoggingMessageNotification(params=params)
    await ctx.session.send_notification(message, related_request_id=ctx.request_id)


def _as_tool(described: Mapping[str, Any]) -> types.Tool:
    try:
        return types.Tool.model_validate(described)
    except ValidationError:
        # Another server sent parts that MCP does not know
        known = ("name", "description", "inputSchema")
        return types.Tool.model_validate({key: described[key] for key in known})


def _as_result(result: Mapping[str, Any]) -> types.CallToolResult:
    try:
        return types.CallToolResult.model_validate(result)
    except ValidationError:
        # Another server sent a block of an unknown kind
        blocks = [_as_block(block) for block in result["content"]]
        return types.CallToolResult.model_validate({**result, "content": blocks})


def _as_block(block: Any) -> Any:
    try:
        types.CallToolResult.model_validate({"content": [block]})
    except ValidationError:
        return {"type": "text", "text": clip(block, 2000)}
    return block
