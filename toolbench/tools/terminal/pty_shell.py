"""One bash that stays: commands go in, what they print and how they end comes out."""

import os
import re
import selectors
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import Condition
from time import monotonic
from typing import Literal, NamedTuple

from toolbench.tools.terminal import shell_protocol
from toolbench.tools.terminal.buffer import Excerpt, HeadAndTail
from toolbench.tools.terminal.keys import INTERRUPT
from toolbench.tools.terminal.launch import end_session, kept, launch, no_memory, tidy
from toolbench.tools.terminal.screen_text import clean
from toolbench.tools.terminal.shell_descriptors import close_all, ready, selector
from toolbench.tools.undisturbed import LOOK_AGAIN, WatchedThread

_CHUNK = 1 << 16
_MARK = len(shell_protocol.mark(token_hex(8)))
_PATIENCE = 20.0  # seconds a shell has to start on a machine under load
_PROMPT = 1.5  # seconds of silence after a line without an end
_LAST_WORDS = 0.05  # seconds they may take to arrive from a shell that died
_BEGINNING = 5.0  # seconds a shell under load may take to read a command
_SETTLING = 1.0  # seconds it may take to answer once an interrupt is over
_TRIES = 5
_COMPLAINT = re.compile(r"\s*(bash: syntax error near unexpected token .*)?\s*")

Pause = Literal["finished", "died", "silent", "late", "prompt", "stopped", "unread"]


class Look(NamedTuple):
    """How things stood at one moment."""

    output: Excerpt
    """What was printed since the last look."""
    file: Path | None
    """What has all the output of the command, if it was needed."""
    loss: str
    """Why there is no such file though it was needed."""
    ended: shell_protocol.Ended | None
    exit_code: int | None


class PtyShell:
    """A shell; its output is read as it comes, also while no command runs."""

    def __init__(
        self,
        working_dir: str,
        env: Mapping[str, str],
        *,
        bash: str = "bash",
        max_processes: int | None = None,
    ) -> None:
        """Start it.

        Args:
            working_dir: Where it starts.
            env: Variables beside those of this process.
            bash: The program: a name on the PATH, or a path.
            max_processes: How many processes the user may have, as `ulimit -u`.

        Raises:
            OSError: If it cannot be started.
        """
        self.ended: shell_protocol.Ended | None = None
        """How the newest command ended; None while it runs."""
        self.exit_code: int | None = None
        """How the shell itself ended; None while it lives."""
        self.place = shell_protocol.Ended(0, working_dir, "", -1)
        """How the last command that ended did, and where that left the shell."""
        self.output = HeadAndTail()
        self._news = Condition()
        self._records = shell_protocol.Records()
        self._token = ""
        self._begun = False
        self._interrupted = False
        self._recent = b""
        self._last_output = 0.0
        self._total_at_input = 0
        self._closing = self._is_broken = False
        self._wake_read, self._wake = os.pipe()
        self._reader: WatchedThread | None = None
        begin = partial(
            launch, working_dir, env, bash=bash, max_processes=max_processes
        )
        try:
            self._launched, self._keeper = kept(begin, self._wake_up)
        except BaseException:  # also an interrupt: its pipe is closed
            close_all(self._wake_read, self._wake)
            raise
        try:
            self._reader = WatchedThread(self._read)
            self.send(shell_protocol.SETUP, HeadAndTail())
            pause = self.wait(silence=_PATIENCE)
            if pause == "unread":
                raise no_memory()
            if pause != "finished":
                text = clean(self.look().output.head).strip()
                msg = f"{bash} did not start: {text or 'it says nothing'}"
                raise OSError(msg)
        except BaseException:  # also an interrupt: no shell is left behind
            self.close()
            raise
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
        """Whether no command is running, or none of which the end could be seen."""
        return self.ended is not None or self.exit_code is not None or self.is_unread

    @property
    def is_unread(self) -> bool:
        """Whether what reads the shell has died, for want of memory, and the shell has not."""
        is_dead = self._reader is not None and not self._reader.is_alive
        return (is_dead or self._is_broken) and self.exit_code is None

    # --- acting on it -----------------------------------------------------------------

    def send(
        self,
        command: str,
        output: HeadAndTail,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Have *command* run, and wait until it begins. The one before has ended.

        Args:
            command: What to run.
            output: Where what it prints goes to.
            variables: What to set and export before.
        """
        tidy(self._launched.keyboard)
        if self._interrupted:
            self._absorb_interrupt(output)
        self._expect(output)
        self._say(shell_protocol.run(command, self._token, variables or {}))
        self._say(shell_protocol.report(self._token))
        with self._news:  # what is pressed sooner hits the shell while it reads
            end = monotonic() + _BEGINNING
            while not (self._begun or self.settled) and monotonic() < end:
                self._news.wait(LOOK_AGAIN)

    def _expect(self, output: HeadAndTail) -> None:
        """Have a new token, under which the shell will report; what it prints goes to *output*."""
        with self._news:
            self._token, self.ended, self._recent = token_hex(8), None, b""
            self._begun = False
            self._last_output = monotonic()
            self.output.close()
            self.output, self._total_at_input = output, output.total

    def _absorb_interrupt(self, output: HeadAndTail) -> None:
        """Have the shell report something that may be lost, until it does.

        A C-c may have been late for the command it was meant for. It hits this, not half of
        the next command. What bash says of that is dropped; all else goes to *output*.
        """
        for _ in range(_TRIES):
            aside = HeadAndTail()
            self._expect(aside)
            self._say(shell_protocol.report(self._token))
            pause = self.wait(silence=_SETTLING, timeout=_SETTLING)
            leftover = aside.take()
            if not _COMPLAINT.fullmatch(clean(leftover.head)):
                output.write(leftover.head + leftover.tail)
            if pause in ("finished", "died"):
                break
        self._interrupted = False

    def ask_again(self) -> None:
        """Have a shell that is idle report once more: a C-c may have cost it the request."""
        if self._is_idle:
            self._say(shell_protocol.report(self._token))

    def start_afresh(self) -> None:
        """Have a shell that is idle forget half a line: a C-c may have cost it the other half."""
        if self._is_idle:
            self._interrupted = True
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    @property
    def _is_idle(self) -> bool:
        """Whether a command has not ended, and yet no program runs; builtins look the same."""
        return not self.settled and self.foreground == self.pid

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
        self._interrupted |= INTERRUPT in data
        with self._news:
            self._total_at_input = self.output.total
        while data:
            try:
                data = data[os.write(screen, data) :]
            except BlockingIOError:
                if not ready(screen, selectors.EVENT_WRITE, end - monotonic()):
                    return False
            except OSError:  # the terminal is gone
                return False
        return True

    def look(self) -> Look:
        """Return what was printed since the last time, and how things stand."""
        with self._news:
            if not self.settled:
                self.output.keep_on()
            excerpt, output = self.output.take(), self.output
            return Look(excerpt, output.saved, output.loss, self.ended, self.exit_code)

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
        stop: Callable[[], bool] = lambda: False,
    ) -> Pause:
        """Wait until the command ends, or there is a reason to wait no longer.

        Args:
            silence: Seconds without output after which to give up.
            timeout: Seconds to wait at most.
            prompts: Give up sooner if a line without an end is left standing.
            stop: Give up once it says so; tell by `look_up`.
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
                self._news.wait(min(look_again - now, LOOK_AGAIN))
            if self.is_unread and self.ended is None:
                return "unread"
            return "died" if self.exit_code is not None else "finished"

    def _line_is_open(self) -> bool:
        """Whether something came since the last input, no line end last, as after a prompt."""
        news = self.output.total > self._total_at_input
        return news and not self.output.last.endswith(b"\n")

    # --- reading what it says ---------------------------------------------------------

    def _wake_up(self) -> None:
        os.write(self._wake, b"!")

    def _read(self) -> None:
        """Read until the shell ends. Whatever breaks that off, who waits finds `is_unread`."""
        try:
            self._read_all()
        except BaseException:  # noqa: BLE001 - as said; nothing is left to raise it to
            self._is_broken = True
            self.look_up()

    def _read_all(self) -> None:
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
        """See whether the command begins; or whether both its mark and its record have come."""
        if not self._begun and self._records.begun(self._token):
            self._begun = True
            self._news.notify_all()
        if self.ended is None and shell_protocol.mark(self._token) in self._recent:
            self.ended = self._records.take(self._token)
            if self.ended is not None:
                self.place = self.ended
                self.output.flush()
                self._news.notify_all()

    def _bury(self) -> None:
        """Hear the last words of a shell that died, and tell."""
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
        """End the shell and everything it started. Once is enough."""
        self._closing = True
        try:
            if self.exit_code is None:
                end_session(self.pid)
        finally:
            self._keeper.join()
            if self._reader is not None:
                self._reader.join()
            self.output.close()
            ours = self._launched
            close_all(ours.commands, ours.records, ours.screen, ours.keyboard)
            close_all(self._wake_read, self._wake)
