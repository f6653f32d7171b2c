"""What a run was measured on: no names of hosts and no paths."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import peers

PACKAGES = ("pydantic", "ipywidgets", "fastmcp", "jsonschema-rs", "rich", "ipykernel")


def described() -> list[str]:
    """Return a line for each thing that matters."""
    ours = [f"{name} {version(name)}" for name in PACKAGES]
    return [
        f"Processor: {_cpu()}, {os.cpu_count()} cores; memory: {_memory()}",
        f"System: {_system()}; Python {platform.python_version()}",
        f"toolbench {version('jupyter-toolbench')} with {', '.join(ours)}",
        *(f"Peer: {peers.versions(name)}" for name in peers.PEERS),
    ]


def load() -> float:
    """Return how many processes wanted a core in the last minute."""
    return os.getloadavg()[0]


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    return " ".join(names[0].split()) if names else platform.processor()


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2**30:.0f} GiB"


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        name = platform.system()
    return f"{name}, {platform.system()} {platform.release().partition('-')[0]}"
