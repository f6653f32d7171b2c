"""The arguments of a tool as providers require them: a plain object, with names that they accept."""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.compose import resolve, together
from toolbench.jsonschema.types import Json, Schema
from toolbench.jsonschema.walk import (
    alternatives_in,
    conjunction_in,
    every,
    follow,
    reference_in,
)
from toolbench.llm.formats.format_changes import Changes
from toolbench.llm.providers import ARGUMENT_NAMES, Provider

AnyTool = ToolDefinition[Any, Any]
Names = Mapping[str, str]


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
    parts: list[Mapping[str, Any]] = []
    for member in members:
        part, _ = resolve(schema, member)
        if isinstance(part, Mapping):
            parts.append(part)
    return parts


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
    needed: list[set[str]] = []
    own = root.get("properties") or {}
    # First in the order; below they get priority
    properties: Json = {**own}
    for branch in branches:
        needed.append(set(branch.get("required", ())) - set(always))
        properties |= branch.get("properties") or {}
    merged = {**root, "properties": {**properties, **own}}
    common = sorted(set.intersection(*needed))
    if common:
        merged["required"] = [*always, *common]
    if any(names - set(common) for names in needed):
        sets: list[str] = []
        for names in needed:
            if names:
                sets.append(f"({', '.join(sorted(names))})")
        note = f"Needed together: {' or '.join(sets)}."
        if isinstance(merged.get("description"), str):
            note = f"{merged['description']} {note}"
        merged["description"] = note
    return merged


# --- the names of arguments ------------------------------------------------------------

_of_tool: WeakKeyDictionary[AnyTool, dict[Provider, Names]] = WeakKeyDictionary()


def sent_names(tool: AnyTool, provider: Provider) -> Names:
    """Return the argument names that *provider* refuses, each with the name that is sent instead."""
    known = _of_tool.setdefault(tool, {})
    if provider not in known:
        known[provider] = _sent_names(tool, provider)
    return known[provider]


def _sent_names(tool: AnyTool, provider: Provider) -> Names:
    rule = ARGUMENT_NAMES.get(provider)
    if rule is None:
        return {}
    schema = plain_root(tool.parameters(), Changes())
    names = set(schema.get("properties") or ())
    if provider != "anthropic":
        for _, node in every(schema):
            names.update(node.get("properties") or ())
    return rule.renamed(sorted(names))


def renamed(arguments: Any, names: Names) -> Any:
    """Return a copy of *arguments*, with each key in *names* replaced, at any depth."""
    if isinstance(arguments, Mapping):
        copy: Json = {}
        for key, value in arguments.items():
            copy[names.get(key, key)] = renamed(value, names)
        return copy
    if isinstance(arguments, list):
        return [renamed(value, names) for value in arguments]
    return arguments


def to_provider(arguments: Any, tool: AnyTool, provider: Provider) -> Any:
    """Return *arguments* under the names that *provider* accepts."""
    return _through(arguments, sent_names(tool, provider), provider)


def from_provider(arguments: Any, tool: AnyTool, provider: Provider) -> Any:
    """Return *arguments* under the tool's own names: the reverse of `to_provider`."""
    own_names: dict[str, str] = {}
    for own, sent in sent_names(tool, provider).items():
        own_names[sent] = own
    return _through(arguments, own_names, provider)


def _through(arguments: Any, names: Names, provider: Provider) -> Any:
    if not names:
        return arguments
    if provider != "anthropic":
        return renamed(arguments, names)
    return {names.get(key, key): value for key, value in arguments.items()}
