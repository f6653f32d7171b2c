"""One connection to one server: open it, send requests, close it, in the background loop."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from pydantic import ValidationError

from toolbench._version import __version__
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.freshness import lifetime_of
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.connection.required_pages import pages_visited
from toolbench.mcp.errors import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    BrokenError,
    broken,
    code_of,
    ending,
    sentence,
)
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.redaction.logs import hide_in_logs_of
from toolbench.runs.questions import without_presets

if TYPE_CHECKING:
    from mcp import ClientSession

_MODERN = "2026-07-28"
_LIBRARIES = ("client", "fastmcp", "httpcore2", "httpx2", "mcp")
"""Libraries whose logs may contain addresses of servers and requests."""
# Pages of one list
_MOST_PAGES = 250
# Rounds of questions of a server before it answers a request
_MOST_ROUNDS = 10
# Seconds for the answer to the first request of the newer protocol
_PROBE = 10.0
# Seconds: a server that ignores SIGTERM needs three
_CLOSING = 8.0

Send = Callable[["ClientSession", Any, "str | None"], Awaitable[Any]]
"""A function that sends one request. It gets the SDK's session, the answers to the server's
questions, and the state that the server sent with the questions; the last two are None at first."""
SendPage = Callable[["ClientSession", Any], Awaitable[Any]]
"""A function that requests one page of a list. It gets the SDK's session and the parameters with
the cursor."""


class Pages(NamedTuple):
    """All pages of a list."""

    items: list[Any]
    problem: str | None = None
    """The reason why pages are missing; None if all pages arrived."""
    lifetime: float | None = None
    """The seconds for which the list is fresh; None if the server does not tell."""


class RoundsError(RuntimeError):
    """The server asked too many questions and gave no result."""


class Connection:
    """The session of the SDK with one server, and the process or HTTP client that it uses."""

    def __init__(self, entry: ServerEntry, inbox: Inbox, features: ClientFeatures) -> None:
        """Prepare to connect to *entry*, whose variables must be replaced already."""
        self._entry = entry
        self._inbox = inbox
        self._features = features
        self.declares_roots = bool(features.roots)
        """Whether the client declares to the server that it has roots."""
        self.stderr_start = inbox.stderr.total
        """The number of lines that the server had written to stderr before this connection."""
        self.waited = 0.0
        """The seconds in which a person was asked while it connected and listed."""
        self.ended_by_us = False
        """Whether the connection was alive when it was closed here: then the server did not end it."""
        self._client: Any = None
        self._transport: Any = None

    async def open(self, mode: str, call: Call) -> None:
        """Connect and negotiate the protocol, under the time limit of *call*.

        Raises:
            Exception: Any error of the transport or the SDK; the function `sentence` explains it.
        """
        from fastmcp import (  # noqa: PLC0415 - slow to load: on the first connect
            Client,
        )
        from mcp_types import Implementation  # noqa: PLC0415 - the same

        from toolbench.mcp.skills.skills_extension import SkillsExtension  # noqa: PLC0415
        from toolbench.mcp.wire.modern_extension import TasksExtension  # noqa: PLC0415
        from toolbench.mcp.wire.sdk_session import session_class  # noqa: PLC0415
        from toolbench.mcp.wire.transports import Tapped, transport_of  # noqa: PLC0415

        hide_in_logs_of(_LIBRARIES)
        self._inbox.begin_connection(self._entry.transport, mode)
        self._transport = transport_of(self._entry, self._inbox)
        kind = session_class(
            self._inbox,
            probe_seconds=min(_PROBE, (call.seconds - call.used) / 3),
            roots=self._features.roots,
            is_process=self._entry.transport == "stdio",
        )
        self._client = Client(
            Tapped(self._transport, kind),
            mode=mode,
            client_info=Implementation(name="toolbench", version=__version__),
            extensions=self._features.declared([TasksExtension(), SkillsExtension()]),
        )
        # The tasks of the connection serve other runs too
        try:
            with call.limited(), without_presets():
                await self._client.__aenter__()
        finally:
            self.waited += call.waited

    async def close(self) -> None:
        """End the session and the server's process; an error during this is ignored."""
        if self._client is None:
            return
        self.ended_by_us = self.ended_by_us or self.is_alive
        with anyio.move_on_after(_CLOSING), suppress(Exception):
            # Raises the error of a failed connect again
            await self._client.close()

    # --- what was agreed ----------------------------------------------------------

    @property
    def session(self) -> "ClientSession":
        """The SDK's session."""
        session: ClientSession = self._client.session
        return session

    @property
    def is_alive(self) -> bool:
        """Whether the session is open and the server has not ended."""
        return (
            self._client is not None
            and self._client.is_connected()
            and not getattr(self._transport, "ended", False)
        )

    @property
    def exit_code(self) -> int | None:
        """The exit code of the server's process; None if it runs or is not a process."""
        return getattr(self._transport, "exit_code", None)

    @property
    def pid(self) -> int | None:
        """The process id of the server; None if it is not a process."""
        return getattr(self._transport, "pid", None)

    @property
    def how_it_ended(self) -> str:
        """The end of the process in words, in brackets; empty if it is not known."""
        return "" if self.exit_code is None else f" ({ending(self.exit_code)})"

    @property
    def unfinished_line(self) -> str:
        """The beginning of a line on the server's stdout whose end has not come."""
        lines = getattr(self._transport, "lines", None)
        return "" if lines is None else lines.start

    def broken(self, text: str) -> BrokenError:
        """Return an error with *text*, the exit code and the last lines of stderr."""
        return broken(
            text,
            exit_code=self.exit_code,
            inbox=self._inbox,
            stderr_since=self.stderr_start,
            unfinished=self.unfinished_line,
            is_process=hasattr(self._transport, "lines"),
            variables=self._entry.env,
        )

    @property
    def protocol_version(self) -> str:
        """The version of MCP that both sides speak."""
        return str(self._client.protocol_version)

    @property
    def is_modern(self) -> bool:
        """Whether both sides speak the newer protocol, which has no handshake."""
        return self.protocol_version >= _MODERN

    def described(self) -> dict[str, Any]:
        """Return the server's `serverInfo`, `capabilities` and `instructions`, JSON-ready."""
        parts = {
            "serverInfo": self._client.server_info,
            "capabilities": self._client.server_capabilities,
        }
        described = {
            name: part.model_dump(by_alias=True, mode="json", exclude_none=True)
            for name, part in parts.items()
            if part is not None
        }
        return {**described, "instructions": self._client.instructions}

    # --- asking -------------------------------------------------------------------

    async def ask(self, send: Send, call: Call) -> dict[str, Any]:
        """Send a request by *send*, and return the result as the server sent it.

        Questions that the server asks before its result are answered, in up to ten rounds. A demand
        to visit pages (`URLElicitationRequiredError`) counts as a question.

        Raises:
            CallTimeoutError: If the server took too long; the request was cancelled at the server.
            RoundsError: If the server still asks after ten rounds.
        """
        with self._inbox.calls.enter(call), call.limited():
            responses: Any = None
            state: str | None = None
            for _ in range(_MOST_ROUNDS + 1):
                try:
                    raw, questions = await self._reply(send, responses, state)
                except Exception as error:
                    # Only a demand for a page is answered here
                    if not await pages_visited(error, self._inbox):
                        raise
                    continue
                if questions is None:
                    return raw
                responses, state = (
                    await self.answers_to(questions),
                    questions.request_state,
                )
        msg = f"The server asked {_MOST_ROUNDS} times and still gave no result."
        raise RoundsError(msg)

    async def _reply(
        self, send: Send, responses: Any, state: str | None
    ) -> tuple[dict[str, Any], Any]:
        from mcp_types import InputRequiredResult  # noqa: PLC0415 - loaded by now

        from toolbench.mcp.wire.sdk_session import raw_answers  # noqa: PLC0415 - the same

        with raw_answers() as collected:
            try:
                parsed = await send(self.session, responses, state)
            except ValidationError:
                if not collected:
                    raise
                # The SDK refuses the answer; we return it
                parsed = None
        input_required = parsed if isinstance(parsed, InputRequiredResult) else None
        return collected[-1], input_required

    async def answers_to(self, questions: Any) -> Any:
        """Return the answers to *questions*, an `InputRequiredResult`, by key.

        The questions are asked one by one. Return None if there are no questions.
        """
        from mcp import MCPError  # noqa: PLC0415 - loaded by now
        from mcp.client.session import ClientRequestContext  # noqa: PLC0415 - the same
        from mcp_types import ErrorData  # noqa: PLC0415 - the same

        if not questions.input_requests:
            # Only a state: send the request again
            await anyio.sleep(0.05)
            return None
        answers = {}
        for key, request in questions.input_requests.items():
            meta = request.params.meta if request.params else None
            context = ClientRequestContext(session=self.session, request_id=key, meta=meta)
            answer = await self.session.dispatch_input_request(context, request)
            if isinstance(answer, ErrorData):
                raise MCPError(answer.code, answer.message, answer.data)
            answers[key] = answer
        return answers

    async def pages(
        self,
        key: str,
        send: SendPage,
        seconds: float,
        *,
        used: float = 0.0,
    ) -> Pages:
        """Return the items of all pages of a list, which each page has under *key*.

        If there is a problem, the items before it are returned with it.

        *seconds* is the limit for all pages together, of which *used* are over.
        """
        items: list[Any] = []
        lifetimes: list[float | None] = []
        cursor: str | None = None
        cursors: set[str] = set()
        call = Call(seconds=seconds, used=used)
        try:
            # The time of a person does not count
            with call.within(seconds, used=used):
                for _ in range(_MOST_PAGES):
                    raw = await self.ask(_page(send, cursor), call)
                    page = raw.get(key)
                    if not isinstance(page, list):
                        return Pages(items, f"the server's list of {key} is not a list")
                    cursor = raw.get("nextCursor")
                    if cursor in cursors and page == items[-len(page) :]:
                        return Pages(items, "the server gave the same page twice")
                    items.extend(page)
                    lifetimes.append(lifetime_of(raw) if self.is_modern else None)
                    if not isinstance(cursor, str):
                        return Pages(items, None, _shortest(lifetimes))
                    cursors.add(cursor)
        except Exception as error:
            # Items before the failure are kept
            if code_of(error) == METHOD_NOT_FOUND and not items:
                return Pages([])
            if code_of(error) == CONNECTION_CLOSED and not self.is_alive:
                raise
            if isinstance(error, CallTimeoutError) and items:
                return Pages(items, f"the list did not end within {seconds:.3g} s")
            return Pages(items, self._inbox.safe_text(sentence(error, call=call)))
        finally:
            self.waited += call.waited
        return Pages(items, f"the list does not end: {_MOST_PAGES} pages were read")


def _shortest(lifetimes: list[float | None]) -> float | None:
    """Return the shortest of *lifetimes*, one for each page; None if one of them is None."""
    known = [seconds for seconds in lifetimes if seconds is not None]
    return min(known) if known and len(known) == len(lifetimes) else None


def _page(send: Callable[["ClientSession", Any], Awaitable[Any]], cursor: str | None) -> Send:
    from mcp_types import PaginatedRequestParams  # noqa: PLC0415 - loaded by now

    params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
    return lambda session, responses, state: send(session, params)
