"""Check values against a JSON Schema, exactly as the specification says, with jsonschema-rs.

In Pyodide, where jsonschema-rs has no build, `pure_validator` takes its place.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from json import dumps, loads
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from toolbench.errors import Problem, SchemaError
from toolbench.jsonschema.extent import Extent, check_length
from toolbench.jsonschema.validation.problems import schema_problems
from toolbench.jsonschema.validation.pure_validator import PureValidator
from toolbench.values import not_in_json

# 15 MB: loaded with the first foreign schema
if TYPE_CHECKING:
    import jsonschema_rs

JsonSchema = Mapping[str, Any] | bool

# Any other is read as 2020-12
_DIALECTS = re.compile("draft-0[467]|2019-09")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

# Listed for one value
_MOST_PROBLEMS = 20
_UNCHECKED = "is too large, or nested too deeply, to be checked against its schema"
_UNKNOWN = "does not fit its schema, and is too large for finding the place"

_ROOT = "toolbench://schema/"
_PART = "toolbench:part"
"""`_ROOT` is the address of a schema that has no address itself. `_PART` is a key in a whole schema.

Under `_PART` is the part that checks the value, if the whole schema does not.
"""


class SchemaValidator:
    """Checks values against one JSON Schema, exactly as the specification says.

    The dialect is that of `$schema`, or 2020-12 if it is missing. `format` is an annotation,
    references to other documents are refused, and the network is never used.
    """

    def __init__(self, schema: JsonSchema, *, is_part: bool = False) -> None:
        """Compile *schema*, or only its part under the key `_PART`.

        Raises:
            SchemaError: If *schema* is not a valid JSON Schema, refers to another document, or is
                too large.
        """
        self._schema = schema
        entry = schema[_PART] if is_part and isinstance(schema, Mapping) else schema
        self._extent = Extent(schema, entry)
        self._validator = _compile(schema, is_part=is_part)

    def is_valid(self, value: Any) -> bool:
        """Tell whether *value* fits. A value never fits that is not JSON, or too large to check."""
        if self._extent.is_too_much(value):
            return False
        try:
            return self._validator.is_valid(value)
        except ValueError:
            # Also UnicodeEncodeError: a lone surrogate
            return False

    def problems(self, value: Any) -> list[Problem]:
        """List the problems of *value*, each with its path; of more than twenty, the first twenty."""
        if self._extent.is_too_much(value):
            return [Problem((), _UNCHECKED)]
        try:
            if self._validator.is_valid(value):
                return []
            if self._extent.has_too_many_errors(value):
                return [Problem((), _UNKNOWN)]
            if isinstance(self._validator, PureValidator):
                return self._validator.problems(value)[:_MOST_PROBLEMS]
            errors = islice(self._validator.iter_errors(value), _MOST_PROBLEMS)
            problems = schema_problems(errors, self._schema)[:_MOST_PROBLEMS]
            numbers = dict(not_in_json(value))
            return [_about_number(problem, numbers) for problem in problems]
        except ValueError as error:
            return [Problem((), f"cannot be sent as JSON: {error}")]


def _about_number(problem: Problem, numbers: Mapping[Any, float]) -> Problem:
    """Return *problem*; if it is about one of *numbers*, which jsonschema-rs takes for null, name that."""
    if problem.path not in numbers:
        return problem
    return Problem(problem.path, f"is {numbers[problem.path]}, and JSON has no such number")


def validator_of(schema: JsonSchema, root: Mapping[str, Any] | None = None) -> SchemaValidator:
    """Return the validator for *schema*; its references are followed in *root*, if that is given.

    Equal schemas share a validator.

    Raises:
        SchemaError: If *schema* is not a valid JSON Schema, refers to another document, or is too
            large.
    """
    try:
        text = dumps(schema if root is None else _with_part(root, schema))
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"The schema is not JSON: {error}."
        raise SchemaError(msg) from error
    return _cached(text, is_part=root is not None)


@lru_cache(maxsize=2048)
def _cached(text: str, *, is_part: bool) -> SchemaValidator:
    if not is_part:
        check_length(text)
    try:
        schema = from_json(text)
    except ValueError as error:
        msg = f"The schema {_flaw(text, error)}."
        raise SchemaError(msg) from error
    return SchemaValidator(schema, is_part=is_part)


def _flaw(text: str, error: ValueError) -> str:
    """Return, as a phrase, the reason why *text*, a schema as JSON, cannot be read."""
    if "recursion" in str(error):
        return f"is nested too deeply: {error}"
    half = _SURROGATE.search(dumps(loads(text), ensure_ascii=False))
    if half is None:
        return f"cannot be read: {error}"
    return (
        f"has a text with half of a character, {half[0]!a}, which JSON cannot hold: "
        "the halves of a character (a surrogate pair) must be together"
    )


def _with_part(root: Mapping[str, Any], schema: JsonSchema) -> dict[str, Any]:
    """Return *root* with *schema* under the key `_PART`, and without its `id`.

    A `$id` that is not the address of *root* is left out too: it would change references.
    """
    dropped = ("id",) if _address(root) != _ROOT else ("id", "$id")
    return {k: v for k, v in root.items() if k not in dropped} | {_PART: schema}


def _address(schema: JsonSchema) -> str:
    """Return the address to which references are relative: the `$id` of *schema*, or else `_ROOT`."""
    own = schema.get("$id") if isinstance(schema, Mapping) else None
    is_address = isinstance(own, str) and ":" in own and "#" not in own.rstrip("#")
    return str(own).rstrip("#") if is_address else _ROOT


def _refuse(uri: str) -> Any:
    msg = f"references to other documents are not followed ({uri})"
    raise LookupError(msg)


def _compile(schema: JsonSchema, *, is_part: bool) -> "jsonschema_rs.Validator | PureValidator":
    try:
        import jsonschema_rs  # noqa: PLC0415 - 15 MB, only for foreign schemas
    except ImportError:
        # In Pyodide; and `urljoin` cannot use the scheme of _ROOT
        address = _address(schema).replace(_ROOT, "")
        return PureValidator(schema, address, _PART if is_part else "")
    make: Any = jsonschema_rs.validator_for
    if isinstance(schema, Mapping) and not _DIALECTS.search(str(schema.get("$schema"))):
        make = jsonschema_rs.Draft202012Validator
    root = _address(schema)
    entry: Any = {"$ref": f"{root}#/{_PART}"} if is_part else schema
    if is_part and isinstance(schema, Mapping) and "$schema" in schema:
        entry["$schema"] = schema["$schema"]

    def retrieve(uri: str) -> Any:
        return schema if is_part and uri == root else _refuse(uri)

    try:
        validator: jsonschema_rs.Validator = make(entry, retriever=retrieve, validate_formats=False)
    except (
        ValueError,
        TypeError,
    ) as error:
        # jsonschema_rs.ValidationError is a ValueError
        reason = getattr(error, "message", None) or str(error)
        # Our own, if we refused
        reason = reason.rpartition("LookupError: ")[2]
        where = "/".join(str(p) for p in getattr(error, "instance_path", ()))
        msg = f"The JSON Schema is not valid{f' at {where}' if where else ''}: {reason}."
        raise SchemaError(msg) from error
    return validator
