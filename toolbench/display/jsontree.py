"""Show a JSON value as a tree a person can fold, and as indented text."""

import json
from collections.abc import Mapping
from typing import Any

from toolbench.core.keys import each_once
from toolbench.display.caps import cap, left_out
from toolbench.display.colors import MUTED, on_page
from toolbench.display.css import CODE_FONT, TEXT_COLOR
from toolbench.display.escape import NO_MATHS, Html, escape, visible

LIMIT = 100_000
"""Characters of keys and values shown, unless a caller says otherwise."""

_OPEN = 2  # levels unfolded at first
_DEEPEST = 40
_LONGEST = 2_000  # characters of one value
_NODE = 110  # characters of markup a node costs beside its text
_KEY = f"color:{on_page((35, 110, 200))}"
_CHILDREN = "padding-left:1.3em;border-left:1px dotted currentColor;margin-left:.3em"


def parse_json(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that *text* writes down; None when it is anything else.

    An object with the same key twice is refused: a tree would hide one of them.
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value: dict[str, Any] | list[Any] = json.loads(
            text, object_pairs_hook=each_once
        )
    except (ValueError, RecursionError):
        return None
    return value


def json_text(value: Any, *, limit: int = LIMIT) -> str:
    """Return *value* as indented JSON: the head and the tail of more than *limit* characters."""
    return str(cap(visible(_dumps(value, indent=2)), limit))


def json_html(value: Any, *, limit: int = LIMIT) -> Html:
    """Return *value* as a tree of `<details>`: it folds without a line of JavaScript."""
    style = f"{CODE_FONT};{TEXT_COLOR};line-height:1.4"
    flow = "white-space:pre-wrap;overflow-wrap:anywhere"
    tree = _Tree(limit).node(value, "", 0)
    return Html(f'<div {NO_MATHS} style="{style};{flow}">{tree}</div>')


class _Tree:
    """Writes nodes until its room is used up; then it only counts."""

    def __init__(self, room: int) -> None:
        self._room = room

    def node(self, value: Any, label: str, depth: int) -> str:
        items = _items(value) if depth < _DEEPEST else []
        if not items:
            return f"<div>{label}{self._leaf(value)}</div>"
        rows = []
        for count, (key, item) in enumerate(items):
            if self._room <= 0:
                rows.append(_remark(left_out(len(items) - count, "value")))
                break
            name = f'<span style="{_KEY}">{self._take(key)}</span>: '
            rows.append(self.node(item, name, depth + 1))
        begin, end = "{}" if isinstance(value, Mapping) else "[]"
        size = _remark(f"{begin}{len(items):,}{end}")
        return (
            f"<details{' open' if depth < _OPEN else ''}>"
            f'<summary style="cursor:pointer">{label}{size}</summary>'
            f'<div style="{_CHILDREN}">{"".join(rows)}</div></details>'
        )

    def _leaf(self, value: Any) -> Html:
        if isinstance(value, str):
            return self._take(f'"{value}"')
        return self._take(_dumps(value))

    def _take(self, text: str) -> Html:
        shown = str(cap(visible(text), _LONGEST))
        self._room -= len(shown) + _NODE
        return escape(shown)


def _items(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [(str(index), item) for index, item in enumerate(value)]
    return []


def _remark(text: str) -> str:
    return f'<span style="color:{MUTED}">{escape(text)}</span>'


def _dumps(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError) as error:
        return f"({type(value).__name__} that JSON cannot carry: {error})"
