"""Start bash on a pseudo-terminal, and end bash with all processes that it started."""

import errno
import getpass
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import which
from threading import Thread
from typing import Any

import psutil

from toolbench.errors import indefinite
from toolbench.processes.guard import process_guard
from toolbench.tools.posix import fcntl, termios

# Descriptors in the shell. They are below `ulimit -n 64`, and bash takes others from 10 and from 63.
# The one to which it writes records of ended commands
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
[ -z "$3" ] || ulimit -u "$3"
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
    """A shell that runs, with this process's ends of the pipes and of the terminal."""

    process: "subprocess.Popen[bytes]"
    commands: int
    """The descriptor to which commands for the shell are written."""
    records: int
    """The descriptor from which records of ended commands are read."""
    screen: int
    """The descriptor from which the programs' output is read, and to which typed input is written."""
    keyboard: int
    """The descriptor of the programs' end: to set modes, discard typed input, and write marks."""


def bash_program(shell_path: str | Path | None) -> str:
    """Return the path of the bash at *shell_path*; "bash" (the first on the PATH) if this is None.

    Raises:
        ValueError: If *shell_path* is not a program, or not bash.
    """
    if shell_path is None:
        return "bash"
    if (program := which(shell_path)) is None:
        problem = "is not a program"
    elif not _is_bash(program):
        problem = "is not bash"
    else:
        return program
    msg = f"shell_path: {str(shell_path)!r} {problem}: give the path of a bash."
    raise ValueError(msg)


def _is_bash(program: str) -> bool:
    try:
        version = subprocess.run(  # noqa: S603 - the program that shall run commands
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"bash" in version.stdout.partition(b"\n")[0]


def launch(
    working_dir: str, env: Mapping[str, str], *, bash: str, max_processes: int | None
) -> Launched:
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
        limit = "" if max_processes is None else str(max_processes)
        tty = os.ttyname(keyboard)
        command = [*_default_hang_up(), bash, "--norc", "--noprofile", "-c", _LAUNCH]
        process = subprocess.Popen(  # noqa: S603 - its purpose is to run commands
            [*command, "bash", tty, str(records_write), limit],
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
    """Return a command prefix with which the signal SIGHUP ends the command, as it does in a terminal.

    A Jupyter that was started with `nohup` ignores this signal, and so does every process that it
    starts. The prefix is empty if `env` cannot reset a signal; this is tested once.
    """
    env = which("env") if sys.platform.startswith("linux") else None
    if env is None:
        return ()
    prefix = (env, "--default-signal=HUP")
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # noqa: S603 - the program is env
    if tried.returncode:
        return ()
    return prefix


def launch_in_thread(
    begin: Callable[[], Launched], when_over: Callable[[], object]
) -> tuple[Launched, Thread]:
    """Start a shell in a new thread that lasts until the shell ends; return the shell and the thread.

    The shell ends with this process, even if this process is killed.

    Args:
        begin: A function that starts the shell.
        when_over: A function that is called in the new thread when the shell has ended.

    Raises:
        OSError: If the shell cannot be started.
    """
    outcome: Future[Launched] = Future()

    def live() -> None:
        try:
            launched = begin()
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome.set_exception(error)
            return
        outcome.set_result(launched)
        try:
            # The first command need not wait for the process of the guard
            process_guard.add(launched.process.pid)
            launched.process.wait()
        finally:
            process_guard.discard(launched.process.pid)
            when_over()

    keeper = Thread(target=live, daemon=True)
    keeper.start()
    if outcome.exception() is not None:
        keeper.join()
    return outcome.result(), keeper


def _moved(descriptor: int) -> int:
    """Return a copy of *descriptor* with a number above all numbers that the shell uses."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _CLEAR_OF_THOSE)
    except OSError as error:
        # The limit of descriptors is below this number
        if error.errno == errno.EINVAL:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from None
        raise


def _closing_with(stack: ExitStack, *descriptors: int) -> tuple[int, ...]:
    """Make *stack* close *descriptors* later, and return them."""
    for descriptor in descriptors:
        stack.callback(os.close, descriptor)
    return descriptors


def check_environment(env: Any) -> None:
    """Check that *env* is a mapping that can be used as environment variables.

    Raises:
        ValueError: If a name or value cannot be used. The message has no values, because they may
            be secret.
    """
    if not isinstance(env, Mapping):
        kind = type(env).__name__
        msg = f"env: variables are a dict of strings by their names, not {indefinite(kind)}."
        raise ValueError(msg)  # noqa: TRY004 - every parameter has the same error
    for name, text in env.items():
        if not isinstance(name, str) or not name or "=" in name or not _fits(name):
            msg = f"env: {name!r} is not a name of a variable: give one without = and NUL."
            raise ValueError(msg)
        if not isinstance(text, str):
            kind = type(text).__name__
            msg = f"env: {name} is text, not {indefinite(kind)}: write it in quotes."
            raise ValueError(msg)  # noqa: TRY004 - the type of a part of the value
        if not _fits(text):
            msg = f"env: {name} has a NUL or half a character, which no variable can have."
            raise ValueError(msg)


def check_limits(silence: Any, max_processes: Any) -> None:
    """Check the two limits of a terminal tool; None means the default.

    Args:
        silence: Seconds without output after which a call returns.
        max_processes: The most processes that the user may have.

    Raises:
        ValueError: If a limit is not a valid number.
    """
    if silence is not None and not _is_number(silence, int | float, 0):
        msg = f"no_change_timeout_seconds: {silence!r} is not a number of seconds: give 0 or more."
        raise ValueError(msg)
    if max_processes is not None and not _is_number(max_processes, int, 1):
        msg = f"max_processes: {max_processes!r} is not a number of processes: give 1 or more."
        raise ValueError(msg)


def _is_number(value: Any, kind: Any, least: int) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and least <= value < float("inf")


def check_reference_parameters(username: str | None, terminal_type: str | None) -> None:
    """Check the parameters of the OpenHands SDK that can have only one value here.

    Raises:
        ValueError: If a parameter has another value.
    """
    if username is not None and username != (name := current_username()):
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


def current_username() -> str | None:
    """Return the name of this process's user; None if the user has no name (some containers)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


def _fits(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


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
