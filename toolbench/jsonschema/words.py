"""The words for each keyword of JSON Schema: one table for help texts, errors and notes."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from toolbench.values import clip

NOUNS: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
"""The noun for a value of each type."""

_LIMITS: Mapping[str, str] = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
}
_PAIRS = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_COUNTS = frozenset(keyword for pair in _PAIRS for keyword in pair)
_OTHERS: Mapping[str, Callable[[Any], str]] = {
    "pattern": lambda value: f"matches {value}",
    "uniqueItems": lambda value: "no item twice",
    "format": lambda value: f"format: {value}",
    "contentEncoding": lambda value: f"encoded as {value}",
    "patternProperties": lambda value: f"keys match {' or '.join(value)}",
    "propertyNames": lambda value: f"keys fit {clip(value, 200)}",
    "additionalProperties": lambda value: f"other keys hold {clip(value, 200)}",
    "not": lambda value: f"not {clip(value, 200)}",
    "default": lambda value: f"default: {clip(value)}",
    "examples": lambda value: f"examples: {clip(value, 200)}",
    "deprecated": lambda value: "deprecated",
}
# These have no effect if their value is false
_SWITCHES = frozenset({"uniqueItems", "deprecated"})
FORMAT_EXAMPLES: Mapping[str, tuple[str, str]] = {
    "date": ("2024-01-31", "2024-02-29"),
    "date-time": ("2024-01-31T09:30:00Z", "2024-02-29T18:00:00Z"),
    "duration": ("PT1H30M", "P1DT2H"),
    "email": ("ada@example.org", "alan@example.org"),
    "hostname": ("example.org", "www.example.org"),
    "ipv4": ("192.0.2.1", "192.0.2.7"),
    "ipv6": ("2001:db8::1", "2001:db8::7"),
    "time": ("09:30:00Z", "18:00:00Z"),
    "uri": ("https://example.org/", "https://example.org/page"),
    "url": ("https://example.org/", "https://example.org/page"),
    "uuid": (
        "123e4567-e89b-42d3-a456-426614174000",
        "123e4567-e89b-42d3-a456-426614174001",
    ),
}
"""Two example strings in each format."""
TEXTS = ("one", "two")
"""Two example strings without a format."""
LIMITING = (*_LIMITS, "pattern", "uniqueItems")
"""The keywords that set limits; each limits only values of its own type."""
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "array": frozenset({"minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"minProperties", "maxProperties"}),
    **dict.fromkeys(
        ("integer", "number"),
        frozenset(keyword for keyword in _LIMITS if keyword not in _COUNTS),
    ),
    **dict.fromkeys(("boolean", "null"), frozenset()),
}
# Larger floats cannot represent every integer
_EXACT = 2**53
_ONE = re.compile(r"\b(?<![.\d])1 (character|item|key)s\b")


def words(keyword: str, value: Any) -> str:
    """Return *keyword* with *value* in words, as in "at least 3"; empty if it has no effect."""
    if keyword in _SWITCHES and value is not True:
        return ""
    # A boolean, or a schema that allows any value
    if keyword == "additionalProperties" and not (isinstance(value, Mapping) and value):
        return ""
    if keyword in _OTHERS:
        return _OTHERS[keyword](value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if keyword not in _LIMITS or not is_number:
        return ""
    return _limit(_LIMITS[keyword], value)


def demand(keyword: str, value: Any = None) -> str:
    """Return *keyword* with *value* as a requirement: "should have at least 3 items"."""
    if keyword == "pattern":
        return f"should match the pattern {value}"
    if keyword == "uniqueItems":
        return "should not hold the same item twice"
    limit = _limit(_LIMITS[keyword], value)
    if keyword in _COUNTS:
        return f"should have {limit}"
    return f"should be {limit}"


def limits(schema: Mapping[str, Any]) -> list[str]:
    """List the limits of *schema* in words, such as "at least 3 items".

    If a lower and an upper limit are equal, they become one phrase, such as "3 items". *schema*
    must be in normal form (see `Node`). Limits in an `allOf` are listed too.
    """
    return list(dict.fromkeys(filter(None, _limits(schema, frozenset(LIMITING)))))


def _limits(schema: Mapping[str, Any], known: frozenset[str]) -> list[str]:
    """List the limits that the keywords *known* set in *schema*, if they apply to its type."""
    kind = schema.get("type")
    if isinstance(kind, str):
        known &= _OF_TYPE.get(kind, known)
    texts = {key: words(key, schema[key]) for key in LIMITING if key in schema and key in known}
    for least, most in _PAIRS:
        if least in texts and schema[least] == schema.get(most):
            texts[least] = texts[least].removeprefix("at least ")
            texts.pop(most, None)
    found = list(texts.values())
    parts = schema.get("allOf")
    if isinstance(parts, list):
        for part in parts:
            if isinstance(part, Mapping):
                found += _limits(part, known)
    return found


def _limit(template: str, value: Any) -> str:
    """Put *value* into *template*; 1 gets a singular noun, and 90.0 is written as 90."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    return _ONE.sub(r"1 \1", template.format(value))
