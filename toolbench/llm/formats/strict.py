"""Check whether a schema fits OpenAI's strict mode; if it does not, give the reasons.

Source: OpenAI, "Structured model outputs", supported schemas.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import (
    alternatives_in,
    children,
    every,
    reference_in,
    rewritten,
    types_of,
)
from toolbench.llm.formats.format_changes import Changes

_KNOWN = frozenset(
    {
        *("type", "title", "description", "enum", "const", "anyOf", "$ref", "$defs"),
        *("properties", "required", "additionalProperties", "definitions", "$schema"),
        *("pattern", "format", "multipleOf", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "items", "minItems", "maxItems"),
    }
)
# A model in strict mode sends every argument
_MEANINGLESS = ("default", "examples")
_SUPPORTED = _KNOWN.union(_MEANINGLESS)
_FORMATS = frozenset(
    {
        *("date-time", "time", "date", "duration", "email", "hostname"),
        *("ipv4", "ipv6", "uuid"),
    }
)
_MOST_LEVELS, _MOST_PROPERTIES, _MOST_VALUES, _MOST_TEXT = 10, 5_000, 1_000, 120_000


def strict(schema: Json, changes: Changes) -> Json:
    """Return *schema*, changed as OpenAI's strict mode requires; *schema* must have no `obstacles`."""

    def close(node: Json, where: str) -> Json:
        for key in _MEANINGLESS:
            if key in node:
                del node[key]
                changes.note(where, "removed", f"{key!r} is not allowed in strict mode")
        if "object" in types_of(node) and "additionalProperties" not in node:
            node["additionalProperties"] = False
            changes.note(where, "rewritten", "other arguments are not allowed")
        return node

    closed: Json = rewritten(schema, close)
    return closed


def obstacles(schema: Json) -> tuple[str, ...]:
    """Return the reasons why *schema* does not fit strict mode, a sentence each."""
    reasons = dict.fromkeys(_misfits(schema))
    return tuple(reasons) + tuple(_excesses(schema))


def _misfits(schema: Json) -> Iterator[str]:
    for place, node in every(schema):
        where = place or "arguments"
        for key in node.keys() - _SUPPORTED:
            yield f"{where}: {key!r} is not supported"
        reference, beside = reference_in(node)
        chosen = node.keys() & {"type", "enum", "const"} or alternatives_in(node)[1]
        if reference is None and not chosen:
            yield f"{where}: has no type"
        if reference is not None and beside:
            yield f"{where}: a reference must stand alone"
        if node.get("format", "date") not in _FORMATS:
            yield f"{where}: format {node['format']!r} is not supported"
        types = types_of(node)
        if "array" in types and not isinstance(node.get("items"), Mapping):
            yield f"{where}: the list does not say what its items are"
        if "object" in types:
            yield from _openings(node, where)


def _openings(node: Json, where: str) -> Iterator[str]:
    if node.get("additionalProperties", False) is not False:
        yield f"{where}: allows arguments without a name in the schema"
    properties = node.get("properties")
    if not isinstance(properties, Mapping):
        yield f"{where}: the object does not name its properties"
        return
    optional = [name for name in properties if name not in node.get("required", ())]
    if optional:
        yield f"{where}: not required: {', '.join(optional)}"


def _excesses(schema: Json) -> Iterator[str]:
    nodes = [node for _, node in every(schema)]
    names = [n for node in nodes for n in node.get("properties") or ()]
    values = [v for node in nodes for v in node.get("enum") or ()]
    text = sum(len(str(word)) for word in (*names, *values))
    depth = _depth(schema)
    for things, number, most in (
        ("levels of objects and lists", depth, _MOST_LEVELS),
        ("properties", len(names), _MOST_PROPERTIES),
        ("values in enumerations", len(values), _MOST_VALUES),
        ("characters in names and enumerations", text, _MOST_TEXT),
    ):
        if number > most:
            yield f"arguments: {number:,} {things}; at most {most:,} are allowed"


def _depth(node: Any) -> int:
    if not isinstance(node, Mapping):
        return 0
    inner = max((_depth(sub) for _, _, sub in children(node, "")), default=0)
    return inner + bool({"object", "array"} & set(types_of(node)))
