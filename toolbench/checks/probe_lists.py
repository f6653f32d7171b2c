"""A probe's questions about lists: pages, order and names, and the tools in a list."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbench.checks.probe_connection import Breach, ProbeConnection
from toolbench.checks.probe_report import State
from toolbench.errors import SchemaError, ToolNotFoundError
from toolbench.jsonschema.validate import is_schema, validator_of
from toolbench.llm.lint import lint_tools
from toolbench.mcp.lists.listing import DisabledTool, ListedTool, read_tools
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.values import clip
from toolbench.wording import counted

LISTS: Mapping[str, tuple[str, str, str]] = {
    "tools": ("tools", "tools/list", "name"),
    "prompts": ("prompts", "prompts/list", "name"),
    "resources": ("resources", "resources/list", "uri"),
    "resourceTemplates": ("resources", "resources/templates/list", "uriTemplate"),
}
"""The lists by their key in a result, each with its capability, method and the key of a name."""
INVALID_PARAMS = -32602
# Pages of a list
_PAGES = 250
_GOOD_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


async def ask_for_lists(connection: ProbeConnection) -> None:
    """Read every declared list two times, and request every undeclared list once."""
    for key, (capability, method, _) in LISTS.items():
        if capability not in connection.capabilities:
            await _ask_for_undeclared(connection, key)
            continue
        question = f"{method}: all pages"
        items = await _pages(connection, key, question)
        if items is None:
            continue
        connection.lists[key] = items
        connection.add(question, counted(len(items), "item"))
        if key == capability:
            question = f"{method}: no name twice"
            connection.add_each(question, _twice(key, items), counted(len(items), "name"))
        again = await _pages(connection, key, f"{method}: the same twice")
        if again is not None:
            _compare(connection, key, items, again)


async def _pages(connection: ProbeConnection, key: str, question: str) -> list[Any] | None:
    """Return the items of all pages of a list; if a page is missing, add a row and return None."""
    capability, method, _ = LISTS[key]
    items, cursors, params = list[Any](), list[Any](), dict[str, Any]()
    for _ in range(_PAGES):
        answer = await connection.ask(method, params)
        if connection.is_lost(question, answer):
            return None
        result = answer.result or {}
        if answer.result is None and not params:
            rule = f"declared {capability}"
            if key == "resourceTemplates":
                rule = "templates"
            connection.add(question, answer, rule)
            return None
        page, cursor = result.get(key), result.get("nextCursor")
        if not isinstance(page, list):
            connection.add(question, answer, "page")
            return None
        items += page
        if cursor is None:
            return items
        if cursor in cursors:
            connection.add(question, answer, "page")
            return None
        cursors.append(cursor)
        connection.paged.append(key)
        params = {"cursor": cursor}
    connection.add(question, f"more than {_PAGES} pages", "page", state="advice")
    return None


async def _ask_for_undeclared(connection: ProbeConnection, key: str) -> None:
    """Ask for a list that the server does not declare, and that must therefore be empty."""
    capability, method, _ = LISTS[key]
    if key == "resourceTemplates":
        return
    question = f"{method}: not offered if not declared"
    answer = await connection.ask(method)
    if answer.result is not None and answer.result.get(key):
        connection.add(question, answer, f"undeclared {capability}")
    elif not connection.is_lost(question, answer):
        connection.add(question, answer)


def _name_of(item: Any, name: str) -> str:
    if isinstance(item, Mapping):
        return str(item.get(name))
    return clip(item)


def _twice(key: str, items: Sequence[Any]) -> Iterator[Breach]:
    """Yield a breach for each name that occurs more than once."""
    names = Counter(_name_of(item, LISTS[key][2]) for item in items)
    for name, count in names.items():
        if count > 1:
            yield Breach(f"unique {key}", f"there {count} times: {name}")


def _compare(
    connection: ProbeConnection, key: str, items: Sequence[Any], again: Sequence[Any]
) -> None:
    """Compare *items*, the content of a list, with *again*, the same list read once more."""
    capability, method, _ = LISTS[key]
    question = f"{method}: the same twice"
    changed = [item for item in again if item not in items]
    changed += [item for item in items if item not in again]
    if changed or len(items) != len(again):
        words = f"differs the second time: {clip(changed, 300)}"
        connection.add(question, words, f"same {capability}")
    elif items != again and key == "tools":
        connection.add(question, "the same items in another order", "order")
    else:
        connection.add(question, counted(len(again), "item"))


# --- the tools of the list ------------------------------------------------------------------


async def look_at_tools(connection: ProbeConnection) -> None:
    """Check the names and schemas of the tools, and whether model providers accept them."""
    items = connection.lists.get("tools")
    unknown = connection.named - {_name_of(item, "name") for item in items or ()}
    for name in unknown:
        msg = f"Server {connection.name!r} lists no tool {name!r}: --tools and tools= name tools of it."
        raise ToolNotFoundError(msg)
    if items is None:
        return
    good, bad = read_tools(items, is_modern=connection.is_modern)
    for tool in good:
        connection.tools.append(
            MCPToolDefinition(
                name=tool.name,
                description=tool.description,
                observation_type=MCPToolObservation,
                annotations=tool.annotations,
                meta=tool.meta,
                server=connection.name,
                remote_name=tool.name,
                schema=tool.schema,
                output_schema=tool.output_schema,
            )
        )
    number = counted(len(good), "tool")
    connection.add_each("tools: definitions and schemas", _definitions(good, bad), number)
    connection.add_each("tools: names", _odd_names(good), number)
    connection.add_each("tools: taken by each provider of models", _refused(connection), number)


def _definitions(good: Sequence[ListedTool], bad: Sequence[DisabledTool]) -> Iterator[Breach]:
    """Yield a breach for each tool in *bad*, and for each unusable part of a tool in *good*."""
    names = {tool.name for tool in good}
    for disabled in bad:
        # One that is listed twice is a question of its own
        if disabled.name not in names:
            words = f"{disabled.name}: {disabled.reason}"
            yield Breach("input schema", words, _state_of(disabled.definition, "inputSchema"))
    for tool in good:
        for note in tool.notes:
            state: State = "wrong"
            if tool.output_schema is None and "outputSchema" in tool.raw:
                state = _state_of(tool.raw, "outputSchema")
            yield Breach("definition", f"{tool.name}: {note}", state)


def _state_of(definition: Any, key: str) -> State:
    """Return the state for an unusable schema; "advice" if the schema is valid by the standard."""
    if not isinstance(definition, Mapping) or not isinstance(definition.get(key), dict):
        return "wrong"
    try:
        if is_schema(definition[key]):
            validator_of(definition[key])
    except SchemaError:
        return "advice"
    return "wrong"


def _odd_names(tools: Sequence[ListedTool]) -> Iterator[Breach]:
    for tool in tools:
        if not _GOOD_NAME.fullmatch(tool.name):
            yield Breach("tool names", tool.name)


def _refused(connection: ProbeConnection) -> Iterator[Breach]:
    """Yield the tools that a provider of models does not accept unchanged, according to lint."""
    for each in lint_tools(tool for tool in connection.tools if tool.is_for_models):
        if each.rule == "provider-refuses":
            # A rule of theirs, and none of MCP
            yield Breach("", f"{each.tool}: {each.message} {each.fix}", "advice")
