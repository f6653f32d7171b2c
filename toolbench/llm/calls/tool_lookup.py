"""Find the tool that a model means, even if it misspells the name."""

import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.providers import Provider, tool_name

AnyTool = ToolDefinition[Any, Any]
Tools = Iterable[AnyTool] | Mapping[str, AnyTool]

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "bash": "terminal",
        "execute_bash": "terminal",
        "run_command": "terminal",
        "shell": "terminal",
        "ipython": "execute_ipython_cell",
        "run_ipython": "execute_ipython_cell",
        "str_replace_editor": "file_editor",
        "str_replace_based_edit_tool": "file_editor",
    }
)
"""Names that models know from other systems, and our tools for them. Source: OpenHands SDK."""

_PREFIX = re.compile(r"(functions?|tools?|default_api)[.:/]", re.IGNORECASE)
_TAIL = re.compile(r"[\s<(].*", re.DOTALL)


class Offer:
    """The tools offered to a model, found by any name it may use for them."""

    def __init__(
        self, tools: Tools, provider: Provider, aliases: Mapping[str, str] = ALIASES
    ) -> None:
        """Offer *tools* under *provider*'s names; if two tools have the same name, only the first."""
        all_tools = [*(tools.values() if isinstance(tools, Mapping) else tools)]
        self._tools = {tool.name: tool for tool in reversed(all_tools)}
        self._provider, self._aliases = provider, aliases
        self._sent: dict[str, AnyTool] | None = None

    @property
    def names(self) -> list[str]:
        """The names that the model got."""
        return [*reversed(self._by_sent_name())]

    def find(self, name: str) -> tuple[AnyTool | None, str | None]:
        """Return the tool for *name*, and a note if *name* is not its exact name."""
        tool = self._tools.get(name) or self._by_sent_name().get(name)
        if tool is not None:
            return tool, None
        sent = self._by_sent_name()
        match = meant_by(name, {**self._tools, **sent}, self._aliases)
        if match is None:
            return None, None
        tool = self._tools.get(match) or sent[match]
        return tool, f"{name!r} was read as {tool.name!r}"

    def _by_sent_name(self) -> dict[str, AnyTool]:
        if self._sent is None:
            self._sent = {
                tool_name(n, self._provider): t for n, t in self._tools.items()
            }
        return self._sent


def meant_by(
    name: str, known: Collection[str], aliases: Mapping[str, str] = ALIASES
) -> str | None:
    """Return the name in *known* that *name* is an alias or another spelling of."""
    bare = _TAIL.sub("", _PREFIX.sub("", name.strip()))
    folded = _folded(bare)
    stems = (folded, folded.removesuffix("_tool"))  # `BashTool` is `bash`
    for called in (bare, *(aliases.get(other) for other in (name, bare, *stems))):
        if called in known:
            return called
    for stem in stems:
        alike = [own for own in known if _folded(own) == stem]
        if len(alike) == 1:
            return alike[0]
    return None


def _folded(name: str) -> str:
    """Return *name* in one spelling, the same for `grepFiles`, `grep-files` and `Grep_Files`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", snake.lower()).strip("_")
