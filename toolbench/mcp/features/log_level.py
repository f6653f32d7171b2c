"""Ask a server for log messages of a level and above.

In the older protocol this is a request. In the newer protocol it is a mark on each request: without
the mark, a server should send no log messages. Source: MCP specification, logging.
"""

from typing import TYPE_CHECKING, Any

from toolbench.errors import ServerError, ToolbenchError, did_you_mean
from toolbench.mcp.monitoring.log import LEVELS

if TYPE_CHECKING:
    from toolbench.mcp.connection.connection import Connection
    from toolbench.mcp.connection.open_calls import Call
    from toolbench.mcp.connection.reconnection import ReconnectingConnection


async def set_log_level(over: "ReconnectingConnection", level: str) -> None:
    """Ask the server for messages of *level* and above, also after the next reconnect.

    Raises:
        ToolbenchError: If *level* is not one of MCP's levels.
        ServerError: If the server has no log, refuses, or cannot be reached.
    """
    if level not in LEVELS:
        msg = f"{level!r} is not a log level.{did_you_mean(level, LEVELS)} There are: "
        raise ToolbenchError(msg + ", ".join(LEVELS) + ".")
    connection = await over.live()
    if not has_log(connection):
        msg = (
            f"Server {over.inbox.server!r} does not declare `logging`, so no log level can be set."
        )
        raise ServerError(msg)
    if not connection.is_modern:
        await over.ask_to("take the level of its log", _request(level), over.seconds)
    over.inbox.log_level = level


def has_log(connection: "Connection") -> bool:
    """Tell whether the server declares that it sends log messages."""
    return "logging" in connection.described().get("capabilities", {})


def _request(level: str) -> Any:
    def send(session: Any, responses: Any, state: str | None) -> Any:
        from mcp_types import EmptyResult, Request  # noqa: PLC0415 - the SDK, loaded by now

        message = Request[dict[str, Any], str](method="logging/setLevel", params={"level": level})
        return session.send_request(message, EmptyResult)

    return send


async def restore_log_level(connection: "Connection", level: str, call: "Call") -> None:
    """Ask a server again for log messages of *level* and above, after a reconnect, by *call*."""
    if has_log(connection) and not connection.is_modern:
        await connection.ask(_request(level), call)
