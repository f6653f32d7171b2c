"""The questions of a probe about calls of tools. What is not read-only is called only if it is named."""

from toolbench.checks.probe_connection import ProbeConnection
from toolbench.checks.probe_lists import INVALID_PARAMS

_NO_TOOL = "toolbench_probe_no_such_tool"


async def ask_for_an_unknown_tool(connection: ProbeConnection) -> None:
    """Call a tool that the server does not list: it is an error of the protocol."""
    question = "tools/call: an unknown tool is refused"
    if "tools" not in connection.lists:
        connection.add_not_asked(question, "its tools are not listed")
        return
    answer = await connection.ask("tools/call", {"name": _NO_TOOL, "arguments": {}})
    what_to_do = f"Refuse it with the error {INVALID_PARAMS}."
    if connection.is_lost(question, answer):
        return
    if answer.result is not None and not answer.result.get("isError"):
        connection.add(question, answer, "unknown tool", what_to_do, state="wrong")
    elif answer.code != INVALID_PARAMS:
        connection.add(question, answer, "unknown tool", what_to_do)
    else:
        connection.add(question, answer)
