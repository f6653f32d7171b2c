"""The kernels that runs are tested in, our own and the oldest supported, and the tools run there."""

import fcntl
import sys
import sysconfig
from pathlib import Path

from environments import ROOT, uv

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
FORGET = """
%unload_ext toolbench
import logging
logging.root.handlers.clear()
logging.root.setLevel("WARNING")
from toolbench.runs.session import reset
reset()
get_ipython().reset()
__import__("gc").freeze()
"""
"""A cell after which the next user of a shared kernel finds it as a new one.

What is left is not searched for garbage again, which takes longer than most cells.
"""
_UNTESTED = "THE OLDEST KERNEL IS"


def python_of(kernel: str) -> str:
    """The Python that runs one of `KERNELS`; the oldest is installed when it is first needed.

    Its environment has that one package, and everything else from ours.
    """
    if kernel == OURS:
        return sys.executable
    python_version = "{}.{}".format(*sys.version_info)
    home = ROOT / "build" / "kernels" / python_version / kernel.replace(" ", "-")
    python, ready = home / "bin" / "python", home / "ready"
    home.parent.mkdir(parents=True, exist_ok=True)
    # Of two workers of pytest, one makes it, and the other waits
    with (home.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            _make(kernel, home)
            ready.touch()
    return str(python)


def _make(kernel: str, home: Path) -> None:
    """Make the environment *home* with the package *kernel*."""
    python = home / "bin" / "python"
    uv("venv", "--clear", "--python", sys.executable, str(home), untested=_UNTESTED)
    package = f"{kernel.replace(' ', '==')}.*"
    install = ("pip", "install", "--no-deps", "--python", str(python), package)
    uv(*install, untested=_UNTESTED)
    ours = sysconfig.get_path("purelib")
    theirs = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    lines = f"import site; site.addsitedir({ours!r})\n"
    # Looked at after its own
    (theirs / "ours.pth").write_text(lines)
