"""The history: a record of each run, newest last, in memory and optionally in a file.

The file, a `Journal`, has one line of JSON per run; new lines are appended. A run is identified by
its session and its number (`RunRecord.key`). Runs of different sessions may have the same number;
`find` then returns the newest of them.
"""

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, islice, pairwise
from os import PathLike
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Literal, overload
from warnings import warn

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from toolbench.core.coercion import data_frame_class
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.display.filter import Filter
from toolbench.display.render import bundle, to_text
from toolbench.display.tables import listing_html
from toolbench.display.timeline import Span, Timeline
from toolbench.errors import ToolbenchError
from toolbench.files import open_unlinked, write_named
from toolbench.runs.questions import Answer, Wait
from toolbench.runs.record import SESSION, RunRecord, is_lost, recorded_in
from toolbench.runs.run import Run, numbers
from toolbench.runs.run_rows import HEADS, RUN_KEYS, rows_of
from toolbench.runs.run_spans import spans_of_runs
from toolbench.wording import listed

if TYPE_CHECKING:
    import pandas as pd

AnyTool = ToolDefinition[Any, Any]
# Bytes to read from the end of the file; older records stay in the file
_READ = 50_000_000
# Records
MAX_RECORDS = 1_000
# Bytes of all records together
ROOM = 50_000_000
# Seconds since 1970 that no time reaches before the year 5138
_MOST_SECONDS = 1e11
_MAX_LINES = 20
_MOST_GAPS = 5
_COLUMNS = ("id", "tool", "state", "seconds", "waited", "source", "started", "decision")
_REFUSED: Mapping[Any, Literal["arguments", "call"]] = {"arguments": "arguments", "call": "call"}


# --- on disk ----------------------------------------------------------------------------


class Journal:
    """A history file. Several kernels may write to it; a crash loses at most the newest line."""

    def __init__(self, path: Path) -> None:
        """Open the history file at *path*; the file is created if it does not exist.

        Raises:
            ToolbenchError: If the file cannot be read and written.
        """
        self.path = path.absolute()
        self._lock = Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._append(b"")
        except OSError as error:
            msg = f"History cannot be kept in {str(path)!r}: {error.strerror}."
            raise ToolbenchError(msg) from error

    def read(self, most: int) -> list[RunRecord]:
        """Return the last records in the file, at most *most*; skip broken and unknown lines.

        Raises:
            ToolbenchError: If the file cannot be read.
        """
        records: deque[RunRecord] = deque(maxlen=most)
        try:
            with self.path.open("rb") as file:
                start = max(self.path.stat().st_size - _READ, 0)
                if start:
                    file.seek(start)
                    # Skip the rest of a line
                    file.readline()
                for line in file:
                    record = _record(line)
                    if record is not None:
                        records.append(record)
        except OSError as error:
            msg = f"History cannot be read from {str(self.path)!r}: {error.strerror}."
            raise ToolbenchError(msg) from error
        return list(records)

    def write(self, record: RunRecord) -> None:
        """Append *record* to the file; warn if that fails, for example because the disk is full."""
        try:
            self._append(f"{json.dumps(record.to_dict())}\n".encode())
        # SystemError: json of Python 3.12 without enough memory
        except (OSError, MemoryError, SystemError) as error:
            why = getattr(error, "strerror", None) or "there is too little memory"
            msg = f"Run {record.id} was not written to {str(self.path)!r}: {why}."
            warn(msg, RuntimeWarning, stacklevel=2)

    def _append(self, line: bytes) -> None:
        """Append *line* as a separate line, even if the last line in the file is incomplete."""
        with self._lock, open(self.path, "a+b", buffering=0, opener=open_unlinked) as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            # In one write: lines of two kernels must not mix
            rest = memoryview(line)
            while rest:
                rest = rest[file.write(rest) or 0 :]


def _record(line: bytes) -> RunRecord | None:
    """Return the record in *line* of a file; None if the line has no valid record."""
    try:
        data: dict[str, Any] = json.loads(line)
        state, arguments = str(data["state"]), dict(data["arguments"])
        is_stopped = state in ("denied", "cancelled")
        # Version 0.1 has no sessions; its numbers differed between all sessions of a file
        session = data.get("session", data["started"])
        observation = recorded_in(data["observation"], is_stopped=is_stopped)
        if "max_result_tokens" in data:
            observation._max_tokens = int(data["max_result_tokens"])
        lost = data.get("lost")
        if lost is None:
            lost = [name for name, value in arguments.items() if is_lost(value)]
        return RunRecord(
            id=int(data["id"]),
            tool=str(data["tool"]),
            arguments=arguments,
            observation=observation,
            state=state,
            seconds=_seconds(data["seconds"]),
            source=str(data["source"]),
            started=datetime.fromisoformat(data["started"]),
            waited=_seconds(data.get("waited", 0)),
            decision=str(data.get("decision", "")),
            version=str(data.get("version", "")),
            address=_address_in(data),
            answers=tuple(Answer(**answer) for answer in data.get("answers", ())),
            waits=tuple(map(_wait, data.get("waits", ()))),
            refused=_REFUSED.get(data.get("refused"), ""),
            unanswered=int(data.get("unanswered", 0)),
            lost=tuple(map(str, lost)),
            session=str(session),
            size=len(line),
        )
    # ArithmeticError: a number such as 1e999 is infinite, and no float holds one of 400 digits
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
        return None


def _seconds(value: Any) -> float:
    """Return *value* as a number of seconds.

    Raises:
        ValueError: If *value* is not a number, or is larger than any time that a view could show.
    """
    seconds = float(value)
    if not abs(seconds) < _MOST_SECONDS:
        msg = f"{seconds} is not a number of seconds"
        raise ValueError(msg)
    return seconds


def _wait(data: Mapping[str, Any]) -> Wait:
    ended = data["ended"]
    # A run that was recorded before its question was answered
    if ended is not None:
        ended = _seconds(ended)
    is_consent = bool(data.get("is_consent"))
    return Wait(str(data["question"]), _seconds(data["began"]), ended, is_consent)


def _address_in(data: Mapping[str, Any]) -> ToolAddress | None:
    """Return the address of the tool in *data*, a record in JSON; None if it has no address."""
    if "server" not in data:
        return None
    return ToolAddress(str(data["server"]), str(data.get("remote_name", data["tool"])))


# --- in memory --------------------------------------------------------------------------


class RunHistory(Sequence[RunRecord]):
    """The records of a session, in order; any thread may add records.

    Example:
        ```python
        history().persist("runs.jsonl")     # this session's runs and those of earlier ones
        history()[-1].rerun()
        history().df
        ```
    """

    def __init__(self, size: int = MAX_RECORDS, room: int = ROOM) -> None:
        """Keep the last *size* records, or fewer if they need more than *room* bytes."""
        self._max_records, self._room = size, room
        self._records: deque[RunRecord] = deque()
        self._size = 0
        self._lock = RLock()
        self._journal: Journal | None = None
        self._running: set[Run] = set()
        self._observers: dict[int, tuple[AnyTool | None, Callable[[], object]]] = {}
        self._observer_numbers = count()

    def add(self, record: RunRecord) -> None:
        """Append *record*, and write it to the file if `persist` has set one."""
        with self._lock:
            self._append(record)
            journal = self._journal
        if journal is not None:
            journal.write(record)
        self._tell(record)

    def begun(self, run: Run) -> None:
        """Add *run* to the runs in progress, until `ended` is called for it."""
        with self._lock:
            self._running.add(run)

    def ended(self, run: Run) -> None:
        """Remove *run* from the runs in progress; its record has been added."""
        with self._lock:
            self._running.discard(run)

    def spans(self, conversation: Any = None) -> list[Span]:
        """Return the time spans of the runs and of their questions, including runs in progress.

        Args:
            conversation: The conversation whose runs are returned; None for all runs.
        """
        with self._lock:
            records, running = self[:], list(self._running)
        recorded = {record.key for record in records}
        # For a moment a run is both recorded and in progress
        running = [run for run in running if (SESSION, run.id) not in recorded]
        if conversation is not None:
            records = [each for each in records if each.conversation is conversation]
            running = [each for each in running if each.conversation is conversation]
        return list(spans_of_runs(records, running))

    def timeline(self) -> Timeline:
        """Return a picture of when each run worked and waited for you, with a table by tool.

        Example:
            ```python
            history().timeline().of("ms>500")
            ```
        """
        return Timeline(source=self.spans)

    def observe(self, tool: AnyTool | None, react: Callable[[], object]) -> Callable[[], None]:
        """Call *react* after each change of a run of *tool*, in the thread that makes the change.

        If *tool* is None, *react* is called for the runs of all tools.

        Returns:
            A function that stops the calls.
        """
        number = next(self._observer_numbers)
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
            if record is None or tool is None or record.is_of(tool):
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

        The records of earlier runs of this session are appended immediately. Each later record is
        appended when its run ends. Each record is one line of JSON. A line that was cut off, for
        example by a crash, is skipped. A run that is already in the history is skipped too, so that
        you can run the cell again.

        New runs get numbers after the highest number in the file. Runs of this session that ended
        before this call keep their numbers, even if a run in the file has the same number.

        Raises:
            ToolbenchError: If *path* cannot be written.
        """
        journal = Journal(Path(path))
        earlier = journal.read(self._max_records)
        numbers.skip_to(max((record.id for record in earlier), default=0))
        in_file = {record.key for record in earlier}
        with self._lock:
            present = list(self._records)
            known = {record.key for record in present}
            self._records.clear()
            self._size = 0
            for record in earlier:
                if record.key not in known:
                    self._append(record)
            for record in present:
                self._append(record)
            if self._journal is None or self._journal.path != journal.path:
                for record in present:
                    # Not records from another file
                    if record.key not in in_file and record.session == SESSION:
                        journal.write(record)
            self._journal = journal
        self._tell()

    def clear(self) -> None:
        """Forget all records and stop writing to the file; the file itself stays."""
        with self._lock:
            self._records.clear()
            self._size = 0
            self._journal = None
        self._tell()

    def find(self, number: int, session: str | None = None) -> RunRecord | None:
        """Return the newest record of the run with this *number*; None if there is no such record.

        Args:
            number: The number of the run.
            session: The id of the run's session; None for any session.
        """
        for record in reversed(list(self)):
            if record.id == number and session in (None, record.session):
                return record
        return None

    def of(self, tool: AnyTool) -> list[RunRecord]:
        """Return the records of the runs of *tool*, newest last.

        A tool is identified by its server and its name on that server, because other servers may
        use the same name.
        """
        return [record for record in self if record.is_of(tool)]

    def to_json(self) -> str:
        """Return all records as a JSON array."""
        return json.dumps([record.to_dict() for record in self])

    def to_otlp(
        self, path: str | PathLike[str], *, content: bool = False, overwrite: bool = False
    ) -> Path:
        """Write all records to a file as OpenTelemetry spans, in OTLP's JSON; return its path.

        Nothing has to be installed or configured. A receiver accepts the file as it is: `curl -d
        @runs.json -H 'content-type: application/json' http://localhost:4318/v1/traces`.

        Args:
            path: The file.
            content: Whether to write arguments, results and questions too, with each known secret
                masked.
            overwrite: Whether to replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        from toolbench.runs.otlp import otlp_of  # noqa: PLC0415 - few sessions write such a file

        return write_named(
            Path(path), json.dumps(otlp_of(self, content=content)), overwrite=overwrite
        )

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a DataFrame with a row per run: id, tool, state, seconds, arguments, text, etc.

        `seconds` is the time in which the run worked, and `waited` is the time in which it waited
        for the user. Both are in seconds.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        rows = []
        for record in self:
            row = {name: getattr(record, name) for name in _COLUMNS}
            row["arguments"] = dict(record.arguments)
            row["text"] = record.observation.text
            rows.append(row)
        return data_frame_class()(rows, columns=[*_COLUMNS, "arguments", "text"])

    @property
    def df(self) -> "pd.DataFrame":
        """The records as a DataFrame, as `to_dataframe` returns them.

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

    def _newest(self, count: int) -> list[RunRecord]:
        """Return the last *count* records, newest last; those before them are not walked."""
        with self._lock:
            newest = list(islice(reversed(self._records), count))
        return newest[::-1]

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        return repr(ListedRuns(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return ListedRuns(self)._repr_mimebundle_()

    def remarks_on(self, records: Sequence[RunRecord]) -> list[str]:
        """Return sentences to show below a list of the last *records*: what is missing, and why."""
        if not records:
            return []
        remarks = list[str]()
        if len(records) < len(self):
            remarks.append(f"The last {len(records):,} of {len(self):,} runs.")
        shown = [record.id for record in records]
        first, last = min(shown), max(shown)
        present = set(shown)
        # If they are consecutive, none is missing, however long the history is
        if last - first >= len(present):
            present.update(record.id for record in self)
        gaps = list[str]()
        for before, after in pairwise(sorted(present)):
            if after - before > 1 and first <= before and after <= last:
                gap = f"{before + 1} to {after - 1}"
                if after - before == 2:
                    gap = f"{before + 1}"
                gaps.append(gap)
        if gaps:
            text = listed(gaps, _MOST_GAPS)
            remarks.append(f"Missing numbers: {text}. A run is listed when it has ended.")
        if len(set(shown)) < len(shown):
            remarks.append(
                "If a number occurs twice, it means the last run. history()[0] is the first of all."
            )
        return remarks


class ListedRuns(list[RunRecord]):
    """The last runs of a history, or the runs that match a filter, shown as a table.

    The table shows the newest run first. The list itself begins with the oldest run, like the
    history. In a notebook with a kernel, the table is a `HistoryPanel`, in which you can open runs,
    run them again and compare them.

    Attributes:
        words: The filter that all the runs match.
        notes: Sentences to show below the table. They explain what is missing.
    """

    def __init__(self, runs: RunHistory, count: int = _MAX_LINES, words: str = "") -> None:
        """List the last *count* of *runs* that match the filter *words*; see `display.filter`.

        Raises:
            FilterError: If *words* contain a key that runs do not have.
        """
        self.words = words
        if words:
            records = runs[:]
        else:
            records = runs._newest(count)
        self._rows = list(islice(rows_of(records, Filter(words, RUN_KEYS).matches), count))
        super().__init__(row.record for row in reversed(self._rows))
        self.notes = list[str]()
        if not words:
            self.notes = runs.remarks_on(self)

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if not self._rows and self.words:
            return bundle(f"No run matches {self.words!r}.")
        if not self._rows:
            return bundle("No runs yet.")
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in HEADS:
            table.add_column(column, no_wrap=column in ("run", "time", "tool"))
        cells = [row.cells for row in self._rows]
        for row in cells:
            table.add_row(*map(Text, row))
        return {
            "text/plain": to_text(Group(table, *map(Text, self.notes))),
            "text/html": listing_html(HEADS, cells, self.notes),
        }


_history = RunHistory()


def history() -> RunHistory:
    """Return the history: the runs of this session and the runs that `persist` loaded, newest last.

    `history().clear()` removes all runs from the history.

    Examples:
        >>> from toolbench import history, run_tool, tool
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> for number in (1, 2):
        ...     result = run_tool(double, number=number)
        >>> [(run.tool, run.arguments, run.observation.text) for run in history()]
        [('double', {'number': 1}, '2'), ('double', {'number': 2}, '4')]
        >>> history()[-1].rerun().text
        '4'
    """
    return _history
