"""Every run of the session, newest last; bounded in memory, kept on disk if wanted."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, overload

from toolbench.core.schema import Observation
from toolbench.errors import MissingExtraError, ToolbenchError
from toolbench.runs.record import RunRecord

if TYPE_CHECKING:
    import pandas as pd

KEPT = 1_000  # records


class RunHistory(Sequence[RunRecord]):
    """The records of a session. Any thread may add."""

    def __init__(self, kept: int = KEPT) -> None:
        """Keep the last *kept* records."""
        self._records: deque[RunRecord] = deque(maxlen=kept)
        self._lock = RLock()
        self._path: Path | None = None

    def add(self, record: RunRecord) -> None:
        """Append *record*, to the file too if there is one."""
        with self._lock:
            self._records.append(record)
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record.to_dict(), ensure_ascii=True) + "\n")

    def persist(self, path: str | Path) -> None:
        """Write every record to come to *path*, a line of JSON each; read what is there.

        A line that was cut off, as by a crash, is passed over.

        Raises:
            ToolbenchError: If *path* cannot be written.
        """
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a+b") as file:
                file.seek(0)
                data = file.read()
                if data and not data.endswith(b"\n"):
                    file.write(b"\n")
        except OSError as error:
            msg = f"History cannot be kept in {str(path)!r}: {error.strerror}."
            raise ToolbenchError(msg) from error
        with self._lock:
            earlier = [
                r for line in data.splitlines() if (r := _read(line)) is not None
            ]
            self._records.extendleft(reversed(earlier))
            self._path = target

    def clear(self) -> None:
        """Forget all records, and write to no file any more; the file stays."""
        with self._lock:
            self._records.clear()
            self._path = None

    def to_json(self) -> str:
        """Return all records as a JSON array."""
        return json.dumps([record.to_dict() for record in self], ensure_ascii=False)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a row per run: id, tool, state, seconds, source, started, arguments, text.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtraError(extra="pandas") from error
        return pd.DataFrame(
            {
                "id": record.id,
                "tool": record.tool,
                "state": record.state,
                "seconds": record.seconds,
                "source": record.source,
                "started": record.started,
                "arguments": dict(record.arguments),
                "text": record.observation.text,
            }
            for record in self
        )

    @overload
    def __getitem__(self, index: int) -> RunRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[RunRecord]: ...
    def __getitem__(self, index: int | slice) -> RunRecord | list[RunRecord]:
        records = list(self)
        return records[index]

    def __iter__(self) -> Iterator[RunRecord]:
        with self._lock:
            return iter(list(self._records))

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        if not self:
            return "No runs yet."
        lines = [
            f"{r.id:>4}  {r.tool:<24.24}  {r.state:<9}  {r.seconds:>8.3f} s  {r.source}"
            for r in self[-20:]
        ]
        more = f"… {len(self) - 20} earlier\n" if len(self) > 20 else ""
        return more + "\n".join(lines)


def _read(line: bytes) -> RunRecord | None:
    """Return the record in *line*, or None if it is torn or not ours."""
    try:
        data: dict[str, Any] = json.loads(line)
        seen = {**data["observation"]}
        seen.pop("kind", None)
        fields = {k: v for k, v in seen.items() if k in ("content", "is_error")}
        return RunRecord(
            id=data["id"],
            tool=data["tool"],
            arguments=data["arguments"],
            observation=Observation.model_validate(fields),
            state=data["state"],
            seconds=data["seconds"],
            source=data["source"],
            started=datetime.fromisoformat(data["started"]),
            decision=data.get("decision", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


_history = RunHistory()


def history() -> RunHistory:
    """Return the runs of this session, newest last; `.clear()` forgets them."""
    return _history
