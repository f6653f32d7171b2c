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
        self._by_place: WeakValueDictionary[str, T] = WeakValueDictionary()
        self._by_name: dict[str, WeakValueDictionary[str, T]] = {}
        self._lock = Lock()

    def add(self, cls: T) -> None:
        """Enter *cls*; it goes before those of that name that its module defined earlier."""
        place = _place(cls)
        with self._lock:
            self._by_place[place] = cls
            namesakes = self._by_name.setdefault(cls.__name__, WeakValueDictionary())
            namesakes.pop(place, None)  # the newest comes last
            namesakes[place] = cls

    def newest(self, cls: T) -> T:
        """Return the class defined last where *cls* was: itself, or what replaced it."""
        return self._by_place.get(_place(cls), cls)

    def resolve(self, kind: str) -> T:
        """Return the class that goes by *kind*, a bare name or `module.qualname`.

        Raises:
            KindError: If there is none, or the bare name is used in several modules.
        """
        with self._lock:
            placed = self._by_place.get(kind)
            namesakes = list(self._by_name.get(kind, {}).values())
        if placed is not None:
            return placed
        found = {c.__module__: c for c in namesakes}  # the newest of each module
        if len(found) == 1:
            return found.popitem()[1]
        if not found:
            msg = f"No {self._family} of kind {kind!r}.{did_you_mean(kind, self._known())}"
            raise KindError(msg)
        places = " and ".join(sorted(map(_place, found.values())))
        msg = f"Kind {kind!r} is used by {places}: ask for one of these instead."
        raise KindError(msg)

    def _known(self) -> list[str]:
        with self._lock:
            return [name for name, classes in self._by_name.items() if classes]


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
