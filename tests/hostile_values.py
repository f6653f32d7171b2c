"""Values that make careless code raise when it writes them down."""

import math
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any


class Mute:
    """An object whose own code raises when it is asked what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class NoDict:
    """Like a row of a database whose session is closed."""

    @property
    def __dict__(self) -> dict[str, Any]:
        raise RuntimeError("not bound to a session")


class Detached:
    """Raises for each attribute that it does not have."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class NoAttributes:
    """Raises for every attribute, even its class."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class NoSlots:
    """Like `Detached`, with a slot that was never filled."""

    __slots__ = ("a",)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class AnyName:
    """Has every attribute: like dask's Delayed, or a proxy of another computer's object."""

    def __getattr__(self, name: str) -> Any:
        return AnyName()

    def __call__(self, *args: Any, **options: Any) -> Any:
        return AnyName()


class NoValues(dict[str, Any]):
    """A dict that was closed."""

    def values(self) -> Any:
        raise RuntimeError("closed")


class NoItems(list[Any]):
    """A list that was closed."""

    def __iter__(self) -> Any:
        raise RuntimeError("closed")


class NoPairs(Mapping[str, Any]):
    """A mapping that was closed."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("closed")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Endless(NoPairs):
    """A mapping that makes a new one for each key."""

    def __getitem__(self, key: str) -> Any:
        return Endless()


class NoPath(PurePosixPath):
    """A path that cannot say where it leads."""

    def __str__(self) -> str:
        raise RuntimeError("no path")


def _loop() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(3_000):
        deep = [deep]
    return deep


BIG = 10**5_000
HOSTILE: dict[str, Any] = {
    "big integer": BIG,
    "negative big integer": -BIG,
    "big integer as a key": {BIG: 1},
    "big integer inside": [1, [BIG]],
    "integer as a key": {1: 2},
    "None as a key": {None: 1},
    "tuple as a key": {(1, 2): 3},
    "half a character": "a\ud800b",
    "half a character as a key": {"\ud800": 1},
    "not a number": math.nan,
    "mute object": Mute(),
    "mute object as a key": {Mute(): 1},
    "cycle": _loop(),
    "depth": _deep(),
    "bytes": b"\xff",
    "set": {1, 2},
    "complex": 1j,
    "NUL": "\0",
    "no attributes of its own": NoDict(),
    "detached object": Detached(),
    "detached object with a slot": NoSlots(),
    # pytest asks for the class
    "no attribute, no class": [NoAttributes()],
    "every attribute": AnyName(),
    "dict that was closed": NoValues(a=1),
    "list that was closed": NoItems([1]),
    "mapping that was closed": NoPairs(),
    "endless mapping": Endless(),
    "path that raises": NoPath("/x"),
}
