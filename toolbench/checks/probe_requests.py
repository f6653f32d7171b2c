"""The questions of a probe about requests that are neither lists nor calls of tools."""

from toolbench.checks.probe_connection import ProbeConnection
from toolbench.mcp.errors import METHOD_NOT_FOUND

_NO_METHOD = "toolbench/no_such_method"


async def ask_for_an_unknown_method(connection: ProbeConnection) -> None:
    """Send a request whose method MCP does not have."""
    question = "an unknown method is refused"
    answer = await connection.ask(_NO_METHOD)
    rule = "unknown method"
    if connection.is_modern and connection.transport == "http":
        rule = "unknown method over HTTP"
    what_to_do = f"Refuse it with the error {METHOD_NOT_FOUND}."
    if connection.is_lost(question, answer):
        return
    if answer.result is not None:
        connection.add(question, answer, rule, what_to_do, state="wrong")
    elif answer.code != METHOD_NOT_FOUND:
        connection.add(question, answer, rule, what_to_do)
    else:
        connection.add(question, answer)
