"""Find texts that one regular expression matches and another does not.

This module reads the syntax that JSON Schema recommends: characters, classes, groups, alternatives,
repeats and anchors. For lookarounds (`(?=`), back references and other syntax it raises
`UndecidedError`.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from toolbench.mcp.snapshots.schema_diff.patterns.character_sets import (
    ANY,
    CLASSES,
    END,
    START,
    Characters,
    complement,
    has,
    parts_of,
)

# States of one automaton
_MOST_STATES = 3_000
# States to visit: some tenths of a second
_MOST_WORK = 50_000
# Characters of an expression
_LONGEST = 1_000
# Levels of groups
_DEEPEST = 30
# Repeats of one part
_MOST_REPEATS = 1_000
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}


class UndecidedError(Exception):
    """The expression has syntax that is not supported here, or is too large."""


def text_beyond(
    pattern: str, other: str | None, *, least: int = 0, most: float = float("inf")
) -> str | None:
    """Return a short text that *pattern* matches and *other* does not; None if there is none.

    Args:
        pattern: The expression that matches the text somewhere, as in JSON Schema.
        other: The expression that must not match the text; None matches no text.
        least: The lowest number of characters.
        most: The highest number of characters.

    Raises:
        UndecidedError: If an expression is not supported, or the search takes too long.
    """
    one = _automaton(pattern)
    return _search(one, None if other is None else _automaton(other), least, most)


# --- automata ---------------------------------------------------------------------------


@dataclass
class _Automaton:
    """The states of an automaton, and the edges between the states.

    To follow an edge, the automaton reads one of the edge's characters, or nothing.
    """

    edges: list[list[tuple[Characters, int]]] = field(default_factory=list)
    empty: list[list[int]] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def state(self) -> int:
        if len(self.edges) >= _MOST_STATES:
            raise UndecidedError
        self.edges.append([])
        self.empty.append([])
        return len(self.edges) - 1

    def closure(self, states: set[int]) -> frozenset[int]:
        """Return *states*, and all states that edges without a character reach from there."""
        todo = list(states)
        while todo:
            for state in self.empty[todo.pop()]:
                if state not in states:
                    states.add(state)
                    todo.append(state)
        return frozenset(states)

    def takes(self, states: frozenset[int]) -> bool:
        """Tell whether the expression matches a text after which the automaton is in *states*."""
        return self.end in self.after(states, END)

    def after(self, states: frozenset[int], character: int) -> frozenset[int]:
        """Return the states in which the automaton is after *states* and then *character*."""
        return self.closure(
            {to for s in states for chars, to in self.edges[s] if has(chars, character)}
        )


@lru_cache(maxsize=500)
def _automaton(pattern: str) -> _Automaton:
    """Return an automaton that accepts a text if *pattern* matches anywhere in the text.

    The automaton reads a start sign before the text, and an end sign after the text.
    """
    automaton = _Automaton()
    first, last = automaton.state(), automaton.state()
    start, end = _Parser(pattern, automaton).whole()
    automaton.edges[first].append(((*ANY, (START, START)), first))
    automaton.empty[first].append(start)
    automaton.empty[end].append(last)
    automaton.edges[last].append(((*ANY, (END, END)), last))
    automaton.start, automaton.end = first, last
    return automaton


_NOTHING = _Automaton(edges=[[]], empty=[[]], end=-1)


def _search(one: _Automaton, other: _Automaton | None, least: int, most: float) -> str | None:
    """Return a text that *one* accepts and *other* does not; None if there is none.

    The text has from *least* to *most* characters. Short texts are tried first.
    """
    other = other or _NOTHING
    sets = [chars for a in (one, other) for row in a.edges for chars, _ in row]
    characters = parts_of(sets)
    least = min(least, _MOST_REPEATS)
    begin = one.closure({one.start}), other.closure({other.start})
    pair = tuple(a.after(s, START) for a, s in zip((one, other), begin, strict=True))
    work, todo = 0, deque([(pair[0], pair[1], "")])
    visited = {(pair[0], pair[1], 0)}
    while todo:
        ours, theirs, text = todo.popleft()
        is_long_enough = len(text) >= least
        if is_long_enough and one.takes(ours) and not other.takes(theirs):
            return text
        if len(text) >= most:
            continue
        work += (len(ours) + len(theirs)) * len(characters)
        if work > _MOST_WORK:
            raise UndecidedError
        for character in characters:
            new = one.after(ours, character)
            if not new:
                continue
            step = new, other.after(theirs, character), min(len(text) + 1, least)
            if step not in visited:
                visited.add(step)
                todo.append((step[0], step[1], text + chr(character)))
    return None


# --- reading ----------------------------------------------------------------------------

_Piece = tuple[int, int]
"""The start state and the end state of a part of the expression."""


class _Parser:
    """Reads one expression, and adds it to an automaton."""

    def __init__(self, pattern: str, automaton: _Automaton) -> None:
        if len(pattern) > _LONGEST:
            raise UndecidedError
        self._text, self._at, self._depth = pattern, 0, 0
        self._automaton = automaton

    def whole(self) -> _Piece:
        piece = self._either()
        if self._at < len(self._text):
            raise UndecidedError
        return piece

    def _next(self, *choices: str) -> str:
        """Read the next character; with *choices*, read the choice that comes next.

        If none of *choices* comes next, read nothing and return an empty text.
        """
        if choices:
            sign = next((w for w in choices if self._text.startswith(w, self._at)), "")
        elif self._at < len(self._text):
            sign = self._text[self._at]
        else:
            raise UndecidedError
        self._at += len(sign)
        return sign

    def _either(self) -> _Piece:
        pieces = [self._sequence()]
        while self._next("|"):
            pieces.append(self._sequence())
        if len(pieces) == 1:
            return pieces[0]
        start, end = self._automaton.state(), self._automaton.state()
        for first, last in pieces:
            self._automaton.empty[start].append(first)
            self._automaton.empty[last].append(end)
        return start, end

    def _sequence(self) -> _Piece:
        start = end = self._automaton.state()
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            first, last = self._repeated()
            self._automaton.empty[end].append(first)
            end = last
        return start, end

    def _repeated(self) -> _Piece:
        place = self._at
        piece = self._atom()
        after_atom = self._at
        least, most = self._counts()
        after_counts = self._at
        if (least, most) == (1, 1):
            return piece
        automaton = self._automaton
        start = end = automaton.state()
        skips = []
        for number in range(max(least, most or least + 1)):
            if number >= least:
                skips.append(end)
            self._at = place
            first, last = piece if number == 0 else self._atom()
            automaton.empty[end].append(first)
            if most is None and number >= least:
                automaton.empty[last].append(first)
            end = last
        self._at = after_counts if after_counts > after_atom else after_atom
        final = automaton.state()
        for state in (end, *skips):
            automaton.empty[state].append(final)
        return start, final

    def _counts(self) -> tuple[int, int | None]:
        """Read a quantifier, such as `{2,5}`; return its lowest and highest number (None: any)."""
        sign = self._next("*", "+", "?", "{")
        known: dict[str, tuple[int, int | None]] = {"": (1, 1), "*": (0, None)}
        known |= {"+": (1, None), "?": (0, 1)}
        counts = known[sign] if sign != "{" else self._braces()
        if sign and self._next("+", "*", "{"):
            raise UndecidedError
        if sign:
            # Lazy: it matches the same texts
            self._next("?")
        if max(counts[0], counts[1] or 0) > _MOST_REPEATS:
            raise UndecidedError
        return counts

    def _braces(self) -> tuple[int, int | None]:
        inner, brace, _ = self._text[self._at :].partition("}")
        least, comma, most = inner.partition(",")
        if not brace or not all(n.isdecimal() for n in (least, most or "0")):
            raise UndecidedError
        self._at += len(inner) + 1
        if not comma:
            return int(least), int(least)
        return int(least), int(most) if most else None

    def _atom(self) -> _Piece:
        match self._next():
            case "(":
                return self._group()
            case "[":
                return self._edge(self._class())
            case ".":
                return self._edge(complement(CLASSES["line ends"]))
            case "^":
                return self._edge(((START, START),))
            case "$":
                return self._edge(((END, END),))
            case "\\":
                return self._edge(self._escape())
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise UndecidedError
            case other:
                return self._edge(((ord(other), ord(other)),))

    def _edge(self, characters: Characters) -> _Piece:
        start, end = self._automaton.state(), self._automaton.state()
        self._automaton.edges[start].append((characters, end))
        return start, end

    def _group(self) -> _Piece:
        self._depth += 1
        if self._depth > _DEEPEST or (self._next("?") and not self._next(":")):
            raise UndecidedError
        piece = self._either()
        self._depth -= 1
        if not self._next(")"):
            raise UndecidedError
        return piece

    def _class(self) -> Characters:
        negated = bool(self._next("^"))
        ranges: list[tuple[int, int]] = []
        while not self._next("]"):
            # Dialects differ here
            if self._next("["):
                raise UndecidedError
            first = self._member()
            if self._text[self._at : self._at + 1] == "-" and (
                self._text[self._at + 1 : self._at + 2] not in ("]", "")
            ):
                self._next()
                last = self._member()
                if len(first) != 1 or len(last) != 1 or first[0][0] > last[0][1]:
                    raise UndecidedError
                ranges.append((first[0][0], last[0][1]))
            else:
                ranges += first
        return complement(tuple(ranges)) if negated else tuple(ranges)

    def _member(self) -> Characters:
        character = self._next()
        if character == "\\":
            return self._escape()
        if character == "&" and self._text.startswith("&", self._at):
            raise UndecidedError
        return ((ord(character), ord(character)),)

    def _escape(self) -> Characters:
        character = self._next()
        if character in CLASSES:
            return CLASSES[character]
        if character.lower() in CLASSES:
            return complement(CLASSES[character.lower()])
        if character in "xu":
            digits = self._text[self._at : self._at + (2 if character == "x" else 4)]
            self._at += len(digits)
            try:
                number = int(digits, 16)
            except ValueError:
                raise UndecidedError from None
            return ((number, number),)
        if character.isalnum() and character not in _ESCAPED:
            # A back reference or other syntax
            raise UndecidedError
        plain = ord(_ESCAPED.get(character, character))
        return ((plain, plain),)


def texts_matching(pattern: str, sizes: tuple[int, ...] = ()) -> Iterator[str]:
    """Yield a short text that *pattern* matches, then one matching text of each size in *sizes*.

    A text that does not exist, or cannot be found, is left out.
    """
    try:
        short = text_beyond(pattern, None)
        if short is not None:
            yield short
        for size in sizes:
            text = text_beyond(pattern, None, least=size, most=size)
            if text is not None:
                yield text
    except UndecidedError:
        return
