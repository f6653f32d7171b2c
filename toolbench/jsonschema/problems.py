"""Say in plain words what is wrong with a value: errors of jsonschema-rs and pydantic as `Problem`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from toolbench.errors import Path, Problem, did_you_mean
from toolbench.jsonschema.types import CLASSES, types_of_value
from toolbench.jsonschema.words import FORMAT_EXAMPLES, NOUNS, demand
from toolbench.values import clip, sentence

if TYPE_CHECKING:
    import jsonschema_rs
    from pydantic import ValidationError


UNIONS = frozenset({"AnyOf", "OneOfNotValid"})
"""The kinds of errors about a value that fits no branch of a union."""
DEEPEST = 50
"""How many levels deep in a value the branches of a union are compared."""


@dataclass(frozen=True)
class Misfit:
    """One error of a validator: a part of a value, and the keyword that it does not fit."""

    kind: str
    """The kind of the error, as jsonschema-rs names it."""
    facts: Mapping[str, Any]
    """The details of the error, under the names that jsonschema-rs gives them.

    Two are our own: for a union, `branches` has the misfits of each branch; for an object with
    unknown names, `known` has the names that the schema declares.
    """
    path: Path
    value: Any
    """The wrong part."""
    message: str
    """The message of the validator."""


Branch = Sequence[Misfit]


def nearest_misfits(union: Misfit) -> Branch:
    """Return the misfits of the branch that the value of *union* was meant for.

    That is the only branch which is not null; else the only one for the value's type; else the one
    whose constants, such as a `kind`, the value has; else the one with the fewest misfits. Where all
    branches name a type or values, these are put together. The result is empty if several branches
    are equally near.
    """
    branches = [branch for branch in _branches(union) if not _is_null(branch, union.path)]
    if len(branches) == 1:
        return branches[0]
    of_type = [
        branch
        for branch in branches
        if not any(one.path == union.path and _is_of_other_type(one) for one in branch)
    ]
    if not of_type:
        return _all_types(union, branches)
    if len(of_type) == 1:
        return of_type[0]
    tagged = [branch for branch in of_type if not any(_tags(branch, union.path))]
    if not tagged:
        values = _all_values(of_type, union.path)
        if values:
            return values
    nearest = sorted(tagged or of_type, key=_weight)
    is_clear = len(nearest) == 1 or _weight(nearest[0]) < _weight(nearest[1])
    return nearest[0] if is_clear else ()


def _branches(union: Misfit) -> Iterator[Branch]:
    """Yield the branches of *union*, with the branches of a union inside in place of it."""
    for branch in union.facts.get("branches", ()):
        only = branch[0] if len(branch) == 1 else None
        if only is not None and only.kind in UNIONS and only.path == union.path:
            yield from _branches(only)
        else:
            yield branch


def _is_null(branch: Branch, path: Path) -> bool:
    if len(branch) != 1 or branch[0].path != path:
        return False
    return branch[0].facts.get("types") == ["null"] or _values(branch[0]) == [None]


def _values(misfit: Misfit) -> list[Any]:
    """Return the values that *misfit* names, one of which it wants; empty if it names none."""
    match misfit.kind:
        case "Constant":
            return [misfit.facts["expected_value"]]
        case "Enum":
            return list(misfit.facts["options"])
        case _:
            return []


def _is_of_other_type(misfit: Misfit) -> bool:
    own = types_of_value(misfit.value)
    values = _values(misfit)
    return misfit.kind in ("Type", "FalseSchema") or (
        bool(values) and not any(types_of_value(value) & own for value in values)
    )


def _tags(branch: Branch, path: Path) -> Iterator[Misfit]:
    """Yield the misfits of *branch* about values that the whole value, or a part of it, must be."""
    for misfit in branch:
        parent = misfit.path[: len(path) + 1]
        if _values(misfit) and misfit.path == parent:
            yield misfit


def _all_values(branches: Sequence[Branch], path: Path) -> Branch:
    """Return one misfit with the values that all *branches* want at one place; else nothing."""
    tags = [tag for branch in branches for tag in _tags(branch, path)]
    if len(tags) != len(branches) or len({tag.path for tag in tags}) > 1:
        return ()
    first = tags[0]
    options = [value for tag in tags for value in _values(tag)]
    return [Misfit("Enum", {"options": options}, first.path, first.value, "")]


def _all_types(union: Misfit, branches: Sequence[Branch]) -> Branch:
    """Return one misfit with the types that *branches* want; nothing if one of them names no type."""
    types = {
        name
        for branch in branches
        for misfit in branch
        if misfit.kind == "Type" and misfit.path == union.path
        for name in misfit.facts["types"]
    }
    if not types or any(one.kind != "Type" for branch in branches for one in branch):
        return ()
    ordered = [name for name in CLASSES if name in types]
    return [Misfit("Type", {"types": ordered}, union.path, union.value, "")]


def _weight(branch: Branch) -> int:
    """Return how many problems *branch* has."""
    return sum(len(misfit.facts.get("unexpected", "1")) for misfit in branch)


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
