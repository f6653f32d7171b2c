"""Find a class by its kind: the bare name under which its objects are written down.

A class defined again (a notebook cell run twice) takes the place of the old one. Two classes
of one name from different modules are both kept; only asking for the bare name is an error.
"""

from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from toolbench.errors import KindError, did_you_mean

T = TypeVar("T", bound=type)


class Kinds(Generic[T]):
    """The classes of one family, by kind. Classes nobody uses any more disappear."""

    def __init__(self, family: str) -> None:
        """Name the *family* for the error messages."""
        self._family = family
        self._classes: dict[str, WeakValueDictionary[tuple[str, str], T]] = {}
        self._lock = Lock()

    def add(self, cls: T) -> None:
        """Enter *cls*; it replaces the one defined before at the same place."""
        with self._lock:
            places = self._classes.setdefault(cls.__name__, WeakValueDictionary())
            places[cls.__module__, cls.__qualname__] = cls

    def newest(self, cls: T) -> T:
        """Return the class defined last where *cls* was: itself, or what replaced it."""
        places = self._classes.get(cls.__name__)
        if places is None:
            return cls
        return places.get((cls.__module__, cls.__qualname__), cls)

    def resolve(self, kind: str) -> T:
        """Return the class that goes by *kind*, a bare name or `module.qualname`.

        Raises:
            KindError: If there is none, or the bare name is used in several modules.
        """
        with self._lock:
            found = list(self._classes.get(kind.rpartition(".")[2], {}).values())
            known = [name for name, places in self._classes.items() if places]
        if "." in kind:
            found = [c for c in found if f"{c.__module__}.{c.__qualname__}" == kind]
        if len(found) == 1:
            return found[0]
        if not found:
            msg = f"No {self._family} of kind {kind!r}.{did_you_mean(kind, known)}"
            raise KindError(msg)
        places = " and ".join(sorted(f"{c.__module__}.{c.__qualname__}" for c in found))
        msg = f"Kind {kind!r} is used by {places}: ask for one of these instead."
        raise KindError(msg)
