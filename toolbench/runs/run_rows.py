"""Runs as rows of a list, newest first: what differs from the row above, and the result in a line.

All of it is shown as it was recorded, without secrets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbench.core.content import ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.core.tool_names import ToolAddress
from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.display.images import Image, read_image
from toolbench.display.json_tree import parse_json
from toolbench.display.page import Tone
from toolbench.display.tables import returned_frame, shape_text
from toolbench.runs.record import RunRecord, state_tone, state_words
from toolbench.values import clip, same_json
from toolbench.wording import counted

HEADS = ("run", "time", "tool", "state", "arguments", "result")
"""The heads of a list of runs."""
# Characters of one argument
_LONGEST = 60
# Characters of a cell, and of a result
_CELL, _RESULT = 200, 120
# Characters at the start of a text, in which its first line is looked for
_START = 2_000
# Bytes of an image that is drawn small
_LARGEST = 150_000


@dataclass(frozen=True)
class RunRow:
    """The row of *record* in a list, below that of *above*, a newer run; None for the first row."""

    record: RunRecord
    tool: str
    above: RunRecord | None = None

    @property
    def key(self) -> str:
        """The name that no other run has."""
        return run_key(self.record)

    @property
    def state(self) -> str:
        """The state in words."""
        return state_words(self.record.state, self.record.observation)

    @property
    def tone(self) -> Tone:
        """The colour of the state."""
        return state_tone(self.record.state, self.record.observation)

    @property
    def arguments(self) -> str:
        """The arguments on one line: of a call of the same tool, those that differ from the row above."""
        arguments, above = self.record.arguments, self.above
        if above is None or (above.tool, above.address) != (self.record.tool, self.record.address):
            return arguments_text(arguments)
        changed = {
            name: value
            for name, value in arguments.items()
            if name not in above.arguments or not same_json(value, above.arguments[name])
        }
        parts = [f"without {name}" for name in above.arguments if name not in arguments]
        if changed:
            parts.insert(0, arguments_text(changed))
        elif not parts and arguments:
            parts = ["the same"]
        return shorten(visible(", ".join(parts)), _CELL)

    @cached_property
    def result(self) -> str:
        """The result on one line: how many rows or items it has, or the first line of its text."""
        observation = self.record.observation
        frame = returned_frame(observation)
        if frame is not None:
            return shape_text(frame)
        texts = [block.text for block in observation.content if isinstance(block, TextContent)]
        lines = [_brief("".join(texts))]
        lines += [image.label for image in _images(observation)]
        return shorten(visible(", ".join(filter(None, lines))), _RESULT)

    @property
    def picture(self) -> str:
        """The `data:` URL of the first image in the result; empty if it has none, or a large one."""
        for image in _images(self.record.observation):
            if not image.problem and len(image.data) <= _LARGEST:
                return image.source
        return ""

    @cached_property
    def searched(self) -> str:
        """The text in which a filter looks for its words: all cells, with `tool:` and `state:`."""
        address = self.record.address or ""
        heads = f"{self.record.id} tool:{self.tool} tool:{address} state:{self.state}"
        arguments = arguments_text(self.record.arguments, limit=_START)
        return f"{heads} {arguments} {self.result}".lower()

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells below `HEADS`, for a page without a kernel."""
        when = f"{self.record.started.astimezone():%H:%M:%S}"
        state = f"{self.state}, {self.record.time_taken}"
        return str(self.record.id), when, self.tool, state, self.arguments, self.result


def rows_of(records: Sequence[RunRecord], words: str = "") -> Iterator[RunRow]:
    """Yield the rows of those of *records*, the oldest first, that have all *words*; the newest first."""
    wanted, above = words.lower().split(), None
    names = _tool_names(records)
    for record, name in zip(reversed(records), reversed(names), strict=True):
        row = RunRow(record, name, above)
        if wanted:
            searched = row.searched
            if not all(word in searched for word in wanted):
                continue
        above = record
        yield row


def run_key(record: RunRecord) -> str:
    """Return the name by which a page tells *record* from all other runs."""
    session, number = record.key
    return f"{session} {number}"


def arguments_text(arguments: Mapping[str, Any], limit: int = _CELL) -> str:
    """Return *arguments* on one line of at most *limit* characters: `city = 'Paris', days = 3`."""
    pairs = (f"{name} = {clip(value, _LONGEST)}" for name, value in arguments.items())
    return shorten(visible(" ".join(", ".join(pairs).split())), limit)


def _brief(text: str) -> str:
    """Return *text* on one line: a list in JSON as the number of its items, else the first line."""
    value = None
    if text.startswith("["):
        value = parse_json(text)
    if isinstance(value, list):
        noun = "item"
        if value and all(isinstance(item, dict) for item in value):
            noun = "row"
        return f"{counted(len(value), noun)}: {_one_line(text[:_START])}"
    start = text[:_START].strip()
    # An object, or a list that was too large to keep whole
    if start.startswith(("{", "[")):
        return _one_line(start)
    return start.partition("\n")[0]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _images(observation: Observation) -> Iterator[Image]:
    for block in observation.content:
        if isinstance(block, ImageContent):
            yield from map(read_image, block.image_urls)


def _tool_names(records: Sequence[RunRecord]) -> list[str]:
    """Return the name of the tool of each of *records*, for people.

    If tools of several servers had the same name, it is the address, `server.tool`.
    """
    addresses: dict[str, set[ToolAddress | None]] = {}
    for record in records:
        addresses.setdefault(record.tool, set()).add(record.address)
    names = []
    for record in records:
        name = record.tool
        if record.address is not None and len(addresses[name]) > 1:
            name = str(record.address)
        names.append(name)
    return names
