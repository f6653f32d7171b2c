"""Check values against a JSON Schema, exactly as the specification says, with jsonschema-rs.

In Pyodide, where jsonschema-rs has no build, `PureValidator` takes its place.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from json import dumps, loads
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from toolbench.errors import Path, Problem, SchemaError
from toolbench.jsonschema.extent import Extent, check_length
from toolbench.jsonschema.problems import (
    DEEPEST,
    SCHEMA_LIMITS,
    UNIONS,
    Misfit,
    problems_of,
    schema_problems,
)
from toolbench.jsonschema.refs import MISSING, follow
from toolbench.jsonschema.walk import REFERENCES, every
from toolbench.values import not_in_json

if TYPE_CHECKING:
    import jsonschema_rs


_KINDS: Mapping[str | None, tuple[str, str]] = {
    **{keyword: (kind, fact) for kind, (keyword, fact) in SCHEMA_LIMITS.items()},
    "type": ("Type", "types"),
    "enum": ("Enum", "options"),
    "const": ("Constant", "expected_value"),
    "uniqueItems": ("UniqueItems", ""),
    "anyOf": ("AnyOf", "context"),
    "oneOf": ("OneOfNotValid", "context"),
    None: ("FalseSchema", ""),
}
"""For each keyword: the kind of error in jsonschema-rs, and the detail that has the keyword's value."""
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
"""The types in the order in which jsonschema-rs names them."""


class PureValidator:
    """A validator in pure Python, with the methods `is_valid` and `problems`."""

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
            where = "/".join(map(str, error.absolute_path))
            raise _invalid_schema(error.message, where) from error
        _check_references(schema)
        kind = validators.extend(kind, _changed())
        resolver = RefResolver(root, schema, handlers=_Refused())
        entry = {"$ref": f"{root}#/{part}"} if part else schema
        self._validator: Any = kind(entry, resolver=resolver)

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
        errors = self._validator.iter_errors(_as_json(value))
        return [one for error in errors for one in problems_of(_misfit_of(error))]


class _Refused(dict[str, Any]):
    """A table of functions that fetch other documents: for each address, a function that refuses."""

    def __contains__(self, scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        return _refuse_document


def _refuse_document(uri: str) -> Any:
    reason = f"references to other documents are not followed ({uri})"
    raise _invalid_schema(reason)


def _invalid_schema(reason: str, where: str = "") -> SchemaError:
    place = f" at {where}" if where else ""
    return SchemaError(f"The JSON Schema is not valid{place}: {reason}.")


def _check_references(schema: Any) -> None:
    """Check that each reference in *schema* has a target there; jsonschema-rs checks this too."""
    for _, part in every(schema):
        for keyword in REFERENCES:
            address = part.get(keyword)
            if not isinstance(address, str) or keyword == "$recursiveRef":
                continue
            if follow(schema, address) is MISSING and not _is_meta(address):
                _refuse_document(address)


def _is_meta(address: str) -> bool:
    return address.startswith(("http://json-schema.org/", "https://json-schema.org/"))


def _as_json(value: Any) -> Any:
    text = dumps(value, ensure_ascii=False)
    # A lone surrogate is not JSON
    text.encode()
    return loads(text)


# --- patterns: as ECMA 262 reads them -----------------------------------------------

_END = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> "re.Pattern[str] | None":
    """Return *pattern* compiled for Python; None if Python cannot read it.

    `$` matches only at the end of the text, not before a final line end. Digits are ASCII.
    """
    try:
        return re.compile(_END.sub(lambda m: r"\Z" if m[0] == "$" else m[0], pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def _fits(pattern: str, text: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text) is not None


def _changed() -> dict[str, Callable[..., Iterable[Any]]]:
    from jsonschema import ValidationError  # noqa: PLC0415 - see above

    def pattern(_: Any, demand: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and not _fits(demand, value):
            yield ValidationError(f"{value!r} does not match {demand!r}")

    def pattern_properties(validator: Any, demand: Any, value: Any, __: Any) -> Iterator[Any]:
        for regex, schema in demand.items() if isinstance(value, dict) else ():
            for name in [name for name in value if _fits(regex, name)]:
                yield from validator.descend(value[name], schema, path=name, schema_path=regex)

    def additional(validator: Any, demand: Any, value: Any, schema: Any) -> Any:
        extra = _extra(value, schema) if isinstance(value, dict) else []
        if isinstance(demand, Mapping):
            for name in extra:
                yield from validator.descend(value[name], demand, path=name)
        elif demand is False and extra:
            yield ValidationError(f"{extra} were unexpected")

    return {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional,
    }


def _extra(value: dict[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the keys of *value* that *schema* neither declares nor matches by a pattern."""
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    return [
        name for name in value if name not in known and not any(_fits(p, name) for p in patterns)
    ]


# --- problems -----------------------------------------------------------------------


def _misfit_of(error: Any) -> Misfit:
    path: Path = tuple(error.absolute_path)
    keyword, demand, value = error.validator, error.validator_value, error.instance
    kind, fact = _KINDS.get(keyword, (str(keyword), ""))
    facts: dict[str, Any] = {fact: demand} if fact else {}
    if keyword == "type":
        types = [demand] if isinstance(demand, str) else demand
        facts = {fact: sorted(types, key=_TYPES.index)}
    elif keyword == "oneOf" and not error.context:
        kind = "OneOfMultipleValid"
    elif keyword == "required":
        name = next(n for n in demand if error.message.startswith(f"{n!r} is"))
        kind, facts = "Required", {"property": name}
    elif keyword == "additionalProperties":
        names = _extra(value, error.schema)
        kind, facts = "AdditionalProperties", {"unexpected": names}
    elif keyword == "unevaluatedProperties":
        names = [name for name in value if repr(name) in error.message]
        kind, facts = "UnevaluatedProperties", {"unexpected": names}
    if "unexpected" in facts:
        facts["known"] = list(error.schema.get("properties", {}))
    if kind in UNIONS and len(path) <= DEEPEST:
        branches: list[list[Misfit]] = [[] for _ in demand]
        for inner in error.context:
            branches[inner.schema_path[0]].append(_misfit_of(inner))
        facts["branches"] = branches
    return Misfit(kind, facts, path, value, error.message)


# --- with jsonschema-rs -------------------------------------------------------------

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
