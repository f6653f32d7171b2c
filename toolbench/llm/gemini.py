"""Rewrite a JSON Schema into the `Schema` of Gemini's function declarations.

Gemini turns a request down for any keyword it has no field for. What a keyword said and
Gemini has no word for goes into the description, where the model still reads it.

Source: Gemini API reference, `Schema`; google-genai, `types.Schema`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from toolbench.core.validation import clip
from toolbench.llm.providers import ARGUMENT_NAMES
from toolbench.llm.report import Changes
from toolbench.llm.schemas import Json, target, together, types_of

_NAMES = ARGUMENT_NAMES["gemini"]
_KEPT: Mapping[str, tuple[str, ...]] = {
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
_MADE = frozenset(
    {
        *("type", "title", "nullable", "description", "enum", "const", "format"),
        *("anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions"),
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
_LIMIT = 5_000  # schemas: past it, references are no longer followed

_SAID: Mapping[str, Callable[[Any], str | None]] = {
    "format": lambda v: f"format: {v}",
    "default": lambda v: f"default: {clip(v)}",
    "examples": lambda v: f"examples: {clip(v, 200)}",
    "exclusiveMinimum": lambda v: f"more than {clip(v)}",
    "exclusiveMaximum": lambda v: f"less than {clip(v)}",
    "multipleOf": lambda v: f"a multiple of {clip(v)}",
    "uniqueItems": lambda v: "no item twice" if v is True else None,
    "patternProperties": lambda v: f"keys match {' or '.join(v)}",
    "propertyNames": lambda v: f"keys fit {clip(v, 200)}",
    "additionalProperties": lambda v: (
        f"other keys hold {clip(v, 200)}" if isinstance(v, Mapping) and v else None
    ),
    "not": lambda v: f"not {clip(v, 200)}",
}


def gemini_schema(schema: Json, changes: Changes) -> Json:
    """Return *schema* in Gemini's words, noting every change."""
    if schema.keys() & {"$defs", "definitions"}:
        changes.note("", "rewritten", "definitions were put where they are used")
    return _Writer(schema, changes).write(schema, "")


class _Writer:
    def __init__(self, root: Json, changes: Changes) -> None:
        self._root, self._changes = root, changes
        self._written = 0
        self._open: list[str] = []  # the references that are being followed

    def write(self, node: Any, where: str) -> Json:
        """Return *node* in Gemini's words."""
        self._written += 1
        if not isinstance(node, Mapping):
            return self._anything({}, where)
        ref = node.get("$ref")
        if ref is not None:
            return self._followed(ref, node, where)
        if isinstance(node.get("allOf"), list):
            return self._joined(node, where)
        for key in ("anyOf", "oneOf"):
            if isinstance(node.get(key), list):
                return self._union(node, key, where)
        types = types_of(node) or _implied(node)
        if not types:
            return self._anything(node, where)
        if len(types) > 1:
            return self._several(node, types, where)
        return self._plain(node, types[0], where)

    def _followed(self, ref: Any, node: Mapping[str, Any], where: str) -> Json:
        pointed = target(self._root, ref)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if not isinstance(pointed, Mapping):
            return self.write(beside, where)
        if self._is_cut(ref, where):
            kind = next(iter(types_of(pointed) or _implied(pointed)), "object")
            cut: Json = {"type": kind}
            if kind == "array":
                cut["items"] = {"type": "object"}
            return self._described(cut, beside, ["nested, the same as above"])
        self._changes.note(where, "rewritten", "the reference was followed")
        return self._inside([ref], together(pointed, beside), where)

    def _joined(self, node: Mapping[str, Any], where: str) -> Json:
        self._changes.note(where, "rewritten", "allOf was merged")
        whole: Json = {key: value for key, value in node.items() if key != "allOf"}
        followed: list[Any] = []
        for part in node["allOf"]:
            if not isinstance(part, Mapping):
                continue
            ref = part.get("$ref")
            pointed = target(self._root, ref)
            if not isinstance(pointed, Mapping):
                whole = together(part, whole)
            elif not self._is_cut(ref, where):
                followed.append(ref)
                whole = together(pointed, whole)
        return self._inside(followed, whole, where)

    def _is_cut(self, ref: Any, where: str) -> bool:
        """Whether *ref* is not to be followed, as it leads back or there is too much."""
        is_cut = ref in self._open or self._written > _LIMIT
        if is_cut:
            message = "a schema that holds itself was cut"
            self._changes.note(where, "rewritten", message, refused=True)
        return is_cut

    def _inside(self, refs: list[Any], node: Mapping[str, Any], where: str) -> Json:
        """Write *node*, in which *refs* are being followed."""
        self._open += refs
        written = self.write(node, where)
        del self._open[len(self._open) - len(refs) :]
        return written

    def _union(self, node: Mapping[str, Any], key: str, where: str) -> Json:
        outer = {k: v for k, v in node.items() if k != key}
        branches = [b for b in node[key] if isinstance(b, Mapping)]
        real = [b for b in branches if b.get("type") != "null"]
        if len(real) < len(branches):
            outer["nullable"] = True
            self._changes.note(where, "rewritten", "null as a choice became nullable")
        if all(b.keys() <= {"required", "not"} for b in real):
            self._changes.note(where, "removed", f"{key} of required names")
            said = [f"{key}: {clip([b.get('required') for b in real], 200)}"]
            return self._described(self.write(outer, where), {}, said)
        if key == "oneOf":
            self._changes.note(where, "rewritten", "oneOf became anyOf")
        if len(real) == 1:
            self._changes.note(where, "rewritten", "a choice of one became that one")
            return self.write(together(real[0], outer), where)
        beside = {k: v for k, v in outer.items() if k not in _BESIDE}
        choice = [self.write(together(beside, b), where) for b in real]
        return self._choice(choice, outer, where)

    def _choice(
        self, branches: list[Json], outer: Mapping[str, Any], where: str
    ) -> Json:
        """A choice stands alone in Gemini: what was beside it goes to its first branch."""
        notes: list[str] = []
        for key in ("default", "examples"):
            if key in outer:
                self._drop(key, outer[key], where, notes)
        if outer.keys() & {"description", "title"}:
            message = "what is said of a choice went to its first branch"
            self._changes.note(where, "rewritten", message)
        own = branches[0].get("description", "")
        said = outer.get("description")
        whole = f"{said} {own}".strip() if isinstance(said, str) else own
        first = self._described(branches[0], {"description": whole}, notes)
        if outer.get("nullable"):
            first["nullable"] = True
        return {"anyOf": [first, *branches[1:]]}

    def _several(self, node: Mapping[str, Any], types: list[str], where: str) -> Json:
        self._changes.note(where, "rewritten", "a list of types became a choice")
        real = [kind for kind in types if kind != "null"]
        outer = {**node, "nullable": True} if len(real) < len(types) else dict(node)
        if len(real) == 1:
            return self._plain({**outer, "type": real[0]}, real[0], where)
        bare = {k: v for k, v in outer.items() if k not in _BESIDE}
        branches = [self._plain({**bare, "type": kind}, kind, where) for kind in real]
        return self._choice(branches, outer, where)

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
            if key in ("title", "nullable", *_KEPT.get(kind, ())):
                out[key] = value
            elif key not in _MADE and key not in _WRITTEN.get(kind, ()):
                self._drop(key, value, where, notes)
        if kind == "object":
            self._object(node, where, out)
        if kind == "array":
            self._array(node, where, out, notes)
        return self._described(out, node, notes)

    def _drop(self, key: str, value: Any, where: str, notes: list[str]) -> None:
        said = _SAID[key](value) if key in _SAID else None
        if said:
            notes.append(said)
            message = f"{key!r} is not taken: {said!r} went into the description"
            self._changes.note(where, "rewritten", message)
        else:
            self._changes.note(where, "removed", f"{key!r} is not taken")

    def _values(
        self,
        node: Mapping[str, Any],
        kind: str,
        where: str,
        out: Json,
        notes: list[str],
    ) -> None:
        values = [node["const"]] if "const" in node else node.get("enum")
        if not isinstance(values, list):
            return
        if "const" in node:
            self._changes.note(where, "rewritten", "'const' became an enum of one")
        if None in values:
            out["nullable"] = True
        taken = (
            [v for v in values if isinstance(v, str) and v] if kind == "string" else []
        )
        if taken:
            out["enum"] = taken
        if len(taken) < sum(v is not None for v in values):
            notes.append(f"one of {clip(values, 200)}")
            self._changes.note(
                where, "removed", "only strings can be enumerated", refused=True
            )

    def _object(self, node: Mapping[str, Any], where: str, out: Json) -> None:
        properties = node.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return
        known: dict[str, str] = {}
        out["properties"] = {}
        for name, sub in properties.items():
            inner = f"{where}.{name}" if where else name
            if sub is False:
                self._changes.note(inner, "removed", "never allowed")
                continue
            known[name] = _NAMES.rename(name)
            if known[name] != name:
                message = f"to {known[name]!r}: {_NAMES.words}"
                self._changes.note(inner, "renamed", message)
            out["properties"][known[name]] = self.write(sub, inner)
        required = [known[n] for n in node.get("required") or () if n in known]
        if required:
            out["required"] = required
        if len(required) < len(node.get("required") or ()):
            self._changes.note(where, "removed", "what is required but not declared")

    def _array(
        self, node: Mapping[str, Any], where: str, out: Json, notes: list[str]
    ) -> None:
        items = node.get("items")
        places = items if isinstance(items, list) else node.get("prefixItems")
        if isinstance(places, list) and places:
            notes.append(f"in this order: {clip(places, 200)}")
            self._changes.note(where, "rewritten", "a list of fixed places became open")
            items = (
                places[0] if all(p == places[0] for p in places) else {"anyOf": places}
            )
        elif not isinstance(items, Mapping):
            self._changes.note(
                where, "rewritten", "a list says what is in it", refused=True
            )
        out["items"] = self.write(items, f"{where}[]")

    def _described(self, out: Json, node: Mapping[str, Any], notes: list[str]) -> Json:
        said = node.get("description") or out.get("description")
        words = [said] if isinstance(said, str) else []
        words += [f"({'; '.join(notes)})"] if notes else []
        return {**out, "description": " ".join(words)} if words else out


def _implied(node: Mapping[str, Any]) -> list[str]:
    """The types of a node that does not name one but cannot mean another."""
    if node.keys() & {"properties", "additionalProperties", "required"}:
        return ["object"]
    if node.keys() & {"items", "prefixItems"}:
        return ["array"]
    values = [node["const"]] if "const" in node else node.get("enum")
    names = {_JSON[type(v)] for v in values or () if type(v) in _JSON}
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
