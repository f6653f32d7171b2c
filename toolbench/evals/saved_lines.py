"""A JSONL file of finished work, so that work is not repeated; lines are only appended."""

import json
import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any

from pydantic import BaseModel, ValidationError

from toolbench.errors import ToolbenchError
from toolbench.files import open_unlinked
from toolbench.jsonschema.types import Json
from toolbench.values import plain
from toolbench.wording import counted

# Damaged lines
_MOST = 5
_SALT = re.compile(r"([0-9a-f]{16}):")


class SavedLines:
    """The lines of one file; an incomplete line, for example after a crash, is skipped.

    Each key is a hash. All keys of a file use the same random salt, and begin with it.
    """

    def __init__(self, path: Path) -> None:
        """Open the file *path* to append lines; the file is created if it does not exist.

        Raises:
            ToolbenchError: If the file cannot be read and written.
        """
        self.path = path
        # What is wrong in a line, by its key
        self._damaged: dict[str, str] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "a+b", buffering=0, opener=open_unlinked)  # noqa: SIM115
            if self._file.seek(0, os.SEEK_END):
                self._file.seek(-1, os.SEEK_END)
                if self._file.read(1) != b"\n":
                    # The next entry starts a new line
                    self._file.write(b"\n")
        except OSError as error:
            msg = f"{path} cannot be written: {error.strerror}."
            raise ToolbenchError(msg) from None
        salts = (_SALT.match(line["key"]) for _, line in self.lines())
        self._salt = next((salt[1] for salt in salts if salt), "") or token_hex(8)

    def key(self, *parts: Any) -> str:
        """Return a short hash of *parts*, which are JSON data."""
        text = json.dumps([self._salt, *parts], sort_keys=True, ensure_ascii=True)
        return f"{self._salt}:{sha256(text.encode()).hexdigest()[:32]}"

    def stretched(self, *parts: Any) -> str:
        """Return a slow hash of *parts*: a secret in *parts* cannot be found by trying many values.

        Raises:
            ToolbenchError: If this Python has no such hash, such as Pyodide's.
        """
        try:
            from hashlib import (  # noqa: PLC0415 - Pyodide's Python has no OpenSSL
                scrypt,
            )
        except ImportError:
            msg = "This Python has no scrypt, which hides secrets in a saved file: leave out save=."
            raise ToolbenchError(msg) from None
        text = json.dumps([*parts], sort_keys=True, ensure_ascii=True)
        return scrypt(text.encode(), salt=self._salt.encode(), n=2**14, r=8, p=1, dklen=16).hex()

    def fitting(self, shape: type[BaseModel], is_wanted: Callable[[Json], bool]) -> Iterator[Json]:
        """Yield the JSON objects of the file that *is_wanted* accepts and that fit *shape*.

        `notes` then names the lines that are wanted but do not fit.

        Raises:
            ToolbenchError: If the file cannot be read.
        """
        for number, line in self.lines():
            if not is_wanted(line):
                continue
            try:
                shape.model_validate(line)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(map(str, first["loc"]))
                self._damaged[line["key"]] = f"line {number:,} ({where}: {first['msg']})"
            else:
                # A later line has this key
                self._damaged.pop(line["key"], None)
                yield line

    @property
    def notes(self) -> list[str]:
        """Notes about lines that were not used; empty if there are none."""
        if not self._damaged:
            return []
        count = len(self._damaged)
        names = ", ".join(islice(self._damaged.values(), _MOST))
        rest = f" and {count - _MOST:,} more" if count > _MOST else ""
        return [
            f"{counted(count, 'line')} of {self.path} cannot be used; the calls or answers are "
            f"made again: {names}{rest}."
        ]

    def lines(self) -> Iterator[tuple[int, Json]]:
        """Yield the objects of the file that have a key, each with the number of its line.

        Raises:
            ToolbenchError: If the file cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    try:
                        data = json.loads(line)
                    except (ValueError, RecursionError):
                        # Or nested too deep
                        continue
                    if isinstance(data, dict) and isinstance(data.get("key"), str):
                        yield number, data
        except OSError as error:
            msg = f"{self.path} cannot be read: {error.strerror}."
            raise ToolbenchError(msg) from None

    def add(self, key: str, data: Json) -> None:
        """Append *data* under *key*; when this returns, the operating system has the line.

        Raises:
            ToolbenchError: If the file cannot be written.
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
