"""What a shell has to show -> the observation, with the sentences a model goes on by."""

import getpass
import socket
from dataclasses import dataclass

from toolbench.core.content import TextContent
from toolbench.tools.terminal.definition import (
    RUNNING,
    CmdOutputMetadata,
    TerminalObservation,
)
from toolbench.tools.terminal.pty_shell import Pause, PtyShell
from toolbench.tools.terminal.screen import shown

WHAT_TO_DO = (
    "Wait on with an empty command, type with is_input (C-c interrupts), or set reset."
)


@dataclass(frozen=True)
class Setting:
    """What does not change from command to command."""

    working_dir: str
    """Where a new shell starts."""
    silence: float
    """Seconds without output after which a call returns."""
    save_dir: str | None
    """Where long outputs are kept whole."""


def observe(
    shell: PtyShell,
    pause: Pause,
    *,
    command: str | None,
    waited: float | None,
    setting: Setting,
    prefix: str = "",
) -> TerminalObservation:
    """Return what there is to tell after a wait.

    Args:
        shell: The shell; its output is taken.
        pause: Why the wait ended.
        command: What ran.
        waited: The most seconds the call was to wait.
        setting: Where the shell lives.
        prefix: What to say before the output.
    """
    code = RUNNING
    if shell.exit_code is not None:
        code = shell.exit_code
    elif shell.ended is not None:
        code = shell.ended.exit_code
    text = output_of(shell)
    alive, place = shell.exit_code is None, shell.place
    metadata = CmdOutputMetadata(
        exit_code=code,
        pid=place.job if shell.settled else shell.foreground,
        username=_username(),
        hostname=socket.gethostname(),
        working_dir=place.working_dir if alive else setting.working_dir,
        py_interpreter_path=place.python or None,
        prefix=prefix,
        suffix=f"[{_suffix(shell, pause, waited, setting)}]",
    )
    return TerminalObservation(
        content=[TextContent(text=text)] if text else [],
        command=command,
        exit_code=code,
        timeout=pause in ("late", "silent"),
        metadata=metadata,
        full_output_save_dir=setting.save_dir,
    )


def output_of(shell: PtyShell) -> str:
    """Return what the shell printed since the last time, as a model reads it."""
    kept, file = shell.take_output()
    return shown(kept, f" All of it is in {file}." if file else "")


def _suffix(
    shell: PtyShell, pause: Pause, waited: float | None, setting: Setting
) -> str:
    if shell.exit_code is not None:
        return (
            f"The shell ended with exit code {shell.exit_code}. The next command gets a "
            f"new one in {setting.working_dir}, without the variables and jobs of this one."
        )
    if shell.ended is not None:
        return f"Exit code {shell.ended.exit_code} in {shell.ended.working_dir}"
    why = {
        "late": f"after {waited or 0:g} s",
        "silent": f"and silent for {setting.silence:g} s",
        "prompt": "and its last line is open, as if it waited for an answer",
    }.get(pause, "")
    return f"Still running, process group {shell.foreground}, {why}. {WHAT_TO_DO}"


def _username() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return None
