"""Count the tokens of a text, or estimate them if no tokenizer is installed."""

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic_core import to_json

from toolbench.core.tool import ToolDefinition
from toolbench.wording import estimate_tokens


@dataclass(frozen=True)
class TokenCount:
    """A number of tokens; `≈` marks an estimate."""

    tokens: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.number} tokens"

    @property
    def number(self) -> str:
        """The number alone, for a column of numbers."""
        if self.exact:
            return f"{self.tokens:,}"
        return f"≈ {self.tokens:,}"


def count_tokens(text: str, encoding: str = "o200k_base") -> TokenCount:
    """Count the tokens of *text* with `toktok-rs` if it is installed, else estimate them.

    Args:
        text: A text that a model reads.
        encoding: OpenAI's `o200k_base` or `cl100k_base`; other encodings have no public tokenizer.

    Raises:
        KeyError: If the tokenizer does not know *encoding*.
    """
    try:
        toktok = import_module("toktok")
    except ImportError:
        return _estimate(text)
    return TokenCount(toktok.batch_count([text], encoding, threads=1)[0], exact=True)


def quick_count(text: str) -> TokenCount:
    """Count the tokens of *text* if a tokenizer is loaded already, else estimate them.

    Loading a tokenizer takes half a second. This is too long for a view that shows the number.
    """
    if "toktok" in sys.modules:
        return count_tokens(text)
    return _estimate(text)


def _estimate(text: str) -> TokenCount:
    return TokenCount(estimate_tokens(text), exact=False)


def offer_of(tool: ToolDefinition[Any, Any], schema: dict[str, Any] | None = None) -> str:
    """Return the text of *tool* that a model reads: name, description, schema of the arguments."""
    if schema is None:
        schema = tool.parameters()
    return f"{tool.name}\n{tool.description or ''}\n{to_json(schema).decode()}"
