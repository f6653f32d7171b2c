"""Rewrite a notebook's imports of the OpenHands SDK as a package needs them."""

import ast
from collections.abc import Iterable
from dataclasses import replace

from toolbench.export.code.statements import Statement, statement_of


def with_imports_of_sdk(statements: Iterable[Statement]) -> list[Statement]:
    """Return *statements* with the imports in `with openhands():` moved out of the block.

    A package for the OpenHands SDK does not need the block, because the real SDK is installed
    there. A block that also contains other code is not changed.
    """
    changed = list[Statement]()
    for statement in statements:
        node = statement.node
        if isinstance(node, ast.With) and all(map(_is_of_sdk, node.body)):
            changed += _in_place_of(statement, map(ast.unparse, node.body))
        else:
            changed.append(statement)
    return changed


def with_context_of_sdk(statements: Iterable[Statement]) -> list[Statement]:
    """Return *statements* with each import of the SDK inside a `with openhands():` block.

    Use this for a package that does not run with the SDK, but with toolbench. There, the SDK's
    modules exist only inside such a block. A notebook may instead call `openhands()` once, but the
    export does not copy this call.
    """
    changed = list[Statement]()
    for statement in statements:
        if not _is_of_sdk(statement.node):
            changed.append(statement)
            continue
        block = f"with toolbench.compat.openhands():\n    {ast.unparse(statement.node)}"
        changed += _in_place_of(statement, ["import toolbench.compat", block])
    return changed


def _in_place_of(statement: Statement, codes: Iterable[str]) -> list[Statement]:
    made = list[Statement]()
    for code in codes:
        [node] = ast.parse(code).body
        made.append(replace(statement_of(node, code), cell=statement.cell))
    return made


def _is_of_sdk(node: ast.stmt) -> bool:
    """Tell whether *node* imports from the SDK."""
    modules = list[str]()
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        modules = [node.module or ""]
    return any(module.partition(".")[0] == "openhands" for module in modules)
