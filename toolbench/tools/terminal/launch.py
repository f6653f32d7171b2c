"""Start bash on a pseudo-terminal, and end bash with all processes that it started."""

import errno
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from shutil import which

import psutil

from toolbench.tools.posix import fcntl, termios

# File descriptors in the shell. They are below 64, so that `ulimit -n 64` is enough, and they avoid
# those that bash itself uses, from 10 and from 63 on. The first one gets records of ended commands:
RECORDS = 54
# The terminal, even if stdout is redirected
SCREEN = 55
# The stdout and stderr of commands; the shell's own are /dev/null in between
STDOUT, STDERR = 52, 53
# The first descriptor above those
_CLEAR_OF_THOSE = 56
_ROWS, _COLUMNS = 50, 160
# Seconds between a request to end and a kill
_PATIENCE = 0.3

# A session leader gets the terminal that it opens, so no code between fork and exec is needed.
_LAUNCH = f"""
exec {SCREEN}<>"$1"
eval "exec {RECORDS}>&$2 $2>&- {STDOUT}>&1 {STDERR}>&2"
exec "$BASH" --norc --noprofile --noediting +H -i
"""
_UNWANTED = (
    "BASH_ENV",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "ENV",
    "FORCE_COLOR",
    "LINES",
    "PROMPT_COMMAND",
    "PS1",
)
_SETTINGS = {
    "GIT_PAGER": "cat",
    "HISTFILE": "/dev/null",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}


@dataclass(frozen=True)
class Launched:
    """A running shell, with this process's ends of the pipes and of the terminal."""

    process: "subprocess.Popen[bytes]"
    commands: int
    """The descriptor to which commands for the shell are written."""
    records: int
    """The descriptor from which records of ended commands are read."""
    screen: int
    """The descriptor to read the programs' output from, and to write typed input to."""
    keyboard: int
    """The descriptor of the programs' side of the terminal.

    It is used to set modes, to discard typed input, and to write marks.
    """


def launch(working_dir: str, env: Mapping[str, str], bash: str) -> Launched:
    """Start a shell in *working_dir*.

    Raises:
        OSError: If there is no bash, if *working_dir* does not exist, or if no pseudo-terminal or
            descriptor is free.
    """
    with ExitStack() as ours, ExitStack() as theirs:
        screen, keyboard = _closing_with(ours, *os.openpty())
        commands_read, commands = os.pipe()
        _closing_with(theirs, commands_read)
        _closing_with(ours, commands)
        records, pipe_end = os.pipe()
        _closing_with(theirs, pipe_end)
        _closing_with(ours, records)
        records_write = _moved(pipe_end)
        _closing_with(theirs, records_write)
        size = struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0)
        fcntl.ioctl(keyboard, termios.TIOCSWINSZ, size)
        os.set_blocking(screen, False)
        tty = os.ttyname(keyboard)
        command = [*_default_hang_up(), bash, "--norc", "--noprofile", "-c", _LAUNCH]
        process = subprocess.Popen(  # noqa: S603 - its purpose is to run commands
            [*command, "bash", tty, str(records_write)],
            stdin=commands_read,
            stdout=keyboard,
            stderr=keyboard,
            pass_fds=(records_write,),
            cwd=working_dir,
            env=_environment(env),
            start_new_session=True,
        )
        ours.pop_all()
    return Launched(process, commands, records, screen, keyboard)


@cache
def _default_hang_up() -> tuple[str, ...]:
    """Return a command prefix with which SIGHUP ends the command, as it does in a terminal.

    Without the prefix, the command may ignore this signal: a Jupyter that was started with `nohup`
    ignores it, and so do all processes that Jupyter starts. The prefix is empty if the program
    `env` cannot reset a signal.
    """
    env = which("env") if sys.platform.startswith("linux") else None
    if env is None:
        return ()
    prefix = (env, "--default-signal=HUP")
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # noqa: S603 - the program is env
    if tried.returncode:
        return ()
    return prefix


def _moved(descriptor: int) -> int:
    """Return a copy of *descriptor* with a number above those that the shell uses."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _CLEAR_OF_THOSE)
    except OSError as error:
        # The limit of descriptors is below this number
        if error.errno == errno.EINVAL:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from None
        raise


def _closing_with(stack: ExitStack, *descriptors: int) -> tuple[int, ...]:
    """Let *stack* close *descriptors* later, and return them."""
    for descriptor in descriptors:
        stack.callback(os.close, descriptor)
    return descriptors


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in _UNWANTED}
    return {**inherited, **_SETTINGS, **env}


def tidy(keyboard: int) -> None:
    """Prepare the terminal with the descriptor *keyboard* for a new command.

    Switch off the echo, leave output bytes unchanged, and discard typed input.
    """
    modes = termios.tcgetattr(keyboard)
    modes[0] = termios.ICRNL | termios.BRKINT
    modes[1] &= ~termios.OPOST
    modes[3] = termios.ISIG | termios.ICANON | termios.IEXTEN
    termios.tcsetattr(keyboard, termios.TCSANOW, modes)
    termios.tcflush(keyboard, termios.TCIFLUSH)


def end_session(leader: int) -> None:
    """End all processes of the session of *leader*: first by SIGHUP, then by SIGKILL."""
    victims = _members(leader)
    for victim in victims:
        _signal(victim, signal.SIGHUP)
        # A stopped process cannot react
        _signal(victim, signal.SIGCONT)
    others = [victim for victim in victims if victim.pid != leader]
    psutil.wait_procs(others, timeout=_PATIENCE)
    for victim in [*victims, *_members(leader)]:
        _signal(victim, signal.SIGKILL)


def _members(leader: int) -> list[psutil.Process]:
    processes = {}
    with suppress(psutil.NoSuchProcess):
        shell = psutil.Process(leader)
        processes = {p.pid: p for p in [*shell.children(recursive=True), shell]}
    for pid in psutil.pids():
        with suppress(OSError, psutil.NoSuchProcess):
            if pid not in processes and os.getsid(pid) == leader:
                processes[pid] = psutil.Process(pid)
    return list(processes.values())


def _signal(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process.send_signal(number)
