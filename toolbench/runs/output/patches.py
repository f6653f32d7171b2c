"""Replace functions of other packages with ours, and restore them."""

from collections.abc import Callable
from typing import Any

Wrap = Callable[[Any], Callable[..., Any]]


class Patches:
    """The attributes of modules, classes and objects that are replaced by functions for a while.

    Python holds a reference to a function during its call, so a function of ours can be removed at
    any time. `sys` itself is never patched: C code of CPython uses `sys.stdout` without holding a
    reference, and if that object is freed during a `print`, the process ends.
    """

    def __init__(self) -> None:
        """Start without patches."""
        # by the id of the owner, which is kept alive so that the id stays unique
        self._in_place: dict[tuple[int, str], tuple[Any, Any, Any, bool]] = {}

    def put(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Replace the attribute *name* of *owner* with the result of *wrap* for it.

        A second call changes nothing. An object that takes no attributes stays as it is.
        """
        if (id(owner), name) in self._in_place:
            return
        real, is_own = getattr(owner, name), name in getattr(owner, "__dict__", ())
        patch = wrap(real)
        try:
            setattr(owner, name, patch)
        except (AttributeError, TypeError):
            return
        self._in_place[id(owner), name] = (owner, patch, real, is_own)

    def take_away(self, stays: Callable[[Any], bool] = lambda owner: False) -> None:
        """Restore the functions, except where another package replaced ours.

        Args:
            stays: Tells whether the patches of an owner stay.
        """
        patches = {}
        while self._in_place:
            key, entry = self._in_place.popitem()
            (_, name), (owner, patch, real, is_own) = key, entry
            if stays(owner):
                patches[key] = entry
                continue
            if getattr(owner, name, None) is not patch:
                continue  # their function calls ours, which calls the original
            if is_own:
                setattr(owner, name, real)
            else:
                delattr(owner, name)
        self._in_place.update(reversed(patches.items()))
