"""One persistent bash: send commands to it, read their output and exit codes."""

import os
import selectors
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from secrets import token_hex
from threading import TIMEOUT_MAX, Condition, Thread
from time import monotonic
from typing import Literal, NamedTuple

from toolbench.processes.guard import process_guard
from toolbench.tools.terminal import shell_protocol
from toolbench.tools.terminal.buffer import Excerpt, HeadAndTail
from toolbench.tools.terminal.keys import INTERRUPT
from toolbench.tools.terminal.launch import (
    end_session,
    launch,
    tidy,
)
from toolbench.tools.terminal.screen_text import clean

_CHUNK = 1 << 16
_MARK = len(shell_protocol.mark(token_hex(8)))
# Seconds for a shell to start on a busy machine
_PATIENCE = 20.0
# Seconds without output after an unfinished line
_PROMPT = 1.5
# Seconds to wait for the last output of a shell that ended
_LAST_WORDS = 0.05
# Seconds for a busy shell to read a command
_BEGINNING = 5.0
# Seconds for a shell to answer after an interrupt
_SETTLING = 1.0
_TRIES = 5

Pause = Literal["finished", "died", "silent", "late", "prompt", "stopped"]


class Look(NamedTuple):
    """The output of a shell, and its state at one moment."""

    output: Excerpt
    """The output since the last call of `look`."""
    file: Path | None
    """The file with the whole output of the command; None if it was not needed."""
    loss: str
    """The reason why the file could not be written; empty if there was no error."""
    ended: shell_protocol.Ended | None
    exit_code: int | None


class PtyShell:
    """A bash on a pseudo-terminal, whose output is read in a background thread.

    After each command, a second thread writes a mark to the terminal. The mark shows where the
    output of the command ends.
    """

    # The marks have their own thread, because a write blocks while a background job writes
    # without pause.

    def __init__(
        self,
        working_dir: str,
        env: Mapping[str, str],
        *,
        bash: str = "bash",
    ) -> None:
        """Start the shell.

        Args:
            working_dir: The directory where the shell starts.
            env: Environment variables, in addition to those of this process.
            bash: The program: a name on the PATH, or a path.

        Raises:
            OSError: If the shell cannot be started.
        """
        self.ended: shell_protocol.Ended | None = None
        """The record of how the newest command ended; None while it runs."""
        self.exit_code: int | None = None
        """The exit code of the shell itself; None while the shell runs."""
        self.place = shell_protocol.Ended(0, working_dir, "", -1)
        """The record of the last command that ended, with the state of the shell after it."""
        self.output = HeadAndTail()
        self._news = Condition()
        self._records = shell_protocol.Records()
        self._token = ""
        self._begun = False
        # The record of the newest command, until its mark has arrived
        self._record: shell_protocol.Ended | None = None
        # The marks to write; an empty one is the last
        self._marks: SimpleQueue[bytes] = SimpleQueue()
        self._interrupted = False
        self._recent = b""
        self._last_output = 0.0
        self._total_at_input = 0
        self._closing = False
        self._wake_read, self._wake = os.pipe()
        self._threads: list[Thread] = []
        try:
            self._launched = launch(working_dir, env, bash)
        except BaseException:
            # Also an interrupt: close the pipe
            close_all(self._wake_read, self._wake)
            raise
        try:
            for work in (self._keep, self._read, self._write_marks):
                thread = Thread(target=work, daemon=True)
                thread.start()
                self._threads.append(thread)
            self.send(shell_protocol.SETUP, HeadAndTail())
            pause = self.wait(silence=_PATIENCE)
            if pause != "finished":
                text = clean(self.look().output.head).strip()
                msg = f"{bash} did not start: {text or 'it says nothing'}"
                raise OSError(msg)
        except BaseException:
            # Also an interrupt: leave no shell
            self.close()
            raise
        # Drops the first prompt
        self.look()

    @property
    def pid(self) -> int:
        """The process id of the shell."""
        return self._launched.process.pid

    @property
    def foreground(self) -> int:
        """The process group that gets typed keys; the shell's own group if no program runs."""
        try:
            return os.tcgetpgrp(self._launched.screen)
        except OSError:
            # The shell is gone
            return self.pid

    @property
    def settled(self) -> bool:
        """Whether there is no command to wait for: none runs, or the shell itself has ended."""
        return self.ended is not None or self.exit_code is not None

    # --- commands and input -----------------------------------------------------------

    def send(
        self,
        command: str,
        output: HeadAndTail,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Run *command*, and wait until it has begun. The previous command must have ended.

        Args:
            command: The command.
            output: The buffer for the command's output.
            variables: The variables to set and export before the command.
        """
        tidy(self._launched.keyboard)
        if self._interrupted:
            self._absorb_interrupt(output)
        self._expect(output)
        traps = self.place.traps
        self._say(shell_protocol.run(command, self._token, variables or {}, traps))
        self._say(shell_protocol.report(self._token))
        # A key typed earlier would reach the shell, not the command
        with self._news:
            end = monotonic() + _BEGINNING
            while not (self._begun or self.settled) and monotonic() < end:
                self._news.wait(end - monotonic())

    def _expect(self, output: HeadAndTail) -> None:
        """Make a new token, which the next command's report must have.

        From now on, all output of the shell goes to *output*.
        """
        with self._news:
            self._token, self.ended, self._recent = token_hex(8), None, b""
            self._begun, self._record = False, None
            self._last_output = monotonic()
            self.output.close()
            self.output, self._total_at_input = output, output.total

    def _absorb_interrupt(self, output: HeadAndTail) -> None:
        """Make sure that a C-c typed earlier does not interrupt the next command.

        A C-c may reach the shell after its command has ended. So the shell is asked for a report, a
        few times if necessary, because the C-c then interrupts only a report. Output of background
        jobs goes to *output*.
        """
        for _ in range(_TRIES):
            aside = HeadAndTail()
            self._expect(aside)
            self._say(shell_protocol.report(self._token))
            pause = self.wait(silence=_SETTLING, timeout=_SETTLING)
            leftover = aside.take()
            output.write(leftover.head + leftover.tail)
            if pause in ("finished", "died"):
                break
        self._interrupted = False

    def ask_again(self) -> None:
        """Ask the shell again to report that its command has ended.

        This is necessary because a typed C-c may discard the earlier request. If a program is
        still running, nothing is done.
        """
        if self._is_idle:
            self._say(shell_protocol.report(self._token))

    def start_afresh(self) -> None:
        """Send SIGINT to an idle shell, so that it discards an incomplete line of input.

        Such a line can remain after a typed C-c, which removes input that is not read yet.
        """
        if self._is_idle:
            self._interrupted = True
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    @property
    def _is_idle(self) -> bool:
        """Whether the command has not ended, but no program runs: a builtin of bash may run."""
        return not self.settled and self.foreground == self.pid

    def _say(self, lines: str) -> None:
        data = lines.encode("utf-8", "surrogateescape")
        try:
            while data:
                data = data[os.write(self._launched.commands, data) :]
        except BrokenPipeError:
            # The shell has died: `wait` returns "died"
            return

    def press(self, data: bytes, *, patience: float = 2.0) -> bool:
        """Type *data*; return False if the terminal does not accept it all in *patience* s."""
        screen = self._launched.screen
        end = monotonic() + patience
        self._interrupted |= INTERRUPT in data
        with self._news:
            self._total_at_input = self.output.total
        while data:
            try:
                data = data[os.write(screen, data) :]
            except BlockingIOError:
                if not ready(screen, selectors.EVENT_WRITE, end - monotonic()):
                    return False
            except OSError:
                # The terminal is gone
                return False
        return True

    def look(self) -> Look:
        """Return the output since the last call of `look`, and the present state of the shell."""
        with self._news:
            if not self.settled:
                self.output.keep_on()
            excerpt, output = self.output.take(), self.output
            return Look(excerpt, output.saved, output.loss, self.ended, self.exit_code)

    def look_up(self) -> None:
        """Make `wait` check immediately whether it has to stop; any thread may call this."""
        with self._news:
            self._news.notify_all()

    # --- waiting ----------------------------------------------------------------------

    def wait(
        self,
        *,
        silence: float,
        timeout: float | None = None,
        prompts: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Pause:
        """Wait until the command ends or there is another reason to stop; return the reason.

        Args:
            silence: The number of seconds without output after which the wait stops.
            timeout: The time limit in seconds.
            prompts: Whether to stop waiting if the output ends with an unfinished line, which may
                be a prompt.
            stop: A function that returns True if the wait must stop. It is called only from time to
                time. Call `look_up` to have it called immediately.
        """
        begun = monotonic()
        end = begun + timeout if timeout is not None else float("inf")
        with self._news:
            while not self.settled:
                if stop():
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
                self._news.wait(min(look_again - now, TIMEOUT_MAX))
            if self.exit_code is not None:
                return "died"
            return "finished"

    def _line_is_open(self) -> bool:
        """Tell whether there is output after the last typed input, and its last line has no end."""
        news = self.output.total > self._total_at_input
        return news and not self.output.last.endswith(b"\n")

    # --- reading the output -----------------------------------------------------------

    def _keep(self) -> None:
        """Wait until the shell ends; a guard ends the shell if this process is killed."""
        process = self._launched.process
        try:
            # The first command need not wait for the process of the guard
            process_guard.add(process.pid)
            process.wait()
        finally:
            process_guard.discard(process.pid)
            os.write(self._wake, b"!")

    def _read(self) -> None:
        """Read the shell's output until the shell ends."""
        screen, records = self._launched.screen, self._launched.records
        with selector() as readable:
            for descriptor in (screen, records, self._wake_read):
                readable.register(descriptor, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in readable.select()}
                if screen in ready:
                    self._hear()
                if records in ready and not self._hear_record():
                    readable.unregister(records)
                if self._wake_read in ready:
                    break
        self._bury()

    def _hear(self) -> bool:
        data = bytearray()
        # No more output for now, or the end
        with suppress(OSError):
            while len(data) < _CHUNK and (more := os.read(self._launched.screen, _CHUNK)):
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
        """Check whether the command has begun, and whether it has ended.

        At the end of a command, the shell sends a record through a pipe. When the record arrives, a
        mark is written to the terminal, below all output of the command. The command has ended when
        the mark has been read.
        """
        if not self._begun and self._records.begun(self._token):
            self._begun = True
            self._news.notify_all()
        mark = shell_protocol.mark(self._token)
        if (record := self._records.take(self._token)) is not None:
            # A later one means that `ask_again` was called: a C-c may have removed the mark
            self._record = self._record or record
            self._marks.put(mark)
        if self._record is not None and self.ended is None and mark in self._recent:
            self.ended = self.place = self._record
            self.output.flush()
            self._news.notify_all()

    def _write_marks(self) -> None:
        while mark := self._marks.get():
            # The terminal may be gone
            with suppress(OSError):
                os.write(self._launched.keyboard, mark)

    def _bury(self) -> None:
        """Read the last output of the ended shell, and set `exit_code`."""
        if not self._closing:
            end_session(self.pid)
        while ready(self._launched.screen, selectors.EVENT_READ, _LAST_WORDS):
            if not self._hear():
                break
        code = self._launched.process.returncode
        with self._news:
            self.exit_code = code if code >= 0 else 128 - code
            self.output.close()
            self._news.notify_all()

    def close(self) -> None:
        """End the shell and all processes that the shell started. Call this only once."""
        self._closing = True
        try:
            if self.exit_code is None:
                end_session(self.pid)
        finally:
            self._launched.process.wait()
            self._marks.put(b"")
            for thread in self._threads:
                thread.join()
            self.output.close()
            ours = self._launched
            close_all(ours.commands, ours.records, ours.screen, ours.keyboard)
            close_all(self._wake_read, self._wake)


def close_all(*descriptors: int) -> None:
    """Close *descriptors*."""
    for descriptor in descriptors:
        os.close(descriptor)


def selector() -> selectors.BaseSelector:
    """Return a new selector, which on Linux works even if no descriptor is free."""
    if sys.platform == "linux":
        return selectors.PollSelector()
    # poll() of macOS does not work with terminals
    return selectors.DefaultSelector()


def ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait for *event* on *descriptor*; return False if it does not happen within *seconds*."""
    with selector() as one:
        one.register(descriptor, event)
        return bool(one.select(max(0.0, seconds)))
