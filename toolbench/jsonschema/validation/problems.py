"""Turn the errors of jsonschema-rs and pydantic into one kind of `Problem`, in plain words."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from toolbench.errors import Path, Problem, did_you_mean
from toolbench.jsonschema.example_values import FORMAT_EXAMPLES
from toolbench.jsonschema.validation.misfits import (
    DEEPEST,
    UNIONS,
    Misfit,
    nearest_misfits,
)
from toolbench.jsonschema.words import NOUNS, demand
from toolbench.values import clip, sentence

# Only for annotations
if TYPE_CHECKING:
    import jsonschema_rs
    from pydantic import ValidationError

REQUIRED = "is required"
"""The message of a problem about a missing value."""
_UNKNOWN = "is an unknown argument"
# Listed in one message
_MOST_NAMES = 30

# --- the errors of jsonschema-rs ----------------------------------------------------

SCHEMA_LIMITS: Mapping[str, tuple[str, str]] = {
    "Minimum": ("minimum", "limit"),
    "Maximum": ("maximum", "limit"),
    "ExclusiveMinimum": ("exclusiveMinimum", "limit"),
    "ExclusiveMaximum": ("exclusiveMaximum", "limit"),
    "MinLength": ("minLength", "limit"),
    "MaxLength": ("maxLength", "limit"),
    "MinItems": ("minItems", "limit"),
    "MaxItems": ("maxItems", "limit"),
    "MinProperties": ("minProperties", "limit"),
    "MaxProperties": ("maxProperties", "limit"),
    "MultipleOf": ("multipleOf", "multiple_of"),
    "Pattern": ("pattern", "pattern"),
}
"""For each kind of error about a limit: its keyword, and the detail of the error with the limit."""
_QUOTED = re.compile(r"'([^']*)'")
_FIXED: Mapping[str, str] = {
    "FalseSchema": "is not allowed here",
    "UniqueItems": demand("uniqueItems", value=True),
}


def schema_problems(
    errors: Iterable["jsonschema_rs.ValidationError"], schema: Any
) -> list[Problem]:
    """Turn errors of jsonschema-rs into problems, each with its path in the value.

    Args:
        errors: The errors.
        schema: The whole schema that the value does not fit, to find the names it knows.
    """
    return [problem for error in errors for problem in problems_of(_misfit(error, schema))]


def _misfit(error: "jsonschema_rs.ValidationError", schema: Any) -> Misfit:
    kind, facts = type(error.kind).__name__, error.kind.as_dict()
    path = tuple(error.instance_path)
    if "unexpected" in facts:
        facts["known"] = _declared(schema, error.schema_path[:-1])
    if kind in UNIONS and len(path) <= DEEPEST:
        facts["branches"] = [
            [_misfit(one, schema) for one in branch] for branch in facts.get("context", ())
        ]
    return Misfit(kind, facts, path, error.instance, error.message)


def _declared(schema: Any, path: Iterable[str | int]) -> list[str]:
    """Return the names of the properties of the subschema at *path*; none if it is not there."""
    for step in path:
        try:
            schema = schema[step]
        except (KeyError, IndexError, TypeError):
            # In another document
            return []
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return list(properties) if isinstance(properties, Mapping) else []


def problems_of(misfit: Misfit) -> Iterable[Problem]:
    """Yield the problems that *misfit* is about, in plain words."""
    kind, facts, path = misfit.kind, misfit.facts, misfit.path
    got = clip(misfit.value)
    match kind:
        case "Required":
            yield Problem((*path, facts["property"]), REQUIRED)
        case "AdditionalProperties" | "UnevaluatedProperties":
            for name in facts["unexpected"]:
                yield Problem((*path, name), unknown_name(name, facts.get("known", ())))
        case "Type":
            types = " or ".join(NOUNS.get(t, t) for t in facts["types"])
            yield Problem(path, f"should be {types}, not {got}")
        case "Enum":
            options = clip(facts["options"], 200)
            guess = _guess(misfit.value, facts["options"])
            yield Problem(path, f"should be one of {options}, not {got}{guess}")
        case "Constant":
            yield Problem(path, f"should be {clip(facts['expected_value'])}, not {got}")
        case "AnyOf" | "OneOfNotValid":
            yield from _union_problems(misfit)
        case "OneOfMultipleValid":
            yield Problem(path, f"{got} fits more than one of the accepted forms")
        case _:
            message = _FIXED.get(kind) or _limit(SCHEMA_LIMITS, kind, facts)
            yield Problem(path, message or misfit.message)


def _union_problems(union: Misfit) -> list[Problem]:
    """Return the problems of the branch that the value is meant for, if it is clear which one."""
    nearest = nearest_misfits(union)
    if nearest:
        return [problem for misfit in nearest for problem in problems_of(misfit)]
    count = len(union.facts.get("context", ()))
    got = clip(union.value)
    return [Problem(union.path, f"{got} fits none of the {count} accepted forms")]


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return the message about *name*, which is none of the *known* names of an object."""
    known = list(known)
    if guess := did_you_mean(name, known):
        return f"is an unknown argument.{guess}"
    names = ", ".join(known[:_MOST_NAMES]) + (", …" if known[_MOST_NAMES:] else "")
    return f"is an unknown argument; expected: {names}" if known else _UNKNOWN


def _limit(
    limits: Mapping[str, tuple[str, str]], kind: str, facts: Mapping[str, Any]
) -> str | None:
    """Return a phrase for the limit that a value does not fit; None if *kind* is not in *limits*."""
    keyword, fact = limits.get(kind, ("", ""))
    # another version may have another name for the fact
    return demand(keyword, facts[fact]) if fact in facts else None


# --- the errors of pydantic ---------------------------------------------------------


def pydantic_problems(
    error: "ValidationError", known: Iterable[str] = (), *, value: Any = None
) -> list[Problem]:
    """List the problems in *error*, each only once, with its path in *value*.

    Args:
        error: The error of pydantic.
        known: The names of the arguments, to suggest one for a misspelt name.
        value: The value that did not fit; without it, paths also name branches of unions.
    """
    known = list(known)
    problems = []
    for line in error.errors(include_url=False):
        path = tuple(line["loc"])
        # Its paths have no branches
        if value is not None and line["type"] != "json_schema":
            path = without_branches(path, value, missing=line["type"] == "missing")
        problems.append(_problem(dict(line), path, known))
    return list(dict.fromkeys(problems))


def without_branches(loc: Path, value: Any, *, missing: bool) -> Path:
    """Return *loc*, pydantic's path, without the steps that name a branch of a union.

    Such a step is not a part of *value*.
    """
    path: list[str | int] = []
    for n, step in enumerate(loc):
        if missing and n == len(loc) - 1:
            path.append(step)
        elif (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        ):
            path.append(step)
            value = value[step]  # type: ignore[index]  # an int for a sequence
    return tuple(path)


def _problem(line: dict[str, Any], path: Path, known: list[str]) -> Problem:
    match line["type"]:
        case "missing":
            return Problem(path, REQUIRED)
        case "extra_forbidden" | "unexpected_keyword_argument":
            names = known if len(path) == 1 else ()
            return Problem(path, unknown_name(str(path[-1]), names))
        case "json_schema":
            # A foreign model's own sentence
            return Problem(path, line["msg"])
        case "union_tag_invalid" | "union_tag_not_found":
            return _tag_problem(line, path)
        case "json_invalid":
            return Problem(path, f"is not JSON: {line['ctx']['error']}")
        case "value_error":
            return Problem(path, sentence(line["ctx"]["error"]))
        case "literal_error" | "enum":
            expected = line["ctx"]["expected"]
            guess = _guess(line["input"], _QUOTED.findall(expected))
            got = clip(line["input"])
            return Problem(path, f"should be {expected}, not {got}{guess}")
        case kind:
            message = _expected(kind)
            message = message or _limit(_PYDANTIC_LIMITS, kind, line.get("ctx", {}))
            message = message or str(line["msg"]).removeprefix("Input ")
            got = clip(line["input"])
            if kind.startswith("date_") and isinstance(line["input"], datetime):
                got += "; take its .date()"
            return Problem(path, f"{message}, not {got}")


def _guess(value: Any, options: Any) -> str:
    """Return a question with the one of *options* that *value* may mean; empty if there is none.

    `Done`, `Status.DONE` and the member of an enum may mean the text `done`.
    """
    text = value.value if isinstance(value, Enum) else value
    texts = [o for o in options if isinstance(o, str)] if isinstance(text, str) else []
    names = {text.casefold(), text.rpartition(".")[2].casefold()} if texts else set()
    same = [option for option in texts if option.casefold() in names]
    if same:
        return f". Did you mean {same[0]!r}?"
    guess = did_you_mean(text, texts) if texts else ""
    return f".{guess}" if guess else ""


def _tag_problem(line: dict[str, Any], path: Path) -> Problem:
    """Describe a problem with the field that distinguishes the members of a union."""
    facts, value = line["ctx"], line["input"]
    match = re.fullmatch(r"'([^']+)'", facts["discriminator"])
    # A function or several fields distinguish them
    if match is None:
        return Problem(path, "fits none of the accepted forms")
    if line["type"] == "union_tag_not_found":
        return Problem((*path, match[1]), REQUIRED)
    others, _, last = facts["expected_tags"].rpartition(", ")
    tags = f"{others} or {last}" if others else last
    # Always text
    tag = facts["tag"]
    got = value.get(match[1], tag) if isinstance(value, Mapping) else tag
    return Problem((*path, match[1]), f"should be {tags}, not {clip(got)}")


def _example(name: str) -> str:
    """Return an example of the format *name*, without a time zone, which pydantic does not ask for."""
    return FORMAT_EXAMPLES[name][0].removesuffix("Z")


_EXPECTED: Mapping[str, str] = {
    "int": NOUNS["integer"],
    "float": NOUNS["number"],
    "decimal": NOUNS["number"],
    "bool": NOUNS["boolean"],
    "none": NOUNS["null"],
    **dict.fromkeys(("string", "bytes"), NOUNS["string"]),
    **dict.fromkeys(("list", "tuple", "set", "frozen_set"), NOUNS["array"]),
    **dict.fromkeys(("dict", "mapping", "model", "model_attributes", "dataclass"), NOUNS["object"]),
    "date": f"a date such as {_example('date')}",
    "datetime": f"a date and time such as {_example('date-time')}",
    "time": f"a time such as {_example('time')}",
    "time_delta": f"a duration such as {_example('duration')}",
    "uuid": "a UUID",
    "url": "a URL",
}
NO_DATE = f"should be {_EXPECTED['date']}"
"""The message about a value that is no date, without the value."""
_EXPECTS = re.compile(
    r"(\w+?)_(type|parsing|from_float|required|from_date_parsing|exact|"
    r"from_datetime_parsing|from_datetime_inexact|parsing_size|syntax_violation)"
)


def _expected(kind: str) -> str | None:
    """Return a phrase for the expected type; None if *kind*, of pydantic, is not about a type."""
    match = _EXPECTS.fullmatch(kind)
    noun = _EXPECTED.get(match[1]) if match else None
    return f"should be {noun}" if noun else None


_PYDANTIC_LIMITS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("exclusiveMinimum", "gt"),
    "greater_than_equal": ("minimum", "ge"),
    "less_than": ("exclusiveMaximum", "lt"),
    "less_than_equal": ("maximum", "le"),
    "multiple_of": ("multipleOf", "multiple_of"),
    "string_too_short": ("minLength", "min_length"),
    "string_too_long": ("maxLength", "max_length"),
    "string_pattern_mismatch": ("pattern", "pattern"),
    "too_short": ("minItems", "min_length"),
    "too_long": ("maxItems", "max_length"),
}
