"""The arguments of a call, from the line or the body of a magic."""

import json
import re
from collections.abc import Iterable, Mapping
from symtable import symtable
from typing import Any, Literal

import yaml
from IPython.core.error import UsageError

from toolbench.errors import BodyError, did_you_mean

Format = Literal["json", "yaml", "py"]

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def from_words(words: Iterable[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read `key=value` words: a value is JSON where it can be, but text where *schema* says so.

    Raises:
        UsageError: If a word has no `=`.
    """
    properties = schema.get("properties", {})
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            msg = f"Expected key=value, not {word!r}. Text with blanks goes in quotes."
            raise UsageError(msg)
        arguments[name] = _value(text, properties.get(name))
    return arguments


def _value(text: str, schema: Any) -> Any:
    if _takes_text_only(schema):
        return None if text == "null" and schema.get("type") != "string" else text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _takes_text_only(schema: Any) -> bool:
    """Whether every branch of *schema* but `null` is a string."""
    if not isinstance(schema, Mapping):
        return False
    kinds: set[Any] = set()
    for branch in schema.get("anyOf", [schema]):
        kind = branch.get("type") if isinstance(branch, Mapping) else None
        kinds.update(kind if isinstance(kind, list) else [kind])
    return "string" in kinds and kinds <= {"string", "null"}


def from_text(
    text: str, form: Format | None, namespace: Mapping[str, Any]
) -> dict[str, Any]:
    """Read the body of a cell. Without *form*, text that starts with `{` is JSON, else YAML.

    Raises:
        BodyError: If the text cannot be read, or is no object.
    """
    if form is None:
        form = "json" if text.lstrip()[:1] == "{" else "yaml"
    arguments = _READERS[form](text, namespace)
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        msg = f"The arguments are an object, with a name for each; this is a {kind}."
        raise BodyError(msg)
    return arguments


def _json(text: str, namespace: Mapping[str, Any]) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).replace(": line", " at line")
        msg = f"The body is not JSON: {reason}. `-f yaml` and `-f py` read other forms."
        raise BodyError(msg) from None


class _PlainLoader(yaml.SafeLoader):
    """YAML without dates: JSON has none."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in rules if not tag.endswith(":timestamp")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(text: str, namespace: Mapping[str, Any]) -> Any:
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        msg = f"The body is not YAML: {reason}. JSON starts with {{."
        raise BodyError(msg) from None


def _python(text: str, namespace: Mapping[str, Any]) -> Any:
    """What the names the text assigns stand for, but not those it imports or defines."""
    scope = dict(namespace)
    try:
        exec(compile(text, "<%%tool>", "exec"), scope)  # noqa: S102 - the user's own cell
    except Exception as error:  # noqa: BLE001 - it may raise anything
        reason = f"{type(error).__name__}: {error}"
        msg = f"The body is not Python that runs: {reason}."
        raise BodyError(msg) from None
    return {
        name: scope[name]
        for name in _assigned(text)
        if name in scope and not name.startswith("_")
    }


def _assigned(text: str) -> list[str]:
    return [
        symbol.get_name()
        for symbol in symtable(text, "<%%tool>", "exec").get_symbols()
        if symbol.is_assigned() and not (symbol.is_imported() or symbol.is_namespace())
    ]


_READERS = {"json": _json, "yaml": _yaml, "py": _python}


def fill_in(value: Any, namespace: Mapping[str, Any]) -> Any:
    """Return *value* with each string that is just `${name}` replaced by that object.

    Raises:
        BodyError: If there is no such variable.
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
