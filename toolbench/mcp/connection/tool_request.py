"""Send a tool call."""

from typing import Any

from toolbench.mcp.connection.connection import Send
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.features.raw_request import check_numbers


def tool_request(name: str, arguments: dict[str, Any], call: Call) -> Send:
    """Return a function that sends the call of the tool *name*.

    Args:
        name: The name of the tool on the server.
        arguments: The arguments of the tool, unchanged.
        call: The call. The server's messages of progress contain the token of this call.
    """

    def send(session: Any, responses: Any, state: str | None) -> Any:
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
