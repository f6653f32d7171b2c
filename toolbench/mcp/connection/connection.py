"""One connection to one server, which runs in the background loop."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from pydantic_core import PydanticSerializationError, to_jsonable_python

from toolbench._version import __version__
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.errors import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
    BrokenError,
    broken,
    code_of,
    ending,
    required_pages,
    sentence,
)
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.monitoring.traffic import ConnectionEnd
from toolbench.redaction.logs import hide_in_logs_of
from toolbench.runs.questions import without_presets
from toolbench.values import not_in_json

if TYPE_CHECKING:
    from toolbench.mcp.wire.sdk_session import SdkSession

TASKS = "io.modelcontextprotocol/tasks"
"""The extension of the protocol for calls that run as tasks. Source: MCP, SEP-2663."""
SKILLS = "io.modelcontextprotocol/skills"
"""The extension of the protocol that lists skills. Source: MCP, SEP-2640."""
_MODERN = "2026-07-28"
_LIBRARIES = ("client", "fastmcp", "httpcore2", "httpx2", "mcp")
"""Libraries whose logs may contain addresses of servers and requests."""
# The most pages that are read of one list
_MOST_PAGES = 250
# How often a server may ask questions before it answers a request
_MOST_ROUNDS = 10
# Seconds to wait for the answer to the first request of the newer protocol
_PROBE = 10.0
# Seconds: a server that ignores SIGTERM needs three
_CLOSING = 8.0
# The longest time in seconds for which an answer is fresh, as in the SDK
_LONGEST = 24 * 60 * 60.0


class Pages(NamedTuple):
    """All pages of a list."""

    items: list[Any]
    problem: str | None = None
    """The reason why pages are missing; None if all pages arrived."""
    lifetime: float | None = None
    """The seconds for which the list is fresh; None if the server does not say."""


class RoundsError(RuntimeError):
    """The server asked too many questions and gave no result."""


class Connection:
    """The session of the SDK with one server, and the process or HTTP client that it uses."""

    def __init__(self, entry: ServerEntry, inbox: Inbox, features: ClientFeatures) -> None:
        """Prepare to connect to *entry*, in which variables must be expanded already."""
        self._entry = entry
        self._inbox = inbox
        self._features = features
        self.declares_roots = bool(features.roots)
        """Whether the client tells the server that it has roots."""
        self.stderr_start = inbox.stderr.total
        """The number of lines that the server had written to stderr before this connection."""
        self.waited = 0.0
        """The seconds for which the user was asked while connecting and listing."""
        self.ended_by_us = False
        """Whether this client, and not the server, ended the connection."""
        self.end = ConnectionEnd(entry.transport)
        """How the connection ended; its messages in the traffic refer to this."""
        self.protocol_version = ""
        """The version of MCP that both sides use; empty before the connection is open."""
        self._client: Any = None
        self._transport: Any = None

    async def open(self, mode: str, call: Call) -> None:
        """Connect and negotiate the protocol version, within the time limit of *call*.

        Raises:
            Exception: Any error of the transport or the SDK. Use `errors.sentence` to convert it to
                a message for the user.
        """
        # Slow to load, so only at the first connection
        from fastmcp import Client  # noqa: PLC0415
        from mcp_types import Implementation  # noqa: PLC0415

        from toolbench.mcp.wire.sdk_session import SdkSession  # noqa: PLC0415
        from toolbench.mcp.wire.transports import Tapped, transport_of  # noqa: PLC0415

        hide_in_logs_of(_LIBRARIES)
        self._inbox.begin_connection(self._entry.transport, mode, self.end)
        self._transport = transport_of(self._entry, self._inbox)
        kind = partial(
            SdkSession,
            inbox=self._inbox,
            probe_seconds=min(_PROBE, (call.seconds - call.used) / 3),
            roots=self._features.roots,
            extensions_of_modern=(TASKS, SKILLS),
            is_process=self._entry.transport == "stdio",
        )
        self._client = Client(
            Tapped(self._transport, kind),
            mode=mode,
            client_info=Implementation(name="toolbench", version=__version__),
            extensions=self._features.extensions,
        )
        # The connection's tasks also serve other runs
        try:
            with call.limited(), without_presets():
                await self._client.__aenter__()
        finally:
            self.waited += call.waited
        self.protocol_version = str(self._client.protocol_version)

    async def close(self) -> None:
        """End the session and the server's process; errors are ignored."""
        if self._client is None:
            return
        self.ended_by_us = self.ended_by_us or self.is_alive
        self.end.note_disconnect()
        with anyio.move_on_after(_CLOSING), suppress(Exception):
            # After a failed connect, this raises the same error again
            await self._client.close()

    # --- what was agreed ----------------------------------------------------------

    @property
    def session(self) -> "SdkSession":
        """The SDK's session.

        Raises:
            MCPError: If the connection was closed; it is the error that a running request would
                get.
        """
        from mcp import MCPError  # noqa: PLC0415 - loaded by now

        try:
            session: SdkSession = self._client.session
        except RuntimeError as error:
            # FastMCP's error about the use of its client
            raise MCPError(CONNECTION_CLOSED, "Connection closed") from error
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
        """The exit code of the server's process; None if it is running or there is no process."""
        return getattr(self._transport, "exit_code", None)

    @property
    def pid(self) -> int | None:
        """The process id of the server; None if there is no process."""
        return getattr(self._transport, "pid", None)

    @property
    def how_it_ended(self) -> str:
        """How the process ended, in words and brackets; empty if this is not known."""
        if self.exit_code is None:
            return ""
        return f" ({ending(self.exit_code)})"

    @property
    def unfinished_line(self) -> str:
        """The beginning of a line on the server's stdout that is not complete yet."""
        lines = getattr(self._transport, "lines", None)
        if lines is None:
            return ""
        start: str = lines.start
        return start

    def broken(self, text: str, call: Call | None = None) -> BrokenError:
        """Return an error with *text*, to which the exit code and the last stderr lines are added.

        If the server wrote lines to stderr during *call*, only these lines are quoted.
        """
        since, stderr = self.stderr_start, self._inbox.stderr
        if call is not None and stderr.last(1, since=call.stderr_since):
            since = max(since, call.stderr_since)
        return broken(
            text,
            exit_code=self.exit_code,
            inbox=self._inbox,
            stderr_since=since,
            unfinished=self.unfinished_line,
            is_process=hasattr(self._transport, "lines"),
            variables=self._entry.env,
        )

    @property
    def is_modern(self) -> bool:
        """Whether both sides use the newer protocol, which has no handshake."""
        return self.protocol_version >= _MODERN

    def described(self) -> dict[str, Any]:
        """Return the server's `serverInfo`, `capabilities` and `instructions`, ready for JSON."""
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

    async def request(self, method: str, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Send a request, and return its result as the server sent it, without validation.

        The server may ask questions before it returns the result. Up to ten rounds of questions are
        answered. An error that requires the user to visit web pages (`URLElicitationRequiredError`)
        counts as a round of questions.

        Raises:
            CallTimeoutError: If the server took too long. The request has then been cancelled at
                the server.
            RoundsError: If the server asks questions for the eleventh time.
            PydanticSerializationError: If *params* cannot be written as JSON.
        """
        with self._inbox.calls.enter(call), call.limited():
            call.answers = {}
            # Kept here: if the connection is closed during a question, the client has no session
            session = self.session
            if call.before_sending is not None:
                await call.before_sending()
            call.stderr_since = self._inbox.stderr.total
            sent = _as_json(params)
            if method == "tools/call":
                sent["_meta"] = {"progressToken": call.token}
            for asked in range(_MOST_ROUNDS + 1):
                is_last = asked == _MOST_ROUNDS
                try:
                    raw = await session.ask(method, {**sent, **call.answers})
                except Exception as error:
                    if is_last and code_of(error) == URL_ELICITATION_REQUIRED:
                        break
                    # Only the demand to visit a page is answered here
                    if not await pages_visited(error, self._inbox):
                        raise
                    continue
                if is_last and self.is_modern and raw.get("resultType") == "input_required":
                    break
                answers = await session.answers_to(raw)
                if answers is None:
                    if method == "tools/call" and self._features.extensions:
                        return await self._finished(raw, call)
                    return raw
                call.answers = answers
        msg = f"The server asked more than {_MOST_ROUNDS} times and still gave no result."
        raise RoundsError(msg)

    async def _finished(self, raw: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return *raw*, the result of *call*, converted by the extension that claims it, if any."""
        claim = self._features.claim_of(raw.get("resultType"))
        if claim is None or not self.is_modern:
            return raw
        from mcp.client.extension import ClaimContext  # noqa: PLC0415 - loaded by now

        context = ClaimContext(
            session=self.session, tool_name=call.tool or "", read_timeout_seconds=call.seconds
        )
        result = await claim.resolve(claim.model.model_validate(raw, by_name=False), context)
        resolved: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return resolved

    async def pages(
        self,
        key: str,
        method: str,
        seconds: float,
        *,
        used: float = 0.0,
    ) -> Pages:
        """Request all pages of a list by *method*, and return the items of all pages.

        *key* is the name of the list in each page. All pages must arrive within *seconds*, minus
        the *used* seconds that have already passed. If a page cannot be used, the result contains
        the items of the earlier pages, and the problem.
        """
        items: list[Any] = []
        lifetimes: list[float | None] = []
        params: dict[str, Any] = {}
        cursors: set[str] = set()
        call = Call(seconds=seconds, used=used)
        try:
            # The time in which the user is asked does not count
            with call.within(seconds, used=used):
                for _ in range(_MOST_PAGES):
                    raw = await self.request(method, params, call)
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
                    params = {"cursor": cursor}
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


def lifetime_of(answer: Mapping[str, Any]) -> float | None:
    """Return the seconds for which *answer* is fresh; None if it has no positive `ttlMs`.

    Source: MCP specification 2026-07-28, `CacheableResult`.
    """
    milliseconds = answer.get("ttlMs")
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    # NaN too
    if not milliseconds > 0:
        return None
    return min(milliseconds, _LONGEST * 1000) / 1000


def _shortest(lifetimes: list[float | None]) -> float | None:
    """Return the shortest of *lifetimes*, one for each page; None if one of them is None."""
    known = [seconds for seconds in lifetimes if seconds is not None]
    if known and len(known) == len(lifetimes):
        return min(known)
    return None


def _as_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return *params* as JSON.

    Raises:
        PydanticSerializationError: If a value cannot be written as JSON, such as nan.
    """
    # This also converts sets and pydantic objects
    written: dict[str, Any] = to_jsonable_python(dict(params), exclude_none=True)
    for path, number in not_in_json(written):
        msg = f"{'.'.join(map(str, path))} is {number}, and JSON has no such number"
        raise PydanticSerializationError(msg)
    return written


async def pages_visited(error: Exception, inbox: Inbox) -> bool:
    """Ask the user to visit the web pages that *error* names, and return whether the user agreed.

    Return False if the user refused a page, or if *error* does not require the user to visit pages.
    Each question is answered by the handler of the running call. Source: MCP specification,
    elicitation, `URLElicitationRequiredError`.
    """
    pages = required_pages(error)
    if code_of(error) != URL_ELICITATION_REQUIRED or not pages:
        return False
    for page in pages:
        answer = await inbox.ask_url(_message(page), page["url"])
        if answer.action != "accept":
            return False
    return True


def _message(page: Mapping[str, Any]) -> str:
    message = page.get("message")
    if isinstance(message, str):
        return message
    return "It needs you to visit a page."
