"""Make the outermost schema of the arguments one plain object, as every provider wants it."""

from collections.abc import Mapping
from typing import Any

from toolbench.llm.report import Changes
from toolbench.llm.schemas import Json, target, together

_CHOICES = ("anyOf", "oneOf")


def plain_root(schema: Json, changes: Changes) -> Json:
    """Return *schema* as an object with properties, without alternatives at its top.

    What alternatives said is kept as far as an object can say it, the rest goes into the
    description; the tool itself still checks all of it.
    """
    root = _resolved(schema, changes)
    for part in _branches(root.pop("allOf", None), schema):
        changes.note("", "rewritten", "allOf at the top was merged", refused=True)
        root = together(root, part)
    for key in _CHOICES:
        if key in root:
            root = _merged(root, key, schema, changes)
    for key in ("not", "enum"):
        if key in root:
            del root[key]
            changes.note(
                "", "removed", f"{key!r} at the top is not taken", refused=True
            )
    if root.get("type") != "object":
        changes.note("", "rewritten", "the arguments are an object", refused=True)
        root["type"] = "object"
    if not isinstance(root.get("properties"), dict):
        root["properties"] = {}
    return root


def _resolved(schema: Json, changes: Changes) -> Json:
    pointed = target(schema, schema.get("$ref"))
    if not isinstance(pointed, Mapping):
        return dict(schema)
    changes.note("", "rewritten", "the reference at the top was followed", refused=True)
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return together(pointed, beside)


def _branches(listed: Any, schema: Json) -> list[Mapping[str, Any]]:
    if not isinstance(listed, list):
        return []
    followed = [
        target(schema, sub["$ref"])
        if isinstance(sub, Mapping) and "$ref" in sub
        else sub
        for sub in listed
    ]
    return [sub for sub in followed if isinstance(sub, Mapping)]


def _merged(root: Json, key: str, schema: Json, changes: Changes) -> Json:
    branches = _branches(root.pop(key), schema)
    changes.note("", "rewritten", f"{key} at the top was merged", refused=True)
    if not branches:
        return root
    always = root.get("required", [])
    needed = [set(branch.get("required", ())) - set(always) for branch in branches]
    properties: Json = {}
    for branch in branches:
        properties |= branch.get("properties") or {}
    merged = {**root, "properties": {**properties, **(root.get("properties") or {})}}
    common = sorted(set.intersection(*needed))
    if common:
        merged["required"] = [*always, *common]
    if any(names - set(common) for names in needed):
        sets = " or ".join(f"({', '.join(sorted(n))})" for n in needed if n)
        said = merged.get("description")
        note = f"Needed together: {sets}."
        merged["description"] = f"{said} {note}" if isinstance(said, str) else note
    return merged
