"""Send a tool call. In the older protocol, the call can request a task."""

from typing import Any

from toolbench.mcp.connection.connection import Send
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.features.raw_request import check_numbers, plain_request

# Milliseconds that we ask a server to keep a task for
RETENTION = 24 * 60 * 60 * 1000


def tool_request(name: str, arguments: dict[str, Any], call: Call, *, as_task: bool) -> Send:
    """Return a function that sends the call of the tool *name*.

    Args:
        name: The name of the tool on the server.
        arguments: The arguments of the tool, unchanged.
        call: The call. The server's messages of progress contain the token of this call.
        as_task: Whether to request a task, in the way of the older protocol.
    """

    def send(session: Any, responses: Any, state: str | None) -> Any:
        if as_task:
            return _sent_as_task(session, name, arguments, call)
        check_numbers(arguments)
        return session.call_tool(
            name,
            arguments,
            meta={"progressToken": call.token},
            input_responses=responses,
            request_state=state,
            allow_input_required=True,
        )

    return send


async def _sent_as_task(session: Any, name: str, arguments: dict[str, Any], call: Call) -> Any:
    params = {
        "name": name,
        "arguments": arguments,
        "task": {"ttl": RETENTION},
        "_meta": {"progressToken": call.token},
    }
    return await plain_request(session, "tools/call", params)
