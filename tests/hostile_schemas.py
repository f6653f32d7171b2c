"""Schemas by which a server could take all time or memory of a kernel, each of a few kilobytes.

`TOO_LARGE` are those that nobody reads; `READ` are those that stay below the limits, or ask for
much in other ways, each with a value. `DOUBLING` and the schemas of `READ` and `TOO_LARGE` are what
was connected to real kernels, and more.
"""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def doubling(levels: int, make: Callable[[list[Schema]], Schema], last: Any = None) -> Schema:
    """A schema of *levels* definitions, each made of two references to the next one."""
    definitions = {f"d{n}": make([ref(f"d{n + 1}")] * 2) for n in range(levels)}
    definitions[f"d{levels}"] = {"type": "string"} if last is None else last
    return {"type": "object", "properties": {"a": ref("d0")}, "$defs": definitions}


def nested(levels: int, make: Callable[[Any], Schema], last: Schema) -> Schema:
    """A schema whose property `a` has *levels* schemas inside of each other."""
    schema = last
    for _ in range(levels):
        schema = make(schema)
    return {"type": "object", "properties": {"a": schema}}


def deep(levels: int, last: Any, key: str = "a") -> Any:
    """A value of *levels* objects inside of each other."""
    value = last
    for _ in range(levels):
        value = {key: value}
    return value


def _lists(levels: int, last: Any) -> Any:
    value = last
    for _ in range(levels):
        value = [value]
    return value


def _named(levels: int, name: str, reference: str) -> Schema:
    """Definitions with names of their own, such as anchors, each twice the next one."""
    definitions = {
        f"d{n}": {name: f"d{n}", "allOf": [{reference: f"#d{n + 1}"}] * 2} for n in range(levels)
    }
    definitions[f"d{levels}"] = {name: f"d{levels}", "type": "string"}
    return {"type": "object", "properties": {"a": {reference: "#d0"}}, "$defs": definitions}


def _with_ids() -> Schema:
    definitions = {
        f"d{n}": {"$id": f"d{n}", "allOf": [{"$ref": f"d{n + 1}"}] * 2} for n in range(30)
    }
    definitions["d30"] = {"$id": "d30", "type": "string"}
    properties = {"a": {"$ref": "d0"}}
    return {"$id": "http://x/", "type": "object", "properties": properties, "$defs": definitions}


def _inside_another_document() -> Schema:
    """References that mean other schemas than where they would lead in the whole."""
    inner = {
        "$id": "http://y/y",
        "$defs": doubling(30, lambda twice: {"allOf": twice})["$defs"],
        "allOf": [ref("d0")],
    }
    harmless = {f"d{n}": {"type": "string"} for n in range(31)}
    return {"type": "object", "properties": {"a": inner}, "$defs": harmless}


def _properties(count: int, schema: Any = True) -> Schema:
    return {f"p{n}": schema for n in range(count)}


_ALL = {f"d{n}": {"allOf": [ref(f"d{other}") for other in range(30)]} for n in range(30)}
_SEVEN = {f"d{n}": {"oneOf": [ref(f"d{other}") for other in range(7)]} for n in range(7)}
_PLACE = "#/properties/b/$defs/"
_INNER = {f"d{n}": {"allOf": [{"$ref": f"{_PLACE}d{n + 1}"}] * 2} for n in range(30)}
_TEXTS = {"properties": {"b": {"type": "string"}}}
_DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}

DOUBLING: dict[str, Schema] = {
    f"{keyword} of {levels} levels": doubling(
        levels, lambda twice, keyword=keyword: {keyword: twice}
    )
    for keyword in ("allOf", "anyOf", "oneOf")
    for levels in (9, 15, 16, 18, 19, 26, 34)
}
"""Schemas of which the smallest has 1,000 schemas for one value, and the largest 2 to the 34th."""

TOO_LARGE: dict[str, Schema] = DOUBLING | {
    "allOf of eight": doubling(6, lambda twice: {"allOf": twice * 4}),
    "if and then": doubling(30, lambda twice: {"if": twice[0], "then": twice[1]}),
    "if and else": doubling(30, lambda twice: {"if": twice[0], "else": twice[1]}),
    "not": doubling(30, lambda twice: {"not": twice[0], "allOf": twice[:1]}),
    "a reference beside allOf": doubling(30, lambda twice: {**twice[0], "allOf": twice[:1]}),
    "dependentSchemas": doubling(
        30, lambda twice: {"dependentSchemas": {"x": twice[0], "y": twice[1]}}, {}
    ),
    "dependencies": _DRAFT_7
    | doubling(30, lambda twice: {"dependencies": {"x": twice[0], "y": twice[1]}}, {}),
    "patternProperties": doubling(
        30, lambda twice: {"patternProperties": {"x": twice[0], "a": twice[1]}}
    ),
    "propertyNames": doubling(30, lambda twice: {"propertyNames": {"allOf": twice}}),
    "contains": doubling(40, lambda twice: {"contains": twice[0], "items": twice[1]}),
    "prefixItems": doubling(40, lambda twice: {"prefixItems": twice}),
    "anchors": _named(30, "$anchor", "$ref"),
    "dynamic references": _named(30, "$dynamicAnchor", "$dynamicRef"),
    "addresses": _with_ids(),
    "another document inside": _inside_another_document(),
    "definitions inside": {
        "type": "object",
        "properties": {
            "a": {"$ref": f"{_PLACE}d0"},
            "b": {"$defs": {**_INNER, "d30": {"type": "string"}}},
        },
    },
    "unevaluatedProperties": nested(
        30, lambda inner: {"allOf": [inner], "unevaluatedProperties": False}, _TEXTS
    ),
    "unevaluatedItems": nested(
        30, lambda inner: {"allOf": [inner], "unevaluatedItems": False}, {"prefixItems": [_TEXTS]}
    ),
    "a circle of thirty": {"type": "object", "properties": {"a": ref("d0")}, "$defs": _ALL},
    "seven unions of each other": {
        "type": "object",
        "properties": {"a": ref("d0")},
        "$defs": _SEVEN,
    },
    "2,500 unions inside of each other": doubling(2_500, lambda twice: {"anyOf": twice[:1]}),
    "9,000 references": doubling(9_000, lambda twice: twice[0]),
    "4,000 anchors": {
        "type": "object",
        "allOf": [{"$ref": f"#a{n}"} for n in range(4_000)],
        "$defs": {f"d{n}": {"$anchor": f"a{n}"} for n in range(4_000)},
    },
    "4,000 documents inside": {
        "type": "object",
        "allOf": [ref(f"d{n}") for n in range(4_000)],
        "$defs": {f"d{n}": {"$id": f"a{n}"} for n in range(4_000)},
    },
    "100,000 properties": {"type": "object", "properties": _properties(100_000)},
    "300 dependentSchemas of 300": {
        "type": "object",
        "dependentSchemas": {
            f"q{n}": {"properties": _properties(300, {"type": "string"})} for n in range(300)
        },
    },
    "4,000 parts": {
        "type": "object",
        "allOf": [{"properties": {f"p{n}": {"type": "string"}}} for n in range(4_000)],
    },
    "9,000 alternatives": {
        "type": "object",
        "properties": {"a": {"oneOf": [{"const": n} for n in range(9_000)]}},
    },
    "an enum of 200,000": {
        "type": "object",
        "properties": {"a": {"enum": [f"v{n}" for n in range(200_000)]}},
    },
    "a long description": {"type": "object", "description": "x" * 600_000},
}

_TWICE = {"type": "object", "properties": {"a": {"allOf": [ref("a"), ref("a")]}}}
_ANY = {"type": "object", "properties": {"a": {"anyOf": [ref("a"), ref("a")]}}}
_ITEMS = {"type": ["array", "string"], "items": ref("a"), "contains": ref("a")}
_BACK = {"type": "object", "properties": {"a": ref("d0")}}

READ: dict[str, tuple[Schema, Any]] = {
    "allOf of 7 levels": (doubling(7, lambda twice: {"allOf": twice}), {"a": 1}),
    "anyOf of 7 levels": (doubling(7, lambda twice: {"anyOf": twice}), {"a": 1}),
    "oneOf of 7 levels": (doubling(7, lambda twice: {"oneOf": twice}), {"a": "s"}),
    "90 unions inside of each other": (
        doubling(90, lambda twice: {"anyOf": twice[:1]}),
        {"a": 1},
    ),
    "a whole inside itself": (
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "allOf": [{"$ref": "#"}] * 2},
        {"a": {"a": 1}},
    ),
    "a circle, twice": ({**_TWICE, "$defs": {"a": _TWICE}}, deep(40, 1)),
    "a circle of unions": ({**_ANY, "$defs": {"a": _ANY}}, deep(40, 1)),
    "a circle of items": (
        {"type": "object", "properties": {"a": ref("a")}, "$defs": {"a": _ITEMS}},
        {"a": _lists(60, 1)},
    ),
    "a circle through 50 unions": (
        doubling(50, lambda twice: {"anyOf": twice[:1]}, _BACK),
        deep(190, 1),
    ),
    "a deep value": (
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        deep(50_000, 1),
    ),
    "9,000 properties": (
        {"type": "object", "properties": _properties(9_000, {"type": "string"})},
        {"p1": 1},
    ),
    "100 dependentSchemas of 90": (
        {
            "type": "object",
            "dependentSchemas": {
                f"q{n}": {"properties": _properties(90, {"type": "string"})} for n in range(100)
            },
        },
        {"q1": 1, "p1": 1},
    ),
    "900 parts": (
        {
            "type": "object",
            "allOf": [{"properties": {f"p{n}": {"type": "string"}}} for n in range(900)],
        },
        {"p1": 1},
    ),
    "900 parts with one property": (
        {"type": "object", "allOf": [{"properties": {"a": {"minLength": n}}} for n in range(900)]},
        {"a": ""},
    ),
    "900 alternatives": (
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}] * 900}}},
        {"a": ["x" * 1_000] * 1_000},
    ),
    "an enum of 10,000 for each item": (
        {
            "type": "object",
            "properties": {"a": {"items": {"enum": [f"v{n}" for n in range(10_000)]}}},
        },
        {"a": ["x"] * 5_000},
    ),
    "a billion items": (
        {
            "type": "object",
            "properties": {"a": {"minItems": 10**9, "contains": {}, "minContains": 10**9}},
        },
        {"a": []},
    ),
    "sixty objects that have each other": (
        {
            "type": "object",
            "properties": {"a": ref("d0")},
            "$defs": {
                f"d{n}": {
                    "type": "object",
                    "properties": {f"p{other}": ref(f"d{other}") for other in range(60)},
                }
                for n in range(60)
            },
        },
        {"a": {"p1": 1}},
    ),
    "800 patterns": (
        {
            "type": "object",
            "patternProperties": {f"^(p{n}.*)*{'x' * n}$": {"type": "string"} for n in range(800)},
        },
        {"p0": 1},
    ),
}
"""Schemas that are read, each with a value that does not fit, or is not checked."""
