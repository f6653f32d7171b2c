"""Shorten a schema for callers: copy definitions into place, and leave out needless nulls."""

from typing import Any

from toolbench.jsonschema.composition.fold import ANNOTATIONS
from toolbench.jsonschema.refs import unescaped
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import every, rewritten

_DEFS = "#/$defs/"
# Nodes; for more, shared definitions are better
_INLINE_LIMIT = 20_000


def without_unset_nulls(schema: Json) -> Json:
    """Return *schema*, in which an optional property `X | null` with the default null becomes X."""
    copy: Json = rewritten(schema, _without_unset_nulls)
    return copy


def _without_unset_nulls(node: Json, _: str) -> Json:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return node
    required = node.get("required", ())
    fields = {
        name: field if name in required else _without_null(field)
        for name, field in properties.items()
    }
    return {**node, "properties": fields}


def _without_null(field: Any) -> Any:
    if not isinstance(field, dict) or field.get("default", ...) is not None:
        return field
    if None in (choices := field.get("enum", ())) and len(choices) > 1:
        rest = [choice for choice in choices if choice is not None]
        return {**{k: v for k, v in field.items() if k != "default"}, "enum": rest}
    branches = field.get("anyOf")
    if not isinstance(branches, list) or {"type": "null"} not in branches:
        return field
    rest = [b for b in branches if b != {"type": "null"}]
    outer = {k: v for k, v in field.items() if k not in ("anyOf", "default")}
    if len(rest) == 1 and not (outer.keys() & rest[0].keys() - ANNOTATIONS):
        return {**rest[0], **outer, **_both_descriptions(outer, rest[0])}
    return {"anyOf": rest, **outer}


def inline_defs(schema: Json) -> Json:
    """Return *schema* with its `$defs` copied to where they are used, except recursive definitions.

    If the result would be too large, return *schema* unchanged.
    """
    defs = schema.get("$defs")
    if not isinstance(defs, dict):
        return schema
    recursive = _recursive(defs)
    inliner = _Inliner(defs, recursive)
    body = {k: v for k, v in schema.items() if k != "$defs"}
    try:
        flat: Json = inliner.put_in_place(body)
        used = {name: inliner.put_in_place(defs[name]) for name in sorted(recursive)}
    except OverflowError:
        return schema
    used = {name: used[name] for name in _reachable(flat, used)}
    return {**flat, "$defs": used} if used else flat


class _Inliner:
    def __init__(self, defs: Json, recursive: set[str]) -> None:
        self._defs, self._recursive_names, self._nodes = defs, recursive, 0

    def put_in_place(self, node: Any) -> Any:
        return rewritten(node, self._resolve)

    def _resolve(self, node: Json, _: str) -> Json:
        self._nodes += 1
        if self._nodes > _INLINE_LIMIT:
            raise OverflowError
        if isinstance(mapping := node.get("discriminator"), dict):
            # OpenAPI's mapping points into $defs, which will be removed
            node = {**node, "discriminator": {"propertyName": mapping["propertyName"]}}
        name = _target(node)
        if name is None or name in self._recursive_names or name not in self._defs:
            return node
        target = self.put_in_place(self._defs[name])
        beside = {k: v for k, v in node.items() if k != "$ref"}
        if not beside.keys() <= ANNOTATIONS:
            return {"allOf": [target], **beside}
        return {**target, **beside, **_both_descriptions(beside, target)}


def _both_descriptions(*nodes: Json) -> dict[str, str]:
    """Return one description for *nodes*, mostly a field and its type: all their descriptions."""
    texts = dict.fromkeys(text for n in nodes if (text := n.get("description")))
    return {"description": "\n".join(texts)} if texts else {}


def _target(schema: Json) -> str | None:
    """Return the name of the definition to which *schema* refers; None if there is none."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(_DEFS):
        return None
    return unescaped(reference.removeprefix(_DEFS))


def _names(schema: Any) -> set[str]:
    """Return the names of the definitions that *schema* and its parts refer to."""
    names = (_target(part) for _, part in every(schema))
    return {name for name in names if name is not None}


def _recursive(defs: Json) -> set[str]:
    """Return the names of the definitions in *defs* that refer to themselves, perhaps through others."""
    direct = {name: _names(sub) & defs.keys() for name, sub in defs.items()}
    return {name for name in defs if name in _closure(direct[name], direct)}


def _reachable(schema: Any, defs: Json) -> list[str]:
    direct = {name: _names(sub) & defs.keys() for name, sub in defs.items()}
    names = _closure(_names(schema) & defs.keys(), direct)
    return [name for name in defs if name in names]


def _closure(start: set[str], direct: dict[str, set[str]]) -> set[str]:
    visited: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        if name not in visited:
            visited.add(name)
            todo |= direct[name]
    return visited
