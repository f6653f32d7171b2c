"""Say what is wrong with a value: JSON Schema and pydantic misfits as one kind of `Problem`."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from json import dumps
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import from_json

from toolbench.errors import Path, Problem, SchemaError, did_you_mean

if TYPE_CHECKING:  # 15 MB: loaded with the first foreign schema
    import jsonschema_rs


JsonSchema = Mapping[str, Any] | bool


class SchemaValidator:
    """Checks values against one foreign JSON Schema, as the JSON Schema specification says.

    The dialect is the schema's own `$schema`, 2020-12 without one. `format` is an
    annotation, remote references are refused, nothing touches the network.
    """

    def __init__(self, schema: JsonSchema) -> None:
        """Compile *schema*.

        Raises:
            SchemaError: If it is no valid JSON Schema, or refers to another document.
        """
        self._validator = _compile(schema)

    def is_valid(self, value: Any) -> bool:
        """Tell whether *value* fits. A value JSON cannot carry never does."""
        try:
            return self._validator.is_valid(value)
        except ValueError:  # also UnicodeEncodeError: a lone surrogate
            return False

    def problems(self, value: Any) -> list[Problem]:
        """List everything that is wrong with *value*, each at its own path."""
        try:
            return [p for e in self._validator.iter_errors(value) for p in _explain(e)]
        except ValueError as error:
            return [Problem((), f"cannot be sent as JSON: {error}")]


@lru_cache(maxsize=2048)
def _cached(text: str) -> SchemaValidator:
    try:
        schema = from_json(text)
    except ValueError as error:
        msg = f"The schema is nested too deeply: {error}."
        raise SchemaError(msg) from error
    return SchemaValidator(schema)


def validator_of(schema: JsonSchema) -> SchemaValidator:
    """Return the validator of *schema*; equal schemas share one.

    Raises:
        SchemaError: If it is no valid JSON Schema, or refers to another document.
    """
    try:
        text = dumps(schema)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"The schema is not JSON: {error}."
        raise SchemaError(msg) from error
    return _cached(text)


def _refuse(uri: str) -> Any:
    msg = f"references to other documents are not followed ({uri})"
    raise LookupError(msg)


def _compile(schema: JsonSchema) -> "jsonschema_rs.Validator":
    import jsonschema_rs  # noqa: PLC0415 - 15 MB, only for foreign schemas

    make: Any = jsonschema_rs.validator_for
    if isinstance(schema, Mapping) and not _DIALECTS.search(str(schema.get("$schema"))):
        make = jsonschema_rs.Draft202012Validator
    try:
        made: jsonschema_rs.Validator = make(
            schema, retriever=_refuse, validate_formats=False
        )
    except (
        ValueError,
        TypeError,
    ) as error:  # jsonschema_rs.ValidationError is a ValueError
        reason = getattr(error, "message", None) or str(error)
        reason = reason.rpartition("LookupError: ")[2]  # our own, if we refused
        where = "/".join(str(p) for p in getattr(error, "instance_path", ()))
        msg = (
            f"The JSON Schema is not valid{f' at {where}' if where else ''}: {reason}."
        )
        raise SchemaError(msg) from error
    return made


_DIALECTS = re.compile("draft-0[467]|2019-09")  # anything else is read as 2020-12


# --- JSON Schema errors, in words ---------------------------------------------------

_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def clip(value: Any, limit: int = 60) -> str:
    """Show *value* as JSON in at most *limit* characters."""
    try:
        text = dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _explain(error: "jsonschema_rs.ValidationError") -> Iterable[Problem]:
    path: Path = tuple(error.instance_path)
    facts = error.kind.as_dict()
    kind = type(error.kind).__name__
    got = clip(error.instance)
    match kind:
        case "Required":
            yield Problem((*path, facts["property"]), "is required")
        case "AdditionalProperties" | "UnevaluatedProperties":
            for name in facts["unexpected"]:
                yield Problem((*path, name), "is not an argument this schema knows")
        case "Type":
            wanted = " or ".join(_NOUNS.get(t, t) for t in facts["types"])
            yield Problem(path, f"should be {wanted}, not {got}")
        case "Enum":
            yield Problem(
                path, f"should be one of {clip(facts['options'], 200)}, not {got}"
            )
        case "Constant":
            yield Problem(path, f"should be {clip(facts['expected_value'])}, not {got}")
        case "AnyOf" | "OneOfNotValid":
            yield Problem(
                path, f"{got} fits none of the {_branches(facts)} accepted forms"
            )
        case "OneOfMultipleValid":
            yield Problem(path, f"{got} fits more than one of the accepted forms")
        case _:
            yield Problem(path, _plain(kind, facts) or error.message)


def _branches(facts: Mapping[str, Any]) -> int:
    return len(facts.get("context", ()))


_LIMITS = {
    "Minimum": "should be at least {limit}",
    "Maximum": "should be at most {limit}",
    "ExclusiveMinimum": "should be more than {limit}",
    "ExclusiveMaximum": "should be less than {limit}",
    "MinLength": "should have at least {limit} characters",
    "MaxLength": "should have at most {limit} characters",
    "MinItems": "should have at least {limit} items",
    "MaxItems": "should have at most {limit} items",
    "MinProperties": "should have at least {limit} keys",
    "MaxProperties": "should have at most {limit} keys",
    "MultipleOf": "should be a multiple of {multiple_of}",
    "Pattern": "should match the pattern {pattern}",
    "UniqueItems": "should not hold the same item twice",
    "FalseSchema": "is not allowed here",
}


_EXACT = 2**53  # from here on, a float does not tell all integers apart
_ONE = re.compile(r"\b(?<![.\d])1 (character|item|key)s\b")


def _filled(template: str, facts: Mapping[str, Any]) -> str:
    """Put *facts* into a sentence; one of a thing is no plural, 90.0 is 90."""
    whole = {
        name: int(fact)
        for name, fact in facts.items()
        if isinstance(fact, float) and fact.is_integer() and abs(fact) < _EXACT
    }
    return _ONE.sub(r"1 \1", template.format(**{**facts, **whole}))


def _plain(kind: str, facts: Mapping[str, Any]) -> str | None:
    template = _LIMITS.get(kind)
    try:
        return _filled(template, facts) if template else None
    except KeyError:  # another version names the fact otherwise
        return None


# --- pydantic errors, in words ------------------------------------------------------


def pydantic_problems(
    error: ValidationError, known: Iterable[str] = (), *, value: Any = None
) -> list[Problem]:
    """List what *error* holds, each once, at its path in *value*.

    Args:
        error: What pydantic raised.
        known: The names of the arguments, for the hints.
        value: What did not fit; without it, paths name branches of unions too.
    """
    known = list(known)
    problems = []
    for line in error.errors(include_url=False):
        path = tuple(line["loc"])
        if (
            value is not None and line["type"] != "json_schema"
        ):  # these name no branches
            path = _without_branches(path, value, missing=line["type"] == "missing")
        problems.append(_say(dict(line), path, known))
    return list(dict.fromkeys(problems))


def _without_branches(loc: Path, value: Any, *, missing: bool) -> Path:
    """Drop from *loc* what is no step into *value* but the label of a union's branch."""
    path: list[str | int] = []
    for n, step in enumerate(loc):
        if missing and n == len(loc) - 1:
            path.append(step)
        elif (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list | tuple)
            and isinstance(step, int)
            and step < len(value)
        ):
            path.append(step)
            value = value[step]  # type: ignore[index]  # an int for a sequence
    return tuple(path)


def _say(line: dict[str, Any], path: Path, known: list[str]) -> Problem:
    match line["type"]:
        case "missing":
            return Problem(path, "is required")
        case "extra_forbidden":
            name, hint = str(path[-1]), ""
            if len(path) == 1 and known:
                hint = did_you_mean(name, known) or f" Known: {', '.join(known)}."
            return Problem(path, f"is not an argument of this tool.{hint}".rstrip("."))
        case "json_schema":  # a foreign model's own sentence
            return Problem(path, line["msg"])
        case "union_tag_invalid" | "union_tag_not_found":
            return _say_tag(line, path)
        case "json_invalid":
            return Problem(path, f"is not JSON: {line['ctx']['error']}")
        case "value_error":
            return Problem(path, str(line["ctx"]["error"]))
        case kind:
            facts = line.get("ctx", {})
            said = _expected(kind) or _pydantic_limit(kind, facts)
            said = said or str(line["msg"]).removeprefix("Input ")
            return Problem(path, f"{said}, not {clip(line['input'])}")


def _say_tag(line: dict[str, Any], path: Path) -> Problem:
    """Say what is wrong with the field that tells the members of a union apart."""
    facts, given = line["ctx"], line["input"]
    named = re.fullmatch(r"'([^']+)'", facts["discriminator"])
    if named is None:  # a function tells them apart, or one of several fields
        return Problem(path, "fits none of the accepted forms")
    if line["type"] == "union_tag_not_found":
        return Problem((*path, named[1]), "is required")
    others, _, last = facts["expected_tags"].rpartition(", ")
    tags = f"{others} or {last}" if others else last
    tag = facts["tag"]  # is text, whatever was given
    got = given.get(named[1], tag) if isinstance(given, Mapping) else tag
    return Problem((*path, named[1]), f"should be {tags}, not {clip(got)}")


_EXPECTED = {
    "int": "an integer",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "string": "a string",
    "bytes": "a string",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "dict": "an object",
    "mapping": "an object",
    "model": "an object",
    "model_attributes": "an object",
    "dataclass": "an object",
    "none": "null",
    "date": "a date such as 2024-01-31",
    "datetime": "a date and time such as 2024-01-31T09:30:00",
    "time": "a time such as 09:30:00",
    "time_delta": "a duration such as PT1H30M",
    "uuid": "a UUID",
    "url": "a URL",
}
_EXPECTS = re.compile(
    r"(\w+?)_(type|parsing|from_float|required|from_date_parsing|exact|"
    r"from_datetime_parsing|from_datetime_inexact|parsing_size|syntax_violation)"
)


def _expected(kind: str) -> str | None:
    """Say what should be there, for the kinds of error that are about nothing else."""
    match = _EXPECTS.fullmatch(kind)
    noun = _EXPECTED.get(match[1]) if match else None
    return f"should be {noun}" if noun else None


_PYDANTIC_LIMITS = {
    "greater_than": "should be more than {gt}",
    "greater_than_equal": "should be at least {ge}",
    "less_than": "should be less than {lt}",
    "less_than_equal": "should be at most {le}",
    "multiple_of": "should be a multiple of {multiple_of}",
    "string_too_short": "should have at least {min_length} characters",
    "string_too_long": "should have at most {max_length} characters",
    "string_pattern_mismatch": "should match the pattern {pattern}",
    "too_short": "should have at least {min_length} items",
    "too_long": "should have at most {max_length} items",
    "literal_error": "should be {expected}",
    "enum": "should be {expected}",
}


def _pydantic_limit(kind: str, facts: Mapping[str, Any]) -> str | None:
    template = _PYDANTIC_LIMITS.get(kind)
    return _filled(template, facts) if template else None
