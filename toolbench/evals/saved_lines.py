"""A JSONL file of finished work, which need not be repeated; lines are only appended."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic import ValidationError

from toolbench.errors import ToolbenchError
from toolbench.files import open_unlinked
from toolbench.jsonschema.types import Json
from toolbench.threads import leave_behind_in_forks
from toolbench.tools.posix import fcntl
from toolbench.values import plain

VERSION = 1
"""The version of the file format."""
_BEGIN = b'{"toolbench": '


class SavedLines:
    """A file of lines to which the results of an evaluation or a sweep are saved.

    The first line contains the kind of the file and a random salt. Every other line has a key,
    which is a hash with this salt. An incomplete line, for example after a crash, is skipped.
    """

    def __init__(self, path: Path, kind: str) -> None:
        """Open the file *path* to append lines; create it if it does not exist.

        *kind* is the function to which the file belongs: "evaluate" or "sweep".

        Raises:
            ToolbenchError: If the file cannot be read and written, is of another kind, or is in
                use.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "a+b", buffering=0, opener=open_unlinked)  # noqa: SIM115
            leave_behind_in_forks(self)
            self._lock()
            first = self._first_line()
            is_torn = _BEGIN.startswith(first) or first.startswith(_BEGIN)
            if is_torn and not first.endswith(b"\n"):
                # Nothing was saved yet
                self._file.truncate(0)
                self._write({"toolbench": kind, "version": VERSION, "salt": token_hex(8)})
                first = self._first_line()
            self._salt = _salt(first, kind)
            if not self._salt:
                self._file.close()
                msg = (
                    f"{path} is not a file that this version of {kind}(save=) wrote, and stays as "
                    "it is: give the name of a new file."
                )
                raise ToolbenchError(msg)
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                # The next entry starts a new line
                self._file.write(b"\n")
        except OSError as error:
            msg = f"{path} cannot be written: {error.strerror}."
            raise ToolbenchError(msg) from None

    def _lock(self) -> None:
        """Lock the file until `close`, because two users would both do the missing work."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            msg = (
                f"{self.path} is in use by another evaluation or sweep: wait until that has "
                "ended, or give the name of another file."
            )
            raise ToolbenchError(msg) from None
        except OSError:
            # Some file systems have no locks
            return

    def _first_line(self) -> bytes:
        self._file.seek(0)
        return self._file.readline(1_000)

    def _write(self, data: Json) -> None:
        """Append *data* as a line."""
        rest = memoryview(json.dumps(data, ensure_ascii=True).encode() + b"\n")
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def key(self, *parts: Any) -> str:
        """Return a short hash of *parts*, which are JSON data."""
        text = json.dumps([self._salt, *parts], sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).hexdigest()[:32]

    def stretched(self, *parts: Any) -> str:
        """Return a hash of *parts* that takes long to compute, so that secrets cannot be guessed.

        Raises:
            ToolbenchError: If this Python has no such hash function, as in Pyodide.
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

    def lines(self) -> Iterator[tuple[int, Json]]:
        """Yield the objects in the file that have a key, each with the number of its line.

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

    def damaged(self, number: int, error: ValidationError) -> ToolbenchError:
        """Return the error that line *number* cannot be used, with the first problem in *error*."""
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        msg = (
            f"Line {number:,} of {self.path} cannot be used ({where}: {first['msg']}): delete it, "
            "then its answer or call is made again."
        )
        return ToolbenchError(msg)

    def add(self, key: str, data: Json) -> None:
        """Append *data* under *key*; it survives a crash of this process, but not of the machine.

        Raises:
            ToolbenchError: If the file cannot be written.
        """
        try:
            self._write({"key": key, **plain(data)})
        except OSError as error:
            msg = f"{self.path} cannot be written: {error.strerror}."
            raise ToolbenchError(msg) from None

    def leave_behind(self) -> None:
        """Close the file in a forked process, which would keep the lock after the kernel ends."""
        self._file.close()

    def close(self) -> None:
        """Close the file, and release its lock."""
        with suppress(OSError, AttributeError):
            # A process that C code forked may have the file open, too
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()


def _salt(first: bytes, kind: str) -> str:
    """Return the salt in the *first* line of a file; empty if the file is of another kind."""
    try:
        head = json.loads(first)
    except ValueError:
        return ""
    if not isinstance(head, dict):
        return ""
    is_ours = head.get("toolbench") == kind and head.get("version") == VERSION
    if not is_ours:
        return ""
    return str(head.get("salt"))
