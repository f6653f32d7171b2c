"""Count the tokens of a text, or estimate them if no tokenizer is installed."""

from dataclasses import dataclass
from importlib import import_module

from toolbench.display.sizes import estimate_tokens


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
        return f"{'' if self.exact else '≈ '}{self.tokens:,}"


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
        return TokenCount(estimate_tokens(text), exact=False)
    return TokenCount(toktok.batch_count([text], encoding, threads=1)[0], exact=True)
