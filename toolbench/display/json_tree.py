"""The display of a JSON value as a tree that the user can fold, or as indented text."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from toolbench.display.ansi import MUTED, on_page
from toolbench.display.caps import cap, left_out
from toolbench.display.css import CODE_FONT, TEXT_COLOR
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.values import each_once, json_default, key_text, plain

LIMIT = 100_000
"""The default number of characters of keys and values to show."""

# Characters of JSON to read at most
_LARGEST = 2_000_000
# Levels that are open at first, by default
_OPEN = 2
_DEEPEST = 40
# Characters of JSON that a value with its indent needs
_LEAST = 20
# Characters of one value
_LONGEST = 2_000
# Characters of markup that a node needs in addition to its text
_NODE = 110
_KEY = f"color:{on_page((35, 110, 200))}"
_CHILDREN = "padding-left:1.3em;border-left:1px dotted currentColor;margin-left:.3em"


def parse_json(text: str, *, most: int = _LARGEST) -> dict[str, Any] | list[Any] | None:
    """Parse *text* as JSON; return None if it is not a JSON object or list.

    If an object has the same key twice, also return None, because a tree would hide one of the
    values. If *text* is very long, return None, because parsing would take too long.
    """
    if len(text) > most or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value: dict[str, Any] | list[Any] = json.loads(text, object_pairs_hook=each_once)
    except (ValueError, RecursionError):
        return None
    return value


def json_text(value: Any, *, limit: int = LIMIT) -> str:
    """Return *value* as indented JSON, cut to its head and tail above *limit* characters."""
    return str(cap(_dumps(_fitting(value), indent=2), limit, visible))


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return *arguments* as indented JSON, with long strings such as files shortened."""
    return str(cap(_dumps(_fitting(dict(arguments), _LONGEST), indent=2), LIMIT, visible))


def json_html(value: Any, *, limit: int = LIMIT, open_levels: int = _OPEN) -> Html:
    """Return *value* as a tree of `<details>` elements, which fold without JavaScript.

    Args:
        value: The value.
        limit: The approximate number of characters to show. A notice says how many values were left
            out.
        open_levels: The number of levels that are open at first.
    """
    style = f"{CODE_FONT};{TEXT_COLOR};line-height:1.4"
    flow = "white-space:pre-wrap;overflow-wrap:anywhere"
    tree = _Tree(limit, open_levels)
    rows = tree.node(value, "", 0)
    mark = "data-toolbench-json"
    if tree.is_part:
        mark += " data-toolbench-part"
    return Html(f'<div {NO_MATHS} {mark} style="{style};{flow}">{rows}</div>')


class _Tree:
    """Writes the nodes of a tree. After *room* characters, it only counts the nodes left out."""

    def __init__(self, room: int, open_levels: int) -> None:
        self._room, self._open_levels = room, open_levels
        # Whether anything was left out, cut off or spelled out
        self.is_part = False

    def node(self, value: Any, label: str, depth: int) -> str:
        size = _size(value)
        if not size or depth >= _DEEPEST:
            return f"<div>{label}{self._leaf(value)}</div>"
        rows = []
        for count, (key, item) in enumerate(_items(value)):
            if self._room <= 0:
                self.is_part = True
                rows.append(_remark(left_out(size - count, "value")))
                break
            name = f'<span style="{_KEY}">{self._take(key)}</span>: '
            rows.append(self.node(item, name, depth + 1))
        summary = _remark(f"[{size:,}]")
        if isinstance(value, Mapping):
            summary = _remark(f"{{{size:,}}}")
        is_open = ""
        if depth < self._open_levels:
            is_open = " open"
        return (
            f"<details{is_open}>"
            f'<summary style="cursor:pointer">{label}{summary}</summary>'
            f'<div style="{_CHILDREN}">{"".join(rows)}</div></details>'
        )

    def _leaf(self, value: Any) -> Html:
        if isinstance(value, str):
            return self._take(value, quote='"')
        return self._take(_dumps(value))

    def _take(self, text: str, quote: str = "") -> Html:
        capped = str(cap(text, _LONGEST, visible))
        self.is_part = self.is_part or capped != text
        written = f"{quote}{capped}{quote}"
        self._room -= len(written) + _NODE
        return escape(written)


def _size(value: Any) -> int:
    """Return the number of items in *value*; 0 if it is neither an object nor a list."""
    if isinstance(value, Mapping | list | tuple):
        return len(value)
    return 0


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the keys and items of *value* lazily, because a tree may need only the first ones."""
    if isinstance(value, Mapping):
        return ((key_text(key), item) for key, item in value.items())
    return ((str(index), item) for index, item in enumerate(value))


def _fitting(value: Any, longest: int = _LARGEST) -> Any:
    """Return *value*. If it is very large, return only its first part, with a notice.

    Strings of more than *longest* characters are shortened.
    """
    part = _Part(longest)
    fitting = part.of(value, 0)
    if part.is_all:
        return value
    return fitting


class _Part:
    """Copies the first part of a value, until its room is used up."""

    def __init__(self, longest: int) -> None:
        self._room = _LARGEST
        self._longest = longest
        self.is_all = True

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            self._room -= len(value)
            if len(value) <= self._longest:
                return value
            self.is_all = False
            return str(cap(value, self._longest))
        self._room -= _LEAST
        if not _size(value) or depth >= _DEEPEST:
            return value
        is_object = isinstance(value, Mapping)
        entries = {}
        for count, (key, item) in enumerate(value.items() if is_object else enumerate(value)):
            if self._room <= 0:
                self.is_all = False
                entries["…"] = left_out(_size(value) - count, "value")
                break
            entries[key] = self.of(item, depth + 1)
        if is_object:
            return entries
        return list(entries.values())


def _remark(text: str) -> str:
    return f'<span style="color:{MUTED}">{escape(text)}</span>'


def _dumps(value: Any, indent: int | None = None) -> str:
    try:
        default = partial(json_default, otherwise=str)
        return json.dumps(value, indent=indent, ensure_ascii=False, default=default)
    except Exception:  # noqa: BLE001 - a cycle, an odd key, a user's str()
        return json.dumps(plain(value), indent=indent, ensure_ascii=False)
