"""One bash that stays: commands go in, what they print and how they end comes out."""

import os
import selectors
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Condition, Event, Thread
from time import monotonic
from typing import Literal, NamedTuple

from toolbench.tools.terminal import protocol
from toolbench.tools.terminal.buffer import HeadAndTail, Kept
from toolbench.tools.terminal.launch import Launched, end_session, launch, tidy
from toolbench.tools.terminal.screen import clean

_CHUNK = 1 << 16
_MARK = len(protocol.mark(token_hex(8)))
_NEVER = Event()  # is never set
_PATIENCE = 20.0  # seconds a shell has to start on a machine under load
_PROMPT = 1.5  # seconds of silence after a line without an end
_LAST_WORDS = 0.05  # seconds they may take to arrive from a shell that died

Pause = Literal["finished", "died", "silent", "late", "prompt", "stopped"]


class Look(NamedTuple):
    """How things stood at one moment."""

    kept: Kept
    """What was printed since the last look."""
    file: Path | None
    """What has all the output of the command, if it was needed."""
    ended: protocol.Ended | None
    exit_code: int | None


class PtyShell:
    """A shell; what it prints is read as it comes, whether anybody waits or not."""

    def __init__(
        self,
        working_dir: str,
        env: Mapping[str, str],
        *,
        max_processes: int | None = None,
    ) -> None:
        """Start it.

        Args:
            working_dir: Where it starts.
            env: Variables beside those of this process.
            max_processes: How many processes the user may have, as `ulimit -u`.

        Raises:
            OSError: If it cannot be started.
        """
        self.ended: protocol.Ended | None = None
        """How the newest command ended; None while it runs."""
        self.exit_code: int | None = None
        """How the shell itself ended; None while it lives."""
        self.place = protocol.Ended(0, working_dir, "", -1)
        """How the last command that ended did, and where that left the shell."""
        self.output = HeadAndTail()
        self._news = Condition()
        self._records = protocol.Records()
        self._token = ""
        self._recent = b""
        self._last_output = 0.0
        self._total_at_input = 0
        self._closing = False
        self._wake_read, self._wake = os.pipe()
        self._launched = self._start(working_dir, env, max_processes)
        self._reader = Thread(target=self._read, name="toolbench-terminal", daemon=True)
        self._reader.start()
        self.send(protocol.SETUP, HeadAndTail())
        if self.wait(silence=_PATIENCE) != "finished":
            said = clean(self.look().kept.head).strip()
            self.close()
            msg = f"bash did not start: {said or 'it says nothing'}"
            raise OSError(msg)
        self.look()  # the first prompt

    @property
    def pid(self) -> int:
        """The process id of the shell."""
        return self._launched.process.pid

    @property
    def foreground(self) -> int:
        """The process group that typed keys go to; the shell's own if no program runs."""
        try:
            return os.tcgetpgrp(self._launched.screen)
        except OSError:  # the shell is gone
            return self.pid

    @property
    def settled(self) -> bool:
        """Whether no command is running."""
        return self.ended is not None or self.exit_code is not None

    # --- acting on it -----------------------------------------------------------------

    def send(self, command: str, output: HeadAndTail) -> None:
        """Have *command* run; what it prints goes to *output*. The one before has ended."""
        with self._news:
            self._token, self.ended, self._recent = token_hex(8), None, b""
            self._last_output = monotonic()
            self.output.close()
            self.output, self._total_at_input = output, output.total
        tidy(self._launched.keyboard)
        self._say(protocol.run(command) + protocol.report(self._token))

    def ask_again(self) -> None:
        """Have a shell that is idle report once more: a C-c may have cost it the request."""
        if not self.settled and self.foreground == self.pid:
            self._say(protocol.report(self._token))

    def _say(self, lines: str) -> None:
        data = lines.encode("utf-8", "surrogateescape")
        try:
            while data:
                data = data[os.write(self._launched.commands, data) :]
        except BrokenPipeError:  # it died: who waits for it is told
            return

    def press(self, data: bytes, *, patience: float = 2.0) -> bool:
        """Type *data*; return whether the program took it all within *patience* seconds."""
        screen = self._launched.screen
        end = monotonic() + patience
        with self._news:
            self._total_at_input = self.output.total
        while data:
            try:
                data = data[os.write(screen, data) :]
            except BlockingIOError:
                if not _ready(screen, selectors.EVENT_WRITE, end - monotonic()):
                    return False
            except OSError:  # the terminal is gone
                return False
        return True

    def look(self) -> Look:
        """Return what was printed since the last time, and how things stand."""
        with self._news:
            if not self.settled:
                self.output.keep_on()
            kept, file = self.output.take(), self.output.saved
            return Look(kept, file, self.ended, self.exit_code)

    def look_up(self) -> None:
        """Have who waits look whether to stop, from any thread."""
        with self._news:
            self._news.notify_all()

    # --- waiting for it ---------------------------------------------------------------

    def wait(
        self,
        *,
        silence: float,
        timeout: float | None = None,
        prompts: bool = False,
        stop: Event = _NEVER,
    ) -> Pause:
        """Wait until the command ends, or there is a reason to wait no longer.

        Args:
            silence: Seconds without output after which to give up.
            timeout: Seconds to wait at most.
            prompts: Give up sooner if a line without an end is left standing.
            stop: Give up once it is set; tell by `look_up`.
        """
        begun = monotonic()
        end = begun + timeout if timeout is not None else float("inf")
        with self._news:
            while not self.settled:
                if stop.is_set():
                    return "stopped"
                now = monotonic()
                quiet_since = max(begun, self._last_output)
                if now >= end:
                    return "late"
                step = quiet_since + _PROMPT - now
                if prompts and step <= 0 and self._line_is_open():
                    return "prompt"
                if now >= quiet_since + silence:
                    return "silent"
                look_again = min(end, quiet_since + silence)
                if prompts:
                    look_again = min(look_again, now + (step if step > 0 else _PROMPT))
                self._news.wait(look_again - now)
            return "died" if self.exit_code is not None else "finished"

    def _line_is_open(self) -> bool:
        """Whether something came since the last input, no line end last, as after a prompt."""
        news = self.output.total > self._total_at_input
        return news and not self.output.last.endswith(b"\n")

    # --- reading what it says ---------------------------------------------------------

    def _start(
        self, working_dir: str, env: Mapping[str, str], max_processes: int | None
    ) -> Launched:
        """Start it in a thread that lives as long as it does, as its death hangs on it."""
        outcome: list[Launched | OSError] = []
        started = Event()

        def live() -> None:
            try:
                launched = launch(working_dir, env, max_processes)
                outcome.append(launched)
            except OSError as error:
                outcome.append(error)
                return
            finally:
                started.set()
            launched.process.wait()
            os.write(self._wake, b"!")

        self._keeper = Thread(target=live, name="toolbench-shell", daemon=True)
        self._keeper.start()
        started.wait()
        if isinstance(outcome[0], OSError):
            os.close(self._wake_read)
            os.close(self._wake)
            raise outcome[0]
        return outcome[0]

    def _read(self) -> None:
        screen, records = self._launched.screen, self._launched.records
        with selectors.DefaultSelector() as selector:
            for descriptor in (screen, records, self._wake_read):
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select()}
                if screen in ready:
                    self._hear()
                if records in ready and not self._hear_record():
                    selector.unregister(records)
                if self._wake_read in ready:
                    break
        self._bury()

    def _hear(self) -> bool:
        data = bytearray()
        with suppress(OSError):  # nothing more for now, or for ever
            while len(data) < _CHUNK and (
                more := os.read(self._launched.screen, _CHUNK)
            ):
                data += more
        if data:
            with self._news:
                self.output.write(bytes(data))
                self._last_output = monotonic()
                self._recent = self._recent[-_MARK:] + data
                self._check()
        return bool(data)

    def _hear_record(self) -> bool:
        data = os.read(self._launched.records, _CHUNK)
        with self._news:
            self._records.write(data)
            self._check()
        return bool(data)

    def _check(self) -> None:
        """See whether both the mark and the record of the command have come."""
        if self.ended is None and protocol.mark(self._token) in self._recent:
            self.ended = self._records.take(self._token)
            if self.ended is not None:
                self.place = self.ended
                self.output.tidy()
                self._news.notify_all()

    def _bury(self) -> None:
        """Hear the last words of a shell that died, and tell."""
        if not self._closing:
            end_session(self.pid)
        while _ready(self._launched.screen, selectors.EVENT_READ, _LAST_WORDS):
            if not self._hear():
                break
        code = self._launched.process.returncode
        with self._news:
            self.exit_code = code if code >= 0 else 128 - code
            self.output.close()
            self._news.notify_all()

    def close(self) -> None:
        """End the shell and everything it started. Once is enough."""
        self._closing = True
        if self.exit_code is None:
            end_session(self.pid)
        self._keeper.join()
        self._reader.join()
        launched = self._launched
        ours = (launched.commands, launched.records, launched.screen, launched.keyboard)
        for descriptor in (*ours, self._wake_read, self._wake):
            os.close(descriptor)


def _ready(descriptor: int, event: int, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, event)
        return bool(selector.select(max(0.0, seconds)))
