"""The names of a union's alternatives: for a person, and in the paths of pydantic's errors."""

from collections.abc import Sequence
from typing import Any

from toolbench.jsonschema.node import Node
from toolbench.jsonschema.types import CLASSES
from toolbench.widgets.fields import notes

_NOUNS = {
    "array": "list",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
    "string": "text",
}
# Levels of "list of" in a name
_NESTING = 3


def names_of(branches: Sequence[Node]) -> list[str]:
    """Return a name for each of *branches*; no two names are equal."""
    names = [_name(branch) for branch in branches]
    return [
        f"{name} {names[: place + 1].count(name)}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _name(branch: Node, fuel: int = _NESTING) -> str:
    if branch.title.strip():
        return notes.line(branch.title)
    if mark := _discriminator(branch):
        return notes.option(mark[1])
    if name := branch.definition:
        return notes.line(name)
    if branch.is_constant:
        return notes.option(branch.values[0])
    if branch.type == "array" and branch.items is not None and fuel:
        return f"list of {_name(branch.items, fuel - 1)}"
    if branch.type is not None:
        return _NOUNS.get(branch.type, branch.type)
    return "one of a list" if branch.values else "anything"


def tag_of(branches: Sequence[Node], declared: str = "") -> str:
    """Return the name of the property that identifies each of *branches*; empty if there is none.

    Each branch allows only one value for it, and no two branches allow the same value. If there
    are several such properties, *declared*, the discriminator of the union's schema, comes
    first; then a property that each branch requires.
    """
    if len(branches) < 2:
        return ""
    names = [name for name in branches[0].properties if _identifies(name, branches)]
    required = (name for name in names if all(name in b.required for b in branches))
    return declared if declared in names else next(iter((*required, *names, "")))


def _identifies(name: str, branches: Sequence[Node]) -> bool:
    """Tell whether each of *branches* allows exactly one value for the property *name*, its own."""
    parts = [branch.properties.get(name) for branch in branches]
    values = [part.values for part in parts if part is not None and not part.nullable]
    texts = {repr(value) for value in values if len(value) == 1}
    return len(texts) == len(branches)


def tags_of(branch: Node) -> set[str]:
    """Return the names that pydantic may use for *branch* in the path of an error."""
    mark = _discriminator(branch)
    tags = (
        branch.title,
        branch.definition,
        _python_name(branch),
        str(mark[1]) if mark else "",
    )
    return {tag for tag in tags if tag}


def _discriminator(branch: Node) -> tuple[str, Any] | None:
    """Return the name and the value of the first property that allows only one value.

    Return None if there is no such property.
    """
    parts = ((name, part.values) for name, part in branch.properties.items())
    return next(((name, v[0]) for name, v in parts if len(v) == 1), None)


def _python_name(branch: Node, fuel: int = _NESTING) -> str:
    name = "" if branch.type is None else CLASSES[branch.type].__name__
    if name == "list" and branch.items is not None and fuel:
        return f"list[{_python_name(branch.items, fuel - 1) or 'any'}]"
    return name
