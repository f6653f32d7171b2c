"""The executor of the terminal: it runs commands, types input, waits, and stops the shell."""

import getpass
import os
import re
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from secrets import token_hex
from shutil import which
from threading import Lock
from typing import Any

from pydantic import SecretStr

from toolbench.core.content import TextContent
from toolbench.core.executor import ToolExecutor
from toolbench.core.state import secrets_of
from toolbench.errors import indefinite
from toolbench.redaction.known import Secrets, SecretValue
from toolbench.redaction.redactor import Redactor
from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.terminal.buffer import HeadAndTail
from toolbench.tools.terminal.definition import (
    RUNNING,
    SILENCE,
    CmdOutputMetadata,
    TerminalAction,
    TerminalObservation,
)
from toolbench.tools.terminal.keys import INTERRUPT, is_control, key
from toolbench.tools.terminal.pty_shell import Look, Pause, PtyShell
from toolbench.tools.terminal.screen_text import MARK, shown
from toolbench.tools.terminal.shell_protocol import Ended
from toolbench.tools.undisturbed_work import in_background, undisturbed

# Seconds for a program to start: before that, it would not get a typed key
_START = 0.05
# Seconds for each way to stop a command
_GRACE = 0.5
_WHAT_TO_DO = (
    "Keep waiting with an empty command, type with is_input (C-c interrupts), or set reset."
)
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class ShellSecrets:
    """The secrets of a shell. A command can use them as variables; outputs must not show them."""

    def __init__(self, secrets: Secrets) -> None:
        """Use *secrets* in all calls; each call also uses the secrets of its conversation."""
        self._own = secrets
        self.redactor = secrets.redactor
        """The redactor of the executor's own secrets and those of all conversations so far.

        Secrets of earlier conversations stay hidden, because the shell keeps its variables.
        """

    def named_in(self, command: str, conversation: Any) -> dict[str, str]:
        """Return the secrets whose names occur in *command*, as variables to set in the shell.

        This works like `SecretRegistry.get_secrets_as_env_vars` in the OpenHands SDK.

        Raises:
            RunError: If one of these secrets has a NUL character, which no variable can contain.
        """
        words = set(_NAME.findall(command))
        secrets = self._known(conversation).items()
        values = {n: s.get_secret_value() for n, s in secrets if n in words}
        for name, value in values.items():
            if "\0" in value:
                msg = f"The secret {name} has a NUL, which no shell variable can have."
                raise RunError(msg)
        return values

    def learn(self, conversation: Any) -> None:
        """Hide the secrets of *conversation* from now on."""
        values = {s.get_secret_value() for s in self._known(conversation).values()}
        if not values <= self.redactor.secrets | {""}:
            # a declared secret is hidden even if it is short
            self.redactor = Redactor(values | self.redactor.secrets, shortest=1)

    def _known(self, conversation: Any) -> Mapping[str, SecretStr]:
        return {**self._own, **(secrets_of(conversation) or {})}


class _Call:
    """One call of the terminal tool."""

    def __init__(self, action: TerminalAction, conversation: Any) -> None:
        self.action = action
        self.conversation = conversation
        self.stopped = False
        """Whether the command that this call waits for must stop."""
        self.abandoned = False
        """Whether the caller does not wait for the observation any more."""


class TerminalExecutor(ToolExecutor[TerminalAction, TerminalObservation]):
    """The executor of the terminal. It has one shell, and runs one call at a time."""

    def __init__(
        self,
        working_dir: str | Path | None = None,
        *,
        env: Mapping[str, str] | None = None,
        no_change_timeout_seconds: float | None = None,
        full_output_save_dir: str | Path | None = None,
        shell_path: str | Path | None = None,
        username: str | None = None,
        terminal_type: str | None = None,
        secrets: Mapping[str, SecretValue] | None = None,
    ) -> None:
        """Make an executor whose shell starts with the first command.

        Args:
            working_dir: The directory where the shell starts; the current directory if left out.
            env: Environment variables for the shell, in addition to those of this process.
            no_change_timeout_seconds: How long a command may print nothing before a call without a
                `timeout` returns, in seconds; 30 by default.
            full_output_save_dir: The folder in which outputs that are too long to show are saved.
            shell_path: The bash to run, instead of the first bash on the PATH.
            username: The user of the shell, which must be the user of this process.
            terminal_type: The only supported value is `subprocess`.
            secrets: Secrets by name, in addition to those of the conversation of a call. If the
                name of a secret occurs in a command, the secret is set as a variable for this
                command. Secrets are hidden in outputs.

        Raises:
            ValueError: If a parameter has an invalid value.
        """
        _check_of_the_reference(username, terminal_type)
        self.working_dir = str(working_dir or Path.cwd())
        """The directory where a new shell starts."""
        self._silence = SILENCE
        if no_change_timeout_seconds is not None:
            self._silence = _checked_seconds(no_change_timeout_seconds)
        self._save_dir: Path | None = None
        if full_output_save_dir:
            self._save_dir = Path(full_output_save_dir).absolute()
        self._env = _checked_environment(env or {})
        self._bash = _bash_at(shell_path)
        self._secrets = ShellSecrets(Secrets(secrets))
        self._name = token_hex(4)
        self._numbers = count(1)
        self._shell: PtyShell | None = None
        self._command: str | None = None
        # Whether the end of the command is not reported yet
        self._untold = False
        self._busy = Lock()
        self._call: _Call | None = None

    def __call__(self, action: TerminalAction, conversation: Any = None) -> TerminalObservation:
        """Run the command of *action*, or type its input, and wait until the command ends.

        The call returns earlier after its time limit, after a time without output, or if the output
        ends in a prompt. If an exception such as Kernel > Interrupt ends the wait, the command is
        stopped too. The next call with an empty command then reports how the command ended.
        """
        call = _Call(action, conversation)
        try:
            observation = undisturbed(partial(self._carry_out, call), partial(self._abandon, call))
        except RunError as failure:
            observation = TerminalObservation.from_text(
                str(failure), is_error=True, command=readable(action.command) or None
            )
        hidden: TerminalObservation = self._secrets.redactor.value(observation)
        return hidden

    @property
    def folder(self) -> str:
        """The folder in which the shell was after its last command, or will start."""
        shell = self._shell
        if shell is None:
            return self.working_dir
        return shell.place.working_dir

    def interrupt(self) -> None:
        """Stop the command that runs now, if a call waits for it: first by C-c, then by a kill."""
        if (call := self._call) is not None:
            call.stopped = True
            in_background(self._look_up)

    def close(self) -> None:
        """End the shell and all processes that the shell started."""
        self.interrupt()
        undisturbed(self._drop_when_free, lambda: None)

    # --- from call to call ------------------------------------------------------------

    def _carry_out(self, call: _Call) -> TerminalObservation:
        """Run *call* when all earlier calls have ended."""
        with self._busy:
            _check_wanted(call)
            self._call = call
            self._secrets.learn(call.conversation)
            try:
                return self._act(call)
            finally:
                self._call = None

    def _abandon(self, call: _Call) -> None:
        call.abandoned = call.stopped = True
        self._look_up()

    def _look_up(self) -> None:
        """Make the waiting call check immediately whether it has to stop."""
        if (shell := self._shell) is not None:
            shell.look_up()

    def _drop_when_free(self) -> None:
        with self._busy:
            self._drop()

    # --- the commands and inputs -----------------------------------------------------

    def _act(self, call: _Call) -> TerminalObservation:
        action = call.action
        if self._closed:
            msg = "This terminal is closed. Create the tool again."
            raise RunError(msg)
        note = ""
        if action.reset:
            self._drop()
            note = "[The shell was reset: all it ran has ended. This is a new one.]"
        shell = self._shell
        if shell is not None and (
            not shell.settled or (self._untold and not action.command and not action.is_input)
        ):
            return self._go_on(shell, call)
        if action.is_input or is_control(action.command):
            msg = (
                f"Nothing is running that could read {action.command!r}. "
                "Run a command first, without is_input."
            )
            raise RunError(msg)
        if action.command.strip():
            return self._run(call, note)
        if note:
            return TerminalObservation.from_text(note[1:-1])
        return self._between(shell)

    def _run(self, call: _Call, note: str) -> TerminalObservation:
        """Check the command of *call*, run it, wait for it, and return the observation.

        *note* is shown before the output. If it is empty, events since the last call are shown.
        """
        command = call.action.command
        if "\0" in command:
            msg = "A command cannot have a NUL character. Write it as printf '\\0'."
            raise RunError(msg)
        _encoded(command)
        variables = self._secrets.named_in(command, call.conversation)
        prefix = note or self._earlier()
        shell = self._opened()
        self._command, self._untold = command, True
        shell.send(command.replace("\r\n", "\n"), self._new_output(), variables)
        return self._waited(shell, call, prefix)

    def _earlier(self) -> str:
        """Return a note about events since the last call; empty if there were none.

        The last command may have ended, or jobs in the background may have written output.
        """
        if self._shell is None:
            return ""
        look = self._shell.look()
        text = _text_of(look)
        if self._untold:
            code = look.exit_code if look.ended is None else look.ended.exit_code
            return f"[{self._command!r} ended meanwhile with exit code {code}.]\n{text}"
        if text:
            return f"[From background jobs, before this command:]\n{text}"
        return ""

    def _go_on(self, shell: PtyShell, call: _Call) -> TerminalObservation:
        """Type the input of *call*, if any, and wait for the command that runs in *shell*."""
        action = call.action
        pressed = key(action.command)
        if action.command and not action.is_input and pressed is None:
            msg = f"{self._command!r} is still running. {_WHAT_TO_DO}"
            raise RunError(msg)
        if action.command or action.is_input:
            data = pressed or _encoded(action.command) + b"\n"
            if not shell.press(data) and not shell.settled:
                msg = f"{self._command!r} does not read what is typed. {_WHAT_TO_DO}"
                raise RunError(msg)
        if pressed == INTERRUPT:
            shell.wait(timeout=_GRACE, silence=_GRACE)
            shell.ask_again()
        return self._waited(shell, call, f"[More of {self._command!r}:]")

    def _between(self, shell: PtyShell | None) -> TerminalObservation:
        text = _text_of(shell.look()) if shell is not None else ""
        if not text:
            msg = "Nothing is running, and there is no new output. Run a command."
            raise RunError(msg)
        return TerminalObservation.from_text(f"[From background jobs:]\n{text}")

    # --- the shell --------------------------------------------------------------------

    def _waited(self, shell: PtyShell, call: _Call, prefix: str) -> TerminalObservation:
        action = call.action
        timeout = None if action.timeout is None else max(action.timeout, _START)
        pause = shell.wait(
            silence=self._silence if timeout is None else inf,
            timeout=timeout,
            prompts=action.command != "" and timeout is None,
            stop=lambda: call.stopped,
        )
        if pause == "stopped":
            pause = _stop(shell)
        # If no caller waits, the next call reports the end
        _check_wanted(call)
        observation = self._observed(shell, pause, action.timeout, prefix)
        self._untold = observation.exit_code == RUNNING
        return observation

    def _observed(
        self, shell: PtyShell, pause: Pause, waited: float | None, prefix: str
    ) -> TerminalObservation:
        """Return the observation of a call that has waited for the command.

        Args:
            shell: The shell. Its output so far is removed, so that no later call returns it again.
            pause: The reason why the wait ended.
            waited: The time limit of the call, in seconds.
            prefix: A string to show before the output.
        """
        look = shell.look()
        code, place, where = self._outcome(look, shell)
        text = _text_of(look)
        metadata = CmdOutputMetadata(
            exit_code=code,
            pid=shell.foreground if code == RUNNING else place.job,
            username=_current_username(),
            hostname=socket.gethostname(),
            working_dir=where,
            py_interpreter_path=place.python or None,
            prefix=prefix,
            suffix=f"[{self._suffix(look, shell, pause, waited)}]",
        )
        return TerminalObservation(
            content=[TextContent(text=text)] if text else [],
            command=self._command,
            exit_code=code,
            timeout=code == RUNNING and pause in ("late", "silent"),
            metadata=metadata,
            full_output_save_dir=self._save_dir and str(self._save_dir),
        )

    def _outcome(self, look: Look, shell: PtyShell) -> tuple[int, Ended, str]:
        """Return the exit code, the state of the shell, and the directory of the next command."""
        if look.exit_code is not None:
            return look.exit_code, shell.place, self.working_dir
        if look.ended is not None:
            return look.ended.exit_code, look.ended, look.ended.working_dir
        return RUNNING, shell.place, shell.place.working_dir

    def _suffix(self, look: Look, shell: PtyShell, pause: Pause, waited: float | None) -> str:
        if look.exit_code is not None:
            return (
                f"The shell ended with exit code {look.exit_code}. The next command gets a "
                f"new one in {self.working_dir}, without the variables and jobs of this one."
            )
        if look.ended is not None:
            return f"Exit code {look.ended.exit_code} in {look.ended.working_dir}"
        why = {
            "late": f"after {waited or 0:g} s",
            "silent": f"and silent for {self._silence:g} s",
            "prompt": "and its last line is open, as if it waited for an answer",
        }.get(pause, "although a stop was requested")
        return f"Still running, process group {shell.foreground}, {why}. {_WHAT_TO_DO}"

    def _opened(self) -> PtyShell:
        if self._shell is not None and self._shell.exit_code is not None:
            self._drop()
        if self._shell is None:
            try:
                self._shell = PtyShell(self.working_dir, self._env, bash=self._bash)
            except (OSError, RuntimeError, ValueError) as error:
                # Of a thread it is a RuntimeError, of a variable with a NUL a ValueError
                why = getattr(error, "strerror", None) or error
                msg = f"No shell could be started in {self.working_dir!r}: {why}."
                raise RunError(msg) from error
        return self._shell

    def _drop(self) -> None:
        shell, self._shell, self._command = self._shell, None, None
        self._untold = False
        if shell is not None:
            shell.close()

    def _new_output(self) -> HeadAndTail:
        name = f"output_{self._name}_{next(self._numbers)}.txt"
        file = None
        if self._save_dir is not None:
            file = self._save_dir / name
        return HeadAndTail(file, noise=MARK, secrets=self._secrets.redactor.stream())


def _text_of(look: Look) -> str:
    """Return the output in *look* as text for a model."""
    where = f"All of it is in {look.file}." if look.file else look.loss
    return shown(look.output, where and f" {where}")


def _current_username() -> str | None:
    """Return the name of this process's user; None if the user has no name (some containers)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


def _check_of_the_reference(username: str | None, terminal_type: str | None) -> None:
    """Check the parameters that OpenHands' terminal has and that can have only one value here.

    Raises:
        ValueError: If a parameter has another value.
    """
    if username is not None and username != (name := _current_username()):
        msg = (
            f"username: the shell runs as {name!r}, who runs this process, and not as "
            f"{username!r}: leave username out."
        )
        raise ValueError(msg)
    if terminal_type not in (None, "subprocess"):
        msg = (
            f"terminal_type: {terminal_type!r} is not supported; the terminal is always a bash "
            "on a pseudo-terminal, 'subprocess': leave terminal_type out."
        )
        raise ValueError(msg)


def _checked_seconds(seconds: float) -> float:
    if not 0 <= seconds < inf:
        msg = f"no_change_timeout_seconds: {seconds!r} is not a number of seconds: give 0 or more."
        raise ValueError(msg)
    return seconds


def _checked_environment(env: Mapping[str, str]) -> dict[str, str]:
    for name, value in env.items():
        if not isinstance(value, str):
            # The message has no value: it may be secret
            kind = indefinite(type(value).__name__)
            msg = f"env: {name} is text, not {kind}: write it in quotes."
            raise ValueError(msg)  # noqa: TRY004 - every parameter has the same error
    return dict(env)


def _bash_at(shell_path: str | Path | None) -> str:
    if shell_path is None:
        return "bash"
    program = which(shell_path)
    if program is None:
        msg = f"shell_path: {str(shell_path)!r} is not a program: give the path of a bash."
        raise ValueError(msg)
    return program


def _check_wanted(call: _Call) -> None:
    if call.abandoned:
        # So no caller reads this error
        msg = "No caller waits for this call any more."
        raise RunError(msg)


def _encoded(text: str) -> bytes:
    """Return *text* as bytes.

    In Python, a byte of a file name that is not valid UTF-8 is a surrogate. Such a surrogate
    becomes the original byte again.

    Raises:
        RunError: If *text* has a surrogate that does not stand for a byte.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        odd = text[error.start]
        msg = f"The command has {odd!r}, which is half a character. Write the whole character."
        raise RunError(msg) from None


def _stop(shell: PtyShell) -> Pause:
    """Stop the command in *shell*: try C-c, then kill the program, then kill the shell."""
    ways = (
        lambda: shell.press(INTERRUPT),
        shell.ask_again,
        shell.start_afresh,
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


# The name in OpenHands
BashExecutor = TerminalExecutor
