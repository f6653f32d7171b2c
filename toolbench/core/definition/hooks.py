"""Functions that higher layers set here: they display objects, run calls, and notice new tools."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any


class Displays:
    """The functions that make the views of objects. The layer `display` sets them."""

    bundle_of: Callable[[Any], Mapping[str, str] | None] | None = None
    """Returns the mime bundle of an object; None means that IPython shows the repr."""
    text_of: Callable[[Any], str] | None = None
    """Returns the help text of a tool; None means that IPython shows the docstring of its class."""


displays = Displays()


class Displayed:
    """A base class of objects that have a view in a notebook."""

    __slots__ = ()

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str] | None:
        """Return the mime bundle of the object's view; None lets IPython show the repr."""
        show = displays.bundle_of
        return None if show is None else show(self)


class Documented(Displayed):
    """A base class of objects with their own help text, for `?` and Shift+Tab."""

    __slots__ = ()

    def getdoc(self) -> str | None:
        """Return the text that `?` shows; None lets IPython show the docstring of the class."""
        say = displays.text_of
        return None if say is None else say(self)


class Calls:
    """Functions of `(tool, action, conversation)`. If they are set, they run each direct call of a tool."""

    around: Callable[[Any, Any, Any], Any] | None = None
    """Runs a call `tool(...)` and returns its observation."""
    around_async: Callable[[Any, Any, Any], Awaitable[Any]] | None = None
    """Runs a call `await tool.acall(...)` and returns its observation."""


calls = Calls()


class Definitions:
    """A list of listeners, which are called when tools have changed."""

    def __init__(self) -> None:
        """Make an empty list."""
        self._listeners: tuple[Callable[[], object], ...] = ()

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call *listener* after each change, in the thread that makes it; it must return at once.

        Returns:
            A function that removes the listener.
        """
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def changed(self) -> None:
        """Call all listeners."""
        for listener in self._listeners:
            listener()

    def _forget(self, listener: Callable[[], object]) -> None:
        self._listeners = tuple(one for one in self._listeners if one is not listener)


definitions = Definitions()
"""Tells that a tool was made, registered or unregistered."""
listings = Definitions()
"""Tells that a server has added, changed or removed tools."""
