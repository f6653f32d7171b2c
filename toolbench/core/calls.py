"""What stands around every call of a tool; the layer of runs puts itself here."""

from collections.abc import Awaitable, Callable
from typing import Any


class Calls:
    """Who is asked to make a call, `(tool, action, conversation)`, in place of the tool."""

    around: Callable[[Any, Any, Any], Any] | None = None
    """Makes a plain call and returns its observation."""
    around_async: Callable[[Any, Any, Any], Awaitable[Any]] | None = None
    """The same for one that is awaited."""


calls = Calls()
