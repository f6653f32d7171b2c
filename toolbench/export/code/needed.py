"""Which statements some names need, and what of it is nowhere to be found."""

import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from toolbench.export.code.statements import MAGIC, Statement, statements_of
from toolbench.runs.shell import running_shell

_BUILTINS = frozenset(dir(builtins))
_KNOWN = _BUILTINS | {"display", MAGIC}


@dataclass(frozen=True)
class Missing:
    """A name that no statement gives a value, or not one that a file can have."""

    name: str
    used_by: str
    reason: str

    def __str__(self) -> str:
        return f"`{self.name}`, used by `{self.used_by}`: {self.reason}"


@dataclass
class Needed:
    """The statements that are needed, by their places, and what could not be found."""

    statements: Sequence[Statement]
    places: set[int] = field(default_factory=set)
    missing: dict[str, Missing] = field(default_factory=dict)

    def in_order(self) -> list[Statement]:
        """Return the statements in the order in which they ran, definitions that are equal once."""
        chosen = (self.statements[place] for place in sorted(self.places))
        return list(_without_copies(chosen))

    @property
    def names(self) -> frozenset[str]:
        """The names that the statements give."""
        gives = (self.statements[place].names.gives for place in self.places)
        return frozenset[str]().union(*gives)


def needed_by(
    statements: Sequence[Statement],
    names: Iterable[str],
    user: str,
    *,
    without: Iterable[str] = (),
    maybe: Iterable[str] = (),
) -> Needed:
    """Return the statements that *names* need.

    A function sees what a name means last, a statement what it meant when it ran. Both count
    for a function that a statement calls and that is used afterwards too.

    Args:
        statements: All there are, in the order in which they ran.
        names: What is needed.
        user: Who needs it, for sentences about what is missing.
        without: Names to leave alone: they will be defined by other code.
        maybe: Names that are needed too if a statement gives them.
    """
    needed = Needed(statements)
    end, left_out = len(statements), frozenset(without)
    todo = [_Use(name, end, frozenset({end}), user) for name in names]
    todo += [_Use(name, end, frozenset({end}), "") for name in maybe]
    visited = set[tuple[int, frozenset[int]]]()
    while todo:
        use = todo.pop()
        if use.name in left_out:
            continue
        place = _giving(statements, use.name, use.before)
        if place is None:
            _note_missing(needed, use, "no cell or file defines it")
            continue
        for chosen in {place, *_changing(statements, use.name, place)}:
            if (chosen, use.calls) in visited:
                continue
            visited.add((chosen, use.calls))
            statement = statements[chosen]
            if statement.obstacle:
                _note_missing(needed, use, statement.obstacle)
            needed.places.add(chosen)
            todo += _uses(statement, chosen, end, use)
    return needed


class _Use(NamedTuple):
    """A name that is used.

    Attributes:
        name: The name.
        before: The place up to which definitions of it count.
        calls: The places at which functions it leads to may be called.
        user: What uses it; empty if it need not be there.
    """

    name: str
    before: int
    calls: frozenset[int]
    user: str


def _uses(statement: Statement, place: int, end: int, use: _Use) -> Iterator[_Use]:
    """Give what *statement* at *place* uses."""
    names = statement.names
    calls = frozenset({end} if statement.is_definition else {place, end})
    for used in names.now - _KNOWN:
        yield _Use(used, place, calls, use.name)
    for used in names.later - _KNOWN:
        yield from (
            _Use(used, call, frozenset({call, end}), use.name) for call in use.calls
        )
    for used in names.quoted - _BUILTINS:
        yield _Use(used, end, frozenset({end}), "")


def _note_missing(needed: Needed, use: _Use, reason: str) -> None:
    if use.user:  # text in quotes need not be a name
        needed.missing.setdefault(use.name, Missing(use.name, use.user, reason))


def _giving(statements: Sequence[Statement], name: str, before: int) -> int | None:
    """The last statement before the place *before* that gives *name*; else the last of all."""
    places = [
        i for i, statement in enumerate(statements) if name in statement.names.gives
    ]
    return max((i for i in places if i < before), default=max(places, default=None))


def _changing(statements: Sequence[Statement], name: str, place: int) -> Iterator[int]:
    """The statements after *place* that put something into what *name* means there."""
    for later in range(place + 1, len(statements)):
        names = statements[later].names
        if name in names.gives and name not in names.now:
            return
        if name in names.changes:
            yield later


def _without_copies(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Leave out a definition or import that stands there already, as a cell that ran twice does."""
    visited = set[str]()
    for statement in statements:
        repeatable = statement.is_definition or statement.is_import
        if not (repeatable and statement.code in visited):
            visited.add(statement.code)
            yield statement


def code_of(name: str) -> str:
    """Return what defines *name* in the cells of this notebook; empty if that is not all there."""
    shell = running_shell()
    statements = [] if shell is None else statements_of(shell.user_module)
    needed = needed_by(statements, [name], name)
    if needed.missing:
        return ""
    future = [s.code for s in statements if s.code.startswith("from __future__ ")]
    parts = [statement.code for statement in needed.in_order()]
    return "\n".join(dict.fromkeys([*future, *_spaced(parts)]))


def _spaced(parts: Iterable[str]) -> Iterator[str]:
    """Give *parts*, with two empty lines around what is longer than a line."""
    for part in parts:
        yield f"\n\n{part}\n\n" if "\n" in part else part
