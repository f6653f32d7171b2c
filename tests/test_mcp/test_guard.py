"""Servers that cannot outlive us."""

import os
import signal
import subprocess
import sys

import pytest

from test_mcp.peers import is_running
from toolbench.mcp.guard import find_program, guarded

STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('up', flush=True); sys.stdin.read(); time.sleep(600)"
)
PARENT = """
import subprocess, sys
from toolbench.mcp.guard import guarded
child = subprocess.Popen(guarded(sys.executable, ["-c", sys.argv[1]]), start_new_session=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


class TestGuarded:
    @pytest.mark.skipif(
        sys.platform == "win32", reason="Windows has job objects for this"
    )
    def test_a_server_ends_with_us_whatever_it_ignores(self):
        """SIGKILL for us ends a server that ignores the end of stdin and SIGTERM."""
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, STUBBORN],
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

    def test_arguments_and_exit_code_are_the_programs_own(self):
        """The guard changes neither what the program is told nor what it ends with."""
        code = "import sys; print(sys.argv[1:]); sys.exit(7)"
        line = guarded(sys.executable, ["-c", code, "a b", "", "$X", "'"])
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "['a b', '', '$X', \"'\"]"
        assert done.returncode == 7


class TestFindProgram:
    def test_looks_along_the_path_of_the_entry(self, tmp_path):
        """The PATH of the server's own environment counts."""
        program = tmp_path / "my-server"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert find_program("my-server", {"PATH": str(tmp_path)}, None) == str(program)
        assert find_program("./my-server", {"PATH": ""}, str(tmp_path)) == str(program)

    def test_says_what_is_missing(self, tmp_path):
        """A command, a folder, a permission: each has its own sentence."""
        with pytest.raises(FileNotFoundError, match="command not found: 'nope'"):
            find_program("nope", {"PATH": str(tmp_path)}, None)
        with pytest.raises(NotADirectoryError, match="working directory '/nowhere'"):
            find_program("sh", {"PATH": os.environ["PATH"]}, "/nowhere")
        plain = tmp_path / "plain.sh"
        plain.write_text("")
        with pytest.raises(PermissionError, match="may not be executed"):
            find_program(str(plain), {}, None)
