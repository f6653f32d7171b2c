"""How to install an exported package: in this environment, or for the OpenHands SDK in one of its own."""

import sys
from os.path import isabs
from pathlib import Path
from shlex import quote
from shutil import which

from toolbench.install_commands import install_commands

# The lowest
_SDK_PYTHON = "3.12"


def how_to_install(folder: str | Path, *, python: str) -> str:
    """Return a sentence with the commands for a terminal that install the package in *folder*.

    Args:
        folder: The folder of the package, as the person wrote it.
        python: The command that starts the Python of this environment.
    """
    place = quote(_as_path(folder))
    return _sentence(install_commands(place, for_cell=False, python=python))


def how_to_install_from_a_cell(folder: str | Path) -> str:
    """Return the sentence of `how_to_install` with commands for a cell of this notebook."""
    return _sentence(install_commands(quote(_as_path(folder)), for_cell=True))


def how_to_install_for_openhands(folder: str | Path) -> str:
    """Return sentences with the commands for a terminal that install the package in *folder*.

    The package is for the OpenHands SDK: it is installed into a new environment beside the folder.
    """
    path = _as_path(folder).rstrip("/")
    place = quote(f"{path}_env")
    if which("uv") is not None:
        commands = (
            f"uv venv --python {_SDK_PYTHON} {place}",
            f"uv pip install --python {place} {quote(path)}",
        )
    elif sys.platform == "win32":
        commands = (
            f"py -{_SDK_PYTHON} -m venv {place}",
            f"{place}\\Scripts\\python -m pip install {quote(path)}",
        )
    else:
        commands = (
            f"python{_SDK_PYTHON} -m venv {place}",
            f"{place}/bin/python -m pip install {quote(path)}",
        )
    return (
        f"The OpenHands SDK needs Python {_SDK_PYTHON} or newer and cannot share an environment with "
        "toolbench. To install the package into an environment of its own, run two commands in a "
        f"terminal: `{commands[0]}`, and then `{commands[1]}`."
    )


def _sentence(commands: list[str]) -> str:
    *before, last = commands
    if not before:
        return f"`{last}` installs it."
    return (
        f"To install it, run two commands: `{before[0]}`, since this environment has no pip yet, "
        f"and then `{last}`."
    )


def _as_path(folder: str | Path) -> str:
    """Return *folder* so that an installer takes it for a path, not for the name of a package."""
    text = str(Path(folder))
    if isabs(text) or text.startswith(("./", "../")):  # noqa: PTH117 - a text
        return text
    return f"./{text}"
