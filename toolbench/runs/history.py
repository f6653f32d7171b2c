"""The history: a record of each run, newest last, in memory and if wanted in a file.

The file has one line of JSON per run, to which lines are appended.
"""

import json
import os
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count, islice, pairwise
from math import isfinite
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, overload
from warnings import warn

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from toolbench.core.coercion import data_frame_class
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.display.caps import shorten
from toolbench.display.render import bundle
from toolbench.errors import ToolbenchError
from toolbench.files import open_unlinked
from toolbench.runs.numbering import numbers
from toolbench.runs.questions import Answer
from toolbench.runs.record import RunRecord, address_in, recorded_in, reruns, state_words
from toolbench.values import plain, text_of
from toolbench.wording import listed

if TYPE_CHECKING:
    import pandas as pd


# Bytes to read, from the end; older records stay in the file
_READ = 50_000_000

_REFUSED: Mapping[Any, Literal["arguments", "call"]] = {
    "arguments": "arguments",
    "call": "call",
}


class Journal:
    """One history file. Several kernels may write to the file; a crash loses only the newest line."""

    def __init__(self, path: Path) -> None:
        """Open the history file at *path*; the file is created if it does not exist.

        Raises:
            ToolbenchError: If the file cannot be read and written.
        """
        self.path = path.absolute()
        # A newline after a line that was cut off
        self._begin = ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a+b", opener=open_unlinked) as file:
                if file.tell() and _last_byte(file) != b"\n":
                    # The next record starts a new line
                    file.write(b"\n")
        except OSError as error:
            msg = f"History cannot be kept in {str(path)!r}: {error.strerror}."
            raise ToolbenchError(msg) from error

    def read(self, most: int) -> list[RunRecord]:
        """Return the last records in the file, at most *most*; broken and foreign lines are skipped.

        Raises:
            ToolbenchError: If the file cannot be read.
        """
        records: deque[RunRecord] = deque(maxlen=most)
        try:
            for line in self._lines():
                record = _record(line)
                if record is not None:
                    records.append(record)
        except OSError as error:
            msg = f"History cannot be read from {str(self.path)!r}: {error.strerror}."
            raise ToolbenchError(msg) from error
        return list(records)

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            start = max(self.path.stat().st_size - _READ, 0)
            if start:
                file.seek(start)
                # Half a line
                file.readline()
            yield from file

    def write(self, record: RunRecord) -> None:
        """Append *record* to the file; an error, such as a full disk, is only a warning."""
        try:
            line = f"{self._begin}{json.dumps(record.to_dict())}\n".encode()
            # In case the write fails: the next record then starts a new line
            self._begin = "\n"
            with open(self.path, "ab", buffering=0, opener=open_unlinked) as file:
                # At once: two kernels' lines must not mix
                rest = memoryview(line)
                while rest:
                    rest = rest[file.write(rest) or 0 :]
            self._begin = ""
        # SystemError: json of Python 3.12 without enough memory
        except (OSError, MemoryError, SystemError) as error:
            why = getattr(error, "strerror", None) or "there is too little memory"
            msg = f"Run {record.id} was not written to {str(self.path)!r}: {why}."
            warn(msg, RuntimeWarning, stacklevel=2)


def _last_byte(file: Any) -> bytes:
    file.seek(-1, os.SEEK_END)
    last: bytes = file.read(1)
    return last


def _record(line: bytes) -> RunRecord | None:
    try:
        data: dict[str, Any] = json.loads(line)
        state = str(data["state"])
        is_stopped = state in ("denied", "cancelled")
        return RunRecord(
            id=int(data["id"]),
            tool=str(data["tool"]),
            arguments=dict(data["arguments"]),
            observation=recorded_in(data["observation"], is_stopped=is_stopped),
            state=state,
            seconds=_seconds(data["seconds"]),
            source=str(data["source"]),
            started=datetime.fromisoformat(data["started"]),
            waited=_seconds(data.get("waited", 0)),
            decision=str(data.get("decision", "")),
            version=str(data.get("version", "")),
            address=address_in(data),
            answers=tuple(Answer(**answer) for answer in data.get("answers", ())),
            refused=_REFUSED.get(data.get("refused"), ""),
            unanswered=int(data.get("unanswered", 0)),
            size=len(line),
        )
    # ArithmeticError: a number such as 1e999 is infinite, and no float holds one of 400 digits
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
        return None


def _seconds(value: Any) -> float:
    """Return *value* as a number of seconds.

    Raises:
        ValueError: If *value* is not a finite number: no view could show it.
    """
    seconds = float(value)
    if not isfinite(seconds):
        msg = f"{seconds} is not a number of seconds"
        raise ValueError(msg)
    return seconds


# --- in memory -----------------------------------------------------------------------

AnyTool = ToolDefinition[Any, Any]
# Records
MAX_RECORDS = 1_000
# Bytes of all records together
ROOM = 50_000_000
_MAX_LINES = 20
# Characters of a cell
_WIDEST = 300
_MOST_GAPS = 5


class RunHistory(Sequence[RunRecord]):
    """The sequence of the records of a session. Any thread may add records."""

    def __init__(self, size: int = MAX_RECORDS, room: int = ROOM) -> None:
        """Keep the last *size* records; keep fewer if the records need more than *room* bytes."""
        self._max_records, self._room = size, room
        self._records: deque[RunRecord] = deque()
        self._size = 0
        self._lock = RLock()
        self._journal: Journal | None = None
        self._observers: dict[int, tuple[AnyTool, Callable[[], object]]] = {}
        self._numbers = count()
        # Of the runs that were read from files
        self._other_ids = set[int]()
        # The first number of those given when a file was read
        self._first_new = 0

    def add(self, record: RunRecord) -> RunRecord:
        """Append *record*, also to the file if `persist` has set one.

        Returns:
            The record in the history: *record*, or a copy with a new number, if a run that was read
            from a file has the same number.
        """
        with self._lock:
            # Started before the file was read
            is_early = record.id < self._first_new
            if is_early or record.id in self._other_ids:
                record = replace(record, id=numbers.take())
            self._append(record)
            journal = self._journal
        if journal is not None:
            journal.write(record)
        self._tell(record)
        return record

    def observe(self, tool: AnyTool, react: Callable[[], object]) -> Callable[[], None]:
        """Call *react* after a change of the runs of *tool*, in the thread of the change.

        Returns:
            A function that stops the calls.
        """
        number = next(self._numbers)
        with self._lock:
            self._observers[number] = tool, react

        def stop() -> None:
            with self._lock:
                self._observers.pop(number, None)

        return stop

    def _tell(self, record: RunRecord | None = None) -> None:
        """Call the observers of the tool of *record*, or all observers if *record* is None."""
        with self._lock:
            observers = list(self._observers.values())
        for tool, react in observers:
            if record is None or record.is_of(tool):
                react()

    def _append(self, record: RunRecord) -> None:
        self._records.append(record)
        self._size += record.size
        while len(self._records) > self._max_records or (
            self._size > self._room and len(self._records) > 1
        ):
            self._size -= self._records.popleft().size

    def persist(self, path: str | Path) -> None:
        """Load the records in the file at *path*, and keep all records in this file from now on.

        The records of earlier runs of this session are appended at once, each later record when
        its run ends. Each record is one line of JSON. A line that was cut off, for example by a
        crash, is skipped. A run that is already in the history is skipped too, so the cell can be
        run again. If a run of this session has the number of a run in the file, those of this session
        that are not in the file get new numbers.

        Raises:
            ToolbenchError: If *path* cannot be written.
        """
        journal = Journal(Path(path))
        earlier = journal.read(self._max_records)
        numbers.skip_to(max((record.id for record in earlier), default=0))
        in_file = {_identity(record) for record in earlier}
        with self._lock:
            known = {_identity(record) for record in self._records}
            new = [record for record in earlier if _identity(record) not in known]
            self._other_ids |= {record.id for record in new}
            present, self._size = self._renumbered(in_file), 0
            self._records.clear()
            for record in [*new, *present]:
                self._append(record)
            if self._journal is None or self._journal.path != journal.path:
                for record in present:
                    is_new = _identity(record) not in in_file
                    # Not of another file
                    if is_new and record.definition is not None:
                        journal.write(record)
            self._journal = journal
        self._tell()

    def _renumbered(self, in_file: Container[tuple[datetime, str]]) -> list[RunRecord]:
        """Return the records with new numbers for the runs of this session, if any has one of another.

        The runs in *in_file* keep their numbers: they are on disk.
        """
        own = [
            record
            for record in self._records
            if record.definition is not None and _identity(record) not in in_file
        ]
        if self._other_ids.isdisjoint(record.id for record in own):
            return list(self._records)
        own.sort(key=lambda record: record.id)
        copies = {id(record): replace(record, id=numbers.take()) for record in own}
        self._first_new = copies[id(own[0])].id
        return [copies.get(id(record), record) for record in self._records]

    def clear(self) -> None:
        """Forget all records and stop writing to the file; the file itself stays."""
        with self._lock:
            self._records.clear()
            self._size = 0
            self._journal = None
            self._other_ids.clear()
            self._first_new = 0
        self._tell()

    def find(self, number: int) -> RunRecord | None:
        """Return the newest record of the run with this *number*; None if there is no such record."""
        with self._lock:
            return next((r for r in reversed(self._records) if r.id == number), None)

    def of(self, tool: AnyTool) -> list[RunRecord]:
        """Return the records of the runs of *tool*, newest last.

        A tool is known by its server and its name there: other servers may use the same name.
        """
        return [record for record in self if record.is_of(tool)]

    def to_json(self) -> str:
        """Return all records as a JSON array."""
        return json.dumps([record.to_dict() for record in self])

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a DataFrame with a row per run: id, tool, state, seconds, arguments, text, and more.

        `seconds` are those of work; those in which the run waited for a person are in `waited`.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        names = (
            *("id", "tool", "state", "seconds", "waited"),
            *("source", "started", "decision"),
        )
        rows = [
            {
                **{name: getattr(record, name) for name in names},
                "arguments": plain(record.json_arguments),
                "text": record.observation.text,
            }
            for record in self
        ]
        return data_frame_class()(rows, columns=[*names, "arguments", "text"])

    @property
    def df(self) -> "pd.DataFrame":
        """The DataFrame of `to_dataframe`, under the name that an observation has for its own.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        return self.to_dataframe()

    @overload
    def __getitem__(self, index: int) -> RunRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[RunRecord]: ...
    def __getitem__(self, index: int | slice) -> RunRecord | list[RunRecord]:
        with self._lock:
            if isinstance(index, slice):
                return list(self._records)[index]
            return self._records[index]

    def __iter__(self) -> Iterator[RunRecord]:
        with self._lock:
            return iter(list(self._records))

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        with self._lock:
            records = list(islice(reversed(self._records), _MAX_LINES))[::-1]
        if not records:
            return {"text/plain": "No runs yet."}
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in ("run", "tool", "state", "seconds", "from", "arguments"):
            table.add_column(column, no_wrap=column != "arguments")
        for r, name in zip(records, tool_names(records), strict=True):
            state = state_words(r.state, r.observation)
            cells = (r.id, name, state, f"{r.seconds:.3f}", r.source)
            texts = (*map(str, cells), text_of(plain(r.json_arguments)))
            table.add_row(*(Text(shorten(text, _WIDEST)) for text in texts))
        return dict(bundle(Group(table, *map(Text, self.remarks_on(records)))))

    def remarks_on(self, records: Sequence[RunRecord]) -> list[str]:
        """Return sentences for below a list of *records*, the last ones: what is not in it, and why."""
        if not records:
            return []
        with self._lock:
            ids = sorted({record.id for record in self._records})
        remarks = list[str]()
        if len(records) < len(self):
            remarks.append(f"The last {len(records):,} of {len(self):,} runs.")
        own_ids = [record.id for record in records]
        first, last = min(own_ids), max(own_ids)
        gaps = [
            str(a + 1) if b - a == 2 else f"{a + 1} to {b - 1}"
            for a, b in pairwise(ids)
            if b - a > 1 and first <= a and b <= last
        ]
        if gaps:
            text = listed(gaps, _MOST_GAPS)
            remarks.append(f"Missing numbers: {text}. A run is listed when it has ended.")
        return remarks


def _identity(record: RunRecord) -> tuple[datetime, str]:
    """Return what *record* has in common with the same run in a file, also under another number."""
    return record.started, record.tool


def tool_names(records: Sequence[RunRecord]) -> list[str]:
    """Return the name of the tool of each of *records*, for people.

    If tools of several servers had the same name, it is the address, `server.tool`.
    """
    addresses: dict[str, set[ToolAddress | None]] = {}
    for record in records:
        addresses.setdefault(record.tool, set()).add(record.address)
    return [
        str(record.address)
        if record.address is not None and len(addresses[record.tool]) > 1
        else record.tool
        for record in records
    ]


_history = RunHistory()


def history() -> RunHistory:
    """Return the history: the runs of this session and the runs that `persist` loaded, newest last.

    `history().clear()` removes all runs from the history.
    """
    return _history


def _name_of(record: RunRecord) -> str:
    """Return the code by which a person gets *record* of the history."""
    for number, other in enumerate(_history):
        if other is record:
            return f"history()[{number}]"
    return "record"


reruns.name_of = _name_of
