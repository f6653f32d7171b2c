"""The tools of a server of many tools in groups, by the words that their names begin with."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from toolbench.core.declarations import Effect
from toolbench.display.caps import shorten
from toolbench.llm.tokens import TokenCount
from toolbench.magics.table import Listing
from toolbench.wording import listed, words_of

if TYPE_CHECKING:
    from toolbench.mcp.review import TokenBill
    from toolbench.mcp.tool import MCPToolDefinition

# Rows; the last has the tools of all other groups
_ROWS = 20
# Names that are in no group, and the characters of each
_NAMES, _LONGEST = 12, 40

Tools = Sequence["MCPToolDefinition"]


def groups(server: str, tools: Tools, bill: "TokenBill") -> Listing:
    """Return a table of the groups of *tools*: the number, the cost and the effects of each.

    What stands for a group is a pattern of the names on the server: `%tools SERVER.PATTERN`.

    Args:
        server: The name of the server.
        tools: The tools of the server.
        bill: The cost of each tool.
    """
    grouped, others = _grouped(tools)
    notes = []
    if others:
        grouped = [*grouped, ("other names", others)]
        names = [_short(tool.name) for tool in others]
        notes = [f"Other names: {listed(names, _NAMES)}"]
    counts = Counter(tool.hints.effect for tool in tools)
    effects: list[Effect] = [effect for effect in get_args(Effect) if counts[effect]]
    rows = [
        (
            _short(pattern),
            f"{len(members):,}",
            _cost(members, bill),
            *_numbers(members, effects),
        )
        for pattern, members in grouped
    ]
    columns = (f"tools of {server}", "number", "tokens", *effects)
    return Listing(columns, rows, f"{server} has no tools.", notes=notes)


def _grouped(tools: Tools) -> tuple[list[tuple[str, Tools]], Tools]:
    """Return groups of *tools*, each with its pattern, the largest first; and the other tools."""
    if not tools:
        return [], []
    first = _same_beginning([words_of(tool.name) for tool in tools])
    by_beginning: dict[str, list[MCPToolDefinition]] = {}
    for tool in tools:
        by_beginning.setdefault(_beginning(tool.name, first + 1), []).append(tool)
    ordered = sorted(by_beginning.items(), key=lambda item: -len(item[1]))
    shown = ordered
    if len(ordered) > _ROWS:
        shown = [item for item in ordered[: _ROWS - 1] if len(item[1]) > 1]
    if first and not shown:
        # After the words of all, each name goes on in its own way
        shown = [(_beginning(tools[0].name, first), list(tools))]
        ordered = shown
    others = [tool for _, members in ordered[len(shown) :] for tool in members]
    return [(_pattern(beginning, members), members) for beginning, members in shown], others


def _beginning(name: str, words: int) -> str:
    """Return *name* up to the end of so many words; all of it if it has other letters than words have."""
    pattern = r"[\W_]*".join(["", *map(re.escape, words_of(name)[:words])])
    found = re.match(pattern, name, re.IGNORECASE)
    return found[0] if found and words_of(found[0]) else name


def _same_beginning(names: Sequence[Any]) -> int:
    """Return how many items at the beginning of all *names*, texts or lists of words, are the same."""
    lowest, highest = min(names), max(names)
    for place, (one, other) in enumerate(zip(lowest, highest, strict=False)):
        if one != other:
            return place
    return len(lowest)


def _pattern(beginning: str, members: Tools) -> str:
    """Return the pattern of the names of *members*, which have this *beginning*."""
    names = [tool.name for tool in members]
    if len(names) == 1:
        return names[0]
    end, shared = len(beginning), _same_beginning(names)
    # With the sign before the next word
    while end < shared and not names[0][end].isalnum():
        end += 1
    return f"{names[0][:end]}*"


def _short(name: str) -> str:
    return shorten(" ".join(name.split()), _LONGEST)


def _cost(members: Tools, bill: "TokenBill") -> str:
    costs = [bill.tools[tool.remote_name] for tool in members if tool.remote_name in bill.tools]
    if not costs:
        return ""
    tokens = sum(cost.tokens for cost in costs)
    return TokenCount(tokens, exact=all(cost.exact for cost in costs)).number


def _numbers(members: Tools, effects: Sequence[Effect]) -> list[str]:
    """Return how many of *members* have each of *effects*; empty for none."""
    counts = Counter(tool.hints.effect for tool in members)
    return [f"{counts[effect]:,}" if counts[effect] else "" for effect in effects]
