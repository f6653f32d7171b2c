"""A JSONL file of finished work, only appended to, so that work is not repeated."""

import json
import os
import re
from collections.abc import Iterator
from hashlib import scrypt, sha256
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import Json
from toolbench.plain import plain

_SALT = re.compile(r"([0-9a-f]{16}):")


class SavedLines:
    """The file; a line that is not complete, as after a crash, is skipped.

    Keys are hashes with a random salt, which is the beginning of every key of the file.
    """

    def __init__(self, path: Path) -> None:
        """Open *path* to append to it; it is created if it does not exist.

        Raises:
            ToolbenchError: If it cannot be read and written.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
            if self._file.seek(0, os.SEEK_END):
                self._file.seek(-1, os.SEEK_END)
                if self._file.read(1) != b"\n":
                    self._file.write(b"\n")  # what comes next starts a line of its own
        except OSError as error:
            msg = f"{path} cannot be written: {error.strerror}."
            raise ToolbenchError(msg) from None
        salts = (_SALT.match(line["key"]) for line in self.lines())
        self._salt = next((salt[1] for salt in salts if salt), "") or token_hex(8)

    def key(self, *parts: Any) -> str:
        """Return a short hash of *parts*, JSON data."""
        text = json.dumps([self._salt, *parts], sort_keys=True, ensure_ascii=True)
        return f"{self._salt}:{sha256(text.encode()).hexdigest()[:32]}"

    def stretched(self, *parts: Any) -> str:
        """Return a hash of *parts* that takes long to make, so that no secret in it is guessed."""
        text = json.dumps([*parts], sort_keys=True, ensure_ascii=True)
        return scrypt(
            text.encode(), salt=self._salt.encode(), n=2**14, r=8, p=1, dklen=16
        ).hex()

    def lines(self) -> Iterator[Json]:
        """Yield the objects of the file that have a key.

        Raises:
            ToolbenchError: If it cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                for line in file:
                    try:
                        data = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(data, dict) and isinstance(data.get("key"), str):
                        yield data
        except OSError as error:
            msg = f"{self.path} cannot be read: {error.strerror}."
            raise ToolbenchError(msg) from None

    def add(self, key: str, data: Json) -> None:
        """Append *data* under *key*; after the return, the system has the line.

        Raises:
            ToolbenchError: If it cannot be written.
        """
        text = json.dumps({"key": key, **plain(data)}, ensure_ascii=True)
        try:
            rest = memoryview(text.encode() + b"\n")
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
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
