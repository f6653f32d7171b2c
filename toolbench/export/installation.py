"""The commands to install an exported package: here, in a clean environment, or for the SDK."""

import sys
from os.path import isabs
from pathlib import Path
from shlex import quote
from shutil import which

from toolbench.install_commands import install_commands, own_source

# The lowest
_SDK_PYTHON = "3.12"


def how_to_install(folder: str | Path, *, python: str) -> str:
    """Return a sentence with the terminal commands that install the package in *folder*.

    Args:
        folder: The folder of the package, as the user wrote it.
        python: The command that starts the Python of this environment.
    """
    place = quote(_as_path(folder))
    return _sentence(install_commands(place, for_cell=False, python=python))


def how_to_install_from_a_cell(folder: str | Path) -> str:
    """Return the sentence of `how_to_install` with commands for a cell of this notebook."""
    return _sentence(in_this_kernel(folder))


def how_to_install_for_openhands(folder: str | Path) -> str:
    """Return sentences with the terminal commands that install the package in *folder*.

    The package must be for the OpenHands SDK. The commands create a new environment for it, next to
    *folder*.
    """
    first, second = in_clean_environment(folder, openhands=True)
    return (
        f"The OpenHands SDK needs Python {_SDK_PYTHON} or newer and cannot share an environment with "
        "toolbench. To install the package into its own environment, run two commands in a "
        f"terminal: `{first}`, and then `{second}`."
    )


def in_this_kernel(folder: str | Path) -> list[str]:
    """Return the commands for a cell that install the package in *folder* into this environment."""
    return install_commands(quote(_as_path(folder)), for_cell=True)


def in_clean_environment(folder: str | Path, *, openhands: bool) -> list[str]:
    """Return the terminal commands that install the package in *folder* into a new environment.

    If toolbench was not installed from a package index, but from a folder for example, the commands
    install toolbench from the same place. With *openhands*, they do not install toolbench.
    """
    path = _as_path(folder).rstrip("/")
    place, packages = quote(f"{path}_env"), quote(path)
    python = version = ""
    if openhands:
        python, version = f"--python {_SDK_PYTHON} ", _SDK_PYTHON
    elif source := own_source():
        packages = f"{quote(source)} {packages}"
    if which("uv") is not None:
        return [f"uv venv {python}{place}", f"uv pip install --python {place} {packages}"]
    if sys.platform == "win32":
        make, python = f"py -{version or 3}", f"{place}\\Scripts\\python"
    else:
        make, python = f"python{version or 3}", f"{place}/bin/python"
    return [f"{make} -m venv {place}", f"{python} -m pip install {packages}"]


def _sentence(commands: list[str]) -> str:
    *before, last = commands
    if not before:
        return f"`{last}` installs it."
    return (
        f"To install it, run two commands: `{before[0]}`, since this environment has no pip yet, "
        f"and then `{last}`."
    )


def _as_path(folder: str | Path) -> str:
    """Return *folder* in a form that an installer takes for a path, not for a package name."""
    text = str(Path(folder))
    if isabs(text) or text.startswith(("./", "../")):  # noqa: PTH117 - a text
        return text
    return f"./{text}"
