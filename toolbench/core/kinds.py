"""Find a class by its kind: the bare name under which its objects are written down.

A class defined again (a notebook cell run twice) takes the place of the old one. Two classes
of one name from different modules are both kept; only asking for the bare name is an error.
"""

from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakSet, WeakValueDictionary

from toolbench.errors import KindError, did_you_mean

T = TypeVar("T", bound=type)


class Kinds(Generic[T]):
    """The classes of one family, by kind. Classes nobody uses any more disappear."""

    def __init__(self, family: str) -> None:
        """Name the *family* for the error messages."""
        self._family = family
        self._by_place: WeakValueDictionary[str, T] = WeakValueDictionary()
        self._by_name: dict[str, WeakValueDictionary[str, T]] = {}
        self._replaced: WeakSet[T] = WeakSet()
        self._lock = Lock()

    def add(self, cls: T) -> None:
        """Enter *cls*; it goes before those of that name that its module defined earlier."""
        place = _place(cls)
        with self._lock:
            old = self._by_place.get(place)
            if old is not None:
                self._replaced.add(old)
            self._by_place[place] = cls
            namesakes = self._by_name.setdefault(cls.__name__, WeakValueDictionary())
            namesakes.pop(place, None)  # the newest comes last
            namesakes[place] = cls

    def newest(self, cls: T) -> T:
        """Return the class defined last where *cls* was: itself, or what replaced it."""
        if cls not in self._replaced:
            return cls
        return self._by_place.get(_place(cls), cls)

    def kind_of(self, cls: T) -> str:
        """Return what `resolve` finds *cls* by: its bare name if no other is meant by it."""
        meant = self._meant_by(cls.__name__)
        return cls.__name__ if list(meant.values()) == [cls] else _place(cls)

    def resolve(self, kind: str) -> T:
        """Return the class that goes by *kind*, a bare name or `module.qualname`.

        Raises:
            KindError: If there is none, or the bare name is used in several modules.
        """
        placed = self._by_place.get(kind)
        if placed is not None:
            return placed
        meant = self._meant_by(kind)
        if len(meant) == 1:
            return meant.popitem()[1]
        if not meant:
            msg = f"No {self._family} of kind {kind!r}.{did_you_mean(kind, self._known())}"
            raise KindError(msg)
        places = " and ".join(sorted(map(_place, meant.values())))
        msg = f"Kind {kind!r} is used by {places}: ask for one of these instead."
        raise KindError(msg)

    def _meant_by(self, name: str) -> dict[str, T]:
        """The newest class of that bare name of each module."""
        with self._lock:
            namesakes = list(self._by_name.get(name, {}).values())
        return {cls.__module__: cls for cls in namesakes}

    def _known(self) -> list[str]:
        with self._lock:
            return [name for name, classes in self._by_name.items() if classes]


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
