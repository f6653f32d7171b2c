"""The secret that a client sends; no display shows it."""

from secrets import token_urlsafe
from typing import Self

OWN_HEADER = "X-Toolbench-Token"
"""Another header for the token, because a hub may expect its own token in `Authorization`."""


class Token(str):
    """A random text. Its repr, which a cell shows, is only `<token>`."""

    __slots__ = ()

    @classmethod
    def new(cls) -> Self:
        """Return a new token."""
        return cls(token_urlsafe(32))

    def __repr__(self) -> str:
        return "<token>"
