"""Check that the files of a package contain no secret: none of the session, none in the code."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from toolbench.errors import ExportError
from toolbench.export.code.code_secrets import secrets_in_code
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_of
from toolbench.redaction import MARK
from toolbench.redaction.detect import keys_in
from toolbench.redaction.known import remembered
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.redactor import Redactor

ENVIRONMENT = "environ"
"""The name that code imports from `os` to read a secret."""


def with_environment(statements: Iterable[Statement]) -> list[Statement]:
    """Return *statements*, where `API_KEY = "..."` becomes `API_KEY = environ["API_KEY"]`.

    A statement is changed only if the secret is the whole value of a variable. `check_statement`
    refuses all other statements with a secret. If the code itself gives the name `environ` a value,
    nothing is changed.
    """
    statements = list(statements)
    names = [name for statement in statements for name in statement.names.gives]
    return [
        _reading(s) if ENVIRONMENT not in names and _is_plain_secret(s) else s for s in statements
    ]


def _is_plain_secret(statement: Statement) -> bool:
    match statement.node:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()))
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str()))
        ) if is_secret_argument(name):
            return any(secrets_in_code(statement.code))
    return False


def _reading(statement: Statement) -> Statement:
    [name] = statement.names.gives
    variable = name.upper()
    code = (
        f"if {variable!r} not in {ENVIRONMENT}:\n"
        f'    raise OSError("Set {variable} in the environment: these tools need it.")\n'
        f"{name} = {ENVIRONMENT}[{variable!r}]"
    )
    node = ast.parse(code).body[-1]
    return replace(statement, code=code, node=node, names=names_of(node, code))


def variables_in(modules: Mapping[str, str]) -> list[str]:
    """Return the names of the environment variables that *modules* read in place of secrets."""
    nodes = (node for text in modules.values() for node in ast.parse(text).body)
    return sorted({name for node in nodes for name in _variable_of(node)})


def _variable_of(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Subscript(value=ast.Name(id=base), slice=ast.Constant(value=str(variable))),
        ) if base == ENVIRONMENT and variable == name.upper():
            yield variable


def check_statement(statement: Statement) -> None:
    """Check that *statement* has no secret.

    Raises:
        ExportError: If *statement* has a secret; the message shows the line without the secret.
    """
    for secret in secrets_in_code(statement.code):
        line = statement.code.splitlines()[secret.line - 1].strip()
        sentence = Redactor([secret.text]).text(line)
        if MARK not in sentence or secret.text in sentence or len(secret.text) < 4:
            sentence = f"{secret.name or min(statement.names.gives, default='a line')} ..."
        variable = (secret.name or "the_secret").upper()
        msg = (
            f"`{sentence}` holds a secret, which is not written into a file: have the code "
            f"read it from the environment, as in os.environ[{variable!r}]."
        )
        raise ExportError(msg)


def check_text(text: str, place: str) -> None:
    """Check that *text*, the content of the file at *place*, has no secret.

    Raises:
        ExportError: If *text* has a secret.
    """
    if MARK in text or remembered.redactor.occurs_in(text):
        msg = (
            f"{place} would hold a secret of this session, so nothing was written: have the "
            "code read it from elsewhere."
        )
        raise ExportError(msg)
    is_code = place.endswith(".py")
    if any(secrets_in_code(text)) if is_code else any(keys_in(text)):
        msg = (
            f"{place} would hold a secret, so nothing was written: look at the description and "
            "the defaults of the tool."
        )
        raise ExportError(msg)
