"""Keep the first and last part of a long output in memory, and the whole output in a file."""

import re
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from toolbench.redaction.redactor import Stream
from toolbench.tools.failure_sentence import run_error

# Bytes kept of the beginning and of the end of an output, for a model
HALF = 15_000
# Bytes: noise that is longer counts as complete before its end
_LONGEST_NOISE = 4096


class Excerpt(NamedTuple):
    """The first part of an output, the number of dropped bytes, and the last part."""

    head: bytes
    dropped: int
    tail: bytes


class Noise(NamedTuple):
    """Patterns for noise: bytes to remove from an output, such as the mark after a command."""

    whole: re.Pattern[bytes]
    """The pattern of complete noise."""
    begun: re.Pattern[bytes]
    """The pattern of noise at the end of a chunk that may continue in the next chunk."""

    def begins_in(self, data: bytes) -> int:
        """Return the offset at which incomplete noise begins, which more data may complete.

        If *data* does not end with incomplete noise, return the length of *data*.
        """
        begun = self.begun.search(data, max(len(data) - _LONGEST_NOISE, 0))
        if begun is None:
            return len(data)
        return begun.start()


class HeadAndTail:
    """A buffer for an output; it keeps only the first and the last bytes in memory."""

    def __init__(
        self,
        file: Path | None = None,
        *,
        half: int = HALF,
        noise: Noise | None = None,
        secrets: Stream | None = None,
    ) -> None:
        """Make an empty buffer.

        Args:
            file: The file for the whole output. It is created when bytes are dropped from
                memory, or when `keep_on` is called.
            half: The number of bytes to keep in memory from the beginning of the output, and the
                number to keep from its end.
            noise: The patterns of the bytes to remove from the output.
            secrets: The filter that replaces secrets in the output.
        """
        self._half = half
        self._noise = noise
        # Bytes that may be the beginning of noise
        self._begun = b""
        self._secrets = secrets
        self._file = file
        self._out: BinaryIO | None = None
        self.saved: Path | None = None
        """The file with the whole output; None if it was not needed."""
        self.loss = ""
        """The reason why the file could not be written; empty if there was no error."""
        self.total = 0
        """The number of all bytes that were added so far."""
        self.last = b""
        """The bytes that the last `write` added."""
        self._clear()

    def _clear(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = self._dropped = 0

    def write(self, data: bytes) -> None:
        """Add *data*, which has at least one byte."""
        self.last = data
        self.total += len(data)
        if self._noise is not None:
            data = self._noise.whole.sub(b"", self._begun + data)
            end = self._noise.begins_in(data)
            data, self._begun = data[:end], data[end:]
        self._add(data if self._secrets is None else self._secrets.feed_data(data))

    def _add(self, data: bytes) -> None:
        if not data:
            return
        if self._out is not None:
            self._save(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= self._half:
                self._drop()

    def _drop(self) -> None:
        self._open()
        oldest = self._tail.popleft()
        self._tail_size -= len(oldest)
        self._dropped += len(oldest)

    def _open(self) -> None:
        if self._file is None or self.saved is not None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._out = self._file.open("wb", buffering=0)
        except OSError as error:
            self._give_up(error)
        else:
            self.saved = self._file
            self._save(b"".join([self._head, *self._tail]))

    def _save(self, data: bytes) -> None:
        if self._out is None:
            return
        try:
            # A write may be partial; the next one fails on a full disk
            while data:
                data = data[self._out.write(data) :]
        except OSError as error:
            self._out.close()
            self._out = None
            if self.saved is not None:
                with suppress(OSError):
                    # An incomplete file is worse than no file
                    self.saved.unlink()
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Continue without the file, and store the reason in `loss`."""
        self.loss = str(run_error(error, f"keep all of it in {self._file}"))
        self._file = self.saved = None

    def take(self) -> Excerpt:
        """Return the output that was added since the last call of `take`, and empty the buffer."""
        tail = b"".join(self._tail)
        surplus = max(0, len(tail) - self._half)
        if surplus:
            self._open()
        output = Excerpt(bytes(self._head), self._dropped + surplus, tail[surplus:])
        self._clear()
        return output

    def keep_on(self) -> None:
        """Start to write the output to the file, because `take` empties the memory.

        Call this before each `take` except the last one.
        """
        self._open()

    def flush(self) -> None:
        """End the output: add the last bytes, which were held back as possible noise or secrets."""
        data, self._begun = self._begun, b""
        if self._secrets is not None:
            data = self._secrets.feed_data(data) + self._secrets.flush_data()
        self._add(data)

    def close(self) -> None:
        """End the output, and close the file."""
        self.flush()
        if self._out is not None:
            self._out.close()
            self._out = None
