"""A result on one line: what the closed row of a call says of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolbench.core.schema import Observation
from toolbench.display.ansi import from_ansi
from toolbench.display.json_tree import parse_json
from toolbench.display.tables import returned_frame, shape_text
from toolbench.values import clip
from toolbench.wording import counted

# Characters of a list or object inside of a result
_LONGEST = 40
# Characters of a text that are read for its line
_ROOM = 1_600
# Parts of a JSON value that are written
_MOST = 40


def result_line(observation: Observation) -> str:
    """Return *observation* on one line, for a row that cuts what has no room; empty if it says nothing.

    JSON is written as the arguments of a call are, a list with the number of its items. Of a table
    there are its size and its first lines, of other text the first lines, of an image that there is
    one.
    """
    images = sum(len(b.image_urls) for b in observation.content if b.type == "image")
    frame = None if observation.is_error else returned_frame(observation)
    parts = [counted(images, "image")] if images else []
    parts += [shape_text(frame)] if frame is not None else []
    return " · ".join(filter(None, [*parts, _text_line(observation.text)]))


def _text_line(text: str) -> str:
    value = parse_json(text)
    if isinstance(value, Mapping):
        return ", ".join(_pairs(value))
    if isinstance(value, list):
        items = ", ".join(map(_inner, value[:_MOST]))
        return ": ".join(filter(None, [counted(len(value), "item"), items]))
    lines = (line.strip() for line in from_ansi(text[:_ROOM]).plain.splitlines())
    return " · ".join(line.removeprefix("- ") for line in lines if line)


def _pairs(value: Mapping[str, Any]) -> Iterator[str]:
    for name in [*value][:_MOST]:
        yield f"{name}={_inner(value[name])}"


def _inner(value: Any) -> str:
    """Return *value*, a part of a JSON value; a long list or object by its size."""
    text = clip(value, _ROOM)
    if len(text) <= _LONGEST or not isinstance(value, Mapping | list):
        return text
    return counted(len(value), "item" if isinstance(value, list) else "field")
