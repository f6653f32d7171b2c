"""Find the tool a model means by a name."""

import re
from collections.abc import Iterable, Mapping
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
        "execute_ipython_cell": "ipython",
        "run_ipython": "ipython",
        "str_replace_editor": "file_editor",
        "str_replace_based_edit_tool": "file_editor",
    }
)
"""Names that models learned elsewhere, and the tools they mean. Source: the OpenHands SDK."""

_PREFIX = re.compile(r"(functions?|tools?|default_api)[.:/]", re.IGNORECASE)
_TAIL = re.compile(r"[\s<(].*", re.DOTALL)


class Offer:
    """The tools a model was offered, under every name it may use for them."""

    def __init__(
        self, tools: Tools, provider: Provider, aliases: Mapping[str, str] = ALIASES
    ) -> None:
        """Take *tools*, the first of a name if there are two, as *provider* knows them."""
        listed = [*(tools.values() if isinstance(tools, Mapping) else tools)]
        self._tools = {tool.name: tool for tool in reversed(listed)}
        self._provider, self._aliases = provider, aliases
        self._sent: dict[str, AnyTool] | None = None

    @property
    def names(self) -> list[str]:
        """The names the model was told."""
        return [*reversed(self._by_sent_name())]

    def find(self, name: str) -> tuple[AnyTool | None, str | None]:
        """Return the tool *name* means, and a sentence if it was not called by its own name."""
        tool = self._tools.get(name) or self._by_sent_name().get(name)
        if tool is not None:
            return tool, None
        bare = _TAIL.sub("", _PREFIX.sub("", name.strip()))
        for called in (bare, self._aliases.get(name, ""), self._aliases.get(bare, "")):
            tool = self._tools.get(called) or self._by_sent_name().get(called)
            if tool is not None:
                return tool, f"{name!r} was read as {tool.name!r}"
        alike = [t for own, t in self._tools.items() if _folded(own) == _folded(bare)]
        if len(alike) == 1:
            return alike[0], f"{name!r} was read as {alike[0].name!r}"
        return None, None

    def _by_sent_name(self) -> dict[str, AnyTool]:
        if self._sent is None:
            self._sent = {
                tool_name(n, self._provider): t for n, t in self._tools.items()
            }
        return self._sent


def _folded(name: str) -> str:
    """`grepFiles`, `grep-files` and `Grep_Files` are one name."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", snake.lower()).strip("_")
