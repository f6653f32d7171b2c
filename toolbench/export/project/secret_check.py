"""No secret is written: not one of the session, and not one that stands in the code."""

import ast
from collections.abc import Iterator

from toolbench.errors import ExportError
from toolbench.export.code.statements import Statement
from toolbench.redaction import MARK
from toolbench.redaction.detection.names import is_secret_argument
from toolbench.redaction.remembered import remembered


def check_statement(statement: Statement) -> None:
    """Check that *statement* gives no text to what is called like a secret.

    Raises:
        ExportError: If it does; it names that.
    """
    for part in ast.walk(statement.node):
        for name in _names_of_text(part):
            if is_secret_argument(name):
                msg = (
                    f"`{name}` holds a secret, which is not written into a file: have the code "
                    f"read it, as os.environ[{name.upper()!r}] does."
                )
                raise ExportError(msg)


def check_text(text: str, place: str) -> None:
    """Check that *text*, which is to be the file at *place*, holds no secret of this session.

    Raises:
        ExportError: If it does.
    """
    if MARK in text or remembered.redactor.occurs_in(text):
        msg = (
            f"{place} would hold a secret of this session, so nothing was written: have the "
            "code read it from elsewhere."
        )
        raise ExportError(msg)


def _names_of_text(part: ast.AST) -> Iterator[str]:
    """Give what *part* gives a text to, if it does: variables, attributes, arguments, keys."""
    match part:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and _is_text(value):
                    yield str(key.value)
        case ast.keyword(arg=str(name), value=value) if _is_text(value):
            yield name
        case ast.Assign(targets=targets, value=value) if _is_text(value):
            for target in targets:
                yield from _names_in(target)
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_text(value):
            yield from _names_in(target)


def _is_text(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, str)
        and value.value != ""
    )


def _names_in(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            yield name
