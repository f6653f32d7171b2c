"""How tools, calls and results show themselves in a notebook, once the layer of displays says how."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any


class Displays:
    """The functions that show objects: the layer of displays sets them."""

    bundle_of: Callable[[Any], Mapping[str, str] | None] | None = None
    """Returns the mime bundle of a thing; None shows its repr."""
    text_of: Callable[[Any], str] | None = None
    """Returns what there is to read about a tool; None shows what its class says."""


displays = Displays()


class Displayed:
    """An object that shows itself in a notebook."""

    __slots__ = ()

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str] | None:
        """Return the static view; IPython shows the repr where there is none."""
        show = displays.bundle_of
        return None if show is None else show(self)


class Documented(Displayed):
    """An object that documents itself: `?` and Shift+Tab show its own text, not its class's."""

    __slots__ = ()

    def getdoc(self) -> str | None:
        """Return what `?` shows of this object; None lets IPython show the docstring of its class."""
        say = displays.text_of
        return None if say is None else say(self)


class Calls:
    """Who is asked to make a call, `(tool, action, conversation)`, in place of the tool."""

    around: Callable[[Any, Any, Any], Any] | None = None
    """Makes a plain call and returns its observation."""
    around_async: Callable[[Any, Any, Any], Awaitable[Any]] | None = None
    """The same for one that is awaited."""


calls = Calls()


class Definitions:
    """Tells its listeners that a tool was made, registered, or taken out of the registry."""

    def __init__(self) -> None:
        """Start without listeners."""
        self._listeners: tuple[Callable[[], object], ...] = ()

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call *listener* at each change, in the thread that makes it; it returns at once.

        Returns:
            A function that takes that back.
        """
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def changed(self) -> None:
        """Tell all that listen."""
        for listener in self._listeners:
            listener()

    def _forget(self, listener: Callable[[], object]) -> None:
        self._listeners = tuple(one for one in self._listeners if one is not listener)


definitions = Definitions()
