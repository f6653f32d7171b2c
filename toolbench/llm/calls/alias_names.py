"""Find the tool that a name means: an alias from another system, or another spelling."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

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


def meant_by(name: str, known: Collection[str], aliases: Mapping[str, str] = ALIASES) -> str | None:
    """Return the name in *known* that *name* means, by alias or by spelling.

    Return None if no name fits, or more than one.
    """
    bare = _TAIL.sub("", _PREFIX.sub("", name.strip()))
    folded = _folded(bare)
    # `BashTool` is `bash`
    stems = (folded, folded.removesuffix("_tool"))
    for called in (bare, *(aliases.get(other) for other in (name, bare, *stems))):
        if called in known:
            return called
    for stem in stems:
        alike = [own for own in known if _folded(own) == stem]
        if len(alike) == 1:
            return alike[0]
    return None


def _folded(name: str) -> str:
    """Return *name* in its normal spelling: `grep_files` for `Grep-Files` and `grepFiles`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", snake.lower()).strip("_")
