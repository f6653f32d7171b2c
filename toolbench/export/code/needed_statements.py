"""Find the statements that a name needs, and the names that have no definition."""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from toolbench.export.code.changes import aliases_in
from toolbench.export.code.databases import Databases
from toolbench.export.code.effects import Effects
from toolbench.export.code.preparing_calls import (
    databases_in,
    is_memory,
    opens_database,
)
from toolbench.export.code.statements import MAGIC, Statement, statements_of
from toolbench.runs.kernel import running_shell

_KNOWN = frozenset({*dir(builtins), "display", MAGIC})


@dataclass(frozen=True)
class Missing:
    """A name that is used, but that no cell or file defines, or whose definition cannot be exported."""

    name: str
    used_by: str
    reason: str

    def __str__(self) -> str:
        return f"`{self.name}`, used by `{self.used_by}`: {self.reason}"


@dataclass
class Needed:
    """The statements that some names need, as places in the list `statements`, and the missing names.

    Attributes:
        statements: All statements.
        places: The places of the needed statements.
        unclear: The places of statements that may prepare a needed object, in a way unknown here.
        missing: The missing names.
        earlier: The places of statements that use a file, and whose cell ran again later: its later
            text counts instead.
        left: Those of *earlier* that would be needed if their cells had not run again.
    """

    statements: Sequence[Statement]
    places: set[int] = field(default_factory=set)
    unclear: set[int] = field(default_factory=set)
    missing: dict[str, Missing] = field(default_factory=dict)
    earlier: frozenset[int] = frozenset()
    left: set[int] = field(default_factory=set)

    def in_order(self) -> list[Statement]:
        """Return the needed statements in the order in which they ran, without repetitions."""
        chosen = (self.statements[place] for place in sorted(self.places))
        return list(_without_copies(chosen))

    def left_out(self) -> list[Statement]:
        """Return the statements that may prepare a needed object, and are not among the needed ones."""
        places = sorted(self.unclear - self.places - self.earlier)
        present = {self.statements[place].code for place in self.places}
        chosen = (self.statements[place] for place in places)
        return list(_without_copies(s for s in chosen if s.code not in present))

    @property
    def names(self) -> frozenset[str]:
        """The names to which the needed statements give a value."""
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

    A function uses the last value of a name. A statement uses the value at the time when it ran.
    A function that is called by a statement and used later needs both values.

    Args:
        statements: All statements, in the order in which they ran.
        names: The names that are needed.
        user: The tool that needs *names*, for sentences about missing names.
        without: Names to ignore, because other code will define them.
        maybe: Names that are needed too, but only if a statement defines them.
    """
    effects, databases = Effects(statements), Databases(statements)
    end, left_out = len(statements), frozenset(without)
    uses = [_use_of(name, end, frozenset({end}), user) for name in names]
    uses += [_Use(name, end, frozenset({end}), "") for name in maybe]
    again = (place for place in range(end) if statements[place].replaced_by)
    earlier = frozenset(place for place in again if databases.files_at(place))
    while True:
        needed = Needed(statements, earlier=earlier)
        _add_needed(needed, effects, databases, [*uses], left_out)
        _add_writing(needed, effects, databases, user, left_out)
        if not (still_needed := _needed_of_earlier(needed, databases)):
            return needed
        earlier -= still_needed


_MAKES = re.compile(r"\b(?:create|alter)\b", re.IGNORECASE)
"""SQL that makes or changes a table."""


def _needed_of_earlier(needed: Needed, databases: Databases) -> set[int]:
    """Return those places in `needed.left` whose statements are needed although their cells ran again.

    The later text of the cell does not write into the file, or makes no table as the earlier text does.
    Or the package has a statement that ran
    in between, and that may use what the earlier text wrote into the file: its cell did not run before.
    """
    statements, places = needed.statements, set[int]()
    for place in needed.left:
        first, last = statements[place].cell, statements[place].replaced_by
        makes = _MAKES.search(statements[place].code)
        files = databases.files_at(place)
        writing = {*databases.writing(files, needed.places)} & needed.places
        users = {p for p in needed.places if databases.files_at(p) & files}
        before = {s.replaced_by for s in statements[:place]}
        cells = {statements[p].cell for p in users} - before
        again = [statements[p].code for p in writing if statements[p].cell == last]
        is_written = any(map(_MAKES.search, again)) if makes else bool(again)
        if not is_written or any(first <= cell < last for cell in cells):
            places.add(place)
    return places


def _without_earlier(needed: Needed, places: Iterable[int]) -> set[int]:
    """Return *places* without those in `needed.earlier`, which are noted in `needed.left`."""
    places = set(places)
    needed.left |= places & needed.earlier
    return places - needed.earlier


def _add_needed(
    needed: Needed,
    effects: Effects,
    databases: Databases,
    todo: list["_Use"],
    left_out: frozenset[str],
) -> None:
    """Add to *needed* the statements for the uses in *todo*, except those of names in *left_out*."""
    statements, end = needed.statements, len(needed.statements)
    visited = set[tuple[int, frozenset[int]]]()
    while todo:
        use = todo.pop()
        if use.name in left_out:
            continue
        place = _giving(statements, effects, use)
        if place is None:
            if not use.is_before:
                _note_missing(needed, use, "no cell or file defines it")
            continue
        todo += _earlier_uses(needed, effects, databases, use, place)
        changing = set(_changing(statements, effects, use.name, place))
        if needed.earlier and databases.files_at(place):
            changing = _without_earlier(needed, changing)
        unfinished = {p for p in changing if statements[p].end != "done"}
        if not (statements[place].is_definition or statements[place].is_import):
            unclear = _changing(statements, effects, use.name, place, is_known=False)
            places = {*unclear, *unfinished}
            needed.unclear |= {p for p in places if statements[p].end != "not begun"}
        for chosen in {place, *(changing - unfinished)}:
            if (chosen, use.calls) in visited:
                continue
            visited.add((chosen, use.calls))
            statement = statements[chosen]
            if statement.obstacle:
                _note_missing(needed, use, statement.obstacle)
                continue
            needed.places.add(chosen)
            todo += _uses(statement, chosen, end, use)


def _add_writing(
    needed: Needed,
    effects: Effects,
    databases: Databases,
    user: str,
    left_out: frozenset[str],
) -> None:
    """Add to *needed* the statements that write into a database which the needed ones open.

    One that the package cannot repeat is noted as unclear.
    """
    statements, visited = needed.statements, set[int]()
    while new := _writing(databases, needed, visited):
        visited.update(new)
        for place in new:
            copy = replace(
                needed,
                places={*needed.places, place},
                unclear={*needed.unclear},
                missing={},
            )
            use = _use_of(user, place, frozenset({place}), user)
            uses = list(_uses(statements[place], place, len(statements), use))
            _add_needed(copy, effects, databases, uses, left_out)
            if not copy.missing and _is_repeatable(statements, place):
                needed.places, needed.unclear = copy.places, copy.unclear
    names = databases.opened_by(needed.places)
    places = visited | databases.may_change(names, needed.places)
    needed.unclear |= {p for p in places if statements[p].end != "not begun"}


def _writing(databases: Databases, needed: Needed, visited: set[int]) -> list[int]:
    """Return the places of the statements that write into databases of *needed*, without *visited*.

    Where a cell ran twice, and does no harm the second time, its first run is enough.
    """
    places, codes = list[int](), set[str]()
    names = databases.opened_by(needed.places)
    current = _without_earlier(needed, databases.writing(names, needed.places))
    for place in sorted(current):
        code = needed.statements[place].code
        if databases.is_harmful_twice(place, names):
            codes.clear()
        elif code in codes:
            continue
        codes.add(code)
        places.append(place)
    return [place for place in places if place not in visited | needed.places]


def _is_repeatable(statements: Sequence[Statement], place: int) -> bool:
    """Tell whether a package can repeat the statement at *place*: it worked, and calls no tool."""
    statement = statements[place]
    tools = (s.names.gives for s in statements if s.is_tool)
    calls_tool = any(statement.names.now & names for names in tools)
    return statement.end == "done" and not statement.obstacle and not calls_tool


class _Use(NamedTuple):
    """A name that is used.

    Attributes:
        name: The name.
        before: The place of a statement. The last definition before this place counts. If there is
            no definition before it, the last definition of all counts.
        calls: The places of the statements at which functions that need the name may be called.
        user: The code that uses the name; empty if the name may be missing.
        is_before: Whether only definitions before the place *before* count. Then a missing
            definition is not an error.
    """

    name: str
    before: int
    calls: frozenset[int]
    user: str
    is_before: bool = False


def _use_of(name: str, before: int, calls: frozenset[int], user: str) -> _Use:
    """Return the use of *name*; a name of Python or IPython needs no definition."""
    return _Use(name, before, calls, "" if name in _KNOWN else user)


def _uses(statement: Statement, place: int, end: int, use: _Use) -> Iterator[_Use]:
    """Yield the names that *statement*, at *place*, uses. The name of *use* needs *statement*."""
    names = statement.names
    calls = frozenset({end} if statement.is_definition else {place, end})
    for used in names.now:
        yield _use_of(used, place, calls, use.name)
    for used in names.later:
        yield from (_use_of(used, call, frozenset({call, end}), use.name) for call in use.calls)
    for used in names.quoted:
        yield _Use(used, end, frozenset({end}), "")


def _note_missing(needed: Needed, use: _Use, reason: str) -> None:
    # Else the name may be missing
    if use.user:
        needed.missing.setdefault(use.name, Missing(use.name, use.user, reason))


def _giving(statements: Sequence[Statement], effects: Effects, use: _Use) -> int | None:
    """Return the place of the definition that counts for *use*; None if no definition counts."""
    places = [i for i in range(len(statements)) if use.name in effects.given(i)]
    if use.name in _KNOWN:
        before = [i for i in places if i < use.before]
        # after `del sum`, the name means Python's own `sum` again
        if before and isinstance(statements[before[-1]].node, ast.Delete):
            return None
    places = [i for i in places if not isinstance(statements[i].node, ast.Delete)]
    last = None if use.is_before else max(places, default=None)
    return max((i for i in places if i < use.before), default=last)


def _changing(
    statements: Sequence[Statement],
    effects: Effects,
    name: str,
    place: int,
    *,
    is_known: bool = True,
) -> Iterator[int]:
    """Yield the places of later statements that change the object of *name*.

    The statement at *place* gives this object to *name*. With *is_known* false, yield the statements
    that may prepare the object.
    """
    names, alias_places = {name}, dict[str, int]()
    for new, old in aliases_in(statements[place].node):
        if new == name:
            # Both names mean the same object, or one object contains the other
            names.add(old)
    for later in range(place + 1, len(statements)):
        statement = statements[later]
        other = statement.names.surely - statement.names.now
        if name in other:
            return
        is_tool_of_module = statement.is_tool and statements[place].is_import
        changed = effects.changed(later) if is_known else effects.may_prepare(later)
        if names & changed and not is_tool_of_module:
            yield later
            if is_known:
                yield from (alias_places[n] for n in names if n in alias_places)
        names -= other
        if not statement.is_definition:
            new_names = {n for n, old in aliases_in(statement.node) if old in names}
            alias_places |= dict.fromkeys(new_names - names, later)
            names |= new_names


def _earlier_uses(
    needed: Needed, effects: Effects, databases: Databases, use: _Use, place: int
) -> Iterator[_Use]:
    """Yield the uses of earlier values of the name of *use*, which the statement at *place* gives a value.

    The statement may leave the earlier value. Or it opens the same database again: then what was
    prepared through the earlier object is still there, unless the file was deleted. If it may be another database, the
    statements that prepared it are noted as unclear.
    """
    statements = needed.statements
    if effects.may_leave(place, use.name):
        yield use._replace(before=place, is_before=True)
    again = statements[place]
    if not opens_database(again.node) or is_memory(again.code):
        return
    for earlier in reversed(range(place)):
        opening = statements[earlier]
        if use.name not in effects.given(earlier) or not opens_database(opening.node):
            continue
        if databases.is_deleted(databases.files_at(place), earlier, place):
            return
        changes = set(_changing(statements, effects, use.name, earlier))
        changes = {p for p in changes if statements[p].end == "done"}
        changes = _without_earlier(needed, changes)
        if not changes or is_memory(opening.code):
            continue
        if databases_in(opening.node).isdisjoint(databases_in(again.node)):
            needed.unclear |= changes
        else:
            yield use._replace(before=earlier + 1, is_before=True)
        return


def _without_copies(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield *statements* without repeated definitions and imports: a cell may have run twice."""
    visited = set[str]()
    for statement in statements:
        repeatable = statement.is_definition or statement.is_import
        if not (repeatable and statement.code in visited):
            visited.add(statement.code)
            yield statement


def code_of(name: str) -> str:
    """Return the code of the notebook's cells that *name* needs; empty if a part is missing."""
    shell = running_shell()
    statements = [] if shell is None else statements_of(shell.user_module)
    needed = needed_by(statements, [name], name)
    if needed.missing:
        return ""
    future = [s.code for s in statements if s.code.startswith("from __future__ ")]
    parts = [statement.code for statement in needed.in_order()]
    return "\n".join(dict.fromkeys([*future, *_spaced(parts)]))


def _spaced(parts: Iterable[str]) -> Iterator[str]:
    """Yield *parts*, with two empty lines around a part of several lines."""
    for part in parts:
        yield f"\n\n{part}\n\n" if "\n" in part else part
