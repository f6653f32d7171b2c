"""Read the arguments of a call from the line or the body of a magic."""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from symtable import symtable
from typing import Any, Literal, get_args

from IPython.core.error import UsageError

from toolbench.errors import BodyError, did_you_mean, indefinite
from toolbench.jsonschema.example_values import TEXTS, example_values
from toolbench.jsonschema.normal import Node
from toolbench.plain import clip, each_once
from toolbench.redaction.detection.locations import is_secret

Format = Literal["json", "yaml", "py"]
FORMS: tuple[Format, ...] = get_args(Format)

_EXAMPLE = 200  # characters
_NOTHING = object()
_FORMS = (
    'Write YAML (`total: 84`), JSON (`{"total": 84}`), or Python with `-f py` '
    "(`total = 84`)"
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def from_words(words: Iterable[str], accepted: Node) -> dict[str, Any]:
    """Read `key=value` words as the arguments of a call; *accepted* is the schema of the arguments.

    A value is text if the schema takes text there. Else it is read as JSON if it is
    valid JSON.

    Raises:
        UsageError: If a word has no `=`, an argument is given twice, or a list is not written as JSON.
    """
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            msg = f"Expected key=value, not {word!r}. Put text with blanks in quotes."
            raise UsageError(msg)
        if name in arguments:
            msg = f"{name!r} is given twice."
            raise UsageError(msg)
        node = accepted.at(name)
        arguments[name] = value = _value(text, node)
        is_text = value is text and not _VARIABLE.fullmatch(text)
        if is_text and node.type == "array":
            msg = f"{name} takes a list: write {name}={_example(name, node)}."
            raise UsageError(msg)
    return arguments


def _example(name: str, node: Node) -> str:
    """Return a list for the argument *name* as JSON, with items as *node* has them."""
    is_hidden = is_secret(name, node.schema)
    return clip(list(TEXTS) if is_hidden else example_values(node)[0], _EXAMPLE)


def _value(text: str, node: Node) -> Any:
    if node.is_text:
        return None if text == "null" and node.takes_null else text
    try:
        return json.loads(text)
    except ValueError:
        return text


def from_text(
    text: str,
    form: Format | None,
    namespace: Mapping[str, Any],
    schema: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments in *text*, the body of a cell. *form* is the format of the body.

    Without *form*, text that starts with `{` is JSON, else YAML. In YAML, a text needs no quotes:
    *schema* decides which values are texts. Python code can use the variables in *namespace*.

    Raises:
        BodyError: If the text cannot be read, or is not an object.
    """
    if form is None:
        form = "json" if looks_like_json(text) else "yaml"
    if form == "json":
        arguments = _json(text)
    elif form == "yaml":
        from toolbench.magics.arguments.yaml_body import (  # noqa: PLC0415 - heavy: PyYAML
            read_yaml,
        )

        try:
            arguments = read_yaml(text, schema)
        except BodyError as error:
            msg = f"{error} {_way_out(text)}"
            raise BodyError(msg) from None
    else:
        arguments = _python(text, namespace)
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        kind = indefinite(type(arguments).__name__)
        msg = f"The body must name its arguments, and this is {kind}. {_way_out(text)}"
        raise BodyError(msg)
    return arguments


def _way_out(text: str) -> str:
    """Return a sentence with the forms of a body; if *text* is Python that assigns, with its option."""
    if _assigns(text):
        return "It is Python: add `-f py` to the line."
    return f"{_FORMS}."


def _assigns(text: str) -> bool:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(s, ast.Assign) or (isinstance(s, ast.AnnAssign) and s.value)
        for s in statements
    )


def looks_like_json(text: str) -> bool:
    """Tell whether *text*, of unknown format, is JSON or the beginning of JSON."""
    return text.lstrip()[:1] == "{"


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=each_once)
    except (ValueError, RecursionError) as error:
        reason = str(error).replace(": line", " at line")
        msg = f"The body is not JSON: {reason}. `-f yaml` and `-f py` read other forms."
        raise BodyError(msg) from None


def _python(text: str, namespace: Mapping[str, Any]) -> Any:
    """Run *text*, which is Python. Return the dict on its last line, else the variables it assigns.

    Imported names, functions, classes, and names that begin with `_` are not arguments.

    Raises:
        BodyError: If the code raises an error, or gives no arguments.
    """
    scope = dict(namespace)
    try:
        last = _run(text, scope)
    except Exception as error:  # noqa: BLE001 - the code may raise anything
        reason = f"{type(error).__name__}: {error}"
        msg = f"The body is not Python that runs: {reason}."
        raise BodyError(msg) from None
    if isinstance(last, dict):
        return last
    assigned = [name for name in _assigned(text) if not name.startswith("_")]
    if not assigned and last is not _NOTHING:
        msg = (
            "The body assigns nothing: write `total = 84`, or a dict as its last line."
        )
        raise BodyError(msg)
    return {name: scope[name] for name in assigned if name in scope}


def _run(text: str, scope: dict[str, Any]) -> Any:
    """Run *text* in *scope*. Return the value of its last expression, as a cell shows it.

    Return `_NOTHING` if *text* does not end with an expression.
    """
    tree = ast.parse(text)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        del tree.body[-1]
    exec(compile(tree, "<%%tool>", "exec"), scope)  # noqa: S102 - the user's own cell
    if not isinstance(last, ast.Expr):
        return _NOTHING
    return eval(compile(ast.Expression(last.value), "<%%tool>", "eval"), scope)  # noqa: S307 - as above


def _assigned(text: str) -> list[str]:
    return [
        symbol.get_name()
        for symbol in symtable(text, "<%%tool>", "exec").get_symbols()
        if symbol.is_assigned() and not (symbol.is_imported() or symbol.is_namespace())
    ]


def fill_in(value: Any, namespace: Mapping[str, Any]) -> Any:
    """Replace each string in *value* that is only `${name}` by the variable's value.

    Raises:
        BodyError: If there is no variable *name*.
    """
    if isinstance(value, str) and (match := _VARIABLE.fullmatch(value)):
        name = match[1]
        if name not in namespace:
            public = [n for n in namespace if not n.startswith("_")]
            msg = f"There is no variable {name!r}.{did_you_mean(name, public)}"
            raise BodyError(msg)
        return namespace[name]
    if isinstance(value, dict):
        return {key: fill_in(item, namespace) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, namespace) for item in value]
    return value
