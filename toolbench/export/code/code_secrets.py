"""Find secrets in Python code and its comments, so that no export writes them into a file."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, product
from typing import NamedTuple

from toolbench.errors import ExportError
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_of
from toolbench.redaction import MARK
from toolbench.redaction.detect import BY_NAMES, keys_in
from toolbench.redaction.known import remembered
from toolbench.redaction.names import is_secret_argument, is_secret_number
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.writings import SCHEMES

ENVIRONMENT = "environ"
"""The name that code imports from `os` to read a secret."""
# Calls whose result contains the text of an argument. `getenv("TOKEN", "x")` has its own rule.
_PASS_ON = frozenset(
    [
        *("Field", "SecretBytes", "SecretStr", "b64decode", "bytes", "bytearray", "decode"),
        *("dict", "encode", "field", "format", "fromhex", "join", "list", "lower", "replace"),
        *("str", "strip", "tuple", "upper"),
    ]
)  # fmt: skip
_BESIDE = re.compile(r"[A-Za-z][\w-]*\s*[:=]\s*\S+")
# The first characters of a placeholder for a value, in a pattern or a template
_PLACE = frozenset("{%([$<.")
# Characters of a secret; a shorter value is not a secret
_SHORTEST = 3


class CodeSecret(NamedTuple):
    """A secret in code: its line number, the name of its variable or argument, and its text.

    The name is empty if the text alone shows that this is a secret.
    """

    line: int
    name: str
    text: str


def secrets_in_code(code: str) -> Iterator[CodeSecret]:
    """Yield the secrets in the Python *code*: in its values, strings and comments."""
    for part in ast.walk(ast.parse(code)):
        yield from _secrets_at(part)
        if isinstance(part, ast.Constant | ast.JoinedStr):
            for text in _texts_of(part):
                for secret in secrets_in_text(text):
                    yield CodeSecret(part.lineno, "", secret)
    yield from _in_comments(code)


def secrets_in_text(text: str, *, is_prose: bool = False) -> Iterator[str]:
    """Yield the secrets in *text*.

    If *is_prose* is true, secrets in the middle of a sentence are found too.
    """
    yield from keys_in(text)
    pieces = {text.strip(), *map(str.strip, text.splitlines())}
    if is_prose:
        for match in _BESIDE.finditer(text):
            pieces.add(match[0])
    for piece in pieces:
        is_sentence = "=" not in piece and '"' not in piece
        for secret in BY_NAMES.secrets_in({"": piece}):
            # `token: required` describes a token, and `token={}` has a placeholder for one
            is_one = not (is_sentence and secret.isalpha()) and secret.split()[-1][0] not in _PLACE
            if is_one and secret in text and not _is_word(secret):
                yield secret


def _secrets_at(part: ast.AST) -> Iterator[CodeSecret]:
    """Yield the secrets in *part* of a syntax tree, such as an assignment or a call.

    A value is a secret if the variable, argument or key for it has the name of a secret.
    """
    for name, value in chain(_values_with_names(part), _values_with_keys(part)):
        if is_secret_argument(name):
            for constant in _held_texts(value):
                for text in _texts_of(constant):
                    if not _is_word(text):
                        yield CodeSecret(constant.lineno, name, text)
        number = getattr(value, "value", None)
        if type(number) is int and number > 99 and is_secret_number(name):
            yield CodeSecret(value.lineno, name, str(number))


def _is_word(text: str) -> bool:
    """Tell whether *text* is too short for a secret, or the name of a scheme such as `Bearer`."""
    words = text.strip(" :=,;").lower()
    return len(words) < _SHORTEST or words in SCHEMES


def _texts_of(part: ast.Constant | ast.JoinedStr) -> Iterator[str]:
    if isinstance(part, ast.JoinedStr):
        # An address may be split by `{...}`
        text = ""
        for piece in part.values:
            value = getattr(piece, "value", "")
            text += value if isinstance(value, str) else "{}"
        yield text
    elif isinstance(part.value, str):
        yield part.value
    elif isinstance(part.value, bytes):
        yield part.value.decode("latin-1")


def _held_texts(value: ast.AST) -> Iterator[ast.Constant]:
    """Yield the constants in the expression *value* whose text ends up in its result."""
    inner: Iterable[ast.AST] = ()
    if isinstance(value, ast.Constant):
        yield value
    elif isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        if name in _PASS_ON:
            keywords = [k.value for k in value.keywords if k.arg != "description"]
            inner = [*value.args, *keywords, value.func]
    elif _declares_secrets(value):
        # `{"api_key": Secret("TRACKER")}` has names only
        return
    elif not isinstance(value, ast.Subscript | ast.Lambda | ast.Compare):
        inner = ast.iter_child_nodes(value)
    for part in inner:
        yield from _held_texts(part)


def _declares_secrets(value: ast.AST) -> bool:
    """Tell whether *value* is a dict such as `{"api_key": Secret("TRACKER")}`.

    Such a dict declares which parameters of a tool get secrets, and has no secret itself.
    """
    if not isinstance(value, ast.Dict) or not value.values:
        return False
    functions = [getattr(each, "func", None) for each in value.values]
    return all(getattr(each, "id", "") in ("Secret", "secret") for each in functions)


def _values_with_names(part: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each value in *part* after the name of its variable, argument or attribute."""
    match part:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value)
        case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            yield from _assigned(part.target, part.value or part.target)
        case ast.keyword():
            yield part.arg or "", part.value
        case ast.Compare(left=left, comparators=others):
            yield from _compared([left, *others])
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=sides) if (
            name == "compare_digest"
        ):
            yield from _compared(sides)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _defaults(part.args)


def _compared(sides: list[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield each side of a comparison after the name of a variable to which it is compared."""
    for name, value in product(_names_in(sides), sides):
        texts = ""
        for constant in _held_texts(value):
            texts += "".join(_texts_of(constant))
        # `token == "sin"`: here a token is a word or sign of a language, which has no digit
        if name != "token" or re.search(r"\d", texts):
            yield name, value


def _values_with_keys(part: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each value in *part* after the string that names it, as in `getenv("TOKEN", "x")`."""
    match part:
        case ast.Tuple(elts=[key, value]) | ast.List(elts=[key, value]):
            yield from _named(key, [value])
        case ast.Dict(keys=keys, values=values):
            for name, held in zip(keys, values, strict=True):
                yield from _named(name, [held])
        case ast.Call(args=arguments):
            # `getenv("TOKEN", "x")`, `setattr(a, "token", "x")`
            for number, key in enumerate(arguments):
                yield from _named(key, arguments[number + 1 :])
        case ast.BoolOp(values=[ast.Call(args=[key, *_]), *values]):
            # `getenv("TOKEN") or "x"`
            yield from _named(key, values)


def _named(key: ast.expr | None, values: Iterable[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield each of *values* with *key* as its name, if *key* is a string."""
    if isinstance(key, ast.Constant):
        for name in _texts_of(key):
            for value in values:
                yield name, value


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    targets = [target]
    if isinstance(target, ast.Tuple | ast.List):
        targets = target.elts
        if isinstance(value, ast.Tuple | ast.List) and len(targets) == len(value.elts):
            # `user, password = "ada", "x"`
            for inner, part in zip(targets, value.elts, strict=True):
                yield from _assigned(inner, part)
            return
    for name in _names_in(targets):
        yield name, value


def _names_in(targets: Iterable[ast.expr]) -> Iterator[str]:
    for target in targets:
        match target:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Subscript(slice=ast.Constant() as index):
                yield from _texts_of(index)


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    ordered = [*arguments.posonlyargs, *arguments.args]
    # The last parameters have the defaults
    for parameter, default in zip(reversed(ordered), reversed(arguments.defaults), strict=False):
        yield parameter.arg, default
    for parameter, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            yield parameter.arg, value


def _in_comments(code: str) -> Iterator[CodeSecret]:
    """Yield the secrets in comments, even in code that was commented out."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type != tokenize.COMMENT:
            continue
        text, line = token.string.strip("# \t"), token.start[0]
        for secret in secrets_in_text(text, is_prose=True):
            yield CodeSecret(line, "", secret)
        try:
            for named in secrets_in_code(text):
                yield named._replace(line=line)
        except (SyntaxError, ValueError):
            # A sentence, not code
            continue


def with_environment(statements: Iterable[Statement]) -> list[Statement]:
    """Return *statements* with `API_KEY = "..."` changed to `API_KEY = environ["API_KEY"]`.

    A statement is changed only if it assigns one secret string to one variable. `check_statement`
    refuses all other statements with a secret. If the code itself defines the name `environ`,
    nothing is changed.
    """
    statements = list(statements)
    for statement in statements:
        if ENVIRONMENT in statement.names.gives:
            return statements
    changed = list[Statement]()
    for statement in statements:
        if _is_plain_secret(statement):
            changed.append(_reading(statement))
        else:
            changed.append(statement)
    return changed


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
    """Return the environment variables that *modules* read because of `with_environment`."""
    variables = set[str]()
    for text in modules.values():
        for node in ast.parse(text).body:
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Subscript(
                        value=ast.Name(id=base), slice=ast.Constant(value=str(variable))
                    ),
                ) if base == ENVIRONMENT and variable == name.upper():
                    variables.add(variable)
    return sorted(variables)


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
    """Check that *text*, which would be written to the file *place*, has no secret.

    Raises:
        ExportError: If *text* has a secret.
    """
    if holds_secret(text, is_code=place.endswith(".py")):
        msg = (
            f"{place} would hold a secret, so nothing was written: look at the description and "
            "the defaults of the tool, and have its code read the secret from elsewhere."
        )
        raise ExportError(msg)


def holds_secret(text: str, *, is_code: bool) -> bool:
    """Tell whether *text* has a secret.

    The following count as secrets: the secrets that this session has used, and strings that look
    like an API key. If *is_code* is true, values that are assigned to a name such as `password`
    count too.
    """
    if MARK in text or remembered.redactor.occurs_in(text) or any(keys_in(text)):
        return True
    return is_code and any(secrets_in_code(text))
