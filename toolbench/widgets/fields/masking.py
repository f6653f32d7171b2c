"""Take the secrets out of a JSON value, and put them back in."""

from typing import Any

from toolbench.core.concealing import conceal as conceal
from toolbench.core.concealing import texts as texts
from toolbench.core.secrecy import HIDDEN, Secrecy
from toolbench.core.secrecy import Kept as Kept
from toolbench.widgets.fields.view import SchemaView


def mask(view: SchemaView, value: Any, name: Any, schema: Any) -> tuple[Any, Kept]:
    """Return *value* with its secrets hidden, and the secrets by their paths.

    Secret is what *schema*, a part of *view*, calls so; see `Secrecy`.
    """
    return Secrecy(schema, view.root).mask(value, str(name))


def unmask(value: Any, kept: Kept, path: tuple[Any, ...] = ()) -> Any:
    """Return *value* with the secrets that were *kept* back in their places."""
    if not kept:
        return value
    if isinstance(value, str):
        return kept.get(path, value) if value == HIDDEN else value
    if isinstance(value, dict):
        return {k: unmask(item, kept, (*path, k)) for k, item in value.items()}
    if isinstance(value, list):
        return [unmask(item, kept, (*path, i)) for i, item in enumerate(value)]
    return value


def hidden_in(value: Any, masked: Any, path: tuple[Any, ...] = ()) -> Kept:
    """Return the secrets that *masked* hides of *value*, by their paths."""
    if isinstance(masked, str):
        return {path: value} if masked == HIDDEN != value else {}
    pairs: list[tuple[Any, Any, Any]] = []
    if isinstance(value, dict) and isinstance(masked, dict):
        pairs = [(key, item, masked.get(key)) for key, item in value.items()]
    elif isinstance(value, list) and isinstance(masked, list):
        both = zip(value, masked, strict=False)
        pairs = [(i, left, right) for i, (left, right) in enumerate(both)]
    kept: Kept = {}
    for step, item, other in pairs:
        kept |= hidden_in(item, other, (*path, step))
    return kept
