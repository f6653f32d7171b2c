"""Test whether a server follows the MCP specification, by asking it questions.

The probe opens its own connections, so it does not disturb the user's session. One connection uses
a version of MCP with the `initialize` handshake, and one a version without. The probe only runs
tools that are declared read-only, unless the user names others.
"""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio

from toolbench.checks.probe_connection import EndedError, ProbeConnection
from toolbench.checks.probe_lists import ask_for_lists, look_at_tools
from toolbench.checks.probe_report import ProbeReport, ProbeResult
from toolbench.checks.probe_requests import (
    ask_for_what_is_declared,
    ask_for_what_is_not_there,
    ask_once_more,
    look_at_opening,
)
from toolbench.checks.probe_tools import ask_for_an_unknown_tool, call_tools, cancel_a_call
from toolbench.checks.probe_traffic import look_at_traffic
from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ToolbenchError, ToolNotFoundError
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.config.server_entry import ServerEntry, UnapprovedEntry
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.trust.configurations import approved

# Seconds for all questions
_WHOLE = 300.0
_REST = "everything else, over a connection"
_QUESTIONS = (
    look_at_opening,
    ask_for_lists,
    look_at_tools,
    ask_for_an_unknown_tool,
    ask_for_what_is_not_there,
    ask_for_what_is_declared,
    call_tools,
    cancel_a_call,
    ask_once_more,
)
"""The questions, in their order."""


def probe(
    server: MCPServerSession | Any,
    *,
    tools: Collection[str] = (),
    seconds: float = 10.0,
    whole: float = _WHOLE,
) -> ProbeReport:
    """Test *server* against the MCP specification, and return a row for each question.

    The probe opens separate connections. A server that is started by a command is therefore started
    again. Some versions of MCP begin with the `initialize` handshake, and others do not; the probe
    tests both kinds if the server supports both. It calls a tool only if the tool is declared
    read-only and the policy allows the call. The arguments are the examples and defaults in the
    tool's schema.

    If a question cannot be asked, its row says so. An interrupt ends the probe. The probe does not
    answer questions that the server asks, so a call that needs an answer fails.

    Args:
        server: The session of a server, or a configuration as for `MCPClient.connect`.
        tools: The names of tools that are called even though they are not read-only. Each of them
            is really run several times: in both kinds of versions, with valid and with invalid
            arguments, and one more time to be cancelled.
        seconds: The time limit for one question, in seconds.
        whole: The time limit for all questions together, in seconds.

    Raises:
        ConsentError: If a configuration was found in a file and is not approved.
        ServerError: If the server cannot be reached.
        ToolNotFoundError: If the server lacks a tool that *tools* names.
        ToolbenchError: If the server is replayed from a recording.

    Examples:
        >>> from toolbench.checks import probe
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> with create_mcp_tools(FakeMCPServer("shop")) as client:
        ...     report = probe(client.servers["shop"])
        >>> report.server, report.passed
        ('shop', True)
    """
    name, entry, folder, blocked = _who(server)
    if entry.transport == "replay":
        msg = f"Server {name!r} is replayed from a recording: there is no server to ask."
        raise ToolbenchError(msg)
    began = perf_counter()
    results, stopped = list[ProbeResult](), None
    connect = partial(
        ProbeConnection,
        name,
        entry,
        folder,
        results,
        seconds=seconds,
        named=frozenset(tools),
        blocked=blocked,
    )
    work = _Probe(entry.mode or "auto", connect)
    try:
        stopped = portal.call(work.within, whole)
    except KeyboardInterrupt:
        stopped = "It was interrupted"
    return ProbeReport(name, results, stopped=stopped, seconds=perf_counter() - began)


def _who(server: Any) -> tuple[str, ServerEntry, Path, str]:
    """Return the name, configuration and folder of *server*, and why no tool may be called."""
    if isinstance(server, MCPServerSession):
        refusal = ""
        if server.trust is not None:
            refusal = server.trust.refusal
        return server.name, server.entry, server.connection.folder, refusal
    entry = read_entry(server)
    if isinstance(entry, UnapprovedEntry):
        entry = approved({"server": entry}, approve=False)["server"]
    return "server", entry, Path.cwd(), ""


class _Probe:
    """The connections of one probe; its coroutines run in the background loop."""

    def __init__(self, mode: str, connect: Callable[..., ProbeConnection]) -> None:
        self._mode = mode
        self._connect = connect

    async def within(self, seconds: float) -> str | None:
        """Ask all questions within *seconds*; return why the probe ended early, or None."""
        with anyio.move_on_after(seconds) as scope:
            is_modern = await self._ask(self._mode, is_first=True)
            if is_modern and self._mode == "auto":
                await self._ask("legacy", is_first=False)
        if scope.cancelled_caught:
            return f"It took longer than {seconds:.3g} s"
        return None

    async def _ask(self, mode: str, *, is_first: bool) -> bool:
        """Ask the questions over one connection; return whether it needed no handshake.

        Raises:
            ServerError: If the server cannot be reached.
        """
        connection = self._connect(mode=mode)
        try:
            await connection.open()
        except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
            # It may say why
            if is_first and not await look_at_opening(connection):
                raise ServerError(connection.attempt.explained(error)) from None
            connection.add_not_asked(_REST, connection.attempt.reason(error))
            return False
        try:
            await _ask_all(connection)
        finally:
            await connection.close()
        return connection.is_modern


async def _ask_all(connection: ProbeConnection) -> None:
    """Ask the questions in order, until the server ends."""
    for question in _QUESTIONS:
        try:
            await question(connection)
        except ToolNotFoundError:
            raise
        except EndedError:
            # Nothing can be asked any more
            break
        except Exception as error:  # noqa: BLE001 - a hostile answer may be anything
            words = f"an answer cannot be read: {type(error).__name__}: {error}"
            connection.add_not_asked(question.__name__.replace("_", " "), words)
    if not connection.is_alive:
        last = connection.unanswered or connection.results[-1].question
        connection.add("it goes on", f"the connection ended: {last}", "response")
    look_at_traffic(connection)
