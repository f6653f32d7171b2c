"""Start a server so that it cannot outlive this process, whatever signal ends which of the two.

A server that ignores the end of its stdin and SIGTERM would stay for ever once the kernel is
killed. On Linux the kernel of the operating system ends it with us; elsewhere on POSIX a small
parent process watches for us. Windows has job objects for this (the MCP SDK uses them).
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

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
    """Return the command line that starts *program*, found by `find_program`, under guard."""
    command = [program, program, *args]
    if sys.platform == "win32" or not sys.executable:
        return command[1:]
    script = _LINUX if sys.platform.startswith("linux") else _POSIX
    return [sys.executable, "-I", "-S", "-c", script, str(os.getpid()), *command]


def find_program(command: str, env: Mapping[str, str], cwd: str | None) -> str:
    """Return the path of the program that *command* names.

    Raises:
        FileNotFoundError: If there is none; the message says what to do.
        NotADirectoryError: If *cwd* is no directory.
        PermissionError: If the file may not be executed.
    """
    if cwd is not None and not Path(cwd).is_dir():
        msg = (
            f"the working directory {cwd!r} does not exist. Create it, or change 'cwd'."
        )
        raise NotADirectoryError(msg)
    beside = Path(cwd or Path.cwd()) / command
    is_path = bool(os.path.dirname(command))  # noqa: PTH120 - Path takes "./x" for "x"
    if found := shutil.which(str(beside) if is_path else command, path=env.get("PATH")):
        return str(Path(found).absolute())
    if is_path and beside.is_file():
        msg = f"{command!r} may not be executed. Make it executable, or name its interpreter."
        raise PermissionError(msg)
    msg = f"command not found: {command!r}. Is it installed and on PATH?"
    raise FileNotFoundError(msg)
