"""The questions of a probe about lists: their pages, their order, their names, and the tools in them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.checks.probe_connection import ProbeConnection
from toolbench.checks.probe_report import State
from toolbench.errors import SchemaError, ToolNotFoundError
from toolbench.jsonschema.validate import is_schema, validator_of
from toolbench.llm.lint import lint_tools
from toolbench.mcp.lists.listing import DisabledTool, ListedTool, read_tools
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.values import clip
from toolbench.wording import counted, listed

LISTS: Mapping[str, tuple[str, str, str]] = {
    "tools": ("tools", "tools/list", "name"),
    "prompts": ("prompts", "prompts/list", "name"),
    "resources": ("resources", "resources/list", "uri"),
    "resourceTemplates": ("resources", "resources/templates/list", "uriTemplate"),
}
"""By the key of a list in its result: its capability, its method, and what names an item."""
INVALID_PARAMS = -32602
# Pages of a list; names in a sentence; findings of one kind
_PAGES, _NAMES, _FINDINGS = 250, 5, 20
_GOOD_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


async def ask_for_lists(connection: ProbeConnection) -> None:
    """Read each list that is declared twice; look at the others once."""
    for key, (capability, method, name) in LISTS.items():
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
            _look_at_names(connection, key, [_name_of(item, name) for item in items])
        again = await _pages(connection, key, f"{method}: the same twice")
        if again is not None:
            _compare(connection, key, items, again)


async def _pages(connection: ProbeConnection, key: str, question: str) -> list[Any] | None:
    """Return the items of all pages of a list; None if a page is missing, which is a row then."""
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
            what_to_do = f"Answer {method}, with an empty list if there is nothing."
            connection.add(question, answer, rule, what_to_do)
            return None
        page, cursor = result.get(key), result.get("nextCursor")
        if not isinstance(page, list):
            what_to_do = f"Answer {method} with a list under {key!r}, also to a cursor of your own."
            connection.add(question, answer, "page", what_to_do)
            return None
        items += page
        if cursor is None:
            return items
        if cursor in cursors:
            what_to_do = "Give each page a cursor of its own, and the last page none."
            connection.add(question, answer, "page", what_to_do)
            return None
        cursors.append(cursor)
        params = {"cursor": cursor}
    what_to_do = "Give the last page no nextCursor."
    connection.add(question, f"more than {_PAGES} pages", "page", what_to_do, state="advice")
    return None


async def _ask_for_undeclared(connection: ProbeConnection, key: str) -> None:
    """A list that is not declared has nothing; templates go with resources."""
    capability, method, _ = LISTS[key]
    if key == "resourceTemplates":
        return
    question = f"{method}: not offered if not declared"
    answer = await connection.ask(method)
    if answer.result is not None and answer.result.get(key):
        what_to_do = f"Declare the capability {capability!r}."
        connection.add(question, answer, f"undeclared {capability}", what_to_do)
    elif not connection.is_lost(question, answer):
        connection.add(question, answer)


def _name_of(item: Any, name: str) -> str:
    if isinstance(item, Mapping):
        return str(item.get(name))
    return clip(item)


def _look_at_names(connection: ProbeConnection, key: str, names: Sequence[str]) -> None:
    """Look for names that are there twice."""
    question = f"{key}/list: no name twice"
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        words = f"there more than once: {listed(twice, _NAMES)}"
        connection.add(question, words, f"unique {key}", "Give each item a name of its own.")
    else:
        connection.add(question, counted(len(names), "name"))


def _compare(
    connection: ProbeConnection, key: str, items: Sequence[Any], again: Sequence[Any]
) -> None:
    """Compare a list with the same list, asked for again at once."""
    capability, method, _ = LISTS[key]
    question = f"{method}: the same twice"
    changed = [item for item in again if item not in items]
    changed += [item for item in items if item not in again]
    if changed or len(items) != len(again):
        words = f"differs the second time: {clip(changed, 300)}"
        what_to_do = "List the same while nothing has changed."
        connection.add(question, words, f"same {capability}", what_to_do)
    elif items != again and key == "tools":
        what_to_do = "List in one order, for example sorted by name."
        connection.add(question, "the same items in another order", "order", what_to_do)
    else:
        connection.add(question, counted(len(again), "item"))


# --- the tools of the list ------------------------------------------------------------------


async def look_at_tools(connection: ProbeConnection) -> None:
    """Read the definitions of the tools: their names, their schemas, and who takes them."""
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
    _look_at_definitions(connection, good, bad)
    _look_at_tool_names(connection, [tool.name for tool in good])
    _look_at_providers(connection)


def _look_at_definitions(
    connection: ProbeConnection, good: Sequence[ListedTool], bad: Sequence[DisabledTool]
) -> None:
    """Note the tools that cannot be called, and the parts of the others that cannot be used."""
    question, fix = "tools: definitions and schemas", "Correct this part of the tool's definition."
    names = {tool.name for tool in good}
    wrong = 0
    for disabled in bad:
        # One that is listed twice is a question of its own
        if disabled.name not in names:
            wrong += 1
            schema = None
            if isinstance(disabled.definition, Mapping):
                schema = disabled.definition.get("inputSchema")
            words = f"{disabled.name}: {disabled.reason}"
            state = _state_of(schema)
            connection.add(question, words, "input schema", fix, state=state)
    for tool in good:
        for note in tool.notes:
            wrong += 1
            state = "wrong"
            if tool.output_schema is None and tool.raw.get("outputSchema") is not None:
                state = _state_of(tool.raw["outputSchema"])
            connection.add(question, f"{tool.name}: {note}", "definition", fix, state=state)
    if not wrong:
        connection.add(question, counted(len(good), "tool"))


def _state_of(schema: Any) -> State:
    """Return how wrong a *schema* is that is not used here; one that only this client refuses is advice."""
    if not isinstance(schema, dict) or not is_schema(schema):
        return "wrong"
    try:
        validator_of(schema)
    except SchemaError:
        return "advice"
    return "wrong"


def _look_at_tool_names(connection: ProbeConnection, names: Sequence[str]) -> None:
    question = "tools: names"
    odd = [name for name in names if not _GOOD_NAME.fullmatch(name)]
    if odd:
        what_to_do = "Use letters, digits, _, - and . only, 128 of them at most."
        connection.add(question, listed(odd, _NAMES), "tool names", what_to_do)
    else:
        connection.add(question, counted(len(names), "name"))


def _look_at_providers(connection: ProbeConnection) -> None:
    """Tell which tools a provider of models does not take unchanged; lint knows."""
    question = "tools: taken by each provider of models"
    for_models = [tool for tool in connection.tools if tool.is_for_models]
    found = [each for each in lint_tools(for_models) if each.rule == "provider-refuses"]
    for each in found[:_FINDINGS]:
        words = f"{each.tool}: {each.message}"
        connection.add(question, words, what_to_do=each.fix, state="advice")
    if not found:
        connection.add(question, counted(len(for_models), "tool"))
