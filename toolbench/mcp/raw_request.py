"""Send a request to a server unchanged, even if the SDK has no method for it."""

from collections.abc import Mapping
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.elicitation import Answerer, wait_answering
from toolbench.redaction.detect import Secrecy

ELSEWHERE = {
    "tools/call": "A tool call may need consent: use call() or the tool itself.",
    "initialize": "The handshake belongs to connecting: use reconnect().",
    "server/discover": "The handshake belongs to connecting: use reconnect().",
    "subscriptions/listen": "Its answer is an endless stream: use resources.subscribe(uri).",
}
"""The requests that are refused here, each with a sentence on the right way."""


def send_request(
    connection: ReconnectingConnection, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Send a request as it is, and return its result as the server sent it.

    Questions that the server asks before the result go to the handler of `answering`, else to those
    of the session, else to the user.

    Args:
        connection: The connection to the server.
        method: The method, such as `resources/read`.
        params: The parameters of the request; they are not checked.

    Raises:
        ToolbenchError: If the method is in `ELSEWHERE`, for example a tool call.
        ServerError: If the server refuses or cannot be reached.
    """
    if method in ELSEWHERE:
        msg = f"{method!r} cannot be sent as it is. {ELSEWHERE[method]}"
        raise ToolbenchError(msg)
    connection.inbox.keep_secret(Secrecy({}).secrets_in(dict(params)))

    async def sent(*, answerer: Answerer | None) -> dict[str, Any]:
        call = Call(seconds=connection.seconds, answerer=answerer)
        return await connection.ask_to(f"answer {method!r}", method, params, call)

    return wait_answering(sent, answerer=connection.inbox.answerer())
