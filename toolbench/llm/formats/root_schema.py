"""Make the outermost schema of the arguments a plain object, as providers require."""

from collections.abc import Mapping
from typing import Any

from toolbench.jsonschema.compose import resolve, together
from toolbench.jsonschema.types import Json, Schema
from toolbench.jsonschema.walk import (
    alternatives_in,
    conjunction_in,
    follow,
    reference_in,
)
from toolbench.llm.formats.format_changes import Changes


def plain_root(schema: Json, changes: Changes) -> Json:
    """Return *schema* as an object with properties, without alternatives at its outermost level.

    Alternatives are merged as far as an object can express them. The description names
    properties that are needed together. The tool itself still checks all arguments.
    """
    root = _resolved(schema, changes)
    parts, beside = conjunction_in(root)
    root = dict(beside)
    for part in _followed(parts, schema):
        changes.note("", "rewritten", "allOf at the top was merged", refused=True)
        root = together(root, part)
    while (choices := alternatives_in(root))[0]:
        root = _merged(*choices, schema, changes)
    for key in ("not", "enum"):
        if key in root:
            del root[key]
            changes.note("", "removed", f"{key!r} at the top is not supported", refused=True)
    if root.get("type") != "object":
        changes.note("", "rewritten", "the arguments must be an object", refused=True)
        root["type"] = "object"
    if not isinstance(root.get("properties"), dict):
        root["properties"] = {}
    return root


def _resolved(schema: Json, changes: Changes) -> Json:
    reference, beside = reference_in(schema)
    pointed = follow(schema, reference)
    if not isinstance(pointed, Mapping):
        return dict(schema)
    changes.note("", "rewritten", "the reference at the top was followed", refused=True)
    return together(pointed, beside)


def _followed(members: list[Any], schema: Json) -> list[Mapping[str, Any]]:
    parts = [resolve(schema, part)[0] for part in members]
    return [part for part in parts if isinstance(part, Mapping)]


def _merged(
    keyword: str, members: list[Any], beside: Schema, schema: Json, changes: Changes
) -> Json:
    """Return one object for *members*, the alternatives, and *beside*, the other keywords.

    *keyword* is the name of the list of alternatives, for the note in *changes*.
    """
    root, branches = dict(beside), _followed(members, schema)
    changes.note("", "rewritten", f"{keyword} at the top was merged", refused=True)
    if not branches:
        return root
    always = root.get("required", [])
    needed = [set(branch.get("required", ())) - set(always) for branch in branches]
    own = root.get("properties") or {}
    # First in the order; below they get priority
    properties: Json = {**own}
    for branch in branches:
        properties |= branch.get("properties") or {}
    merged = {**root, "properties": {**properties, **own}}
    common = sorted(set.intersection(*needed))
    if common:
        merged["required"] = [*always, *common]
    if any(names - set(common) for names in needed):
        sets = " or ".join(f"({', '.join(sorted(n))})" for n in needed if n)
        description = merged.get("description")
        note = f"Needed together: {sets}."
        merged["description"] = f"{description} {note}" if isinstance(description, str) else note
    return merged
