"""The JSON Schema of a pydantic model, complete: only pydantic's own noise is taken out.

Noise is a title pydantic made up from a name, and the `null` of an optional field that is
simply not there when it is unset. Constraints, defaults, enums, unions and recursion stay.
"""

from collections.abc import Callable
from copy import deepcopy
from json import dumps
from math import isfinite
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError

_ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    }
)
_INLINE_LIMIT = 20_000  # nodes: past it, sharing beats inlining


class _Untitled(GenerateJsonSchema):
    """pydantic's generator without the titles it makes up, and without what JSON cannot say."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Stay quiet: a default that JSON cannot say is left out, and that is all."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        return _untitled(super().model_schema(schema), schema)

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        return _untitled(super().dataclass_schema(schema), schema)

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return _untitled(super().typed_dict_schema(schema), schema)

    def float_schema(self, schema: Any) -> dict[str, Any]:
        limits = super().float_schema(schema).items()
        return {k: v for k, v in limits if not isinstance(v, float) or isfinite(v)}

    def encode_default(self, dft: Any) -> Any:
        encoded = super().encode_default(dft)
        try:
            dumps(encoded, allow_nan=False)
        except ValueError as error:
            raise PydanticSerializationError(str(error)) from error
        return encoded


def _untitled(made: dict[str, Any], schema: Any) -> dict[str, Any]:
    if made.get("title") == getattr(schema.get("cls"), "__name__", None):
        del made["title"]
    return made


_full: WeakKeyDictionary[type[BaseModel], dict[str, Any]] = WeakKeyDictionary()


def full_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return what *model* accepts, `null` branches and all: what a form is built from.

    Worked out once for each class: copy it before changing it.
    """
    schema = _full.get(model)
    if schema is None:
        schema = _full[model] = _generate(model)
    return schema


def _generate(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_Untitled)
    for name, definition in schema.get("$defs", {}).items():  # enums get theirs later
        if definition.get("title") in (name, name.rpartition("__")[2]):
            del definition["title"]
    name = _target(schema)
    if name is None:
        return schema
    # a model that refers to itself: callers look for `type: object` at the top
    return {**schema["$defs"][name], "$defs": schema["$defs"]}


def argument_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return what a caller of *model* should send: unset optionals lose their `null`.

    `$defs` stay only for what refers to itself; everything else stands where it is used.
    """
    return inline_defs(without_unset_nulls(full_schema(model)))


def without_unset_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with `X | null, default null` read as an optional X."""
    walked: dict[str, Any] = _walk(schema, _without_unset_nulls)
    return walked


def _without_unset_nulls(node: dict[str, Any]) -> dict[str, Any]:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return node
    required = node.get("required", ())
    shorn = {
        name: field if name in required else _without_null(field)
        for name, field in properties.items()
    }
    return {**node, "properties": shorn}


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
    if len(rest) == 1 and not (outer.keys() & rest[0].keys() - _ANNOTATIONS):
        return {**rest[0], **outer, **_both_descriptions(outer, rest[0])}
    return {"anyOf": rest, **outer}


def inline_defs(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with its `$defs` put in place, but for those that recurse."""
    defs = schema.get("$defs")
    if not isinstance(defs, dict):
        return schema
    kept = _recursive(defs)
    inliner = _Inliner(defs, kept)
    body = {k: v for k, v in schema.items() if k != "$defs"}
    try:
        flat: dict[str, Any] = inliner.put_in_place(body)
        used = {name: inliner.put_in_place(defs[name]) for name in sorted(kept)}
    except OverflowError:
        return schema
    used = {name: used[name] for name in _reachable(flat, used)}
    return {**flat, "$defs": used} if used else flat


class _Inliner:
    def __init__(self, defs: dict[str, Any], kept: set[str]) -> None:
        self._defs, self._kept, self._nodes = defs, kept, 0

    def put_in_place(self, node: Any) -> Any:
        return _walk(node, self._resolve)

    def _resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > _INLINE_LIMIT:
            raise OverflowError
        if isinstance(mapping := node.get("discriminator"), dict):
            # OpenAPI's mapping points into $defs, which are about to go
            node = {**node, "discriminator": {"propertyName": mapping["propertyName"]}}
        name = _target(node)
        if name is None or name in self._kept or name not in self._defs:
            return node
        target = self.put_in_place(self._defs[name])
        beside = {k: v for k, v in node.items() if k != "$ref"}
        if not beside.keys() <= _ANNOTATIONS:
            return {"allOf": [target], **beside}
        return {**target, **beside, **_both_descriptions(beside, target)}


def _both_descriptions(*nodes: dict[str, Any]) -> dict[str, str]:
    """What the field says of itself, then what its type says."""
    texts = dict.fromkeys(text for n in nodes if (text := n.get("description")))
    return {"description": "\n".join(texts)} if texts else {}


def _target(node: Any) -> str | None:
    """The name of the definition that *node* refers to, if it does."""
    ref = node.get("$ref") if isinstance(node, dict) else None
    if not isinstance(ref, str) or not ref.startswith("#/$defs/"):
        return None
    return ref.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")


def _walk(node: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Copy *node*, giving every schema in it to *change*; all else (default, x-...) is data."""
    if isinstance(node, list):
        return [_walk(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    walked: dict[str, Any] = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            walked[key] = {name: _walk(sub, change) for name, sub in value.items()}
        elif key in _SCHEMAS:
            walked[key] = _walk(value, change)
        else:
            walked[key] = deepcopy(value)
    return change(walked)


_NAMED = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
_SCHEMAS = frozenset(
    {
        "additionalProperties",
        "allOf",
        "anyOf",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


def _refs(node: Any) -> set[str]:
    found: set[str] = set()

    def note(part: dict[str, Any]) -> dict[str, Any]:
        if (name := _target(part)) is not None:
            found.add(name)
        return part

    _walk(node, note)
    return found


def _recursive(defs: dict[str, Any]) -> set[str]:
    """The names of the definitions from which a chain of references comes back."""
    direct = {name: _refs(sub) & defs.keys() for name, sub in defs.items()}
    return {name for name in defs if name in _closure(direct[name], direct)}


def _reachable(schema: Any, defs: dict[str, Any]) -> list[str]:
    direct = {name: _refs(sub) & defs.keys() for name, sub in defs.items()}
    wanted = _closure(_refs(schema) & defs.keys(), direct)
    return [name for name in defs if name in wanted]


def _closure(start: set[str], direct: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo |= direct[name]
    return seen
