"""What the alternatives of a union are called: by a person in a list, by pydantic in a path."""

from collections.abc import Sequence
from typing import Any

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.view import SchemaView

_NOUNS = {
    "array": "list",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
    "string": "text",
}
_NESTING = 3  # a list of lists of lists of lists says no more than that
_PYTHON = {
    "array": "list",
    "boolean": "bool",
    "integer": "int",
    "number": "float",
    "object": "dict",
    "string": "str",
}


def names_of(view: SchemaView, branches: Sequence[Any]) -> list[str]:
    """Return a name for each of *branches*, no two alike."""
    names = [_name(view, branch) for branch in branches]
    return [
        f"{name} {names[: place + 1].count(name)}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _name(view: SchemaView, branch: Any, fuel: int = _NESTING) -> str:
    schema = view.node(branch).schema
    if isinstance(title := schema.get("title"), str) and title.strip():
        return notes.line(title)
    if mark := _discriminator(view, schema):
        return f"{notes.line(mark[0])} = {notes.option(mark[1])}"
    if name := _definition(branch):
        return notes.line(name)
    if "const" in schema:
        return notes.option(schema["const"])
    kind = schema.get("type")
    if kind == "array" and isinstance(schema.get("items"), dict) and fuel:
        return f"list of {_name(view, schema['items'], fuel - 1)}"
    if isinstance(kind, str):
        return _NOUNS.get(kind, kind)
    return "one of a list" if "enum" in schema else "anything"


def tags_of(view: SchemaView, branch: Any) -> set[str]:
    """Return what pydantic may call *branch* in the path of an error."""
    schema = view.node(branch).schema
    mark = _discriminator(view, schema)
    kind = _python_name(view, schema)
    tags = (
        schema.get("title"),
        _definition(branch),
        kind,
        str(mark[1]) if mark else "",
    )
    return {tag for tag in tags if isinstance(tag, str) and tag}


def _discriminator(view: SchemaView, schema: dict[str, Any]) -> tuple[str, Any] | None:
    properties = schema.get("properties")
    for name, sub in (properties if isinstance(properties, dict) else {}).items():
        found = view.node(sub).schema
        enum = found.get("enum")
        if "const" in found:
            return name, found["const"]
        if isinstance(enum, list) and len(enum) == 1:
            return name, enum[0]
    return None


def _definition(branch: Any) -> str:
    ref = branch.get("$ref") if isinstance(branch, dict) else None
    return ref.rpartition("/")[2] if isinstance(ref, str) else ""


def _python_name(view: SchemaView, schema: dict[str, Any], fuel: int = _NESTING) -> str:
    kind = schema.get("type")
    name = _PYTHON.get(kind, "") if isinstance(kind, str) else ""
    if name == "list" and isinstance(schema.get("items"), dict) and fuel:
        inner = _python_name(view, view.node(schema["items"]).schema, fuel - 1)
        return f"list[{inner or 'any'}]"
    return name
