"""Divide a user's code between the two modules of a package.

`definition.py` gets the code that the definitions of the tools need, and `impl.py` the rest.
"""

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolbench.errors import ExportError
from toolbench.export.code.code_secrets import check_statement, with_environment
from toolbench.export.code.needed_statements import LeftOut, Needed, needed_by
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_in_code, union
from toolbench.export.project.imports import check_inner_imports, written_homes
from toolbench.export.tool_code.tool_parts import ToolParts

RESULTS = frozenset({"observation_of"})
"""The names that `results.py` defines for other modules."""
# Where a name may come from by an import of a cell, and mean the same as in the code that we write
_HOMES = frozenset(
    {
        "collections",
        "openhands",
        "os",
        "pathlib",
        "pydantic",
        "toolbench",
        "typing",
        "typing_extensions",
    }
)
# Names of Python that the code that we write uses
_OF_PYTHON = frozenset({"classmethod", "dict"})


@dataclass(frozen=True)
class Half:
    """The code of one of the two modules, `definition.py` or `impl.py`.

    `statements` are statements from the user's cells or file. `written` is code that the export
    generates and puts below them. It may be empty.
    """

    statements: tuple[Statement, ...]
    written: str

    @property
    def gives(self) -> frozenset[str]:
        """The names that this module defines."""
        given = union(statement.names.gives for statement in self.statements)
        return given | names_in_code(self.written).gives

    @property
    def uses(self) -> frozenset[str]:
        """The names that this module uses, including Python's own names."""
        used = union(statement.names.uses for statement in self.statements)
        return used | names_in_code(self.written).uses


@dataclass(frozen=True)
class Division:
    """The code of a package, divided into its modules.

    Attributes:
        definition: The code of `definition.py`: the names, inputs and outputs of the tools.
        implementation: The code of `impl.py`, which does the work of the tools.
        imports: The import statements of the notebook or the file.
        ours: The names that only generated code uses. They keep their usual meaning, even if a
            cell assigns something else to them.
        lazy: The names that only the method `create` of a user's class uses. They are imported
            inside this method.
        making: The names that the expressions in the attribute `create` use.
        create: The expressions that make the tools in the package's function `create_tools`.
        future: The first `from __future__` import. It is empty if there is none.
        left_out: The statements that are not in the package, although they may change an object in
            the package.
    """

    definition: Half
    implementation: Half
    imports: tuple[Statement, ...]
    ours: frozenset[str]
    lazy: frozenset[str]
    making: frozenset[str]
    create: tuple[str, ...]
    future: str
    left_out: Sequence[LeftOut]


def divided(
    parts: Sequence[ToolParts], *, cells: Collection[int] = (), openhands: bool
) -> Division:
    """Divide the code of the tools in *parts* between `definition.py` and `impl.py`.

    All code must be from the same notebook or file. *cells* are the numbers of cells to include
    completely.

    Raises:
        ExportError: If the code needs a part that is missing, or that would not work in a package.
    """
    statements = with_environment(parts[-1].statements)
    usual = written_homes(openhands=openhands)
    homes = frozenset(usual) | RESULTS
    definition = _joined(part.definition for part in parts)
    implementation = _joined(part.implementation for part in parts)
    create = [part.create for part in parts]
    defining, working = names_in_code(definition), names_in_code(implementation)
    made = names_in_code("\n".join(create))
    making, lazy = made.now | made.later, union(part.lazy for part in parts)
    imports = tuple(s for s in statements if s.is_import)
    imported = union(s.names.gives for s in imports)
    user = ", ".join(part.tool.name for part in parts)
    types = union(part.types for part in parts)
    types |= defining.now | defining.later | (lazy & imported)
    work = working.now | working.later | making | lazy
    written = homes & (defining.uses | working.uses) | _OF_PYTHON
    gives = defining.gives | working.gives
    theirs = needed_by(statements, types | work, user, without=written | gives, cells=cells)
    used = union(s.names.uses for s in theirs.in_order() if not s.is_import)
    ours = written - used - union(part.copied for part in parts) - making - lazy
    ours = frozenset(name for name in ours if not _is_usual(statements, name))
    own = (homes - union(s.names.gives for s in statements)) | ours | gives
    first = needed_by(statements, types, user, without=own, maybe=defining.quoted)
    second = needed_by(statements, work, user, without=own, cells=cells)
    missing = first.missing | second.missing
    if missing:
        lines = "".join(f"\n- {sentence}" for sentence in missing.values())
        msg = f"{user}: some names that it needs cannot be written into a file:{lines}"
        raise ExportError(msg)
    rest = Needed(statements, second.places - first.places)
    code = [*first.in_order(), *rest.in_order()]
    check_inner_imports(code, openhands=openhands)
    _check_order(first, rest)
    _check_code(code, parts, written - ours, usual)
    future = ""
    for statement in statements:
        if not future and statement.code.startswith("from __future__ "):
            future = statement.code
    return Division(
        definition=Half(_without_imports(first), definition),
        implementation=Half(_without_imports(rest), implementation),
        imports=imports,
        ours=ours,
        lazy=lazy,
        making=making,
        create=tuple(create),
        future=future,
        left_out=Needed(statements, first.places | second.places).left_out(),
    )


def _joined(codes: Iterable[str]) -> str:
    return "\n\n".join(filter(None, codes))


def _check_order(first: Needed, rest: Needed) -> None:
    """Check that statements in `impl.py` get the same values as they got in the notebook.

    Raises:
        ExportError: If a name was given a new value in the notebook after a statement had used it,
            so that `definition.py` has only the new value.
    """
    statements = first.statements
    for place in sorted(rest.places):
        for name in sorted(statements[place].names.now):
            earlier = later = ""
            for other, statement in enumerate(statements):
                if name not in statement.names.gives or statement.is_import:
                    continue
                if other < place:
                    earlier = statement.code
                elif other > place and other in first.places:
                    later = statement.code
            if earlier and later and earlier != later:
                user = min(statements[place].names.gives, default=statements[place].code)
                msg = (
                    f"`{user}` uses the value that `{name}` had before a later statement gave it "
                    f"another: run the cell of `{user}` again, or give the later value another name."
                )
                raise ExportError(msg)


def _is_same(statement: Statement, name: str) -> bool:
    """Tell whether *statement* imports *name* from where the code that we write imports it."""
    node = statement.node
    if not isinstance(node, ast.ImportFrom):
        return False
    top = (node.module or "").partition(".")[0]
    names = {alias.asname or alias.name: alias.name for alias in node.names}
    return top in _HOMES and names.get(name, name) == name


def _is_usual(statements: Sequence[Statement], name: str) -> bool:
    """Tell whether *name* has its usual meaning at the end of *statements*."""
    for statement in reversed(statements):
        if name in statement.names.gives:
            return _is_same(statement, name)
    return True


def _without_imports(needed: Needed) -> tuple[Statement, ...]:
    return tuple(s for s in needed.in_order() if not s.is_import)


def _other_meaning(statement: Statement, name: str, usual: Mapping[str, str]) -> str:
    """Return the message for *statement*, which gives *name* another meaning than we need."""
    place, needed, advice = "the file", f"Python's `{name}`", "choose another name there."
    if statement.cell:
        place = f"cell {statement.cell}"
    if name in usual:
        needed = f"the `{name}` of {usual[name]}"
    if isinstance(statement.node, ast.ImportFrom):
        names = {alias.asname or alias.name: alias.name for alias in statement.node.names}
        line = f"from {statement.node.module} import {names.get(name, name)} as Other{name}"
        advice = f"write `{line}`, and use that name in the code of the tool."
    return f"`{name}` has another meaning in {place}, and the package also needs {needed}: {advice}"


def _check_code(
    statements: Iterable[Statement],
    parts: Sequence[ToolParts],
    written: frozenset[str],
    usual: Mapping[str, str],
) -> None:
    """Check that *statements* have the same meaning in a package as in the notebook.

    Raises:
        ExportError: If the meaning differs, or if a statement redefines a name that the code that
            we write uses. The message says what to change.
    """
    functions = {part.undecorated for part in parts} - {""}
    for statement in statements:
        names = statement.names
        for name in sorted(names.gives & written):
            if not _is_same(statement, name):
                raise ExportError(_other_meaning(statement, name, usual))
        if statement.is_import:
            continue
        check_statement(statement)
        if calls := (names.now | names.later) & functions - names.gives:
            user = min(names.gives, default=statement.code)
            msg = (
                f"`{user}` uses `{min(calls)}`. `{min(calls)}` is a tool in the notebook, but a "
                f"plain function in the package. Move the code of `{min(calls)}` to a new "
                "function, and call that from both."
            )
            raise ExportError(msg)
