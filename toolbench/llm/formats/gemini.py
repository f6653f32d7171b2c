"""Rewrite a JSON Schema into the `Schema` of Gemini's function declarations.

Gemini refuses a request with a keyword that it does not know. The meaning of such a keyword goes
into the description, where the model can still read it.

Source: Gemini API reference, `Schema`; google-genai, `types.Schema`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.jsonschema.compose import listed_values, together
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import (
    ALTERNATIVES,
    COMPOSITION,
    alternatives_in,
    conjunction_in,
    follow,
    reference_in,
    types_of,
)
from toolbench.jsonschema.words import words
from toolbench.llm.formats.arguments import Changes
from toolbench.llm.names import NameRule
from toolbench.values import clip

ARGUMENT_NAMES = NameRule("a-zA-Z_", "a-zA-Z0-9_", 64, "64 letters, digits and '_', no digit first")
_SUPPORTED: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_WRITTEN: Mapping[str, tuple[str, ...]] = {
    "object": ("properties", "required"),
    "array": ("items", "prefixItems"),
}
_REWRITTEN = frozenset(
    {
        *("type", "title", "nullable", "description", "enum", "const", "format"),
        *(*COMPOSITION, "$defs", "definitions"),
    }
)
_BESIDE = ("description", "nullable", "title", "default", "examples")
_FORMATS = {
    "string": {"enum", "date-time"},
    "integer": {"int32", "int64"},
    "number": {"float", "double"},
}
_ANY: tuple[Json, ...] = (
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "object"},
    {"type": "array", "items": {"type": "string"}},
)
# The number of schemas after which references are not followed
_LIMIT = 5_000

_IN_WORDS = frozenset(
    {
        *("format", "contentEncoding", "default", "examples"),
        *("exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "uniqueItems", "patternProperties", "propertyNames"),
        *("additionalProperties", "not"),
    }
)
"""The keywords whose meaning is added to the description in words."""


def gemini_schema(schema: Json, changes: Changes) -> Json:
    """Return *schema* in Gemini's format, and add each change to *changes*.

    If *schema* has no properties, the result is empty, because Gemini refuses an object without
    properties.
    """
    if schema.keys() & {"$defs", "definitions"}:
        changes.note("", "rewritten", "definitions were put where they are used")
    written = _Writer(schema, changes).write(schema, "")
    if not written.get("properties"):
        changes.note("", "removed", "an object without properties is refused")
        return {}
    return written


class _Writer:
    def __init__(self, root: Json, changes: Changes) -> None:
        self._root, self._changes = root, changes
        self._written = 0
        # The references that are being followed
        self._open: list[str] = []

    def write(self, node: Any, where: str) -> Json:
        """Return *node*, the schema at the path *where*, in Gemini's format."""
        self._written += 1
        if not isinstance(node, Mapping):
            return self._anything({}, where)
        reference, beside = reference_in(node)
        if reference is not None:
            return self._followed(reference, beside, where)
        parts, beside = conjunction_in(node)
        if parts:
            return self._joined(parts, beside, where)
        keyword, branches, beside = alternatives_in(node)
        if branches:
            return self._union(keyword, branches, beside, where)
        types = types_of(node) or _implied(node)
        if not types:
            return self._anything(node, where)
        if len(types) > 1:
            return self._several(node, types, where)
        return self._plain(node, types[0], where)

    def _followed(self, ref: Any, beside: Mapping[str, Any], where: str) -> Json:
        pointed = follow(self._root, ref)
        if not isinstance(pointed, Mapping):
            return self.write(beside, where)
        if self._is_cut(ref, where):
            kind = next(iter(types_of(pointed) or _implied(pointed)), "object")
            cut: Json = {"type": kind}
            if kind == "array":
                cut["items"] = {"type": "object"}
            return _described(cut, beside, ["nested, the same as above"])
        self._changes.note(where, "rewritten", "the reference was followed")
        return self._inside([ref], together(pointed, beside), where)

    def _joined(self, parts: list[Any], beside: Mapping[str, Any], where: str) -> Json:
        self._changes.note(where, "rewritten", "allOf was merged")
        whole = dict(beside)
        followed: list[Any] = []
        for part in parts:
            if not isinstance(part, Mapping):
                continue
            ref, _ = reference_in(part)
            pointed = follow(self._root, ref)
            if not isinstance(pointed, Mapping):
                whole = together(part, whole)
            elif not self._is_cut(ref, where):
                followed.append(ref)
                whole = together(pointed, whole)
        return self._inside(followed, whole, where)

    def _is_cut(self, ref: Any, where: str) -> bool:
        """Tell whether *ref* must not be followed: it is recursive, or the schema is too large.

        If so, add a note to the changes.
        """
        is_cut = ref in self._open or self._written > _LIMIT
        if is_cut:
            message = "a recursive schema was cut"
            self._changes.note(where, "rewritten", message, refused=True)
        return is_cut

    def _inside(self, refs: list[Any], node: Mapping[str, Any], where: str) -> Json:
        """Return *node*, the target of *refs*, in Gemini's format.

        Inside *node*, *refs* are not followed again.
        """
        self._open += refs
        written = self.write(node, where)
        del self._open[len(self._open) - len(refs) :]
        return written

    def _union(self, key: str, members: list[Any], beside: Mapping[str, Any], where: str) -> Json:
        outer = dict(beside)
        real: list[Mapping[str, Any]] = []
        is_nullable = False
        for branch in members:
            if isinstance(branch, Mapping) and branch.get("type") == "null":
                is_nullable = True
            elif isinstance(branch, Mapping):
                real.append(branch)
        if is_nullable:
            outer["nullable"] = True
            self._changes.note(where, "rewritten", "null as a choice became nullable")
        if all(b.keys() <= {"required", "not"} for b in real):
            self._changes.note(where, "removed", f"{key} of required names")
            names: list[Any] = []
            for branch in real:
                names.append(branch.get("required"))
            return _described(self.write(outer, where), {}, [f"{key}: {clip(names, 200)}"])
        if key != ALTERNATIVES[0]:
            self._changes.note(where, "rewritten", "oneOf became anyOf")
        if len(real) == 1:
            self._changes.note(where, "rewritten", "a choice with one branch became that branch")
        return self._branches(real, outer, where)

    def _branches(
        self, branches: Sequence[Mapping[str, Any]], outer: Mapping[str, Any], where: str
    ) -> Json:
        """Return a schema that allows any of *branches*; *outer* has the keywords next to them."""
        if len(branches) == 1:
            return self.write(together(branches[0], outer), where)
        rules = {key: value for key, value in outer.items() if key not in _BESIDE}
        written = [self.write(together(rules, branch), where) for branch in branches]
        return self._choice(written, outer, where)

    def _choice(self, branches: list[Json], outer: Mapping[str, Any], where: str) -> Json:
        """Return a schema that allows any of *branches*.

        The description of *outer* goes to the first branch, and so do `nullable` and
        notes about the default and the examples.
        """
        notes: list[str] = []
        for key in ("default", "examples"):
            if key in outer:
                self._drop(key, outer[key], where, notes)
        if outer.keys() & {"description", "title"}:
            message = "the description of a choice was moved to its first branch"
            self._changes.note(where, "rewritten", message)
        own = branches[0].get("description", "")
        if isinstance(outer.get("description"), str):
            own = f"{outer['description']} {own}".strip()
        first = _described(branches[0], {"description": own}, notes)
        if outer.get("nullable"):
            first["nullable"] = True
        return {"anyOf": [first, *branches[1:]]}

    def _several(self, node: Mapping[str, Any], types: list[str], where: str) -> Json:
        self._changes.note(where, "rewritten", "a list of types became a choice")
        outer = {key: value for key, value in node.items() if key != "type"}
        if "null" in types:
            outer["nullable"] = True
        real = [{"type": kind} for kind in types if kind != "null"]
        return self._branches(real, outer, where)

    def _anything(self, node: Mapping[str, Any], where: str) -> Json:
        self._changes.note(where, "rewritten", "any value became a choice of types")
        return self._choice([dict(branch) for branch in _ANY], node, where)

    def _plain(self, node: Mapping[str, Any], kind: str, where: str) -> Json:
        out: Json = {"type": kind}
        notes: list[str] = []
        self._values(node, kind, where, out, notes)
        shape = node.get("format")
        if shape in _FORMATS.get(kind, ()):
            out["format"] = shape
        elif shape is not None:
            self._drop("format", shape, where, notes)
        for key, value in node.items():
            if key in ("title", "nullable", *_SUPPORTED.get(kind, ())):
                out[key] = value
            elif key not in _REWRITTEN and key not in _WRITTEN.get(kind, ()):
                self._drop(key, value, where, notes)
        if kind == "object":
            self._object(node, where, out)
        if kind == "array":
            self._array(node, where, out, notes)
        return _described(out, node, notes)

    def _drop(self, key: str, value: Any, where: str, notes: list[str]) -> None:
        sentence = ""
        if key in _IN_WORDS:
            sentence = words(key, value)
        if sentence:
            notes.append(sentence)
            message = f"{key!r} is not supported: the description now has {sentence!r}"
            self._changes.note(where, "rewritten", message)
        else:
            self._changes.note(where, "removed", f"{key!r} is not supported")

    def _values(
        self,
        node: Mapping[str, Any],
        kind: str,
        where: str,
        out: Json,
        notes: list[str],
    ) -> None:
        values = listed_values(node) or []
        if "const" in node:
            self._changes.note(where, "rewritten", "'const' became an enum of one")
        if None in values:
            out["nullable"] = True
        real = [value for value in values if value is not None]
        texts: list[str] = []
        if kind == "string":
            texts = [value for value in real if isinstance(value, str) and value]
        if texts:
            out["enum"] = texts
        if len(texts) < len(real):
            notes.append(f"one of {clip(values, 200)}")
            self._changes.note(where, "removed", "an enum can hold only strings", refused=True)

    def _object(self, node: Mapping[str, Any], where: str, out: Json) -> None:
        properties = node.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return
        known: dict[str, str] = {}
        out["properties"] = {}
        for name, sub in properties.items():
            inner = name
            if where:
                inner = f"{where}.{name}"
            known[name] = ARGUMENT_NAMES.rename(name)
            if known[name] != name:
                message = f"to {known[name]!r}: {ARGUMENT_NAMES.words}"
                self._changes.note(inner, "renamed", message)
            out["properties"][known[name]] = self.write(sub, inner)
        required = [known[name] for name in node.get("required") or () if name in known]
        if required:
            out["required"] = required

    def _array(self, node: Mapping[str, Any], where: str, out: Json, notes: list[str]) -> None:
        items = node.get("items")
        places = items if isinstance(items, list) else node.get("prefixItems")
        if isinstance(places, list) and places:
            notes.append(f"in this order: {clip(places, 200)}")
            message = "a list of fixed length became a list of any length"
            self._changes.note(where, "rewritten", message)
            items = places[0]
            if any(place != items for place in places):
                items = {"anyOf": places}
        elif not isinstance(items, Mapping):
            self._changes.note(where, "rewritten", "a list must describe its items", refused=True)
        out["items"] = self.write(items, f"{where}[]")


def _described(out: Json, node: Mapping[str, Any], notes: list[str]) -> Json:
    words: list[str] = []
    description = node.get("description") or out.get("description")
    if isinstance(description, str):
        words.append(description)
    if notes:
        words.append(f"({'; '.join(notes)})")
    if not words:
        return out
    return {**out, "description": " ".join(words)}


def _implied(node: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema without `type` allows, judging by its other keywords."""
    if node.keys() & {"properties", "additionalProperties", "required"}:
        return ["object"]
    if node.keys() & {"items", "prefixItems"}:
        return ["array"]
    names: set[str] = set()
    for value in listed_values(node) or []:
        if type(value) in _JSON:
            names.add(_JSON[type(value)])
    return sorted(names)


_JSON: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}
