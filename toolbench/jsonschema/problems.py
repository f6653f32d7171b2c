"""Turn errors of jsonschema-rs and pydantic into `Problem`s, which say what is wrong."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from toolbench.errors import Path, Problem, did_you_mean
from toolbench.jsonschema.types import CLASSES, types_of_value
from toolbench.jsonschema.words import FORMAT_EXAMPLES, LIMITING, NOUNS, demand
from toolbench.values import clip, sentence

# Only for annotations: both are heavy
if TYPE_CHECKING:
    from jsonschema_rs import ValidationError as SchemaMismatch
    from pydantic import ValidationError

    Branch = Sequence[SchemaMismatch]
    """The errors of a value with one branch of a union."""

REQUIRED = "is required"
"""The message of a problem about a missing value."""
# Names listed in one message
_MOST_NAMES = 30
# Levels of a value at which the branches of a union are compared
_DEEPEST = 50

# --- the errors of jsonschema-rs ----------------------------------------------------


def schema_problems(errors: Iterable["SchemaMismatch"], schema: Any) -> list[Problem]:
    """Turn errors of jsonschema-rs into problems, each with its path in the value.

    Args:
        errors: The errors.
        schema: The whole schema. If the value has a property with an unknown name, the message
            suggests a similar name from this schema.
    """
    problems = []
    for error in errors:
        problems += _problems_of(error, schema)
    return problems


def _problems_of(error: "SchemaMismatch", schema: Any) -> list[Problem]:
    kind, facts = _kind_of(error), error.kind.as_dict()
    path = tuple(error.instance_path)
    got = clip(error.instance)
    match kind:
        case "Required":
            return [Problem((*path, facts["property"]), REQUIRED)]
        case "AdditionalProperties" | "UnevaluatedProperties":
            known = _declared(schema, error.schema_path[:-1])
            return [Problem((*path, n), unknown_name(n, known)) for n in facts["unexpected"]]
        case "Type":
            return [_type_problem(path, facts["types"], error.instance)]
        case "Enum":
            return [_choice_problem(path, facts["options"], error.instance)]
        case "Constant":
            message = f"should be {clip(facts['expected_value'])}, not {got}"
        case "AnyOf" | "OneOfNotValid":
            return _union_problems(error, schema)
        case "OneOfMultipleValid":
            message = f"{got} fits more than one of the accepted forms"
        case "FalseSchema":
            message = "is not allowed here"
        case _:
            message = error.message
            keyword = kind[0].lower() + kind[1:]
            if keyword in LIMITING:
                # The only fact is the limit; `uniqueItems` has none
                message = demand(keyword, *facts.values())
    return [Problem(path, message)]


def _kind_of(error: "SchemaMismatch") -> str:
    return type(error.kind).__name__


def _fact(error: "SchemaMismatch", name: str) -> Any:
    """Return the detail *name* of *error*, such as the `options` of an enum, or None."""
    return getattr(error.kind, name, None)


def _declared(schema: Any, path: Iterable[str | int]) -> list[str]:
    """Return the names of the properties of the subschema at *path*; empty if it does not exist."""
    try:
        for step in path:
            schema = schema[step]
        return list(schema["properties"])
    except (KeyError, IndexError, TypeError):
        # In another document, or no properties
        return []


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return the message about *name*, which is not among the *known* names of an object."""
    known = list(known)
    if not known:
        return "is an unknown argument"
    if guess := did_you_mean(name, known):
        return f"is an unknown argument.{guess}"
    names = ", ".join(known[:_MOST_NAMES])
    if len(known) > _MOST_NAMES:
        names += ", …"
    return f"is an unknown argument; expected: {names}"


def _type_problem(path: Path, types: Iterable[str], value: Any) -> Problem:
    nouns = " or ".join(NOUNS.get(name, name) for name in types)
    return Problem(path, f"should be {nouns}, not {clip(value)}")


def _choice_problem(path: Path, options: list[Any], value: Any) -> Problem:
    guess = _guess(value, options)
    return Problem(path, f"should be one of {clip(options, 200)}, not {clip(value)}{guess}")


def _guess(value: Any, options: Iterable[Any]) -> str:
    """Return a question with the option that *value* may mean, such as `Did you mean 'done'?`.

    For example, `Done`, `Status.DONE` or the member of an enum may mean the option `done`. The
    result is empty if no option is similar.
    """
    if isinstance(value, Enum):
        value = value.value
    if not isinstance(value, str):
        return ""
    strings = []
    for option in options:
        if isinstance(option, str):
            strings.append(option)
            if option.casefold() in (value.casefold(), value.rpartition(".")[2].casefold()):
                return f". Did you mean {option!r}?"
    guess = did_you_mean(value, strings)
    return f".{guess}" if guess else ""


# --- unions: the branch that a value was meant for ----------------------------------


def _union_problems(union: "SchemaMismatch", schema: Any) -> list[Problem]:
    """Return the problems of the alternative that the wrong value was probably meant for.

    *union* is the error about a value that fits no alternative of an `anyOf` or `oneOf`. The chosen
    alternative is, in this order: the only one that is not null; the only one for the value's type;
    the only one whose constants, such as a `kind`, the value has; the one with the fewest errors.

    If the value has the wrong type or constant for all alternatives, one problem lists what they
    expect. If several alternatives are equally likely, one problem says that none of them fits.
    """
    path = tuple(union.instance_path)
    branches = []
    if len(path) <= _DEEPEST:
        branches = [branch for branch in _branches(union) if not _is_null(branch, path)]
    of_type = [branch for branch in branches if not _is_of_other_type(branch, path)]
    tagged = [branch for branch in of_type if not _tags(branch, path)]
    for candidates in (branches, of_type, tagged):
        if len(candidates) == 1:
            return schema_problems(candidates[0], schema)
    types = _types_of_all(branches, path)
    if types and not of_type:
        return [_type_problem(path, types, union.instance)]
    tags = _tags_of_all(of_type, path)
    if tags and not tagged:
        options = [value for tag in tags for value in _values(tag)]
        return [_choice_problem(tuple(tags[0].instance_path), options, tags[0].instance)]
    nearest = sorted(tagged or of_type, key=_weight)
    if len(nearest) > 1 and _weight(nearest[0]) < _weight(nearest[1]):
        return schema_problems(nearest[0], schema)
    count = len(_fact(union, "context"))
    return [Problem(path, f"{clip(union.instance)} fits none of the {count} accepted forms")]


def _branches(union: "SchemaMismatch") -> Iterator["Branch"]:
    """Yield the branches of *union*; a branch that is a union is replaced by its branches."""
    for branch in _fact(union, "context"):
        is_single = len(branch) == 1 and branch[0].instance_path == union.instance_path
        if is_single and _kind_of(branch[0]) in ("AnyOf", "OneOfNotValid"):
            yield from _branches(branch[0])
        else:
            yield branch


def _is_null(branch: "Branch", path: Path) -> bool:
    if len(branch) != 1 or tuple(branch[0].instance_path) != path:
        return False
    return _fact(branch[0], "types") == ["null"] or _values(branch[0]) == [None]


def _values(error: "SchemaMismatch") -> list[Any]:
    """Return the values from which *error* expects one; empty if it is not about listed values."""
    if _kind_of(error) == "Constant":
        return [_fact(error, "expected_value")]
    return list(_fact(error, "options") or ())


def _is_of_other_type(branch: "Branch", path: Path) -> bool:
    """Tell whether *branch* wants a type that the value at *path* does not have."""
    for error in branch:
        if tuple(error.instance_path) != path:
            continue
        if _kind_of(error) in ("Type", "FalseSchema"):
            return True
        own = types_of_value(error.instance)
        values = _values(error)
        if values and not any(types_of_value(value) & own for value in values):
            return True
    return False


def _tags(branch: "Branch", path: Path) -> list["SchemaMismatch"]:
    """List the errors of *branch* about constants.

    Such an error says that the value at *path*, or a part directly inside this value, must be one
    of some listed values.
    """
    tags = []
    for error in branch:
        own = tuple(error.instance_path)
        if own == own[: len(path) + 1] and _values(error):
            tags.append(error)
    return tags


def _tags_of_all(branches: list["Branch"], path: Path) -> list["SchemaMismatch"]:
    """List the error about a constant of each of *branches*, if all are about the same part.

    Otherwise, return an empty list.
    """
    tags = []
    for branch in branches:
        tags += _tags(branch, path)
    places = {tuple(tag.instance_path) for tag in tags}
    if len(tags) != len(branches) or len(places) > 1:
        return []
    return tags


def _types_of_all(branches: list["Branch"], path: Path) -> list[str]:
    """List the types that *branches* expect; empty if they have errors that are not about types."""
    types: set[str] = set()
    for branch in branches:
        for error in branch:
            if _kind_of(error) != "Type":
                return []
            if tuple(error.instance_path) == path:
                types.update(_fact(error, "types"))
    return [name for name in CLASSES if name in types]


def _weight(branch: "Branch") -> int:
    """Return how many problems *branch* has."""
    weight = 0
    for error in branch:
        weight += len(_fact(error, "unexpected") or "1")
    return weight


# --- the errors of pydantic ---------------------------------------------------------


def pydantic_problems(
    error: "ValidationError", known: Iterable[str] = (), *, value: Any = None
) -> list[Problem]:
    """Turn an error of pydantic into problems, each with its path in *value*.

    Args:
        error: The error of pydantic.
        known: The names of the arguments. If a name is unknown, the message suggests one of these.
        value: The value that was validated. If it is left out, paths may also contain the names of
            union members, such as `str`.
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
    """Return pydantic's path *loc* as a path in *value*.

    pydantic's paths also contain the names of union members, such as `str`. These are removed. If
    *missing* is true, the last step of *loc* is kept, although *value* has no such part.
    """
    path: list[str | int] = []
    for n, step in enumerate(loc):
        if missing and n == len(loc) - 1:
            path.append(step)
            break
        is_key = isinstance(value, Mapping) and step in value
        is_item = isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        if is_key or is_item:
            path.append(step)
            value = value[step]
    return tuple(path)


def _problem(line: dict[str, Any], path: Path, known: list[str]) -> Problem:
    got = clip(line["input"])
    facts = line.get("ctx", {})
    match line["type"]:
        case "missing":
            message = REQUIRED
        case "extra_forbidden" | "unexpected_keyword_argument":
            if len(path) > 1:
                known = []
            message = unknown_name(str(path[-1]), known)
        case "json_schema":
            # A foreign model's own sentence
            message = line["msg"]
        case "union_tag_invalid" | "union_tag_not_found":
            return _tag_problem(line, path)
        case "json_invalid":
            message = f"is not JSON: {facts['error']}"
        case "value_error":
            message = sentence(facts["error"])
        case "literal_error" | "enum":
            expected = facts["expected"]
            guess = _guess(line["input"], _QUOTED.findall(expected))
            message = f"should be {expected}, not {got}{guess}"
        case kind:
            message = f"{_expected(kind, facts, line['msg'])}, not {got}"
            if kind.startswith("date_") and isinstance(line["input"], datetime):
                message += "; take its .date()"
    return Problem(path, message)


_QUOTED = re.compile(r"'([^']*)'")


def _tag_problem(line: dict[str, Any], path: Path) -> Problem:
    """Describe a problem with the field that distinguishes the members of a union."""
    facts, value = line["ctx"], line["input"]
    match = re.fullmatch(r"'([^']+)'", facts["discriminator"])
    # A function or several fields distinguish them
    if match is None:
        return Problem(path, "fits none of the accepted forms")
    path = (*path, match[1])
    if line["type"] == "union_tag_not_found":
        return Problem(path, REQUIRED)
    tags = " or ".join(facts["expected_tags"].rsplit(", ", 1))
    # Always a string, whatever the value has
    got = facts["tag"]
    if isinstance(value, Mapping):
        got = value.get(match[1], got)
    return Problem(path, f"should be {tags}, not {clip(got)}")


def _example(name: str) -> str:
    """Return an example of the format *name* without a time zone, which pydantic does not need."""
    return FORMAT_EXAMPLES[name][0].removesuffix("Z")


NO_DATE = f"should be a date such as {_example('date')}"
"""The message about a value that is not a date, without the value."""
_EXPECTED: Mapping[str, str] = {
    "int": NOUNS["integer"],
    "float": NOUNS["number"],
    "decimal": NOUNS["number"],
    "bool": NOUNS["boolean"],
    "none": NOUNS["null"],
    **dict.fromkeys(("string", "bytes"), NOUNS["string"]),
    **dict.fromkeys(("list", "tuple", "set", "frozen_set"), NOUNS["array"]),
    **dict.fromkeys(("dict", "mapping", "model", "model_attributes", "dataclass"), NOUNS["object"]),
    "date": NO_DATE.removeprefix("should be "),
    "datetime": f"a date and time such as {_example('date-time')}",
    "time": f"a time such as {_example('time')}",
    "time_delta": f"a duration such as {_example('duration')}",
    "uuid": "a UUID",
    "url": "a URL",
}
"""What a value should be, by the beginning of the type of pydantic's error."""
_EXPECTS = re.compile(
    r"(\w+?)_(type|parsing|from_float|required|from_date_parsing|exact|"
    r"from_datetime_parsing|from_datetime_inexact|parsing_size|syntax_violation)"
)
_LIMITS: Mapping[str, tuple[str, str]] = {
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
"""The keyword of JSON Schema, and the key of the limit in the details, by the type of error."""


def _expected(kind: str, facts: Mapping[str, Any], message: str) -> str:
    """Return what the value should be, for a pydantic error of the type *kind*.

    *message* is pydantic's own message, which is returned if the type of the error is not known.
    """
    match = _EXPECTS.fullmatch(kind)
    if match and match[1] in _EXPECTED:
        return f"should be {_EXPECTED[match[1]]}"
    keyword, fact = _LIMITS.get(kind, ("", ""))
    # Another version may have another name for the fact
    if fact in facts:
        return demand(keyword, facts[fact])
    return message.removeprefix("Input ")
