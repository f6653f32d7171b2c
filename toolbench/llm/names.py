"""Names of tools and arguments: which names a provider accepts, and which name a model means."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

# Hexadecimal digits that distinguish two renamed names
_MARK = 6
_MARKED = re.compile(rf"_[0-9a-f]{{{_MARK}}}\Z")


@dataclass(frozen=True)
class NameRule:
    """A provider's rule for names: which characters a name may contain.

    `first` holds the allowed first characters, and `rest` the characters that may follow. Both are
    written like a character class of a regular expression.
    """

    first: str
    rest: str
    limit: int
    words: str

    def fits(self, name: str) -> bool:
        """Tell whether *name* can be sent unchanged."""
        pattern = f"[{self.first}][{self.rest}]{{0,{self.limit - 1}}}"
        return re.fullmatch(pattern, name, re.ASCII) is not None

    def rename(self, name: str) -> str:
        """Return *name* if it follows the rule, else a valid name derived from *name*.

        The new name ends with a hash of *name*. Therefore, two names stay different even if they
        differ only in characters that are not allowed.
        """
        if self.fits(name):
            return name
        mark = "_" + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
        valid = re.sub(f"[^{self.rest}]", "_", name, flags=re.ASCII)
        if not re.match(f"[{self.first}]", valid, re.ASCII):
            valid = f"_{valid}"
        return valid[: self.limit - len(mark)] + mark

    @staticmethod
    def may_be_new(name: str) -> bool:
        """Tell whether *name* may be a new name that `rename` made, judging by its end."""
        return _MARKED.search(name) is not None

    def renamed(self, names: Iterable[str]) -> dict[str, str]:
        """Map each of *names* that does not fit to the valid name that is sent instead."""
        return {name: self.rename(name) for name in names if not self.fits(name)}


# --- the names of formats ---------------------------------------------------------------

PROVIDERS = ("openai", "responses", "anthropic", "gemini", "mcp")
"""The keys of `toolbench.llm.wire.WIRES`, for lines that offer them before a format is needed."""

# --- the names that models use ---------------------------------------------------------

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
"""Maps tool names that models know from other systems to our tools. Source: OpenHands SDK."""

_PREFIX = re.compile(r"(functions?|tools?|default_api)[.:/]", re.IGNORECASE)
_TAIL = re.compile(r"[\s<(].*", re.DOTALL)


def meant_by(name: str, known: Collection[str], aliases: Mapping[str, str] = ALIASES) -> str | None:
    """Return the known name that a model probably means by *name*.

    Return None if no known name fits, or if several known names fit.

    Args:
        name: The name that the model used. It may be an alias or an unusual spelling.
        known: The names that exist.
        aliases: Maps other names that models use for a tool to the tool's real name.
    """
    bare = _TAIL.sub("", _PREFIX.sub("", name.strip()))
    folded = _folded(bare)
    # `BashTool` means `bash`
    stems = (folded, folded.removesuffix("_tool"))
    aliased = [aliases.get(other) for other in (name, bare, *stems)]
    for called in (bare, *aliased):
        if called in known:
            return called
    for stem in stems:
        alike = [own for own in known if _folded(own) == stem]
        if len(alike) == 1:
            return alike[0]
    return None


def _folded(name: str) -> str:
    """Return the normal spelling of *name*: `grep_files` for `Grep-Files` and `grepFiles`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", snake.lower()).strip("_")
