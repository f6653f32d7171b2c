"""Check values against a JSON Schema, exactly as the specification says, with jsonschema-rs.

jsonschema-rs does not exist for Pyodide, where `PureValidator` is used instead. It accepts and
refuses the same values and finds the same paths, but its messages are less specific.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from json import dumps, loads
from typing import TYPE_CHECKING, Any, Never

from pydantic_core import from_json

from toolbench.errors import Path, Problem, SchemaError
from toolbench.jsonschema.extent import Extent, check_length
from toolbench.jsonschema.problems import REQUIRED, schema_problems, unknown_name
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import MISSING, REFERENCES, every, follow, mapping, rewritten
from toolbench.jsonschema.words import demand
from toolbench.values import not_in_json

# 15 MB: loaded with the first foreign schema
if TYPE_CHECKING:
    import jsonschema_rs

JsonSchema = Mapping[str, Any] | bool

# Any other is read as 2020-12
_DIALECTS = re.compile("draft-0[467]|2019-09")
# Listed for one value
_MOST_PROBLEMS = 20
_UNCHECKED = "is too large, or nested too deeply, to be checked against its schema"
_UNKNOWN = "does not fit its schema, and is too large for finding the place"

_ROOT = "toolbench://schema/"
"""The address of a schema that has no address itself."""
_PART = "toolbench:part"
"""The key under which `_with_part` puts a schema, to check a value with only this schema."""


class SchemaValidator:
    """Checks values against one JSON Schema, exactly as the specification says.

    `$schema` selects the version of JSON Schema; the default is 2020-12. The keyword `format` is
    not checked. References to other documents are refused, so the network is never used.
    """

    def __init__(self, schema: JsonSchema, *, is_part: bool = False) -> None:
        """Compile *schema* or, if *is_part* is true, only its part under the key `_PART`.

        Raises:
            SchemaError: If *schema* is not a valid JSON Schema, refers to another document, or is
                too large.
        """
        self._schema = schema
        entry = schema
        if is_part and isinstance(schema, Mapping):
            entry = schema[_PART]
        self._extent = Extent(schema, entry)
        self._validator = _compile(schema, is_part=is_part)

    def is_valid(self, value: Any) -> bool:
        """Tell whether *value* fits. False if *value* is not JSON, or is too large to check."""
        if self._extent.is_too_much(value):
            return False
        try:
            return self._validator.is_valid(value)
        except ValueError:
            # Also UnicodeEncodeError: a lone surrogate
            return False

    def problems(self, value: Any) -> list[Problem]:
        """List the first twenty problems of *value*, each with its path."""
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
        except ValueError as error:
            return [Problem((), f"cannot be sent as JSON: {error}")]
        # jsonschema-rs takes NaN and infinity for null
        numbers = dict(not_in_json(value))
        for n, problem in enumerate(problems):
            if problem.path in numbers:
                message = f"is {numbers[problem.path]}, and JSON has no such number"
                problems[n] = Problem(problem.path, message)
        return problems


def validator_of(schema: JsonSchema, root: Mapping[str, Any] | None = None) -> SchemaValidator:
    """Return the validator for *schema*. Equal schemas share a validator.

    Pass *root* if *schema* is a part of *root* and has references to other parts of *root*.

    Raises:
        SchemaError: If *schema* is not a valid JSON Schema, refers to another document, or is too
            large.
    """
    is_part = root is not None
    try:
        text = dumps(schema if root is None else _with_part(root, schema))
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"The schema is not JSON: {error}."
        raise SchemaError(msg) from error
    return _cached(text, is_part=is_part)


def is_schema(schema: dict[str, Any]) -> bool:
    """Tell whether *schema* is valid according to the meta-schema that its `$schema` names.

    If the meta-schema is unknown, the result is True. `validator_of` may still refuse a valid
    schema, for example because of its size.
    """
    try:
        import jsonschema_rs  # noqa: PLC0415 - 15 MB, only for foreign schemas
    except ImportError:
        # In Pyodide
        return True
    try:
        return jsonschema_rs.meta.is_valid(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return True


@lru_cache(maxsize=2048)
def _cached(text: str, *, is_part: bool) -> SchemaValidator:
    if not is_part:
        check_length(text)
    try:
        schema = from_json(text)
    except ValueError as error:
        msg = f"The schema cannot be read: {error}."
        raise SchemaError(msg) from error
    return SchemaValidator(schema, is_part=is_part)


def _with_part(root: Mapping[str, Any], schema: JsonSchema) -> dict[str, Any]:
    """Return *root* with *schema* under the key `_PART`, and without its `id`.

    If the `$id` of *root* is not an absolute URI, it is left out too, because it would change where
    references lead.
    """
    whole = {**root, _PART: schema}
    whole.pop("id", None)
    if _address(root) == _ROOT:
        whole.pop("$id", None)
    return whole


def _address(schema: JsonSchema) -> str:
    """Return the base URI of the references in *schema*: its `$id`, or `_ROOT` without one."""
    if isinstance(schema, Mapping) and isinstance(schema.get("$id"), str):
        own: str = schema["$id"].rstrip("#")
        if ":" in own and "#" not in own:
            return own
    return _ROOT


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
    entry: Any = schema
    if is_part:
        entry = {"$ref": f"{root}#/{_PART}"}
        if isinstance(schema, Mapping) and "$schema" in schema:
            entry["$schema"] = schema["$schema"]

    def retrieve(uri: str) -> Any:
        if is_part and uri == root:
            return schema
        return _refuse_document(uri)

    try:
        validator: jsonschema_rs.Validator = make(entry, retriever=retrieve, validate_formats=False)
    except (ValueError, TypeError) as error:
        # jsonschema_rs.ValidationError is a ValueError
        reason = getattr(error, "message", None) or str(error)
        # Our own, if we refused a document
        reason = reason.rpartition("LookupError: ")[2]
        raise _invalid(reason, getattr(error, "instance_path", ())) from error
    return validator


def _refuse_document(uri: str) -> Never:
    msg = f"references to other documents are not followed ({uri})"
    raise LookupError(msg)


def _invalid(reason: str, path: Any = ()) -> SchemaError:
    place = "/".join(map(str, path))
    if place:
        place = f" at {place}"
    return SchemaError(f"The JSON Schema is not valid{place}: {reason}.")


# --- in Pyodide ---------------------------------------------------------------------


class PureValidator:
    """A validator in pure Python, for platforms without jsonschema-rs.

    It treats the keyword `pattern` differently from jsonschema-rs: a match may take very long, and
    patterns that Python's `re` does not support are ignored.
    """

    def __init__(self, schema: Any, root: str, part: str) -> None:
        """Make a validator for *schema*, or only for the subschema under its key *part*.

        Args:
            schema: The schema.
            root: The base URI of *schema*, for its references; empty if it has none.
            part: The key of the subschema; empty for the whole *schema*.

        Raises:
            SchemaError: If *schema* is not a valid JSON Schema, or refers to another document.
        """
        from jsonschema import (  # noqa: PLC0415 - only for foreign schemas
            Draft202012Validator,
            RefResolver,
            exceptions,
            validators,
        )

        kind: Any = Draft202012Validator
        if isinstance(schema, Mapping):
            kind = validators.validator_for(schema, Draft202012Validator)
        try:
            kind.check_schema(schema)
        except exceptions.SchemaError as error:
            raise _invalid(error.message, error.absolute_path) from error
        _check_references(schema)
        entry = schema = rewritten(schema, _with_python_patterns)
        if part:
            schema[part] = rewritten(schema[part], _with_python_patterns)
            entry = {"$ref": f"{root}#/{part}"}
        resolver: Any = RefResolver(root, schema)
        resolver.resolve_remote = _refuse_document
        self._validator: Any = kind(entry, resolver=resolver)
        self._innermost: Any = exceptions.best_match

    def is_valid(self, value: Any) -> bool:
        """Tell whether *value* fits.

        Raises:
            ValueError: If *value* is not JSON.
        """
        return next(self._validator.iter_errors(_as_json(value)), None) is None

    def problems(self, value: Any) -> list[Problem]:
        """List all problems of *value*, each with its path.

        Raises:
            ValueError: If *value* is not JSON.
        """
        problems = []
        for error in self._validator.iter_errors(_as_json(value)):
            # Of a union, an error deep in one of its branches
            problems += _pure_problems(self._innermost([error]))
        return problems


def _pure_problems(error: Any) -> list[Problem]:
    path: Path = tuple(error.absolute_path)
    if error.validator == "required":
        # One error for each missing name
        for name in error.validator_value:
            if error.message.startswith(f"{name!r} is"):
                return [Problem((*path, name), REQUIRED)]
    if error.validator == "pattern":
        # As the schema has it, not in Python's notation
        pattern = error.validator_value.removeprefix("(?a:").removesuffix(")")
        return [Problem(path, demand("pattern", pattern.replace(r"\Z", "$")))]
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = list(mapping(error.schema, "properties"))
        patterns = mapping(error.schema, "patternProperties")
        unknown = []
        for name in error.instance:
            if name not in known and not any(re.search(p, name) for p in patterns):
                unknown.append(Problem((*path, name), unknown_name(name, known)))
        return unknown
    message = error.message
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]}…"
    return [Problem(path, message)]


# A message quotes the value, and the demand
_LONGEST_MESSAGE = 200


def _as_json(value: Any) -> Any:
    text = dumps(value, ensure_ascii=False)
    # A lone surrogate is not JSON
    text.encode()
    return loads(text)


def _check_references(schema: Any) -> None:
    """Check that each reference in *schema* leads to a part of it, as jsonschema-rs does."""
    for _, part in every(schema):
        for keyword in REFERENCES:
            address = part.get(keyword)
            if not isinstance(address, str) or keyword == "$recursiveRef":
                continue
            is_known = address.startswith(("http://json-schema.org/", "https://json-schema.org/"))
            if not is_known and follow(schema, address) is MISSING:
                reason = f"references to other documents are not followed ({address})"
                raise _invalid(reason)


def _with_python_patterns(schema: Json, _: str) -> Json:
    """Change the patterns of *schema*, a copy, to Python's notation, and return it."""
    if isinstance(schema.get("pattern"), str):
        schema["pattern"] = _python_pattern(schema["pattern"])
    patterns = mapping(schema, "patternProperties")
    if patterns:
        schema["patternProperties"] = {_python_pattern(p): patterns[p] for p in patterns}
    return schema


# What may be an end of the string: the last `$` in `\$[$]$`, not the others
_END = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


def _python_pattern(pattern: str) -> str:
    r"""Translate the ECMA 262 *pattern* for Python: `^\d$` becomes `(?a:^\d\Z)`.

    In Python, `$` also matches before a final line end, and `\d` matches the digits of any script.
    The result is empty if the pattern cannot be translated.
    """
    written = "(?a:" + _END.sub(_end, pattern) + ")"
    try:
        re.compile(written)
    except (re.error, OverflowError, RecursionError):
        return ""
    return written


def _end(match: re.Match[str]) -> str:
    if match[0] == "$":
        return r"\Z"
    return match[0]
