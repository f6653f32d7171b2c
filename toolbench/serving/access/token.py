"""The secret that a client shows; a text that no display gives away."""

from secrets import token_urlsafe
from typing import Self

OWN_HEADER = "X-Toolbench-Token"
"""Takes the token too: a hub in between takes `Authorization` for a token of its own."""


class Token(str):
    """A random text; its repr is a mark, as is what a cell shows of it."""

    __slots__ = ()

    @classmethod
    def new(cls) -> Self:
        """Return a token that was never used before."""
        return cls(token_urlsafe(32))

    def __repr__(self) -> str:
        return "<token>"
