"""Turn the names of keys that a model writes into the bytes that a terminal sends."""

import re

_KEY_CODES = {
    "BS": b"\x7f",
    "DEL": b"\x1b[3~",
    "DOWN": b"\x1b[B",
    "END": b"\x1b[F",
    "ENTER": b"\n",
    "ESC": b"\x1b",
    "HOME": b"\x1b[H",
    "LEFT": b"\x1b[D",
    "PGDN": b"\x1b[6~",
    "PGUP": b"\x1b[5~",
    "RIGHT": b"\x1b[C",
    "TAB": b"\t",
    "UP": b"\x1b[A",
}
_CONTROL = re.compile(r"(?:C-|Ctrl[-+]|\^)([A-Za-z\\\]^_@\[])", re.IGNORECASE)

INTERRUPT = b"\x03"


def key(name: str) -> bytes | None:
    """Return the bytes that a terminal sends for the key *name*; None if there is no such key.

    The names are UP, DOWN, LEFT, RIGHT, TAB, ESC, ENTER, BS, DEL, HOME, END, PGUP and PGDN, in
    upper case. Control keys are `C-c`, `C-d` and so on, in upper or lower case.
    """
    control = _CONTROL.fullmatch(name)
    if control is not None:
        return bytes([ord(control[1].upper()) & 0x1F])
    return _KEY_CODES.get(name)


def is_control(name: str) -> bool:
    """Tell whether *name* is a control key such as `C-c`, which cannot be a command."""
    return _CONTROL.fullmatch(name) is not None
