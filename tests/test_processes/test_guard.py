"""Programs, and all that they start, end with the process that started them."""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest
from patience import PATIENCE, eventually
from test_mcp.peers import is_running

from toolbench.processes.guard import ProcessGuard

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="watches the ends of processes by pidfd"
)

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{first}
print(os.getpid(), flush=True)
sys.stdin.read()
time.sleep(600)
"""
OBEDIENT = """
import os, sys, time
print(os.getpid(), flush=True)
sys.stdin.read()
"""
PARENT = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which `nohup make test` ignores
from toolbench.processes.guard import process_guard
child = subprocess.Popen(sys.argv[1:], start_new_session=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
process_guard.add(child.pid)
{then}
print(child.stdout.readline().decode().strip(), flush=True)
sys.stdin.read()
"""
PYTHON = [sys.executable, "-I", "-S", "-c"]
STAYS = STUBBORN.format(first="")
LEADS = STUBBORN.format(first="os.setpgid(0, 0)")
APART = STUBBORN.format(first="os.setsid()")


def behind_shell(code):
    """The command line of *code* behind a launcher, as npx and uvx are."""
    return ["sh", "-c", '"$@"; :', "sh", *PYTHON, code]


SHAPES = {
    "itself": [*PYTHON, STAYS],
    "behind a launcher": behind_shell(STAYS),
    "in a group of its own": behind_shell(LEADS),
    "in a session of its own": behind_shell(APART),
    "behind two launchers": ["sh", "-c", '"$@"; :', "sh", *behind_shell(STAYS)],
    "obedient": behind_shell(OBEDIENT),
}
FORKS = "import os\nif os.fork() == 0:\n    import time; time.sleep(30); os._exit(0)"


def outlives(command, end, then=""):
    """Whether the program of *command* outlives a parent that *end* ends."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(then=then), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = int(parent.stdout.readline())
    forks = psutil.Process(parent.pid).children()
    watch = os.pidfd_open(pid)
    end(parent)
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    ended, _, _ = select.select([watch], [], [], PATIENCE)
    os.close(watch)
    for fork in forks:
        with suppress(psutil.NoSuchProcess):
            fork.kill()
    return not ended


class TestProgram:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_ends_with_a_parent_that_is_killed(self, shape):
        """Whoever started it, whatever it ignores, and whatever group it is in."""
        assert not outlives(SHAPES[shape], lambda parent: parent.kill())

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_ends_with_a_parent_that_a_signal_ends(self, number):
        """As Jupyter ends a kernel, and a terminal what runs in it."""
        command = SHAPES["behind a launcher"]
        assert not outlives(command, lambda parent: parent.send_signal(number))

    def test_ends_with_a_parent_that_just_ends(self):
        """Nothing was closed: the end of the process is enough."""
        command = SHAPES["behind a launcher"]
        assert not outlives(command, lambda parent: parent.stdin.close())

    def test_ends_though_a_fork_of_the_parent_lives_on(self):
        """A fork holds the same pipes open; only the parent counts."""
        command = SHAPES["behind a launcher"]
        assert not outlives(command, lambda parent: parent.kill(), FORKS)


class TestGuard:
    def test_has_a_process_only_while_it_has_programs(self):
        """The first program starts the watch, the last one's end ends it."""
        guard, before = ProcessGuard(), set(psutil.Process().children())
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as program:
            with_program = set(psutil.Process().children())
            guard.add(program.pid)
            guard.add(program.pid)
            (watch,) = set(psutil.Process().children()) - with_program
            guard.discard(program.pid)
            assert not is_running(watch.pid)
            guard.discard(program.pid)
        assert set(psutil.Process().children()) <= before

    def test_leaves_alone_what_it_no_longer_has(self):
        """A program that was taken away outlives the others."""
        guard = ProcessGuard()
        commands = [*PYTHON, OBEDIENT]
        programs = [
            subprocess.Popen(
                commands,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            for _ in range(2)
        ]
        known = set(psutil.Process().children())
        for program in programs:
            program.stdout.readline()
            guard.add(program.pid)
        (watch,) = set(psutil.Process().children()) - known
        guard.discard(programs[0].pid)
        watch.kill()
        eventually(lambda: not is_running(watch.pid))
        # Starts another watch
        guard.add(programs[1].pid)
        (second,) = set(psutil.Process().children()) - known - {watch}
        assert second.is_running()
        guard.discard(programs[1].pid)
        for program in programs:
            assert program.poll() is None
            program.communicate()
