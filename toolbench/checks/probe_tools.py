"""A probe's questions about calls of tools; the user must name tools that are not read-only."""

from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import anyio

from toolbench.checks.probe_connection import Answer, ProbeConnection
from toolbench.checks.probe_lists import INVALID_PARAMS
from toolbench.checks.probe_rules import INPUT_ERRORS, STRUCTURED
from toolbench.jsonschema.node import read
from toolbench.jsonschema.validate import validator_of
from toolbench.mcp.snapshots.samples import base_of
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.runs.policy import policy
from toolbench.wording import counted, listed

_NO_TOOL = "toolbench_probe_no_such_tool"
# Tools that are called, and that get bad arguments, unless they are named; names in a sentence
_CALLED, _REFUSING, _NAMES = 20, 5, 8
# Seconds that a call takes which can be cancelled
_SLOW = 0.2


async def ask_for_an_unknown_tool(connection: ProbeConnection) -> None:
    """Call a tool that does not exist, and check that the answer is a protocol error."""
    if "tools" in connection.lists:
        question = "tools/call: an unknown tool is refused"
        params = {"name": _NO_TOOL, "arguments": {}}
        rule = "unknown tool"
        await connection.ask_refused(
            question, "tools/call", params, rule, INVALID_PARAMS, answered="wrong"
        )


async def call_tools(connection: ProbeConnection) -> None:
    """Call the tools that may be called, with valid and with invalid arguments."""
    left, called, refusing = defaultdict[str, list[str]](list), 0, 0
    for tool in connection.tools:
        name, node = tool.remote_name, read(tool.schema)
        is_named = name in connection.named
        why, arguments = _why_not(connection, tool), base_of(node)
        if not why and called >= _CALLED and not is_named:
            why = f"{_CALLED} others were called"
        if not why and node.problems(arguments):
            why = "no arguments are known that fit its schema"
        if why:
            left[why].append(name)
            continue
        called += 1
        await _call(connection, tool, arguments)
        bad = _refused_by(node, arguments)
        if bad is not None and (is_named or refusing < _REFUSING):
            refusing += 1
            await _call_badly(connection, name, bad)
    for why, names in left.items():
        words = f"{counted(len(names), 'tool')}, {why}: {listed(names, _NAMES)}"
        connection.add_not_asked("tools/call: results", words)


def _why_not(connection: ProbeConnection, tool: MCPToolDefinition) -> str:
    """Return why *tool* must not be called; empty if it may be called."""
    verdict, _, words = policy.ruling_on(tool)
    if connection.blocked:
        return connection.blocked
    if verdict == "deny":
        return f"denied, because {words}"
    if tool.remote_name in connection.named:
        return ""
    if tool.hints.effect != "read-only":
        return "not declared read-only, and not named"
    if verdict != "allow":
        return f"a question, because {words}"
    return ""


async def _call(connection: ProbeConnection, tool: MCPToolDefinition, arguments: Any) -> None:
    question = f"tools/call: the result of {tool.remote_name}"
    params = {"name": tool.remote_name, "arguments": arguments}
    answer = await connection.ask("tools/call", params)
    if answer.is_late:
        connection.add_not_asked(question, answer.message)
    elif connection.is_lost(question, answer):
        return
    elif answer.result is not None:
        connection.took[tool.remote_name] = answer.seconds
        breaches = _breaches(tool, answer.result, connection.version)
        for rule, words in breaches:
            connection.add(question, answer._replace(result=None, message=words), rule)
            return
        connection.add(question, answer)
    elif answer.code == INVALID_PARAMS:
        # Its own rules may be stricter than its schema
        connection.add(question, answer)
    else:
        connection.add(question, answer, "tool errors")


def _breaches(
    tool: MCPToolDefinition, result: dict[str, Any], version: str
) -> Iterator[tuple[str, str]]:
    """Yield each rule that the *result* of a call breaks, with an explanation."""
    from mcp_types import CallToolResult  # noqa: PLC0415 - loaded by now
    from pydantic import ValidationError  # noqa: PLC0415 - the same

    try:
        whole = CallToolResult.model_validate(result, by_name=False)
        for block in whole.content:
            if block.type in ("image", "audio"):
                b64decode(getattr(block, "data", ""), validate=True)
    except ValidationError as error:
        first = error.errors()[0]
        yield "definition", f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return
    except ValueError as error:
        yield "definition", f"data that is not base64: {error}"
        return
    if tool.output_schema is None or result.get("isError") or version < STRUCTURED:
        return
    if "structuredContent" not in result:
        yield "structured", "there is no structuredContent, and the tool has an outputSchema"
        return
    for problem in validator_of(tool.output_schema).problems(result["structuredContent"])[:1]:
        yield "structured", f"structuredContent{problem.where and '.'}{problem}"
    if not any(block.type == "text" for block in whole.content):
        yield "text", "structuredContent without the same as text"


def _refused_by(node: Any, good: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the valid arguments *good*, changed so that *node* rejects them, or else None."""
    values = list[dict[str, Any]]()
    # Where a default is declared, the server may fill in what is missing
    if any(not node.properties[name].has_default for name in node.required):
        values.append({})
    wrong: Any
    for name in node.properties:
        for wrong in ([], 0, {"toolbench": []}):
            values.append({**good, name: wrong})
    for value in values:
        if node.problems(value):
            return value
    return None


async def _call_badly(connection: ProbeConnection, name: str, arguments: Any) -> None:
    question = f"tools/call: bad arguments of {name} are refused"
    answer = await connection.ask("tools/call", {"name": name, "arguments": arguments})
    if answer.is_late:
        connection.add_not_asked(question, answer.message)
    elif connection.is_lost(question, answer):
        return
    elif answer.result is not None and not answer.result.get("isError"):
        connection.add(question, answer, "validate")
    elif answer.code is not None and connection.version >= INPUT_ERRORS:
        connection.add(question, answer, "input errors")
    else:
        connection.add(question, answer)


async def cancel_a_call(connection: ProbeConnection) -> None:
    """Call the slowest tool again and cancel the call, which should then not be answered."""
    question = "a call that is cancelled is not answered"
    name, seconds = max(connection.took.items(), key=lambda item: item[1], default=("", 0.0))
    if seconds < _SLOW:
        connection.add_not_asked(question, "no call took long enough")
        return
    (tool,) = (tool for tool in connection.tools if tool.remote_name == name)
    params = {"name": name, "arguments": base_of(read(tool.schema))}
    answer = await connection.ask("tools/call", params, seconds=seconds / 4)
    if not answer.is_late:
        connection.add_not_asked(question, "it was answered before it was cancelled")
        return
    await anyio.sleep(1.5 * seconds)
    traffic = connection.inbox.traffic
    sent = traffic.find(method="tools/call", direction="sent")[-1]
    late = [
        each for each in traffic.find(direction="received") if each.request_id == sent.request_id
    ]
    rule = "cancellation"
    if connection.is_modern and connection.transport == "stdio":
        rule = "cancellation over stdio"
    if late:
        seen = Answer(answer.sent, message=f"an answer came all the same: {late[-1].text[:300]}")
        connection.add(question, seen, rule)
    else:
        connection.add(question, answer)
