"""Wait for the end of another process, then end the programs that it had started.

This file is run as a script: `watch.py PARENT FOLDER`, with the process id of the other
process and the folder that has `psutil`. It reads lines from its stdin: `+PID` adds a program,
`-PID` takes it away. It ends the programs when stdin ends, or when PARENT is no longer its own
parent. Both are checked, because a fork of PARENT may keep stdin open.
"""

import os
import select
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

# Seconds between two looks at the parent
_LOOK = 1.0
# Seconds after the end of stdin, and again after SIGTERM
_PATIENCE = 1.0


def main(parent: int) -> None:
    """Read the lines about programs until *parent* is gone; then end the programs."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        # This process always ends by itself
        signal.signal(number, signal.SIG_IGN)
    leaders: dict[int, Process] = {}
    rest = b""
    while True:
        # It may have left lines to read
        is_alone = os.getppid() != parent
        wait = _LOOK
        if is_alone:
            wait = 0
        if select.select([0], [], [], wait)[0]:
            chunk = os.read(0, 65536)
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                _take(line.decode(), leaders)
        elif is_alone:
            break
    _end(leaders.values())


def _take(line: str, leaders: "dict[int, Process]") -> None:
    from psutil import NoSuchProcess, Process  # noqa: PLC0415 - see below

    pid = int(line[1:])
    if line[0] == "-":
        leaders.pop(pid, None)
        return
    # It has ended already
    with suppress(NoSuchProcess):
        leaders[pid] = Process(pid)


def _end(leaders: "Iterable[Process]") -> None:
    """End the sessions of *leaders*: wait (their stdin has ended), then send SIGTERM, then SIGKILL."""
    from psutil import NoSuchProcess, wait_procs  # noqa: PLC0415 - see below

    victims = {process for leader in leaders for process in _members(leader)}
    _, alive = wait_procs(victims, timeout=_PATIENCE)
    for process in alive:
        with suppress(NoSuchProcess):
            process.terminate()
    if alive:
        wait_procs(alive, timeout=_PATIENCE)
    late = {process for leader in leaders for process in _members(leader)}
    for process in victims | late:
        with suppress(NoSuchProcess):
            # psutil checks that it is not another process with the same number
            process.kill()


def _members(leader: "Process") -> "set[Process]":
    """Return the processes in the session of *leader*, and all that they have started."""
    from psutil import NoSuchProcess, Process, pid_exists, pids  # noqa: PLC0415 - below

    members: set[Process] = set()
    if leader.is_running():
        members.add(leader)
    # Else another process has its number
    if members or not pid_exists(leader.pid):
        for pid in pids():
            with suppress(OSError, NoSuchProcess):
                if os.getsid(pid) == leader.pid:
                    members.add(Process(pid))
    for process in list(members):
        with suppress(NoSuchProcess):
            members.update(process.children(recursive=True))
    return members


if __name__ == "__main__":
    # psutil is there: this script starts without site-packages
    sys.path.append(sys.argv[2])
    main(int(sys.argv[1]))
