"""A secret in each promised writing, and the pieces of it that show."""

import re
from functools import cache

from promised.writings import WRITINGS

COLOURS = re.compile(r"\x1b\[[\d;]*m|\\u001b\[[\d;]*m|\\x1b\[[\d;]*m")
# Characters of a secret that show
SHOWS = 10


def lines_of(secret):
    """The lines of *secret*, but for the frame of a key."""
    return [line for line in secret.splitlines() if not line.startswith("-----")]


def writings(secret):
    """All writings, one a line, and each line of *secret* by itself."""
    whole = [f"{name}: {''.join(write(secret))}" for name, write in WRITINGS.items()]
    return "\n".join([*whole, *(f"line: {line}" for line in lines_of(secret))])


@cache
def pieces_of(secret):
    """The parts of *secret*, of its lines if it has several, in each writing."""
    pieces = set()
    for part in lines_of(secret):
        for write in WRITINGS.values():
            core = COLOURS.sub("", "".join(write(part)))
            pieces |= {core[n : n + SHOWS] for n in range(len(core) - SHOWS + 1)}
    return pieces


def leaks(text, secret):
    """The pieces of *secret* that stand in *text*."""
    bare = COLOURS.sub("", text)
    return {piece for piece in pieces_of(secret) if piece in bare}
