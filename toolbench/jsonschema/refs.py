"""Follow a `$ref` inside one JSON Schema: a pointer from its root, or the name of an anchor."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urljoin

from toolbench.jsonschema.types import Schema

MISSING: Final = object()
"""The target of a broken reference; not None, which can be a real target."""
_DEFINITIONS = ("#/$defs/", "#/definitions/")
_SHARED = ("$schema", "$defs", "definitions")


def follow(root: Any, reference: Any) -> Any:
    """Return the part of *root* to which *reference*, the value of a `$ref`, leads.

    *reference* may begin with the `$id` of *root* or of a part of *root*. The result is `MISSING`
    if *root* has no such part, or if *reference* is not a reference.
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
    """Yield each reference in *root*, also in parts of it that are not schemas."""
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
    """Return the part of *root* whose `$id` is *address*; both may be relative to an outer `$id`."""
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
    """Return the address of *part*; *base* is the address of the schema that has it inside."""
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
