"""How tools, calls and results show themselves in a notebook, once the layer of displays says how."""

from collections.abc import Callable, Mapping
from typing import Any


class Displays:
    """Who is asked how a thing looks."""

    bundle_of: Callable[[Any], Mapping[str, str] | None] | None = None
    """Returns the mime bundle of a thing; None shows its repr."""


displays = Displays()


class Displayed:
    """Something with a look of its own in a notebook."""

    __slots__ = ()

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str] | None:
        """Return the static view; IPython shows the repr where there is none."""
        show = displays.bundle_of
        return None if show is None else show(self)
