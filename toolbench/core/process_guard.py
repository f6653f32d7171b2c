"""Make command lines of programs that end with this process, even if a signal kills it.

Without this module, a program that ignores SIGTERM and the end of its stdin would run for ever
after the Jupyter kernel is killed. On Linux the operating system ends the program. On other POSIX
systems, `guarded` adds a small parent process that watches this process. On Windows there is no
guard here: the MCP SDK uses job objects.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

_LINUX = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
if os.getppid() != int(sys.argv[1]):  # ended before the line above
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[3:])
"""

_POSIX = """
import os, signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[3:], executable=sys.argv[2])
while child.poll() is None:
    if os.getppid() != int(sys.argv[1]):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    time.sleep(0.25)
sys.exit(child.returncode if child.returncode >= 0 else 128 - child.returncode)
"""


def guarded(program: str, args: Sequence[str]) -> list[str]:
    """Return a command line that starts the program at the path *program* with *args*.

    The program ends when this process ends; on Linux, when the *thread* that starts it ends. The
    command line begins with a Python script, which costs 20 ms. On Windows the program gets no
    guard here.
    """
    command = [program, program, *args]
    if sys.platform == "win32" or not sys.executable:
        return command[1:]
    script = _LINUX if sys.platform.startswith("linux") else _POSIX
    return [sys.executable, "-I", "-S", "-c", script, str(os.getpid()), *command]


def guarded_quickly(program: str, args: Sequence[str]) -> list[str]:
    """Return a command line as `guarded` does; with `setpriv` on Linux it starts faster (2 ms).

    On other systems the program gets no guard. If this process ends at the same moment as the
    program starts, the program keeps running.
    """
    if not sys.platform.startswith("linux"):
        return [program, *args]
    prefix = death_signal("KILL")
    return [*prefix, program, *args] if prefix else guarded(program, args)


def death_signal(name: str) -> list[str]:
    """Return a prefix for a command, which then gets the signal *name* when this process ends.

    The signal is sent when the *thread* that starts the command ends. The prefix is empty if the
    system cannot do this.
    """
    setpriv = shutil.which("setpriv") if sys.platform.startswith("linux") else None
    return [setpriv, "--pdeathsig", name, "--"] if setpriv else []


@cache
def default_hang_up() -> tuple[str, ...]:
    """Return a command prefix with which the signal SIGHUP ends the command, as it does in a terminal.

    A Jupyter that was started with `nohup` ignores this signal, and so does every process that it
    starts. The prefix is empty if `env` cannot reset a signal; this is tested once.
    """
    env = shutil.which("env") if sys.platform.startswith("linux") else None
    if env is None:
        return ()
    prefix = (env, "--default-signal=HUP")
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # noqa: S603 - the program is env
    return () if tried.returncode else prefix
