"""Read the values of a sweep from a line: `x=1..5 y=[a,b] z=3`."""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from toolbench.jsonschema.node import Node
from toolbench.magics.call_arguments import from_words, in_lines
from toolbench.magics.parsers import UsageError

_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
# Values of one range
_MOST = 1_000_000


def grid_from_words(words: Iterable[str], node: Node) -> dict[str, Any]:
    """Read `name=values` words: a range `1..5` or `0..1..0.25`, a list `[a,b]`, or one value.

    A range includes both ends. An item of a list is text if *node* takes text, else JSON if it is
    valid JSON.

    Raises:
        UsageError: If a word has no `=`, repeats an argument, is a mistake for `from_words`, or is a
            range that never ends or has too many values. The error says all that is wrong.
    """
    grid, mistakes = dict[str, Any](), dict[str, str]()
    for word in words:
        name, equals, text = word.partition("=")
        if name in grid:
            mistakes[name] = f"{name!r} is given twice."
            continue
        try:
            values = _values(name, text, node) if equals else None
            grid[name] = [from_words([word], node)[name]] if values is None else values
        except UsageError as error:
            mistakes[name] = str(error)
    if mistakes:
        raise UsageError(in_lines([*mistakes.values()]))
    return grid


def _values(name: str, text: str, node: Node) -> list[Any] | None:
    """Return the values of a range or a list; None if *text* is one value.

    For an argument that takes a list, only a list of such lists has several values.
    """
    if match := _RANGE.fullmatch(text):
        return _range(name, *match.groups())
    if not (text.startswith("[") and text.endswith("]")):
        return None
    kind = node.at(name)
    try:
        items: list[Any] = json.loads(text)
        if kind.type == "array" and not (items and all(map(kind.fits, items))):
            return None
    except ValueError:
        items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
    return [_item(name, item, node) for item in items]


def _item(name: str, item: Any, node: Node) -> Any:
    """Return *item* as the value that the argument *name* takes."""
    if not isinstance(item, str):
        return str(item) if node.at(name).is_text and item is not None else item
    return from_words([f"{name}={item}"], node)[name]


def _range(name: str, first: str, last: str, step: str | None) -> list[Any]:
    low, high = Decimal(first), Decimal(last)
    width = Decimal(step) if step else Decimal(1 if high >= low else -1)
    if not width or (high - low) / width < 0 or (high - low) / width > _MOST:
        msg = f"{name}={first}..{last}..{step or width} never ends, or has too many values."
        raise UsageError(msg)
    count = int((high - low) / width) + 1
    numbers = [low + width * place for place in range(count)]
    is_whole = all("." not in text for text in (first, last, step or ""))
    return [int(n) if is_whole else float(n) for n in numbers]
