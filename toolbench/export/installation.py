"""How to install an exported package in this environment: by pip or, where pip is missing, by uv."""

import sys
from importlib.util import find_spec
from os.path import isabs
from pathlib import Path
from shlex import quote
from shutil import which


def how_to_install(
    folder: str | Path, *, python: str, prefix: str = "", pip: str = ""
) -> str:
    """Return a sentence with the command that installs the package in *folder*.

    Args:
        folder: The folder of the package, as the person wrote it.
        python: The command that starts the Python of this environment.
        prefix: The text before each command of a shell; `!` in a cell.
        pip: The command that starts pip; by default pip as a module of *python*.
    """
    place = quote(_as_path(folder))
    by_pip = f"`{pip or f'{quote(python)} -m pip'} install {place}`"
    if find_spec("pip") is not None:
        return f"{by_pip} installs it."
    if which("uv") is not None:
        by_uv = f"`{prefix}uv pip install --python {quote(sys.executable)} {place}`"
        return f"{by_uv} installs it."
    adding = f"`{prefix}{quote(python)} -m ensurepip`"
    return f"This environment has no pip: {adding} adds it, then {by_pip} installs it."


def how_to_install_from_a_cell(folder: str | Path) -> str:
    """Return the sentence of `how_to_install` with commands for a cell of this notebook."""
    return how_to_install(folder, python=sys.executable, prefix="!", pip="%pip")


def _as_path(folder: str | Path) -> str:
    """Return *folder* so that an installer takes it for a path, not for the name of a package."""
    text = str(Path(folder))
    return text if isabs(text) or text.startswith(("./", "../")) else f"./{text}"  # noqa: PTH117 - a text
