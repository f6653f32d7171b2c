"""Find the imports of the OpenHands SDK in a notebook; `toolbench.compat.openhands` answers them."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from toolbench.export.code.statements import Statement, statement_of

_HOME = "toolbench.compat"


def with_imports_of_sdk(statements: Iterable[Statement]) -> list[Statement]:
    """Return *statements*, where the imports in `with openhands():` stand by themselves.

    A package for the SDK needs no `with`: there the modules are the SDK's own. A block with other
    code in it stays as it is.
    """
    changed, names = list[Statement](), set[str]()
    for statement in statements:
        names |= set(_names_of_context(statement.node))
        body = _imports_in(statement.node, names)
        for part in body:
            own = statement_of(part, ast.unparse(part))
            changed.append(replace(own, cell=statement.cell, failed=statement.failed))
        if not body:
            changed.append(statement)
    return changed


def with_context_of_sdk(statements: Iterable[Statement]) -> list[Statement]:
    """Return *statements*, where each import of the SDK stands in a `with openhands():`.

    A package for toolbench can import from the SDK only this way. The notebook did it by a call, which
    gives no name and is left out, or before it loaded the file of the tools.
    """
    changed, context = list[Statement](), ""
    for statement in statements:
        for name in _names_of_context(statement.node):
            context = name
        if "openhands" not in _tops(statement.node):
            changed.append(statement)
            continue
        if not context:
            code, context = f"import {_HOME}", f"{_HOME}.openhands"
            changed.append(statement_of(ast.parse(code).body[0], code))
        code = f"with {context}():\n    {ast.unparse(statement.node)}"
        block = statement_of(ast.parse(code).body[0], code)
        changed.append(replace(block, cell=statement.cell, failed=statement.failed))
    return changed


def _tops(node: ast.stmt) -> list[str]:
    """Return the top of each module that *node* imports; none if it is not an import."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.partition(".")[0]]
    return []


def _names_of_context(node: ast.stmt) -> Iterator[str]:
    """Yield the code by which a cell calls `openhands`, after the import *node*."""
    if isinstance(node, ast.ImportFrom) and node.module == _HOME:
        yield from (a.asname or a.name for a in node.names if a.name == "openhands")
    elif isinstance(node, ast.ImportFrom) and node.module == "toolbench":
        modules = (a.asname or a.name for a in node.names if a.name == "compat")
        yield from (f"{name}.openhands" for name in modules)
    elif isinstance(node, ast.Import):
        aliases = (a for a in node.names if a.name == _HOME)
        yield from (f"{a.asname or _HOME}.openhands" for a in aliases)


def _imports_in(node: ast.stmt, names: set[str]) -> list[ast.stmt]:
    """Return the imports in *node*, if it is `with openhands():` with nothing but imports."""
    match node:
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call(func=function, args=[]))],
            body=body,
        ) if ast.unparse(function) in names and all(map(_is_of_sdk, body)):
            return body
    return []


def _is_of_sdk(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
