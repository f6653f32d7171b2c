"""Runs as rows of a list, newest first, with the arguments that differ from the row above.

Everything is shown as it was recorded, without secrets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbench.core.result_limit import tokens_of
from toolbench.core.tool_names import ToolAddress
from toolbench.display.caps import shorten
from toolbench.display.escape import on_one_line, visible
from toolbench.display.observations import read_by_model
from toolbench.display.page import Tone
from toolbench.runs.record import RunRecord, state_tone, state_words
from toolbench.values import clip, same_json

HEADS = ("run", "time", "tool", "state", "arguments", "result")
"""The column headings of a list of runs."""
RUN_KEYS = ("run", "time", "tool", "state", "ms", "tokens", "arguments", "result")
"""The keys that a filter of runs can use."""
# Characters of one argument
_LONGEST = 60
# Characters of a cell
_CELL = 200
# Characters of the arguments that a filter searches
_SEARCHED = 2_000


@dataclass(frozen=True)
class RunRow:
    """The row of *record* in a list; *above* is the newer run in the row above it, if any."""

    record: RunRecord
    tool: str
    above: RunRecord | None = None

    @property
    def key(self) -> str:
        """The id that identifies the run in a page; see `run_key`."""
        return run_key(self.record)

    @property
    def state(self) -> str:
        """The state of the run, in words."""
        return state_words(self.record.state, self.record.observation)

    @property
    def tone(self) -> Tone:
        """The colour of the run's state."""
        return state_tone(self.record.state, self.record.observation)

    @cached_property
    def arguments(self) -> str:
        """The arguments on one line; for the same tool as above, only those that differ."""
        arguments, above = self.record.arguments, self.above
        if above is None or (above.tool, above.address) != (self.record.tool, self.record.address):
            return _arguments_line(arguments)
        changed = {
            name: value
            for name, value in arguments.items()
            if name not in above.arguments or not same_json(value, above.arguments[name])
        }
        parts = [f"without {name}" for name in above.arguments if name not in arguments]
        if changed:
            parts.insert(0, _arguments_line(changed))
        elif not parts and arguments:
            parts = ["the same"]
        return shorten(visible(", ".join(parts)), _CELL)

    @property
    def time(self) -> str:
        """The time of day at which the run began."""
        return f"{self.record.started.astimezone():%H:%M:%S}"

    def value(self, key: str) -> object:
        """Return the value for *key*, one of `RUN_KEYS`, in a filter; `tool` adds the address."""
        record = self.record
        match key:
            case "run":
                return record.id
            case "tool":
                return self.tool, str(record.address or self.tool)
            case "ms":
                return record.seconds * 1000
            case "tokens":
                return tokens_of(read_by_model(record.observation))
            case "arguments":
                return _arguments_line(record.arguments, limit=_SEARCHED)
            case "result":
                return record.result_line
        return getattr(self, key)

    @cached_property
    def searched(self) -> str:
        """The text that a filter searches for words: all cells, with all arguments."""
        cells = map(self.value, ("run", "time", "tool", "state", "arguments", "result"))
        return " ".join(map(str, cells))

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts of the row's cells, in the order of `HEADS`, for a page without a kernel."""
        state = f"{self.state}, {self.record.time_taken}"
        return (
            str(self.record.id),
            self.time,
            self.tool,
            state,
            self.arguments,
            self.record.result_line,
        )


def rows_of(
    records: Sequence[RunRecord], is_shown: Callable[[RunRow], bool] = lambda row: True
) -> Iterator[RunRow]:
    """Yield the rows for *records* that the filter *is_shown* accepts, newest first.

    *records* has the oldest record first.
    """
    above = None
    names = _tool_names(records)
    for record, name in zip(reversed(records), reversed(names), strict=True):
        row = RunRow(record, name, above)
        if is_shown(row):
            above = record
            yield row


def run_key(record: RunRecord) -> str:
    """Return the id by which a page distinguishes *record* from all other runs."""
    session, number = record.key
    return f"{session} {number}"


def _arguments_line(arguments: Mapping[str, Any], limit: int = _CELL) -> str:
    """Return *arguments* on one line of at most *limit* characters: `city = 'Paris', days = 3`."""
    pairs = (f"{name} = {clip(value, _LONGEST)}" for name, value in arguments.items())
    return shorten(on_one_line(", ".join(pairs)), limit)


def _tool_names(records: Sequence[RunRecord]) -> list[str]:
    """Return the name to show for the tool of each of *records*.

    If tools of several servers in *records* have the same name, their addresses, `server.tool`, are
    shown.
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
