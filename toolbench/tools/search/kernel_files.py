"""Find the directories of the operating system's kernel, such as /proc.

Some files in these directories never end, and some change when they are read.
"""

import os
import re
from pathlib import Path

from toolbench.tools.files.regular_file import read_regular

# On any file system
_ALWAYS = ("/proc", "/sys", "/dev")
_TYPES = frozenset(
    (
        "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devfs", "devpts",
        "devtmpfs", "efivarfs", "fusectl", "mqueue", "nsfs", "proc", "pstore", "securityfs",
        "selinuxfs", "sysfs", "tracefs",
    )
)  # fmt: skip
_MOST_BYTES = 16 * 1024**2
_OCTAL = re.compile(r"\\([0-7]{3})")


def kernel_directories(base: Path) -> set[str]:
    """Return the absolute paths of the kernel's directories below *base*, a path without links."""
    below = f"{str(base).rstrip('/')}/"
    paths = {path for path, kind in _mounted().items() if kind in _TYPES}
    paths.update(map(os.path.realpath, _ALWAYS))
    return {path for path in paths if path.startswith(below)}


def is_of_the_kernel(base: Path) -> bool:
    """Tell whether *base*, a path without links, is a directory of the kernel or inside one."""
    mounted = _mounted()
    above = (str(directory) for directory in (base, *base.parents))
    nearest = next((path for path in above if path in mounted), None)
    return nearest is not None and mounted[nearest] in _TYPES


def _mounted() -> dict[str, str]:
    """Return the type of the file system at each mount point; empty if the system has no list."""
    try:
        table = read_regular("/proc/self/mountinfo", _MOST_BYTES)
    except OSError:
        # Not Linux
        return {}
    mounted = {}
    for line in os.fsdecode(table).splitlines():
        place, _, kind = line.partition(" - ")
        mounted[_unescaped(place.split(" ")[4])] = kind.split(" ")[0]
    return mounted


def _unescaped(path: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), path)
