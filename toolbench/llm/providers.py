"""The providers of models, and the names of tools and arguments that each accepts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

Provider = Literal["openai", "responses", "anthropic", "gemini", "mcp"]
PROVIDER_TITLES: dict[Provider, str] = {
    "mcp": "MCP",
    "openai": "OpenAI chat completions",
    "responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
}
"""The names of the formats for a person."""

# Hexadecimal digits that make two renamed names differ
_MARK = 6


@dataclass(frozen=True)
class NameRule:
    """A rule for names; `first` and `rest` are the insides of regex character classes."""

    first: str
    rest: str
    limit: int
    words: str

    def fits(self, name: str) -> bool:
        """Tell whether *name* can be sent as it is."""
        pattern = f"[{self.first}][{self.rest}]{{0,{self.limit - 1}}}"
        return re.fullmatch(pattern, name, re.ASCII) is not None

    def rename(self, name: str) -> str:
        """Return *name* if it fits, else a valid name made from it.

        The new name ends in a hash of the old name. So two names stay different, even if they
        differ only in characters that are not allowed.
        """
        if self.fits(name):
            return name
        mark = "_" + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
        valid = re.sub(f"[^{self.rest}]", "_", name, flags=re.ASCII)
        if not re.match(f"[{self.first}]", valid, re.ASCII):
            valid = f"_{valid}"
        return valid[: self.limit - len(mark)] + mark


_WORD = "a-zA-Z0-9_"
_OPENAI = NameRule(f"{_WORD}-", f"{_WORD}-", 64, "64 letters, digits, '_' and '-'")

TOOL_NAMES: Mapping[Provider, NameRule] = {
    "openai": _OPENAI,
    "responses": _OPENAI,
    "anthropic": NameRule(f"{_WORD}-", f"{_WORD}-", 128, "128 letters, digits, '_' and '-'"),
    "gemini": NameRule(
        "a-zA-Z_",
        f"{_WORD}.:-",
        128,
        "128 letters, digits and '_.:-', a letter or '_' first",
    ),
}
"""The rule for the name of a tool. MCP has no such rule: a tool keeps its name."""

ARGUMENT_NAMES: Mapping[Provider, NameRule] = {
    "anthropic": NameRule(f"{_WORD}.-", f"{_WORD}.-", 64, "64 letters, digits, '_', '.' and '-'"),
    "gemini": NameRule("a-zA-Z_", _WORD, 64, "64 letters, digits and '_', no digit first"),
}
"""The rule for the name of an argument; Anthropic's rule is only for the outermost arguments."""


def tool_name(name: str, provider: Provider) -> str:
    """Return the name under which *provider* knows the tool called *name*."""
    rule = TOOL_NAMES.get(provider)
    return name if rule is None else rule.rename(name)
