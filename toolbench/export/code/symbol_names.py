"""Find the names that a statement gives a value and uses, with Python's own symbol table."""

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from symtable import SymbolTable, symtable

_NONE = frozenset[str]()
_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "dictcomp", "genexpr"})
_OF_MODULES = frozenset({"__name__", "__doc__", "__class__", "__debug__"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


@dataclass(frozen=True)
class Names:
    """The global names in a statement, grouped by their use.

    Attributes:
        gives: The names that the statement defines or assigns.
        now: The names that the statement reads when it runs.
        later: The names that are read only when a function in the statement is called.
        quoted: The names in quoted annotations. They need not be defined.
        into: The names of objects whose items or attributes the statement changes, such as `rows`
            in `rows[0] = 1`.
    """

    gives: frozenset[str]
    now: frozenset[str] = _NONE
    later: frozenset[str] = _NONE
    quoted: frozenset[str] = _NONE
    into: frozenset[str] = _NONE

    @property
    def uses(self) -> frozenset[str]:
        """All names that the statement uses, now or later."""
        return self.now | self.later | self.quoted


def names_of(node: ast.stmt, code: str) -> Names:
    """Return the names in the statement *node*, whose source is *code*.

    Raises:
        SyntaxError: If *code* can only run in a notebook, for example with a top-level `await`.
    """
    table = symtable(code, "cell", "exec")
    if sys.version_info >= (3, 12):
        # A comprehension has no table of its own there: its names would be those of the statement
        tree = _WithGenerators().visit(ast.parse(code))
        table = symtable(ast.unparse(tree), "cell", "exec")
    gives, imported = set[str](), set[str]()
    for symbol in table.get_symbols():
        if symbol.is_imported():
            imported.add(symbol.get_name())
        if symbol.is_imported() or symbol.is_assigned():
            gives.add(symbol.get_name())
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        gives = imported = set(_public_names(node.module or ""))
    if isinstance(node, ast.AnnAssign) and node.value is None:
        gives = set()
    uses = _Uses()
    uses.collect(table, is_called_later=False)
    now, later = uses.now, uses.later
    if isinstance(node, _DEFINITIONS):
        # A function may call itself
        later -= gives
    now.update(_added_to(node))
    now -= set_first(node) | imported | _OF_MODULES
    return Names(
        gives=frozenset(gives | uses.given),
        now=frozenset(now),
        later=frozenset(later - imported - _OF_MODULES),
        quoted=frozenset(_quoted(node)),
        into=frozenset(_assigned_into(node)),
    )


class _WithGenerators(ast.NodeTransformer):
    """Replaces comprehensions with generators.

    Generators have their own symbol table in all versions of Python. Comprehensions have one only
    before Python 3.12.
    """

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        """Return a generator of the items of *node*."""
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """Return a generator of the pairs of *node*."""
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def names_of_await(node: ast.stmt) -> Names:
    """Return the names in *node*, which has an `await` outside of a function.

    For such a statement, Python makes no symbol table.
    """
    gives, now = set[str](), set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):
                now.add(part.id)
            else:
                gives.add(part.id)
    return Names(frozenset(gives), frozenset(now), into=frozenset(_assigned_into(node)))


def _public_names(module: str) -> Iterator[str]:
    """Yield the names that `from module import *` imports, if the module is loaded."""
    if module not in sys.modules:
        return
    names = vars(sys.modules[module])
    if "__all__" in names:
        yield from names["__all__"]
        return
    for name in names:
        if not name.startswith("_"):
            yield name


class _Uses:
    """Collects the global names that a piece of code uses and defines, from its symbol tables."""

    def __init__(self) -> None:
        self.now = set[str]()
        self.later = set[str]()
        self.given = set[str]()

    def collect(self, table: SymbolTable, *, is_called_later: bool) -> None:
        """Add the names in the symbol table *table*, and in the tables inside *table*.

        Pass true for *is_called_later* if *table* belongs to a function, because the code of a
        function does not run until the function is called.
        """
        is_top = table.get_type() == "module"
        for symbol in table.get_symbols():
            name = symbol.get_name()
            is_set = symbol.is_declared_global() and symbol.is_assigned()
            if is_set and not is_called_later:
                # As by `:=` in a comprehension
                self.given.add(name)
            is_used = symbol.is_referenced() or (is_set and is_called_later)
            if not is_used or not (is_top or symbol.is_global()):
                continue
            if is_called_later:
                self.later.add(name)
            else:
                self.now.add(name)
        for child in table.get_children():
            is_function = str(child.get_type()) == "function"
            is_later = is_function and child.get_name() not in _COMPREHENSIONS
            self.collect(child, is_called_later=is_called_later or is_later)


def running_now(node: ast.AST) -> Iterator[ast.AST]:
    """Yield *node* and its parts, except the bodies of functions, which run only when called."""
    yield node
    for field, value in ast.iter_fields(node):
        if field == "body" and isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            continue
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.AST):
                yield from running_now(part)


def _added_to(node: ast.stmt) -> Iterator[str]:
    """Yield the names that *node* uses by `total += 1`, which the symbol table does not report."""
    for part in running_now(node):
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target.id


def set_first(node: ast.stmt) -> set[str]:
    """Return the names that a `for` or `with` statement sets before its body runs."""
    targets: list[ast.expr | None] = []
    sources: list[ast.expr] = []
    if isinstance(node, ast.For | ast.AsyncFor):
        targets, sources = [node.target], [node.iter]
    if isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            targets.append(item.optional_vars)
            sources.append(item.context_expr)
    given, used = set[str](), set[str]()
    for target in targets:
        if target is not None:
            given |= _loaded_or_stored(target, ast.Store)
    for source in sources:
        used |= _loaded_or_stored(source, ast.Load)
    return given - used


def _loaded_or_stored(node: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    names = set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, kind):
            names.add(part.id)
    return names


def _assigned_into(node: ast.stmt) -> Iterator[str]:
    """Yield the names of objects that *node* changes.

    A statement changes an object if it sets an item or an attribute of the object, or if it uses a
    method of the object as a decorator.
    """
    for part in running_now(node):
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            yield from base_of(part)
        for decorator in getattr(part, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(called, ast.Attribute):
                yield from base_of(called)


def base_of(node: ast.expr) -> Iterator[str]:
    """Yield the name at the start of *node*: `a` for `a.b[0].c`."""
    part = node
    while isinstance(part, ast.Attribute | ast.Subscript):
        part = part.value
    if isinstance(part, ast.Name):
        yield part.id


def _quoted(node: ast.stmt) -> Iterator[str]:
    """Yield the names in the quoted annotations of *node*."""
    for part in ast.walk(node):
        for field in ("annotation", "returns"):
            for constant in ast.walk(getattr(part, field, None) or ast.Pass()):
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    try:
                        tree = ast.parse(constant.value, mode="eval")
                    except (SyntaxError, ValueError):
                        # Any other text, not an annotation
                        continue
                    yield from _loaded_or_stored(tree, ast.Load)


def names_in_code(code: str) -> Names:
    """Return the names in all statements of *code* together."""
    gives, now, later, quoted = set[str](), set[str](), set[str](), set[str]()
    for node in ast.parse(code).body:
        names = names_of(node, ast.unparse(node))
        gives |= names.gives
        now |= names.now
        later |= names.later
        quoted |= names.quoted
    return Names(frozenset(gives), frozenset(now), frozenset(later), frozenset(quoted))


def union(groups: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return all names of *groups* together."""
    return _NONE.union(*groups)
