"""`kill -9` of a process that toolbench started: the caller learns of it, and the next call works."""

import os
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest
from patience import PATIENCE, eventually, join
from test_tools.terminal_parts import Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tried on Linux alone")


@pytest.mark.parametrize("victim", ["shell", "program", "background"])
def test_a_child_that_is_killed_takes_nobody_along(tmp_path, victim):
    """`kill -9` of any process of a terminal is told, and the next command works."""
    with Terminal(tmp_path) as terminal:
        terminal.run("x=kept; sleep 1000 & echo $! > background; echo $$ > shell")
        killed = threading.Thread(target=kill, args=(tmp_path, victim))
        killed.start()
        command = "sh -c 'echo $$ > program; exec sleep 1000'; echo next"
        result = terminal.run(command, timeout=2 if victim == "background" else 60)
        join(killed)
        if victim == "shell":
            assert result.exit_code == 137
        elif victim == "program":
            assert "next" in result.text
            assert result.exit_code == 0
        else:
            assert terminal.type("C-c", timeout=PATIENCE).exit_code == 130
        expected = "" if victim == "shell" else "kept"
        answer = terminal.run("echo =$x=").text.splitlines()
        assert f"={expected}=" in answer


def kill(directory: Path, victim: str) -> None:
    """Kill the *victim* once the program runs."""
    eventually(lambda: (directory / "program").is_file())
    eventually(lambda: (directory / "program").read_text())
    program = int((directory / "program").read_text())
    eventually(lambda: psutil.Process(program).name() == "sleep")
    os.kill(int((directory / victim).read_text()), signal.SIGKILL)
