"""The kernels that runs are tested in, our own and the oldest supported, and the tools run there."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS, OLDEST = "this ipykernel", "ipykernel 6.29"
KERNELS = [OURS, OLDEST]
TOOLS = """
%load_ext toolbench
import threading
from toolbench import current_run, tool
from toolbench.widgets.panel import ToolPanel

@tool
def slow() -> str:
    '''Count until it is told to stop.'''
    run, told = current_run(), threading.Event()
    run.on_cancel(told.set)
    for n in range(600):
        print(f"step {n}.")
        run.progress(n, 600, f"at {n}")
        if told.wait(0.05):
            return f"Stopped at {n}."
    return "Never stopped."

@tool(destructive=True)
def erase(path: str) -> str:
    '''Erase a file.'''
    return f"Erased {path}."
"""
"""A cell that loads the extension and defines what can be watched, stopped and refused."""
_UV = ROOT / ".venv" / ".uv" / "bin" / "uv"
_SECONDS = 300


def python_of(kernel: str) -> str:
    """The Python that runs one of `KERNELS`; the oldest is installed when it is first needed.

    Its environment has that one package, and everything else from ours.
    """
    if kernel == OURS:
        return sys.executable
    home = ROOT / "build" / "kernels" / kernel.replace(" ", "-")
    python, ready = home / "bin" / "python", home / "ready"
    if not ready.exists():
        _uv("venv", "--clear", "--python", sys.executable, str(home))
        package = f"{kernel.replace(' ', '==')}.*"
        _uv("pip", "install", "--no-deps", "--python", str(python), package)
        ours = sysconfig.get_path("purelib")
        theirs = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
        lines = f"import site; site.addsitedir({ours!r})\n"
        (theirs / "ours.pth").write_text(lines)  # looked at after its own
        ready.touch()
    return str(python)


def _uv(*arguments: str) -> None:
    command = [str(_UV) if _UV.exists() else "uv", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        said = done.stderr if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if said:
        stop = pytest.fail if os.environ.get("CI") else pytest.skip
        stop(f"THE OLDEST KERNEL IS NOT TESTED: {' '.join(command)}: {said}")
