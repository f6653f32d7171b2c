"""The terminal at work: which shell, and what is done to it."""

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from threading import Event, Lock
from typing import Any

from toolbench.core.executor import ToolExecutor
from toolbench.tools.failure import RunError, readable
from toolbench.tools.terminal.buffer import HeadAndTail
from toolbench.tools.terminal.definition import (
    RUNNING,
    SILENCE,
    TerminalAction,
    TerminalObservation,
)
from toolbench.tools.terminal.keys import INTERRUPT, is_control, key
from toolbench.tools.terminal.observe import WHAT_TO_DO, Setting, observe, text_of
from toolbench.tools.terminal.pty_shell import Pause, PtyShell
from toolbench.tools.terminal.screen import MARK

_START = 0.05  # seconds a command has to begin, or a key pressed next would miss it
_GRACE = 0.5  # seconds for each way of stopping a command


class TerminalExecutor(ToolExecutor[TerminalAction, TerminalObservation]):
    """Runs commands in a shell of its own, one call at a time."""

    def __init__(
        self,
        working_dir: str | Path | None = None,
        *,
        env: Mapping[str, str] | None = None,
        no_change_timeout_seconds: float = SILENCE,
        max_processes: int | None = None,
        full_output_save_dir: str | Path | None = None,
    ) -> None:
        """Prepare a shell; it starts with the first command.

        Args:
            working_dir: Where it starts; the current directory if left out.
            env: Variables beside those of this process.
            no_change_timeout_seconds: Seconds without output after which a call returns.
            max_processes: How many processes the user may have, as `ulimit -u`; stops a
                fork bomb, but not for root.
            full_output_save_dir: Where to keep whole what is too long to show.
        """
        save_dir = full_output_save_dir and str(Path(full_output_save_dir).absolute())
        self.setting = Setting(
            working_dir=str(working_dir or Path.cwd()),
            silence=no_change_timeout_seconds,
            save_dir=save_dir or None,
        )
        self._env = dict(env or {})
        self._max_processes = max_processes
        self._name = token_hex(4)
        self._numbers = count(1)
        self._shell: PtyShell | None = None
        self._command: str | None = None
        self._untold = False  # whether it may have ended without anybody being told
        self._busy = Lock()
        self._interrupted = Event()

    def __call__(
        self, action: TerminalAction, conversation: Any = None
    ) -> TerminalObservation:
        """Do what *action* says and wait until there is something to tell."""
        with self._busy:
            self._interrupted.clear()
            try:
                return self._act(action)
            except RunError as failure:
                return TerminalObservation.from_text(
                    str(failure),
                    is_error=True,
                    command=readable(action.command) or None,
                )
            except BaseException:  # also Kernel > Interrupt: the command shall stop too
                if self._shell is not None and not self._shell.settled:
                    self._shell.press(INTERRUPT)
                raise

    def interrupt(self) -> None:
        """Stop the command that a call waits for: by C-c, then by force."""
        self._interrupted.set()
        if (shell := self._shell) is not None:
            shell.look_up()

    def close(self) -> None:
        """End the shell and everything it started."""
        self.interrupt()
        with self._busy:
            self._drop()

    # --- what an action can mean ------------------------------------------------------

    def _act(self, action: TerminalAction) -> TerminalObservation:
        if self._closed:
            msg = "This terminal is closed. Create the tool again."
            raise RunError(msg)
        if action.reset:
            self._drop()
            if not action.command:
                self._opened()
                return TerminalObservation.from_text("A new shell is ready.")
        shell = self._shell
        if shell is not None and (
            not shell.settled
            or (self._untold and not action.command and not action.is_input)
        ):
            return self._go_on(shell, action)
        if action.is_input or is_control(action.command):
            msg = (
                f"Nothing is running that {action.command!r} could be typed at. "
                "Run a command first, without is_input."
            )
            raise RunError(msg)
        return self._run(action) if action.command.strip() else self._between(shell)

    def _run(self, action: TerminalAction) -> TerminalObservation:
        if "\0" in action.command:
            msg = "A command holds no NUL character. Write it as printf '\\0'."
            raise RunError(msg)
        _encoded(action.command)
        earlier = self._earlier()
        shell = self._opened()
        shell.send(action.command.replace("\r\n", "\n"), self._new_output())
        self._command, self._untold = action.command, True
        return self._waited(shell, action, earlier)

    def _earlier(self) -> str:
        """What there is to tell of the time before a new command."""
        if self._shell is None:
            return ""
        look = self._shell.look()
        told = text_of(look)
        if self._untold:
            code = look.exit_code if look.ended is None else look.ended.exit_code
            return f"[{self._command!r} ended meanwhile with exit code {code}.]\n{told}"
        return f"[From background jobs, before this command:]\n{told}" if told else ""

    def _go_on(self, shell: PtyShell, action: TerminalAction) -> TerminalObservation:
        """Wait for the command that runs, or type at it."""
        pressed = key(action.command)
        if action.command and not action.is_input and pressed is None:
            msg = f"{self._command!r} is still running. {WHAT_TO_DO}"
            raise RunError(msg)
        if action.command or action.is_input:
            data = pressed or _encoded(action.command) + b"\n"
            if not shell.press(data) and not shell.settled:
                msg = f"{self._command!r} does not read what is typed. {WHAT_TO_DO}"
                raise RunError(msg)
        if pressed == INTERRUPT:
            shell.wait(timeout=_GRACE, silence=_GRACE)
            shell.ask_again()
        return self._waited(shell, action, f"[More of {self._command!r}:]")

    def _between(self, shell: PtyShell | None) -> TerminalObservation:
        text = text_of(shell.look()) if shell is not None else ""
        if not text:
            msg = "Nothing is running, and there is no new output. Run a command."
            raise RunError(msg)
        return TerminalObservation.from_text(f"[From background jobs:]\n{text}")

    # --- the shell --------------------------------------------------------------------

    def _waited(
        self, shell: PtyShell, action: TerminalAction, prefix: str
    ) -> TerminalObservation:
        timeout = None if action.timeout is None else max(action.timeout, _START)
        pause = shell.wait(
            silence=self.setting.silence,
            timeout=timeout,
            prompts=action.command != "",
            stop=self._interrupted,
        )
        if pause == "stopped":
            pause = _stop(shell)
        told = observe(
            shell,
            pause,
            command=self._command,
            waited=action.timeout,
            setting=self.setting,
            prefix=prefix,
        )
        self._untold = told.exit_code == RUNNING
        return told

    def _opened(self) -> PtyShell:
        if self._shell is not None and self._shell.exit_code is not None:
            self._drop()
        if self._shell is None:
            try:
                self._shell = PtyShell(
                    self.setting.working_dir,
                    self._env,
                    max_processes=self._max_processes,
                )
            except OSError as error:
                where, why = self.setting.working_dir, error.strerror or error
                msg = f"No shell could be started in {where!r}: {why}."
                raise RunError(msg) from error
        return self._shell

    def _drop(self) -> None:
        shell, self._shell, self._command = self._shell, None, None
        self._untold = False
        if shell is not None:
            shell.close()

    def _new_output(self) -> HeadAndTail:
        if self.setting.save_dir is None:
            return HeadAndTail()
        name = f"output_{self._name}_{next(self._numbers)}.txt"
        return HeadAndTail(Path(self.setting.save_dir) / name, noise=MARK)


def _encoded(text: str) -> bytes:
    """Return the bytes to type; a byte of a file name is itself."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        odd = text[error.start]
        msg = f"The command holds {odd!r}, which is half a character. Write the whole one."
        raise RunError(msg) from None


def _stop(shell: PtyShell) -> Pause:
    """Stop what runs: C-c, then the program by force, then the shell."""
    ways = (
        lambda: shell.press(INTERRUPT),
        shell.ask_again,
        lambda: _kill(shell.foreground),
        lambda: _kill(shell.pid),
    )
    pause: Pause = "stopped"
    for way in ways:
        way()
        pause = shell.wait(timeout=_GRACE, silence=_GRACE)
        if shell.settled:
            break
    return pause


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
