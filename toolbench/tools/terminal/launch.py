"""Start bash on a pseudo-terminal, and end it with everything it started."""

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import psutil

RECORDS = 198  # in the shell: where it reports how commands ended
SCREEN = 199  # in the shell: the terminal, wherever its standard output goes
_CLEAR_OF_THOSE = 200
_ROWS, _COLUMNS = 50, 160
_PATIENCE = 0.3  # seconds between asking processes to end and killing them

# A session leader that opens a terminal owns it: no code runs between fork and exec.
_LAUNCH = f"""
exec {SCREEN}<>"$1"
eval "exec {RECORDS}>&$2 $2>&-"
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
_WANTED = {
    "GIT_PAGER": "cat",
    "HISTFILE": "/dev/null",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}


@dataclass(frozen=True)
class Launched:
    """A running shell and our ends of what connects to it."""

    process: "subprocess.Popen[bytes]"
    commands: int
    """Write: lines for the shell to run."""
    records: int
    """Read: how they ended."""
    screen: int
    """Read: what programs print. Write: what is typed."""
    keyboard: int
    """The programs' end of the terminal, to set it up and to empty it."""


def launch(
    working_dir: str, env: Mapping[str, str], max_processes: int | None
) -> Launched:
    """Start a shell in *working_dir*.

    Its death is bound to that of the calling *thread* where the system can do so.

    Raises:
        OSError: If there is no bash, no such directory, or no pseudo-terminal left.
    """
    screen, keyboard = os.openpty()
    commands_read, commands = os.pipe()
    records, pipe_end = os.pipe()
    records_write = fcntl.fcntl(pipe_end, fcntl.F_DUPFD_CLOEXEC, _CLEAR_OF_THOSE)
    os.close(pipe_end)
    size = struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0)
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, size)
    os.set_blocking(screen, False)
    limit = "" if max_processes is None else str(max_processes)
    tty = os.ttyname(keyboard)
    command = [*_dying_with_us(), "bash", "--norc", "--noprofile", "-c", _LAUNCH]
    try:
        process = subprocess.Popen(  # noqa: S603 - running commands is what it is for
            [*command, "bash", tty, str(records_write), limit],
            stdin=commands_read,
            stdout=keyboard,
            stderr=keyboard,
            pass_fds=(records_write,),
            cwd=working_dir,
            env=_environment(env),
            start_new_session=True,
        )
    except OSError:
        for descriptor in (screen, keyboard, commands, records):
            os.close(descriptor)
        raise
    finally:
        os.close(commands_read)
        os.close(records_write)
    return Launched(process, commands, records, screen, keyboard)


def _dying_with_us() -> list[str]:
    """Linux: a hang-up for the shell if we are killed and something holds our terminal open."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "HUP", "--"] if setpriv else []


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in _UNWANTED}
    return {**inherited, **_WANTED, **env}


def tidy(keyboard: int) -> None:
    """Set the terminal as a new command finds it: no echo, bytes unchanged, nothing typed."""
    modes = termios.tcgetattr(keyboard)
    modes[0] = termios.ICRNL | termios.BRKINT
    modes[1] &= ~termios.OPOST
    modes[3] = termios.ISIG | termios.ICANON | termios.IEXTEN
    termios.tcsetattr(keyboard, termios.TCSANOW, modes)
    termios.tcflush(keyboard, termios.TCIFLUSH)


def end_session(leader: int) -> None:
    """End every process of the session that *leader* began, by request and then by force."""
    victims = _members(leader)
    for victim in victims:
        _signal(victim, signal.SIGHUP)
        _signal(victim, signal.SIGCONT)  # a stopped process cannot listen
    others = [victim for victim in victims if victim.pid != leader]
    psutil.wait_procs(others, timeout=_PATIENCE)
    for victim in [*victims, *_members(leader)]:
        _signal(victim, signal.SIGKILL)


def _members(leader: int) -> list[psutil.Process]:
    found = {}
    with suppress(psutil.NoSuchProcess):
        shell = psutil.Process(leader)
        found = {p.pid: p for p in [*shell.children(recursive=True), shell]}
    for pid in psutil.pids():
        with suppress(OSError, psutil.NoSuchProcess):
            if pid not in found and os.getsid(pid) == leader:
                found[pid] = psutil.Process(pid)
    return list(found.values())


def _signal(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process.send_signal(number)
