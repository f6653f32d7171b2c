"""Functions of ours in place of other packages' functions, for a while."""

from collections.abc import Callable
from typing import Any

Wrap = Callable[[Any], Callable[..., Any]]


class Patches:
    """Functions put over attributes of modules, classes and objects, and taken away again.

    Python code holds what it calls, so such a function may go at any time. `sys` itself is
    never patched: C code of CPython uses `sys.stdout` and its like without holding them, and
    an object that is freed in the middle of a `print` ends the process.
    """

    def __init__(self) -> None:
        """Nothing is patched."""
        # by the id of the owner, which is kept so that no other gets the same
        self._in_place: dict[tuple[int, str], tuple[Any, Any, Any, bool]] = {}

    def put(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Put what *wrap* makes of the attribute *name* of *owner* in its place.

        A second time changes nothing. An object that takes no attributes stays as it is.
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
            stays: Tells of an owner whether what is put over its attributes stays.
        """
        patches = {}
        while self._in_place:
            key, entry = self._in_place.popitem()
            (_, name), (owner, patch, real, is_own) = key, entry
            if stays(owner):
                patches[key] = entry
                continue
            if getattr(owner, name, None) is not patch:
                continue  # theirs calls ours, which calls what it covers
            if is_own:
                setattr(owner, name, real)
            else:
                delattr(owner, name)
        self._in_place.update(reversed(patches.items()))
