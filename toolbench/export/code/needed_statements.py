"""Find the statements that some names need, by following the names in the code.

A function looks up its names when it is called, so it gets their last values. Other code gets the
values that the names had when it ran. An assignment into a needed object (`prices["tea"] = 3`) is
needed too. Other statements that may change a needed object (`rows.append(1)`, `db.execute(...)`)
are left out, and the user is told. The user can include them by the number of their cell.
"""

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from toolbench.errors import ExportError
from toolbench.export.code.statements import MAGIC, Statement, statements_of
from toolbench.export.code.symbol_names import base_of, running_now, set_first
from toolbench.runs.kernel import running_shell

_KNOWN = frozenset({*dir(builtins), "display", MAGIC})


class LeftOut(NamedTuple):
    """A statement that is not exported, although it may change an exported object.

    Attributes:
        statement: The statement.
        names: The names of the exported objects and functions that the statement uses.
    """

    statement: Statement
    names: frozenset[str]


@dataclass
class Needed:
    """The result of `needed_by`: the needed statements, and the names without a definition.

    Attributes:
        statements: All statements, including those that are not needed.
        places: The indexes of the needed statements in `statements`.
        missing: The names whose definition cannot be exported, each with a sentence that gives the
            reason.
    """

    statements: Sequence[Statement]
    places: set[int] = field(default_factory=set)
    missing: dict[str, str] = field(default_factory=dict)

    def in_order(self) -> list[Statement]:
        """Return the needed statements in the order in which they ran."""
        return [self.statements[place] for place in sorted(self.places)]

    def left_out(self) -> list[LeftOut]:
        """Return the statements that are not needed, but may change an object that is needed."""
        return list(_left_out(self))

    def objects(self) -> set[str]:
        """Return the needed names that are not functions, classes or imports."""
        names = set[str]()
        for place in self.places:
            statement = self.statements[place]
            if not (statement.is_definition or statement.is_import):
                names |= statement.names.gives
        return names


class _Use(NamedTuple):
    """A use of a name.

    Attributes:
        name: The name.
        before: The index of a statement. The last statement before it that gives the name a value
            is needed.
        call: The index of a statement. If the name is a function, it may be called there.
        user: The name of the code that uses this name, for a message if the name has no value.
            Empty if it need not have a value.
    """

    name: str
    before: int
    call: int
    user: str


def needed_by(
    statements: Sequence[Statement],
    names: Iterable[str],
    user: str,
    *,
    without: Collection[str] = (),
    maybe: Iterable[str] = (),
    cells: Collection[int] = (),
) -> Needed:
    """Return the statements that define *names*, and all statements on which these depend.

    Args:
        statements: All statements, in the order in which they ran.
        names: The names to define.
        user: The name of the tool that uses *names*. Messages about missing names show it.
        without: Names to ignore, because the code that the export writes defines them.
        maybe: More names to define. If they have no definition, they are ignored.
        cells: The numbers of cells whose statements are needed in any case.

    Raises:
        ExportError: If *cells* has the number of a cell that does not exist.
    """
    needed, end = Needed(statements), len(statements)
    todo = list[_Use]()
    for name in names:
        todo.append(_Use(name, end, end, user))
    for name in maybe:
        todo.append(_Use(name, end, end, ""))
    for place in _places_of(statements, cells):
        needed.places.add(place)
        todo += _uses(statements[place], place, end, end, f"cell {statements[place].cell}")
    visited = set[tuple[str, int, int]]()
    while todo:
        use = todo.pop()
        if use.name in without or use[:3] in visited:
            continue
        giving = _giving(statements, use)
        if giving is None:
            if use.user and use.name not in _KNOWN:
                needed.missing.setdefault(use.name, _missing(use, "no cell or file defines it"))
            continue
        visited.add(use[:3])
        for chosen in [giving, *_assigning_into(statements, use, giving)]:
            statement = statements[chosen]
            if statement.obstacle:
                needed.missing.setdefault(use.name, _missing(use, statement.obstacle))
                continue
            needed.places.add(chosen)
            todo += _uses(statement, chosen, use.call, end, use.name)
    return needed


def _missing(use: _Use, reason: str) -> str:
    if not use.user:
        return f"`{use.name}`: {reason}"
    return f"`{use.name}`, used by `{use.user}`: {reason}"


def _places_of(statements: Sequence[Statement], cells: Collection[int]) -> Iterator[int]:
    """Yield the indexes of the statements in *cells*.

    Imports and tools are left out, because they are included only if other code needs them. Calls
    of tools are left out too.

    Raises:
        ExportError: If a cell does not exist.
    """
    numbers, tools = set[int](), set[str]()
    for statement in statements:
        numbers.add(statement.cell)
        if statement.is_tool:
            tools |= statement.names.gives
    for cell in cells:
        if cell not in numbers:
            msg = (
                f"There is no cell {cell} that ran: a cell is named by its number, as 2 for In [2]."
            )
            raise ExportError(msg)
    for place, statement in enumerate(statements):
        if statement.cell not in cells or statement.obstacle:
            continue
        # A call of a tool, as somebody tries it out, is no part of the package
        calls_tool = isinstance(statement.node, ast.Expr) and statement.names.now & tools
        if not (statement.is_import or statement.is_tool or calls_tool):
            yield place


def _uses(statement: Statement, place: int, call: int, end: int, user: str) -> Iterator[_Use]:
    """Yield the names that *statement* uses, when it runs and when its functions are called.

    Args:
        statement: The statement.
        place: The index of the statement.
        call: The index of the statement at which functions in it may be called.
        end: The number of all statements.
        user: The name of the code that needs this statement, for messages.
    """
    names = statement.names
    for name in names.now:
        # `x = x + 1`, or a name that it gives itself: an earlier value counts if there is one
        needs = user
        if name in names.gives:
            needs = ""
        yield _Use(name, place, place, needs)
        if call != place:
            yield _Use(name, place, call, needs)
    for name in names.later:
        # A function may be passed on before what it uses is defined: then the last call counts
        needs = user
        if call != end:
            needs = ""
        yield _Use(name, call, call, needs)
    for name in names.quoted:
        yield _Use(name, call, call, "")
    if statement.may_leave:
        # The variable of a loop has its own value, unless there was nothing to loop over
        for name in names.gives - set_first(statement.node):
            yield _Use(name, place, call, "")


def _giving(statements: Sequence[Statement], use: _Use) -> int | None:
    """Return the index of the statement that gives *use* its value; None if there is none."""
    for place in reversed(range(use.before)):
        statement = statements[place]
        if use.name in statement.names.gives:
            if isinstance(statement.node, ast.Delete):
                return None
            return place
    return None


def _assigning_into(statements: Sequence[Statement], use: _Use, place: int) -> Iterator[int]:
    """Yield the indexes after *place* of the statements that assign into the object of *use*.

    Only assignments before the use are yielded.
    """
    for later in range(place + 1, use.before):
        statement = statements[later]
        # `@app.register` assigns into `app`, but `@functools.cache` into nothing
        is_of_module = statement.is_definition and statements[place].is_import
        if use.name in statement.names.into and not is_of_module:
            yield later


def _left_out(needed: Needed) -> Iterator[LeftOut]:
    statements, reached = needed.statements, _Reached(needed.statements)
    objects, functions, others = needed.objects(), set[str](), set[str]()
    for place in needed.places:
        statement = statements[place]
        if isinstance(statement.node, ast.ClassDef | ast.Import | ast.ImportFrom):
            others |= statement.names.gives
        elif statement.is_definition and not statement.is_tool:
            functions |= statement.names.gives
    for place, statement in enumerate(statements):
        if statement.is_import or statement.is_tool or place in needed.places:
            continue
        touched = reached.by(_running_names(statement)) & objects
        if not statement.is_definition:
            called = reached.by(_called(statement.node))
            # What a function of the package returns may be shared, as a connection is
            touched |= called & functions
            if isinstance(statement.node, ast.Expr | ast.With):
                touched |= called & others
        if touched and _acts(statement):
            objects |= statement.names.gives
            yield LeftOut(statement, frozenset(touched))
        elif touched and isinstance(statement.node, ast.Assign):
            # Another name for one of them, or for a part of it
            objects |= statement.names.gives


def _running_names(statement: Statement) -> set[str]:
    """Return the names of the objects and functions by which *statement* may change an object."""
    if not statement.is_definition:
        return set(statement.names.now | statement.names.into)
    # Its decorators run code; its annotations and defaults only look
    names = set[str]()
    for decorator in getattr(statement.node, "decorator_list", ()):
        for part in ast.walk(decorator):
            if isinstance(part, ast.Name):
                names.add(part.id)
    return names


class _Reached:
    """Finds the names that a statement uses indirectly, by calling functions and classes."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        """Use the last definition of each name in *statements*. Tools are not followed."""
        self._later = dict[str, frozenset[str]]()
        for statement in statements:
            for name in statement.names.gives:
                if statement.is_definition and not statement.is_tool:
                    self._later[name] = statement.names.later
                else:
                    self._later.pop(name, None)

    def by(self, names: Iterable[str]) -> set[str]:
        """Return *names*, and what the functions among them use when they are called."""
        todo, reached = list(names), set[str]()
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += self._later.get(name, ())
        return reached


def _called(node: ast.stmt) -> set[str]:
    """Return the names at the start of what *node* calls: `a` for `a.b(1)` and `a(1).c(2)`."""
    names = set[str]()
    for part in running_now(node):
        if isinstance(part, ast.Call):
            names.update(base_of(part.func))
    return names


def _acts(statement: Statement) -> bool:
    """Tell whether *statement* does more than read: it calls something, or assigns into it."""
    if statement.is_definition or statement.names.into:
        return True
    for part in running_now(statement.node):
        if isinstance(part, ast.Call | ast.Await | ast.AugAssign):
            return True
    return False


def code_of(name: str) -> str:
    """Return the code in the notebook's cells that defines *name* and everything that *name* uses.

    The result is empty if a part of the code cannot be found.
    """
    shell = running_shell()
    if shell is None:
        return ""
    statements = statements_of(shell.user_module)
    needed = needed_by(statements, [name], name)
    if needed.missing:
        return ""
    parts = list[str]()
    for statement in statements:
        if statement.code.startswith("from __future__ "):
            parts.append(statement.code)
    for statement in needed.in_order():
        code = statement.code
        parts.append(f"\n\n{code}\n\n" if "\n" in code else code)
    return "\n".join(dict.fromkeys(parts))
