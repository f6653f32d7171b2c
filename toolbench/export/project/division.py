"""Divide a person's code into two parts: the code that the definition needs, and all other code."""

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolbench.errors import ExportError
from toolbench.export.code.code_secrets import check_statement, with_environment
from toolbench.export.code.needed_statements import LeftOut, Needed, needed_by
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_in_code, union
from toolbench.export.project.imports import check_inner_imports, written_homes
from toolbench.export.tool_code.tool_parts import ToolParts, with_names

RESULTS = frozenset({"observation_of"})
"""The names that `results.py` defines for other modules."""
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
_OF_PYTHON = frozenset({"classmethod", "dict"})
"""Names of Python that the code that we write uses. They cannot have an alias there."""


@dataclass(frozen=True)
class Half:
    """One of the two modules, `definition.py` or `impl.py`.

    It has some of the person's statements, and after them the code that the export writes, if any.
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
        """The names that this module uses, also Python's own names."""
        used = union(statement.names.uses for statement in self.statements)
        return used | names_in_code(self.written).uses


@dataclass(frozen=True)
class Division:
    """Both halves of the code, and the parts outside of them.

    Attributes:
        definition: The module with the names, inputs and outputs of the tools.
        implementation: The module with the code that does the work of the tools.
        imports: The import statements of the notebook or the file.
        lazy: The names that only the person's `create` uses; they are imported inside `create`.
        making: The names that `create_tools()` needs, because the expressions in `create` use them.
        create: The expressions that make the tools.
        aliases: The original name for each alias. The code that we write imports a name under an
            alias if the person's code uses the name for something else.
        future: The first `from __future__` import; empty if there is none.
        left_out: The statements that touch what the package has, and are not in it.
    """

    definition: Half
    implementation: Half
    imports: tuple[Statement, ...]
    lazy: frozenset[str]
    making: frozenset[str]
    create: tuple[str, ...]
    aliases: Mapping[str, str]
    future: str
    left_out: Sequence[LeftOut]


def divided(
    parts: Sequence[ToolParts], *, cells: Collection[int] = (), openhands: bool
) -> Division:
    """Divide the code of *parts*, which are tools of one notebook or file, and that of *cells*.

    Raises:
        ExportError: If the code needs a part that is missing, or that would not work in a package.
    """
    statements = with_environment(parts[-1].statements)
    homes = frozenset(written_homes(openhands=openhands)) | RESULTS
    aliases = _aliases(statements, homes)
    definition = _joined([part.definition for part in parts], aliases)
    implementation = _joined([part.implementation for part in parts], aliases)
    create = with_names("\n".join(part.create for part in parts), aliases)
    defining, working = names_in_code(definition), names_in_code(implementation)
    made = names_in_code(create)
    making, lazy = made.now | made.later, union(part.lazy for part in parts)
    imports = tuple(s for s in statements if s.is_import)
    imported = union(s.names.gives for s in imports)
    own = homes - union(s.names.gives for s in statements)
    own |= frozenset(aliases.values()) | defining.gives | working.gives
    user = ", ".join(part.tool.name for part in parts)
    wanted = union(part.types for part in parts)
    wanted |= defining.now | defining.later | (lazy & imported)
    first = needed_by(statements, wanted, user, without=own, maybe=defining.quoted)
    wanted = working.now | working.later | making | lazy
    second = needed_by(statements, wanted, user, without=own, cells=cells)
    missing = first.missing | second.missing
    if missing:
        lines = "".join(f"\n- {sentence}" for sentence in missing.values())
        msg = f"{user}: some names that it needs cannot be written into a file:{lines}"
        raise ExportError(msg)
    rest = Needed(statements, second.places - first.places)
    code = [*first.in_order(), *rest.in_order()]
    check_inner_imports(code, openhands=openhands)
    _check_code([s for s in code if not s.is_import], parts)
    future = ""
    for statement in statements:
        if not future and statement.code.startswith("from __future__ "):
            future = statement.code
    return Division(
        definition=Half(_without_imports(first), definition),
        implementation=Half(_without_imports(rest), implementation),
        imports=imports,
        lazy=lazy,
        making=making,
        create=tuple(create.splitlines()),
        aliases={alias: name for name, alias in aliases.items()},
        future=future,
        left_out=Needed(statements, first.places | second.places).left_out(),
    )


def _joined(codes: Iterable[str], aliases: Mapping[str, str]) -> str:
    return with_names("\n\n".join(filter(None, codes)), aliases)


def _aliases(statements: Sequence[Statement], names: frozenset[str]) -> dict[str, str]:
    """Return an alias for each name in *names* that *statements* use for something else."""
    in_use = union(s.names.gives for s in statements)
    aliases = dict[str, str]()
    for statement in statements:
        for name in names & statement.names.gives:
            if name in aliases or _is_same(statement, name):
                continue
            aliases[name] = f"_{name}"
            while aliases[name] in in_use:
                aliases[name] += "_"
    return aliases


def _is_same(statement: Statement, name: str) -> bool:
    """Tell whether *statement* imports *name* with the same meaning as the code that we write."""
    node = statement.node
    if not isinstance(node, ast.ImportFrom):
        return False
    top = (node.module or "").partition(".")[0]
    names = {alias.asname or alias.name: alias.name for alias in node.names}
    return top in _HOMES and names.get(name, name) == name


def _without_imports(needed: Needed) -> tuple[Statement, ...]:
    return tuple(s for s in needed.in_order() if not s.is_import)


def _check_code(statements: Iterable[Statement], parts: Sequence[ToolParts]) -> None:
    """Check that *statements* have the same meaning in a package as in the notebook.

    Raises:
        ExportError: If the meaning differs; the message says what to change.
    """
    functions = {part.undecorated for part in parts} - {""}
    for statement in statements:
        check_statement(statement)
        names = statement.names
        if clash := names.gives & _OF_PYTHON:
            msg = (
                f"A cell defines `{min(clash)}`, and the package needs this name with Python's "
                "own meaning: choose another name in the cell."
            )
            raise ExportError(msg)
        if calls := (names.now | names.later) & functions - names.gives:
            user = min(names.gives, default=statement.code)
            msg = (
                f"`{user}` uses `{min(calls)}`. `{min(calls)}` is a tool in the notebook, but a "
                f"plain function in the package. Move the code of `{min(calls)}` to a new "
                "function, and call that from both."
            )
            raise ExportError(msg)
