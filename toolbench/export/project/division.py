"""How a person's code is divided: what the definition needs, and what only the work needs."""

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolbench.errors import ExportError
from toolbench.export.code.needed import Needed, needed_by
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import given_in, quoted_in, used_in
from toolbench.export.project.imports import check_inner_imports, written_homes
from toolbench.export.project.secret_check import check_statement
from toolbench.export.tool_code.tool_parts import ToolParts

RESULTS = frozenset({"observation_of"})
"""What `results.py` defines."""
_BUILTINS = frozenset(dir(builtins))
_NONE = frozenset[str]()


@dataclass(frozen=True)
class Half:
    """One of the two modules: a person's statements, and the code written after them."""

    statements: tuple[Statement, ...]
    written: str

    @property
    def gives(self) -> frozenset[str]:
        """The names that can be imported from it."""
        return _NONE.union(
            *(s.names.gives for s in self.statements), given_in(self.written)
        )

    @property
    def uses(self) -> frozenset[str]:
        """The names it uses, but for Python's own."""
        names = [s.names for s in self.statements]
        used = _NONE.union(*(n.now | n.later | n.quoted for n in names))
        return (used | used_in(self.written) | quoted_in(self.written)) - _BUILTINS


@dataclass(frozen=True)
class Division:
    """Both halves, and what stands outside of them.

    Attributes:
        definition: What tools are called, what goes in, what comes out.
        implementation: What they do.
        imports: The import statements of the notebook or the file.
        lazy: What a person's `create` uses.
        making: The names that making the tools uses.
        future: The line that changes how annotations are read, if there is one.
    """

    definition: Half
    implementation: Half
    imports: tuple[Statement, ...]
    lazy: frozenset[str]
    making: frozenset[str]
    future: str


def divided(parts: Sequence[ToolParts], *, openhands: bool) -> Division:
    """Divide the code of *parts*, tools of one notebook or file.

    Raises:
        ExportError: If something that is needed is nowhere, or cannot stand in a file.
    """
    statements = parts[-1].statements
    definition = "\n\n".join(filter(None, (part.definition for part in parts)))
    implementation = "\n\n".join(filter(None, (part.implementation for part in parts)))
    making = used_in("\n".join(part.create for part in parts)) - _BUILTINS
    lazy = _NONE.union(*(part.lazy for part in parts)) - _BUILTINS
    types = _NONE.union(*(part.types for part in parts))
    imports = tuple(s for s in statements if s.is_import)
    imported = _NONE.union(*(s.names.gives for s in imports))
    homes = frozenset(written_homes(openhands=openhands))
    own = (homes - imported) | RESULTS | given_in(definition) | given_in(implementation)
    user = ", ".join(part.tool.name for part in parts)
    wanted_first = types | (used_in(definition) - _BUILTINS) | (lazy & imported)
    quoted = quoted_in(definition)
    first = needed_by(statements, wanted_first, user, without=own, maybe=quoted)
    wanted_second = (used_in(implementation) - _BUILTINS) | making | lazy
    second = needed_by(statements, wanted_second, user, without=own)
    _check_missing(user, first, second)
    rest = Needed(statements, second.places - first.places)
    code = [*first.in_order(), *rest.in_order()]
    check_inner_imports(code, openhands=openhands)
    _check_code([s for s in code if not s.is_import], parts, homes)
    futures = [s.code for s in statements if s.code.startswith("from __future__ ")]
    return Division(
        definition=Half(_without_imports(first), definition),
        implementation=Half(_without_imports(rest), implementation),
        imports=imports,
        lazy=lazy,
        making=making,
        future=futures[0] if futures else "",
    )


def _without_imports(needed: Needed) -> tuple[Statement, ...]:
    return tuple(s for s in needed.in_order() if not s.is_import)


def _check_missing(user: str, *parts: Needed) -> None:
    missing = {name: one for needed in parts for name, one in needed.missing.items()}
    if missing:
        lines = "".join(f"\n- {one}" for one in missing.values())
        msg = f"{user}: some of what it needs cannot be written into a file:{lines}"
        raise ExportError(msg)


def _check_code(
    statements: Iterable[Statement], parts: Sequence[ToolParts], homes: frozenset[str]
) -> None:
    """Check that *statements* mean in a package what they mean in the notebook.

    Raises:
        ExportError: If not; it names what to change.
    """
    functions = {part.undecorated for part in parts} - {""}
    for statement in statements:
        check_statement(statement)
        names = statement.names
        if clash := names.gives & homes:
            msg = (
                f"A cell gives `{min(clash)}` another meaning than the package needs: give what "
                "is called so another name."
            )
            raise ExportError(msg)
        if calls := (names.now | names.later) & functions - names.gives:
            user = min(names.gives, default=statement.code)
            msg = (
                f"`{user}` uses `{min(calls)}`, which is a tool here and a function in the "
                "package: have both call a function of its own."
            )
            raise ExportError(msg)
