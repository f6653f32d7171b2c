"""Count the tokens of text, or estimate them if no tokenizer is installed."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic_core import to_json

from toolbench.core.tool import ToolDefinition
from toolbench.wording import estimate_tokens


@dataclass(frozen=True)
class TokenCount:
    """A number of tokens; `≈` marks an estimate.

    Examples:
        >>> from toolbench.llm import TokenCount
        >>> print(TokenCount(1_250, exact=True), TokenCount(1_250, exact=False))
        1,250 tokens ≈ 1,250 tokens
    """

    tokens: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.number} tokens"

    @property
    def number(self) -> str:
        """The number without the word "tokens", for a column of a table."""
        if self.exact:
            return f"{self.tokens:,}"
        return f"≈ {self.tokens:,}"


def count_tokens(text: str, encoding: str = "o200k_base") -> TokenCount:
    """Count the tokens of *text* with `toktok-rs` if it is installed, else estimate them.

    Args:
        text: The text.
        encoding: OpenAI's `o200k_base` or `cl100k_base`; other encodings have no public tokenizer.

    Raises:
        KeyError: If the tokenizer does not know *encoding*.

    Examples:
        >>> from toolbench.llm import count_tokens
        >>> short, long = count_tokens("Hello"), count_tokens("Hello, how are you today?")
        >>> short.tokens < long.tokens
        True
    """
    try:
        toktok = import_module("toktok")
    except ImportError:
        return _estimate(text)
    return TokenCount(toktok.batch_count([text], encoding, threads=1)[0], exact=True)


def _estimate(text: str) -> TokenCount:
    return TokenCount(estimate_tokens(text), exact=False)


def tool_tokens(tool: ToolDefinition[Any, Any], schema: dict[str, Any] | None = None) -> TokenCount:
    """Return an estimate of the tokens that *tool* costs in each request that offers it.

    Panels, lists, lint and reviews all use this number. It counts the tool's name, its description
    and the JSON Schema of its arguments, but not the tokens that a provider adds.

    Args:
        tool: The tool.
        schema: The schema of the arguments, if the caller already has it.
    """
    if schema is None:
        schema = tool.parameters()
    return definition_tokens(tool.name, tool.description or "", schema)


def definition_tokens(name: str, description: str, schema: Any) -> TokenCount:
    """Return the estimate of `tool_tokens` for a tool with this name, description and schema."""
    return _estimate(f"{name}\n{description}\n{to_json(schema).decode()}")
