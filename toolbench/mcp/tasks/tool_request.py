"""The request of a tool call, as a task or not, for either protocol."""

from typing import Any

from toolbench.mcp.connection.connection import Send
from toolbench.mcp.connection.open_calls import Call

RETENTION = 24 * 60 * 60 * 1000  # milliseconds that we ask a server to keep a task for


def tool_request(
    name: str, arguments: dict[str, Any], call: Call, *, as_task: bool
) -> Send:
    """Return a function that sends the call of the tool *name*.

    Args:
        name: The server's name for the tool.
        arguments: Its arguments, unchanged.
        call: The call; the server knows it by its token.
        as_task: Ask for a task, as the older protocol does.
    """

    def send(session: Any, responses: Any, state: str | None) -> Any:
        if as_task:
            return _sent_as_task(session, name, arguments, call)
        return session.call_tool(
            name,
            arguments,
            meta={"progressToken": call.token},
            input_responses=responses,
            request_state=state,
            allow_input_required=True,
        )

    return send


async def _sent_as_task(
    session: Any, name: str, arguments: dict[str, Any], call: Call
) -> Any:
    from toolbench.mcp.tasks.task_messages import plain_request  # noqa: PLC0415 - the SDK, loaded by now

    params = {
        "name": name,
        "arguments": arguments,
        "task": {"ttl": RETENTION},
        "_meta": {"progressToken": call.token},
    }
    return await plain_request(session, "tools/call", params)
