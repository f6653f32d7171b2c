"""Programs that cannot outlive us."""

import os
import signal
import subprocess
import sys

import pytest
from test_mcp.peers import is_running

from toolbench.core.process_guard import guarded, guarded_quickly

STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('up', flush=True); sys.stdin.read(); time.sleep(600)"
)
PARENT = """
import subprocess, sys
from toolbench.core import process_guard
start = getattr(process_guard, sys.argv[1])
child = subprocess.Popen(start(sys.executable, ["-c", sys.argv[2]]), start_new_session=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


class TestGuarded:
    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has job objects for this")
    @pytest.mark.parametrize("start", ["guarded", "guarded_quickly"])
    def test_a_program_ends_with_us_whatever_it_ignores(self, start):
        """SIGKILL for us ends a program that ignores the end of stdin and SIGTERM."""
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, start, STUBBORN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        watch = os.pidfd_open(pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        parent.stdin.close()
        parent.stdout.close()
        import select

        ready, _, _ = select.select([watch], [], [], 10)
        os.close(watch)
        assert ready

    @pytest.mark.parametrize("start", [guarded, guarded_quickly])
    def test_arguments_and_exit_code_are_the_programs_own(self, start):
        """The guard changes neither what the program is told nor what it ends with."""
        code = "import sys; print(sys.argv[1:]); sys.exit(7)"
        line = start(sys.executable, ["-c", code, "a b", "", "$X", "'"])
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "['a b', '', '$X', \"'\"]"
        assert done.returncode == 7
