"""Hooks for outer layers: to display objects, to run calls, to notice new tools."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any


class Displays:
    """The functions that make the views of objects; the display layer sets them."""

    bundle_of: Callable[[Any], Mapping[str, str] | None] | None = None
    """Returns the mime bundle of an object, or None to show its repr."""
    text_of: Callable[[Any], str] | None = None
    """Returns the help text of a tool, or None to show the docstring of its class."""


displays = Displays()


class Displayed:
    """An object that shows itself in a notebook."""

    __slots__ = ()

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str] | None:
        """Return the static view; IPython shows the repr if there is none."""
        show = displays.bundle_of
        return None if show is None else show(self)


class Documented(Displayed):
    """An object with its own help text: `?` and Shift+Tab show it instead of the class's docstring."""

    __slots__ = ()

    def getdoc(self) -> str | None:
        """Return the text that `?` shows; None lets IPython show the docstring of the class."""
        say = displays.text_of
        return None if say is None else say(self)


class Calls:
    """Functions of `(tool, action, conversation)` that replace the plain call of a tool, if set."""

    around: Callable[[Any, Any, Any], Any] | None = None
    """Makes a plain call and returns its observation."""
    around_async: Callable[[Any, Any, Any], Awaitable[Any]] | None = None
    """Makes an awaited call and returns its observation."""


calls = Calls()


class Definitions:
    """Listeners to call when a tool is made, registered or unregistered."""

    def __init__(self) -> None:
        """Start without listeners."""
        self._listeners: tuple[Callable[[], object], ...] = ()

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call *listener* at each change, in the thread of the change; it must return at once.

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
