"""A tool's function as OpenAI accepts it: a short description, and strict mode if possible."""

import re
from collections.abc import Callable, Iterator, Mapping
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
from toolbench.llm.formats.arguments import Changes, plain_root
from toolbench.llm.names import NameRule

SHORT_DESCRIPTION = 1_024
"""The maximum characters of a description that every OpenAI model accepts."""
TOOL_NAMES = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64, "64 letters, digits, '_' and '-'")


def fitted(function: Json, changes: Changes, longest: int = SHORT_DESCRIPTION) -> Json:
    """Return *function*, a tool's name, description and parameters, changed to fit OpenAI's limits.

    *longest* is the maximum number of characters in the description.
    """
    schema = plain_root(function["parameters"], changes)
    parameters = rewritten(schema, _itemed(changes))
    changes.not_strict = obstacles(parameters)
    changes.strict = not changes.not_strict
    if changes.strict:
        parameters = strict(parameters, changes)
    return {
        **function,
        "name": changes.fitting_name("name", function["name"], TOOL_NAMES),
        "description": _shortened(function["description"], longest, changes),
        "parameters": parameters,
        "strict": changes.strict,
    }


def _shortened(description: str, longest: int, changes: Changes) -> str:
    if len(description) <= longest:
        return description
    message = f"{len(description):,} characters; at most {longest:,} are allowed"
    changes.note("description", "shortened", message)
    head = description[: longest - 2]
    ends = [sentence.end() for sentence in re.finditer(r"[.!?](?=\s)|\n", head)]
    if ends and ends[-1] > longest // 2:
        head = head[: ends[-1]]
    return f"{head.rstrip()} …"


def _itemed(changes: Changes) -> Callable[[Json, str], Json]:
    def change(node: Json, where: str) -> Json:
        if "array" in types_of(node) and "items" not in node:
            message = "a list must describe its items"
            changes.note(where, "rewritten", message, refused=True)
            node["items"] = {}
        return node

    return change


# --- strict mode ----------------------------------------------------------------------
# Source: OpenAI, "Structured model outputs", supported schemas.

_KNOWN = frozenset(
    {
        *("type", "title", "description", "enum", "const", "anyOf", "$ref", "$defs"),
        *("properties", "required", "additionalProperties", "definitions", "$schema"),
        *("pattern", "format", "multipleOf", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "items", "minItems", "maxItems"),
    }
)
# In strict mode, a model sends every argument, so these have no effect
_MEANINGLESS = ("default", "examples")
_SUPPORTED = _KNOWN.union(_MEANINGLESS)
_FORMATS = frozenset(
    {
        *("date-time", "time", "date", "duration", "email", "hostname"),
        *("ipv4", "ipv6", "uuid"),
    }
)
_MOST_LEVELS = 10


def strict(schema: Json, changes: Changes) -> Json:
    """Return *schema* as OpenAI's strict mode requires it; `obstacles(schema)` must be empty."""

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
    """Return the reasons why *schema* does not fit strict mode, one sentence each."""
    reasons = list(dict.fromkeys(_misfits(schema)))
    levels = _depth(schema)
    if levels > _MOST_LEVELS:
        things = f"{levels:,} levels of objects and lists"
        reasons.append(f"arguments: {things}; at most {_MOST_LEVELS:,} are allowed")
    return tuple(reasons)


def _misfits(schema: Json) -> Iterator[str]:
    for place, node in every(schema):
        where = place or "arguments"
        for key in node:
            if key not in _SUPPORTED:
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
        # Older drafts allow a list of schemas here, other schemas a boolean
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


def _depth(node: Any) -> int:
    if not isinstance(node, Mapping):
        return 0
    inner = max((_depth(sub) for _, _, sub in children(node, "")), default=0)
    return inner + bool({"object", "array"} & set(types_of(node)))
