"""Follow a `$ref` inside one JSON Schema: a pointer from its root, or the name of an anchor."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

MISSING: Final = object()
"""What a reference leads to that leads nowhere: None may be what is there."""


def follow(root: Any, reference: Any) -> Any:
    """Return what *reference*, as in `{"$ref": reference}`, points to inside *root*.

    A part that is not there, another document and what is no reference give `MISSING`.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        return MISSING
    start, *steps = reference[1:].split("/")
    if start:
        return MISSING if steps else _anchored(root, unquote(start))
    here = root
    for step in steps:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(here, Mapping) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            return MISSING
    return here


def _anchored(root: Any, name: str) -> Any:
    named = {
        ("$anchor", name),
        ("$dynamicAnchor", name),
        *(("$id", f"#{name}"), ("id", f"#{name}")),  # before 2019-09
    }
    todo, seen = [root], set[int]()
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            if any(part.get(key) == value for key, value in named):
                return part
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return MISSING
