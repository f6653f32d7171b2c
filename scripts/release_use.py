"""Uses an installed toolbench as a stranger does; the release check runs it in an environment of its own."""
# ruff: noqa: S101, T201 - a script that checks, and talks to its terminal

import importlib
import pkgutil
import sys
from importlib.metadata import version
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

import toolbench

EXTRAS = {
    *("cyclopts", "uvicorn", "nbformat", "jupyter_client", "pytest", "playwright"),
    *("xllamacpp", "html_to_markdown", "pandas", "matplotlib", "cloudpickle"),
}
"""Packages of extras, which the wheel alone does not bring; fastmcp's server has no name of its own."""


def main(expected: str) -> None:
    """Check the version, every import, the extension and a run of a tool."""
    home = Path(toolbench.__file__).parent
    assert "site-packages" in home.parts, f"{home} is no installed package"
    assert version("jupyter-toolbench") == toolbench.__version__ == expected
    assert (home / "py.typed").is_file()
    count = import_everything(home)
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "toolbench")
    cell = "from toolbench import tool\n@tool(read_only=True)\ndef double(n: int) -> int:\n    return 2 * n\n"
    shell.run_cell(cell).raise_error()
    result = shell.run_cell("%tool double n=21").raise_error()
    observation = shell.run_cell("double({'n': 21})").result
    assert result is None
    assert "42" in observation.text, observation.text
    print(f"toolbench {expected}: {count} modules, %load_ext, a run of a tool")


def import_everything(home: Path) -> int:
    """Import each module; one that needs an extra says which package it lacks."""
    count = 0
    for module in pkgutil.walk_packages([str(home)], "toolbench."):
        try:
            importlib.import_module(module.name)
            count += 1
        except ImportError as error:
            lacks = (error.name or "").partition(".")[0]
            is_server = "fastmcp" in str(error).lower() and "server" in str(error)
            assert lacks in EXTRAS or is_server, f"{module.name}: {error}"
    return count


if __name__ == "__main__":
    main(sys.argv[1])
