"""Send a request to a server unchanged, even if the SDK has no method for it."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python

from toolbench.core.background_loop import portal
from toolbench.errors import ToolbenchError
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.redaction.detect import Secrecy
from toolbench.values import not_in_json

_ANY: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
ELSEWHERE = {
    "tools/call": "A tool call may need consent: use call() or the tool itself.",
    "initialize": "The handshake belongs to connecting: use reconnect().",
    "server/discover": "The handshake belongs to connecting: use reconnect().",
    "subscriptions/listen": "Its answer is an endless stream: use resources.subscribe(uri).",
}
"""The requests that are refused here, each with a sentence on the right way."""


def send_request(
    over: ReconnectingConnection, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Send a request as it is, and return its result as the server sent it.

    Args:
        over: The connection to the server.
        method: The method, such as `resources/read`.
        params: The parameters of the request; they are not checked.

    Raises:
        ToolbenchError: If the method is in `ELSEWHERE`, for example a tool call.
        ServerError: If the server refuses or cannot be reached.
    """
    return portal.call(_send, over, method, params)


async def _send(
    over: ReconnectingConnection, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    if method in ELSEWHERE:
        msg = f"{method!r} cannot be sent as it is. {ELSEWHERE[method]}"
        raise ToolbenchError(msg)
    over.inbox.keep_secret(Secrecy({}).secrets_in(dict(params)))

    def send(session: Any, responses: Any, state: str | None) -> Any:
        return plain_request(session, method, params)

    return await over.ask_to(f"answer {method!r}", send, over.seconds)


def check_numbers(params: Mapping[str, Any]) -> None:
    """Check that JSON has all numbers in *params*: the SDK would send null for nan.

    Raises:
        PydanticSerializationError: If there is one that JSON has not.
    """
    # Sets and objects of pydantic too, as the SDK writes them
    for path, number in not_in_json(to_jsonable_python(params, serialize_unknown=True)):
        msg = f"{'.'.join(map(str, path))} is {number}, and JSON has no such number"
        raise PydanticSerializationError(msg)


async def plain_request(session: Any, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Send a request over *session*, a session of the SDK; return the result, which is not checked.

    Raises:
        PydanticSerializationError: If *params* have a number that JSON has not.
    """
    from mcp_types import Request  # noqa: PLC0415 - the SDK, loaded by now

    check_numbers(params)
    request = Request[dict[str, Any] | None, str](method=method, params=dict(params) or None)
    answer: dict[str, Any] = await session.send_request(request, _ANY)
    return answer
