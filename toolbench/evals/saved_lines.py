"""A file with a JSON object a line, only ever appended to: what is in it is not done again."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import Json
from toolbench.plain import plain


def key_of(*parts: Any) -> str:
    """Return a short text that is the same for the same *parts*, whatever the order of keys."""
    text = json.dumps(plain(parts), sort_keys=True, ensure_ascii=True)
    return sha256(text.encode()).hexdigest()[:32]


def numbered_keys(values: Iterable[Any]) -> list[str]:
    """Return a text for each value that no other has: one that stands there twice is two."""
    times: Counter[str] = Counter()
    keys = []
    for value in values:
        key = key_of(value)
        times[key] += 1
        keys.append(f"{key} {times[key]}")
    return keys


class SavedLines:
    """The file; a line that was cut off, as by a crash, is passed over."""

    def __init__(self, path: Path) -> None:
        """Append to *path*, which is made if it is not there.

        Raises:
            ToolbenchError: If it cannot be read and written.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("a+b")
            if self._file.seek(0, os.SEEK_END):
                self._file.seek(-1, os.SEEK_END)
                if self._file.read(1) != b"\n":
                    self._file.write(b"\n")  # what comes next starts a line of its own
        except OSError as error:
            msg = f"{path} cannot be written: {error.strerror}."
            raise ToolbenchError(msg) from None

    def lines(self) -> Iterator[Json]:
        """Yield the objects with a key that the file holds."""
        with self.path.open("rb") as file:
            for line in file:
                try:
                    data = json.loads(line)
                except ValueError:
                    continue
                if isinstance(data, dict) and isinstance(data.get("key"), str):
                    yield data

    def add(self, key: str, data: Json) -> None:
        """Append *data* under *key*; once this returns, the line is the system's to keep.

        Raises:
            ToolbenchError: If the disk does not take it.
        """
        text = json.dumps({"key": key, **plain(data)}, ensure_ascii=True)
        try:
            self._file.write(text.encode() + b"\n")
            self._file.flush()
        except OSError as error:
            msg = f"{self.path} cannot be written: {error.strerror}."
            raise ToolbenchError(msg) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "SavedLines":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
