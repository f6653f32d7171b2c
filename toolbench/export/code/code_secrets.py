"""Find secrets in Python code and its comments: by the names of values, and by their shape."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from toolbench.redaction.detect import BY_NAMES, keys_in
from toolbench.redaction.names import is_secret_argument, is_secret_number
from toolbench.redaction.writings import SCHEMES

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Calls whose result contains the text of an argument. `getenv("TOKEN", "x")` has its own rule.
_PASS_ON = frozenset(
    [
        *("Field", "SecretBytes", "SecretStr", "b64decode", "bytes", "bytearray", "decode"),
        *("dict", "encode", "field", "format", "fromhex", "join", "list", "lower", "replace"),
        *("str", "strip", "tuple", "upper"),
    ]
)  # fmt: skip
_COMPARE = frozenset({"__eq__", "__ne__", "compare_digest", "eq", "ne"})
_BESIDE = re.compile(r"[A-Za-z][\w-]*\s*[:=]\s*\S+")
# The first characters of a placeholder for a value, in a pattern or a template
_PLACE = frozenset("{%([$<.")
# Characters of a secret; a shorter value is not a secret
_SHORTEST = 3


class CodeSecret(NamedTuple):
    """A secret in code: its line, its name and its text.

    The name is empty if only the text shows that it is a secret.
    """

    line: int
    name: str
    text: str


def secrets_in_code(code: str) -> Iterator[CodeSecret]:
    """Yield the secrets in the Python *code*: in its values, texts and comments."""
    tree = ast.parse(code)
    signatures = dict(_signatures(tree))
    for part in ast.walk(tree):
        for name, value in _values_with_names(part, signatures):
            yield from _secrets_of(name, value)
        if isinstance(part, ast.Constant | ast.JoinedStr):
            for text in _texts_of(part):
                yield from (CodeSecret(part.lineno, "", s) for s in secrets_in_text(text))
    yield from _in_comments(code)


def secrets_in_text(text: str, *, is_prose: bool = False) -> Iterator[str]:
    """Yield the secrets in *text*; with *is_prose*, also secrets in the middle of a sentence."""
    yield from keys_in(text)
    pieces = {text.strip(), *map(str.strip, text.splitlines())}
    if is_prose:
        pieces |= {match[0] for match in _BESIDE.finditer(text)}
    for piece in pieces:
        is_sentence = "=" not in piece and '"' not in piece
        for secret in BY_NAMES.secrets_in({"": piece}):
            # `token: required` describes a token, and `token={}` has a placeholder for one
            is_one = not (is_sentence and secret.isalpha()) and secret.split()[-1][0] not in _PLACE
            if is_one and secret in text and not _is_word(secret):
                yield secret


def _secrets_of(name: str, value: ast.expr) -> Iterator[CodeSecret]:
    if is_secret_argument(name):
        for part in _held_texts(value):
            for text in _texts_of(part):
                if not _is_word(text):
                    yield CodeSecret(part.lineno, name, text)
    number = value.value if isinstance(value, ast.Constant) else None
    if type(number) is int and number > 99 and is_secret_number(name):
        yield CodeSecret(value.lineno, name, str(number))


def _is_word(text: str) -> bool:
    """Tell whether *text* is too short for a secret, or the name of a scheme such as `Bearer`."""
    words = text.strip(" :=,;").lower()
    return len(words) < _SHORTEST or words in SCHEMES


def _texts_of(part: ast.Constant | ast.JoinedStr) -> Iterator[str]:
    # An address may be split by `{...}`
    if isinstance(part, ast.JoinedStr):
        texts = (getattr(piece, "value", "") for piece in part.values)
        yield "".join(text if isinstance(text, str) else "{}" for text in texts)
    elif isinstance(part.value, str):
        yield part.value
    elif isinstance(part.value, bytes):
        yield part.value.decode("latin-1")


def _held_texts(value: ast.expr) -> Iterator[ast.Constant]:
    """Yield the constants in *value* whose text becomes a part of the value."""
    match value:
        case ast.Constant():
            yield value
        case ast.Call(func=function, args=arguments, keywords=keywords):
            name = getattr(function, "attr", getattr(function, "id", ""))
            if name in _PASS_ON:
                inner = [
                    *arguments,
                    *(k.value for k in keywords if k.arg != "description"),
                ]
                if isinstance(function, ast.Attribute):
                    inner.append(function.value)
                yield from _all_held(inner)
        case ast.Subscript() | ast.Lambda() | ast.Compare():
            return
        case _:
            yield from _all_held(
                part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)
            )


def _all_held(values: Iterable[ast.expr]) -> Iterator[ast.Constant]:
    for value in values:
        yield from _held_texts(value)


def _values_with_names(
    part: ast.AST, signatures: dict[str, list[str]]
) -> Iterator[tuple[str, ast.expr]]:
    """Yield each value in *part* that has a name, with this name: of a variable, argument or key."""
    match part:
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            yield from _assigned(part)
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Tuple(elts=[key, value]) | ast.List(elts=[key, value]):
            yield from ((name, value) for name in _written(key))
        case ast.Dict(keys=keys, values=values):
            yield from _members(keys, values)
        case ast.Compare() | ast.For() | ast.comprehension() | ast.Match():
            yield from _compared(_sides(part))
        case ast.Call():
            yield from _of_call(part, signatures)
        case ast.BoolOp(values=[ast.Call(args=[key, *_]), *values]):
            yield from ((name, v) for name in _written(key) for v in values)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _defaults(part.args)


def _assigned(
    part: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr,
) -> Iterator[tuple[str, ast.expr]]:
    targets = part.targets if isinstance(part, ast.Assign) else [part.target]
    if part.value is not None:
        for target in targets:
            yield from _unpacked(target, part.value)


def _members(
    keys: Iterable[ast.expr | None], values: Iterable[ast.expr]
) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(keys, values, strict=True):
        yield from ((name, value) for name in _written(key))


def _sides(
    part: ast.Compare | ast.For | ast.comprehension | ast.Match,
) -> list[ast.expr]:
    """Return the values that *part* compares or iterates over, and the targets of the iteration."""
    match part:
        case ast.Compare(left=left, comparators=values):
            return [left, *values]
        case ast.Match(subject=subject, cases=cases):
            patterns = [p for case in cases for p in ast.walk(case.pattern)]
            values = [p.value for p in patterns if isinstance(p, ast.MatchValue)]
            return [subject, *values]
    return [part.target, part.iter]


def _compared(sides: list[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name in *sides* with each of the compared values."""
    for name in (name for side in sides for name in _names_in(side)):
        for value in sides:
            texts = [t for part in _held_texts(value) for t in _texts_of(part)]
            # `token == "sin"`: here a token is a word of a language
            if name != "token" or not all(map(str.isalpha, texts)):
                yield name, value


def _of_call(call: ast.Call, signatures: dict[str, list[str]]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments of *call*, each with the name of its parameter.

    A text argument counts as the name of the arguments after it: `setattr(a, "token",
    "x")`.
    """
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    yield from zip(signatures.get(name, ()), call.args, strict=False)
    if name in _COMPARE:
        of_method = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        yield from _compared([*of_method, *call.args])
    # `setattr(a, "token", "x")`
    for key, value in pairwise(call.args[1:]):
        yield from ((name, value) for name in _written(key))
    # `getenv("TOKEN", "x")`, `setdefault("token", "x")`
    for first in call.args[:1]:
        yield from ((name, value) for name in _written(first) for value in call.args[1:])


def _signatures(tree: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of functions and classes in *tree*, each with its positional parameters."""
    for part in ast.walk(tree):
        match part:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, _positional(part.args)
            case ast.ClassDef(name=name, body=body):
                fields = [n.target.id for n in body if isinstance(n, ast.AnnAssign)
                          and isinstance(n.target, ast.Name)]  # fmt: skip
                initializers = [_positional(n.args) for n in body
                        if isinstance(n, ast.FunctionDef) and n.name == "__init__"]  # fmt: skip
                yield name, next(iter(initializers), fields)


def _positional(arguments: ast.arguments) -> list[str]:
    names = [part.arg for part in (*arguments.posonlyargs, *arguments.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    ordered = [*arguments.posonlyargs, *arguments.args]
    defaults = arguments.defaults
    begin = len(ordered) - len(defaults)
    yield from ((p.arg, d) for p, d in zip(ordered[begin:], defaults, strict=True))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from ((p.arg, d) for p, d in pairs if d is not None)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Tuple() | ast.List(), ast.Tuple() | ast.List() if len(target.elts) == len(
            value.elts
        ):
            for inner, part in zip(target.elts, value.elts, strict=True):
                yield from _unpacked(inner, part)
        case ast.Tuple() | ast.List(), _:
            for inner in target.elts:
                yield from _unpacked(inner, value)
        case _:
            yield from ((name, value) for name in _names_in(target))


def _names_in(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(slice=index):
            yield from _written(index)
        case ast.Starred(value=value):
            yield from _names_in(value)


def _written(key: ast.expr | None) -> Iterator[str]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str | bytes):
        yield key.value if isinstance(key.value, str) else key.value.decode("latin-1")


def _in_comments(code: str) -> Iterator[CodeSecret]:
    """Yield the secrets in comments: in their sentences, and in code that is commented out."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    for token in tokens:
        if token.type != tokenize.COMMENT:
            continue
        text, line = token.string.strip("# \t"), token.start[0]
        yield from (CodeSecret(line, "", secret) for secret in secrets_in_text(text, is_prose=True))
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            # A sentence, not code
            continue
        for part in ast.walk(tree):
            for name, value in _values_with_names(part, {}):
                yield from (one._replace(line=line) for one in _secrets_of(name, value))
