"""Values that make careless code raise when it writes them down."""

import math
from typing import Any


class Mute:
    """An object whose own code raises when it is asked what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


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
}
