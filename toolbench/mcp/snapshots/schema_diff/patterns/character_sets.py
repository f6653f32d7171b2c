"""Sets of characters, as ranges of code points."""

from collections.abc import Iterable

Characters = tuple[tuple[int, int], ...]
"""Ranges of code points: the first and the last code point of each range."""

_LAST = 0x10FFFF
START, END = _LAST + 1, _LAST + 2
"""Numbers that stand for the start and the end of a text; the anchors `^` and `$` match them."""
ANY: Characters = ((0, _LAST),)
_SURROGATES = 0xD800, 0xDFFF
_BLANKS = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
    (0xFEFF, 0xFEFF),
)
CLASSES: dict[str, Characters] = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": _BLANKS,
    "line ends": ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)),
}
"""The characters of `\\d`, `\\w` and `\\s`, by letter. Source: ECMA-262."""
# Characters that a person likes to read
_PLAIN = "a0A-_ .,/:@x1"


def has(characters: Characters, character: int) -> bool:
    """Tell whether *character* is one of *characters*."""
    return any(first <= character <= last for first, last in characters)


def complement(characters: Characters) -> Characters:
    """Return all characters that are not in *characters*."""
    ranges, at = [], 0
    for first, last in sorted(characters):
        if first > at:
            ranges.append((at, first - 1))
        at = max(at, last + 1)
    return (*ranges, (at, _LAST)) if at <= _LAST else tuple(ranges)


def parts_of(sets: Iterable[Characters]) -> list[int]:
    """Divide all characters into parts, and return one character of each part.

    Each of *sets* contains either all or none of the characters of a part. Letters and digits come
    first. Lone surrogates are left out.
    """
    cuts = {0, *(n for ranges in sets for a, b in ranges for n in (a, b + 1))}
    cuts |= {_SURROGATES[0], _SURROGATES[1] + 1}
    starts = sorted(cut for cut in cuts if cut <= _LAST)
    parts = zip(starts, [*starts[1:], _LAST + 1], strict=True)
    characters = [_plainest(first, end) for first, end in parts if first != _SURROGATES[0]]
    return sorted(characters, key=lambda c: (not chr(c).isalnum(), c > 0x7E or c < 0x20, c))


def _plainest(first: int, end: int) -> int:
    plain = (ord(c) for c in _PLAIN if first <= ord(c) < end)
    return next(plain, first if first >= 0x20 or end <= 0x20 else 0x20)
