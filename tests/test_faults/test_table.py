"""Nothing is lost by a fault: all is as before or as after, the error is one sentence, nothing leaks."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from test_faults.child import DEEDS
from test_faults.faults import FAULTS

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the limits and the shim are those of Linux"
)
HERE = Path(__file__).parent
WRITES_NOTHING = "it reads, and writes no file"
RIPGREP = "ripgrep is a process of its own, and reads all"
HAS_ITS_DESCRIPTORS = "it uses what was opened before"
NEVER_MET = {
    ("size", "View"): WRITES_NOTHING,
    ("size", "Search"): WRITES_NOTHING,
    ("size", "Glob"): WRITES_NOTHING,
    ("size", "LoadTalk"): WRITES_NOTHING,
    ("size", "FirstCommand"): "a shell writes to a terminal and to pipes, which have no size",
    ("eio", "Search"): RIPGREP,
    ("eio", "Glob"): RIPGREP,
    ("eio", "FirstCommand"): "the shell is a process of its own, and touches no file",
    ("descriptors", "RecordServer"): HAS_ITS_DESCRIPTORS,
}  # fmt: skip
"""The cells in which a part never meets the fault, and why."""


def every_pair():
    """Each kind of fault with each deed, as parameters of a test.

    Each deed meets one kind in `make test`, by turns; the other pairs are marked `long`.
    """
    for turn, deed in enumerate(DEEDS):
        for place, kind in enumerate(FAULTS):
            is_long = place != turn % len(FAULTS)
            marks = [pytest.mark.long] if is_long else []
            yield pytest.param(kind, deed, marks=marks)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library that injects faults, and counts those that are met."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to make the faults with")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-o", library, HERE / "shim.c", "-ldl"]
    subprocess.run(command, check=True)
    return library


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "deed"), list(every_pair()))
def test_a_fault_at_every_moment_costs_nothing(kind, deed, shim, tmp_path, request):
    """Whichever call fails, whatever runs out: see `child.py` for what is done and checked.

    Each fourth moment is tried, and with `--cases 0` each.
    """
    step = "4"
    if request.config.getoption("--cases") == 0:
        step = "1"
    environment = {"PYTHONPATH": str(HERE.parent), "LD_PRELOAD": str(shim)}
    done = subprocess.run(
        # Bytecode that a fault cuts short would stay so for all
        [sys.executable, "-B", "-m", "test_faults.child", kind, deed, str(tmp_path), step],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    cell = json.loads(done.stdout.splitlines()[-1])
    assert cell["broken"] == []
    # There was no fault left to meet
    assert cell["over"]
    reason = NEVER_MET.get((kind, deed))
    assert bool(cell["met"]) == (reason is None), (reason, cell)
