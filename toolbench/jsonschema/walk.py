"""Read a JSON Schema keyword by keyword: find the schemas inside it, and follow its references.

A `$ref` consists of a pointer from the root of the schema, or of the name of an anchor. The address
(`$id`) of the root or of a part may come first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urljoin

from toolbench.jsonschema.types import Json, Schema
from toolbench.values import copied

ALTERNATIVES = ("anyOf", "oneOf")
"""The keywords that list schemas of which a value has to fit one."""
TOGETHER = ("allOf", *ALTERNATIVES)
"""The keywords that list schemas for the same value as the schema that has the keyword."""
COMPOSITION = ("$ref", *TOGETHER)
"""The keywords with which a schema consists of other schemas for the same value."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that refer to another schema for the same value."""
CASES = ("if", "then", "else")
"""The keywords of a condition: the result of `if` decides which of the other schemas applies."""
DEPENDENT = ("dependentSchemas", "dependencies")
"""The keywords with schemas that apply to an object only if it has a certain property."""
DEFINITIONS = ("$defs", "definitions")
"""The keywords with schemas that describe a value only if a reference leads to them."""
MAPPINGS = (
    "properties",
    "patternProperties",
    *DEFINITIONS,
    "dependentSchemas",
)
LISTS = (*TOGETHER, "prefixItems")
SINGLE = (
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_HOLDERS = frozenset((*MAPPINGS, *LISTS, *SINGLE))


# --- the keywords of one schema -----------------------------------------------------


def mapping(schema: Schema, key: str) -> Schema:
    """Return the object under *key* in *schema*; an empty object if there is none."""
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def sequence(schema: Schema, key: str) -> list[Any]:
    """Return the list under *key* in *schema*; an empty list if there is none."""
    value = schema.get(key)
    return value if isinstance(value, list) else []


def types_of(schema: Schema) -> list[str]:
    """Return the types that *schema* names, in the same order."""
    names = schema.get("type")
    if not isinstance(names, list):
        names = [names]
    return [name for name in names if isinstance(name, str)]


def required_of(schema: Schema) -> list[str]:
    """Return the names of the properties that *schema* requires."""
    return [name for name in sequence(schema, "required") if isinstance(name, str)]


# --- the schemas of the same value --------------------------------------------------


def reference_in(schema: Schema) -> tuple[Any, Schema]:
    """Return the `$ref` of *schema* (None if it has none), and its other keywords."""
    return schema.get("$ref"), without(schema, "$ref")


def conjunction_in(schema: Schema) -> tuple[list[Any], Schema]:
    """Return the schemas in `allOf` of *schema*, and the other keywords."""
    return sequence(schema, "allOf"), without(schema, "allOf")


def alternatives_in(schema: Schema) -> tuple[str, list[Any], Schema]:
    """Return the keyword (`anyOf` or `oneOf`), its alternatives, and the rest of *schema*.

    If *schema* has both keywords, `anyOf` is used. If it has none, the returned keyword is empty.
    """
    for keyword in ALTERNATIVES:
        if keyword in schema:
            return keyword, sequence(schema, keyword), without(schema, keyword)
    return "", [], schema


def without(schema: Schema, *keywords: str) -> Schema:
    """Return *schema* without *keywords*; the same object if it has none of them."""
    if schema.keys().isdisjoint(keywords):
        return schema
    rest = dict(schema)
    for keyword in keywords:
        rest.pop(keyword, None)
    return rest


# --- the schemas inside a schema ----------------------------------------------------


def children(schema: Schema, where: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each schema directly inside *schema*, as a tuple: keyword, path, inner schema.

    The path, such as `items[].name`, says which part of a value the inner schema describes. *where*
    is the path for *schema* itself.
    """
    for key, value in schema.items():
        if key in _HOLDERS:
            for _, place, part in _parts_under(key, value, where):
                yield key, place, part


def _parts_under(key: str, value: Any, where: str) -> Iterator[tuple[str | None, str, Any]]:
    """Yield the schemas under the keyword *key*, each after its name and its place.

    *value* is the value of the keyword. The name is None if its schemas have no names.
    """
    place = where
    if key in MAPPINGS and isinstance(value, Mapping):
        for name, part in value.items():
            if key == "properties":
                place = f"{where}.{name}" if where else name
            yield name, place, part
        return
    if key in ("items", "prefixItems"):
        place = f"{where}[]"
    if isinstance(value, list):
        for part in value:
            yield None, place, part
    elif key in SINGLE:
        yield None, place, value


def every(schema: Any, where: str = "") -> Iterator[tuple[str, Json]]:
    """Yield *schema* and every schema in it that is an object, each with its place in the value."""
    todo = [(where, schema)]
    while todo:
        place, part = todo.pop()
        if isinstance(part, dict):
            yield place, part
            inside = list(children(part, place))
            for _, inner, sub in reversed(inside):
                todo.append((inner, sub))


def says_secret(schema: Any) -> bool:
    """Tell whether *schema* itself means a secret, by `format: password` or `writeOnly`."""
    if not isinstance(schema, Mapping):
        return False
    return schema.get("format") == "password" or schema.get("writeOnly") is True


def rewritten(schema: Any, change: Callable[[Json, str], Json], where: str = "") -> Any:
    """Return a copy of *schema* in which *change* has replaced each schema, inner schemas first.

    Args:
        schema: The schema. Its defaults and examples are copied without a change.
        change: A function that gets a schema and its path, and returns the new schema. The path,
            such as `items[].name`, says which part of a value the schema describes.
        where: The path for *schema* itself.
    """
    if not isinstance(schema, dict):
        return schema
    copy: Json = {}
    for key, value in schema.items():
        parts = []
        if key in _HOLDERS:
            for name, place, part in _parts_under(key, value, where):
                parts.append((name, rewritten(part, change, place)))
        if not parts:
            # No schemas, though the keyword may be one that should hold some
            copy[key] = copied(value)
        elif isinstance(value, list):
            copy[key] = [part for _, part in parts]
        elif key in MAPPINGS:
            copy[key] = dict(parts)
        else:
            copy[key] = parts[0][1]
    return change(copy, where)


# --- references -----------------------------------------------------------------------

MISSING: Final = object()
"""The target of a broken reference; not None, which can be a real target."""
_DEFINITIONS = ("#/$defs/", "#/definitions/")
_SHARED = ("$schema", "$defs", "definitions")


def follow(root: Any, reference: Any) -> Any:
    """Return the part of *root* to which *reference*, the value of a `$ref`, refers.

    *reference* may begin with the `$id` of *root*, or of a part of *root*. The result is `MISSING`
    if *root* has no such part, or if *reference* is not valid.
    """
    if not isinstance(reference, str) or not reference:
        return MISSING
    address, _, pointer = reference.partition("#")
    if address:
        root = _addressed(root, address)
    start, *steps = pointer.split("/")
    if start and steps:
        return MISSING
    if start:
        return _anchored(root, unquote(start))
    here = root
    for step in steps:
        name = unescaped(step)
        if isinstance(here, Mapping) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            return MISSING
    return here


def definition_name(schema: Any) -> str:
    """Return the name of the definition to which *schema* refers; empty if it has no reference."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
        return ""
    return unescaped(schema["$ref"].rpartition("/")[2])


def unescaped(step: str) -> str:
    """Return the key for one *step* of a JSON pointer, without its escapes."""
    return unquote(step).replace("~1", "/").replace("~0", "~")


def may_refer(text: bytes) -> bool:
    """Tell whether *text*, a schema as JSON, may have a reference (`$ref`)."""
    return b"$ref" in text


def definitions_of(root: Schema) -> dict[str, Any]:
    """Return the keywords `$schema`, `$defs` and `definitions` of *root*, with their values."""
    return {key: root[key] for key in _SHARED if key in root}


def leads_out(root: Any) -> bool:
    """Tell whether a reference inside *root* leads to a part that is not a definition."""
    return any(not name.startswith(_DEFINITIONS) for name in references_in(root))


def references_in(root: Any) -> Iterator[str]:
    """Yield each reference in *root*, even in parts that are not schemas."""
    for part in objects_in(root):
        if isinstance(reference := part.get("$ref"), str):
            yield reference


def objects_in(root: Any) -> Iterator[Schema]:
    """Yield each JSON object in *root* once, at any depth."""
    todo, visited = [root], set[int]()
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping | list) and id(part) not in visited:
            visited.add(id(part))
            if isinstance(part, Mapping):
                yield part
                todo += part.values()
            else:
                todo += part


def _addressed(root: Any, address: str) -> Any:
    """Return the part of *root* whose `$id` is *address*.

    An `$id` may be relative to the `$id` of the schema around it. *address* may be relative to the
    `$id` of *root*.
    """
    target = _join(_address("", root), address)
    todo, visited = [(root, "")], set[int]()
    while todo:
        part, base = todo.pop()
        if id(part) in visited:
            continue
        visited.add(id(part))
        inner: Iterable[Any] = ()
        if isinstance(part, Mapping):
            base = _address(base, part)
            if base and base == target:
                return part
            inner = part.values()
        elif isinstance(part, list):
            inner = part
        for one in inner:
            todo.append((one, base))
    return MISSING


def _address(base: str, part: Any) -> str:
    """Return the address of *part*; *base* is the address of the schema around it."""
    # The latter as draft 4 writes it
    for key in ("$id", "id"):
        if isinstance(part, Mapping) and isinstance(part.get(key), str):
            return _join(base, part[key].partition("#")[0])
    return _join(base, "")


def _join(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        # Not an address: used as it is
        return address


def _anchored(root: Any, name: str) -> Any:
    for part in objects_in(root):
        if name in (part.get("$anchor"), part.get("$dynamicAnchor")):
            return part
        # Before 2019-09
        if f"#{name}" in (part.get("$id"), part.get("id")):
            return part
    return MISSING
