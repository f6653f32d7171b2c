"""The history on disk: a file with one line of JSON per run, to which lines are appended."""

import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any, Literal
from warnings import warn

from toolbench.errors import ToolbenchError
from toolbench.files import open_unlinked
from toolbench.runs.history.record import RunRecord, address_in
from toolbench.runs.history.recorded_observation import recorded_in
from toolbench.runs.questions import Answer

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
