"""Choose the name of an exported package."""

import re
import sys
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

from toolbench.export.tool_code.tool_parts import AnyTool

# Windows does not allow folders with these names
_DEVICES = re.compile("con|prn|aux|nul|(com|lpt)[0-9]")


def package_name(tools: Sequence[AnyTool], folder: str) -> str:
    """Return the name of the package.

    The package is named after the tool or, if there are several tools, after *folder*. Characters
    that are not allowed are replaced. `_tool` is added if Python or another package already uses
    the name.
    """
    name = folder
    if len(tools) == 1:
        name = tools[0].name
    name = re.sub("[^A-Za-z0-9]", "_", name).strip("_").lower()
    if not name.isidentifier():
        name = f"tool_{name}".rstrip("_")
    if (
        iskeyword(name)
        or _DEVICES.fullmatch(name)
        or _is_taken(name)
        or name == "tests"
        or name.startswith("test_")
    ):
        name = f"{name.removeprefix('test_')}_tool"
    return name


def _is_taken(name: str) -> bool:
    """Tell whether a package called *name* would hide a module of Python or of another package."""
    if name in sys.stdlib_module_names or name in (
        "toolbench",
        "openhands",
        "pytest",
        "fastmcp",
    ):
        return True
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    if not spec.origin:
        # A folder is a package for Python, even one where a project was exported before. This reads
        # the files of all installed packages: half a second
        return name in packages_distributions()
    # A package exported before may be installed, and may be replaced: it has these two files
    folder = Path(spec.origin).parent
    return not (folder / "server.py").is_file() or not (folder / "definition.py").is_file()
