"""How tools, calls and results show themselves in a notebook, once the layer of displays says how."""

from collections.abc import Callable, Mapping
from typing import Any


class Displays:
    """Who is asked how a thing looks."""

    bundle_of: Callable[[Any], Mapping[str, str] | None] | None = None
    """Returns the mime bundle of a thing; None shows its repr."""
    text_of: Callable[[Any], str] | None = None
    """Returns what there is to read about a tool; None shows what its class says."""


displays = Displays()


class Displayed:
    """Something with a look of its own in a notebook."""

    __slots__ = ()

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str] | None:
        """Return the static view; IPython shows the repr where there is none."""
        show = displays.bundle_of
        return None if show is None else show(self)


class Documented(Displayed):
    """Something of which each has words of its own for `?` and Shift+Tab, not its class."""

    __slots__ = ()

    def getdoc(self) -> str | None:
        """Return these words, as IPython asks for them; None: those of the class will do."""
        say = displays.text_of
        return None if say is None else say(self)
