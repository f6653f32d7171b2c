"""Names of tools: the address of a tool, its origin, and labels that tell tools apart.

The name of a tool can change, for example if another server uses it; its address does not.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import Any, NamedTuple, TypeVar

from toolbench.core.executor import FunctionCall
from toolbench.core.tool import ToolDefinition
from toolbench.wording import words_of

AnyTool = TypeVar("AnyTool", bound=ToolDefinition[Any, Any])


class ToolAddress(NamedTuple):
    """The place of a tool, written `server.tool`; it does not change if names of tools clash."""

    server: str
    """The name of the server; empty for a tool of this process."""
    name: str
    """The name of the tool on its server, or in this process."""

    @classmethod
    def of(cls, tool: ToolDefinition[Any, Any]) -> "ToolAddress":
        """Return the address of *tool*."""
        server = tool.source.partition(":")[2]
        if not server:
            return cls("", tool.name)
        return cls(server, getattr(tool, "remote_name", tool.name))

    def __str__(self) -> str:
        if not self.server:
            return self.name
        return f"{self.server}.{self.name}"

    @property
    def file_name(self) -> str:
        """The address as a valid file name, whatever characters the server uses."""
        name = re.sub(r"[^\w.-]+", "_", str(self)).strip(".") or "tool"
        # Bytes are what a file system counts
        return name.encode()[:200].decode(errors="ignore")

    @property
    def full_name(self) -> str:
        """The name for the tool if another server uses its name too: server, `_`, name."""
        if not self.server:
            return self.name
        return f"{self.server}_{self.name}"


def tool_at(text: str, tools: Iterable[AnyTool]) -> AnyTool | None:
    """Return the tool of *tools* whose address is *text*; None if there is none.

    A tool whose whole name is *text* takes precedence, because names of tools may contain dots. If
    the names of several servers fit, as `a` and `a.b` fit `a.b.c`, the longest name is used.

    Args:
        text: The address, `server.tool`. It may also be `server_tool`, which is the name that a
            tool gets if another tool has the same name.
        tools: The tools to search. Tools of this process have no address.
    """
    exact, clashing = [], []
    for tool in tools:
        address = ToolAddress.of(tool)
        if address.server and str(address) == text:
            exact.append(tool)
        elif address.server and address.full_name == text:
            clashing.append(tool)
    return max(exact or clashing, key=lambda tool: len(tool.source), default=None)


def kind_of(tool: ToolDefinition[Any, Any]) -> str:
    """Return the origin of *tool*: `function`, the name of its class, or `mcp:` and its server."""
    if tool.source != ToolDefinition.source:
        return tool.source
    if isinstance(tool.executor, FunctionCall):
        return "function"
    return type(tool).__name__


def names_apart(tools: Sequence[ToolDefinition[Any, Any]]) -> list[str]:
    """Return a distinct label for each of *tools*.

    The label is the name of the tool if no other tool has this name. Otherwise, the origin of the
    tool is added. If tools have the same name and the same origin, a number is added too.
    """
    by_name = Counter(tool.name for tool in tools)
    by_kind = Counter((tool.name, kind_of(tool)) for tool in tools)
    numbers = Counter[tuple[str, str]]()
    labels = []
    for tool in tools:
        kind = kind_of(tool)
        numbers[tool.name, kind] += 1
        if by_name[tool.name] == 1:
            labels.append(tool.name)
        elif by_kind[tool.name, kind] == 1:
            labels.append(f"{tool.name} ({kind})")
        else:
            labels.append(f"{tool.name} ({kind} {numbers[tool.name, kind]})")
    return labels


# --- groups of names ----------------------------------------------------------------------


def by_first_words(
    names: Sequence[str], most: int
) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Group *names* that begin with the same word; return the groups, and the other names.

    Words that all names begin with are ignored. Each group has a pattern that fits its names, such
    as `get_*`, and the largest group comes first. The pattern of a single name is the name itself.

    Args:
        names: The names of tools, without duplicates.
        most: The maximum number of groups. If there would be more, only large groups are returned,
            and the names of all smaller groups are among the other names.
    """
    # Of words, not of paths
    first = len(commonprefix([words_of(name) for name in names]))  # noqa: RUF071
    by_beginning: dict[str, list[str]] = {}
    for name in names:
        by_beginning.setdefault(_beginning(name, first + 1), []).append(name)
    ordered = sorted(by_beginning.items(), key=lambda item: -len(item[1]))
    shown = ordered
    if len(ordered) > most:
        shown = [group for group in ordered[: most - 1] if len(group[1]) > 1]
    if first and not shown:
        # After the words of all, each name goes on in its own way
        shown = ordered = [(_beginning(names[0], first), list(names))]
    others: list[str] = []
    for _, members in ordered[len(shown) :]:
        others += members
    return [(_pattern(*group), group[1]) for group in shown], others


def _beginning(name: str, words: int) -> str:
    """Return the first *words* words of *name*, or all of it if it has unusual characters."""
    pattern = r"[\W_]*".join(["", *map(re.escape, words_of(name)[:words])])
    found = re.match(pattern, name, re.IGNORECASE)
    if found and words_of(found[0]):
        return found[0]
    return name


def _pattern(beginning: str, names: Sequence[str]) -> str:
    """Return the pattern for *names*, which all start with *beginning*."""
    if len(names) == 1:
        return names[0]
    end = len(beginning)
    shared = len(commonprefix(names))  # noqa: RUF071 - of names, not of paths
    # With the sign before the next word
    while end < shared and not names[0][end].isalnum():
        end += 1
    return f"{names[0][:end]}*"
