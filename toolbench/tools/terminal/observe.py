"""Make the observation of a command, with sentences that help a model to continue."""

import socket
from dataclasses import dataclass

from toolbench.core.content import TextContent
from toolbench.tools.terminal.definition import (
    RUNNING,
    CmdOutputMetadata,
    TerminalObservation,
)
from toolbench.tools.terminal.launch import current_username
from toolbench.tools.terminal.pty_shell import Look, Pause, PtyShell
from toolbench.tools.terminal.screen_text import shown
from toolbench.tools.terminal.shell_protocol import Ended

WHAT_TO_DO = "Wait on with an empty command, type with is_input (C-c interrupts), or set reset."


@dataclass(frozen=True)
class Setting:
    """The settings of a terminal tool, the same for all commands."""

    working_dir: str
    """The directory where a new shell starts."""
    silence: float
    """The seconds without output after which a call returns."""
    save_dir: str | None
    """The folder for files with long outputs."""


def observe(
    shell: PtyShell,
    pause: Pause,
    *,
    command: str | None,
    waited: float | None,
    setting: Setting,
    prefix: str = "",
) -> TerminalObservation:
    """Return the observation of a call that has waited for *command*.

    Args:
        shell: The shell; its output is taken, so the next call does not get the same output.
        pause: The reason why the wait ended.
        command: The command; None if the call had none.
        waited: The time limit of the call, in seconds.
        setting: The settings of the terminal tool.
        prefix: A text to show before the output.
    """
    look = shell.look()
    code, place, where = _outcome(look, shell, setting)
    text = text_of(look)
    metadata = CmdOutputMetadata(
        exit_code=code,
        pid=shell.foreground if code == RUNNING else place.job,
        username=current_username(),
        hostname=socket.gethostname(),
        working_dir=where,
        py_interpreter_path=place.python or None,
        prefix=prefix,
        suffix=f"[{_suffix(look, shell, pause, waited, setting)}]",
    )
    return TerminalObservation(
        content=[TextContent(text=text)] if text else [],
        command=command,
        exit_code=code,
        timeout=code == RUNNING and pause in ("late", "silent"),
        metadata=metadata,
        full_output_save_dir=setting.save_dir,
    )


def text_of(look: Look) -> str:
    """Return the output in *look* as text for a model."""
    where = f"All of it is in {look.file}." if look.file else look.loss
    return shown(look.output, where and f" {where}")


def _outcome(look: Look, shell: PtyShell, setting: Setting) -> tuple[int, Ended, str]:
    """Return the exit code, the state after the last command, and the directory of the next command."""
    if look.exit_code is not None:
        return look.exit_code, shell.place, setting.working_dir
    if look.ended is not None:
        return look.ended.exit_code, look.ended, look.ended.working_dir
    return RUNNING, shell.place, shell.place.working_dir


def _suffix(
    look: Look, shell: PtyShell, pause: Pause, waited: float | None, setting: Setting
) -> str:
    if look.exit_code is not None:
        return (
            f"The shell ended with exit code {look.exit_code}. The next command gets a "
            f"new one in {setting.working_dir}, without the variables and jobs of this one."
        )
    if look.ended is not None:
        return f"Exit code {look.ended.exit_code} in {look.ended.working_dir}"
    why = {
        "late": f"after {waited or 0:g} s",
        "silent": f"and silent for {setting.silence:g} s",
        "prompt": "and its last line is open, as if it waited for an answer",
    }.get(pause, "although a stop was requested")
    return f"Still running, process group {shell.foreground}, {why}. {WHAT_TO_DO}"
