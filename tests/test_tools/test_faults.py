"""Nothing is lost by a fault: all is as before or as after, the error is one sentence, nothing leaks."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from test_tools.faulty import DEEDS, FAULTS
from test_tools.terminal_parts import Terminal, eventually

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the limits and the shim are those of Linux"
)
HERE = Path(__file__).parent
ALL = [(kind, deed) for kind in FAULTS for deed in DEEDS]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library that makes the disk fail."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to make the failing disk with")
    library = tmp_path_factory.mktemp("shim") / "eio.so"
    command = [compiler, "-shared", "-fPIC", "-o", library, HERE / "eio.c", "-ldl"]
    subprocess.run(command, check=True)
    return library


@pytest.mark.parametrize(("kind", "deed"), ALL)
def test_a_fault_at_every_moment_costs_nothing(kind, deed, tmp_path, request):
    """Whichever call fails, whatever runs out: see `faulty.py` for what is done and checked."""
    preloaded = {}
    if kind == "eio":
        preloaded["LD_PRELOAD"] = str(request.getfixturevalue("shim"))
    done = subprocess.run(
        [sys.executable, "-m", "test_tools.faulty", kind, deed, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(HERE.parent), **preloaded},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    *broken, last = done.stdout.splitlines() or [done.stderr]
    assert broken == []
    assert last.startswith("faults: "), done.stdout + done.stderr
    if kind == "eio" and deed not in ("Command", "FirstCommand"):
        assert int(last.split()[1]) > 1  # the disk did fail


@pytest.mark.parametrize("victim", ["shell", "program", "background"])
def test_a_child_that_is_killed_takes_nobody_along(tmp_path, victim):
    """`kill -9` of any process of a terminal is told, and the next command works."""
    with Terminal(tmp_path) as terminal:
        terminal.run("x=kept; sleep 1000 & echo $! > background; echo $$ > shell")
        killed = threading.Thread(target=kill, args=(tmp_path, victim))
        killed.start()
        command = "sh -c 'echo $$ > program; exec sleep 1000'; echo next"
        result = terminal.run(command, timeout=2 if victim == "background" else 60)
        killed.join()
        if victim == "shell":
            assert result.exit_code == 137
        elif victim == "program":
            assert "next" in result.text
            assert result.exit_code == 0
        else:
            assert terminal.type("C-c", timeout=60).exit_code == 130
        expected = "" if victim == "shell" else "kept"
        answer = terminal.run("echo =$x=").text.splitlines()
        assert f"={expected}=" in answer


def kill(directory: Path, victim: str) -> None:
    """Kill the *victim* once the program runs."""
    assert eventually(lambda: (directory / "program").is_file())
    assert eventually(lambda: (directory / "program").read_text())
    program = int((directory / "program").read_text())
    assert eventually(lambda: psutil.Process(program).name() == "sleep")
    os.kill(int((directory / victim).read_text()), signal.SIGKILL)
