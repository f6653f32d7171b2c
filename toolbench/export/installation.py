"""How to install an exported package in this environment."""

from os.path import isabs
from pathlib import Path
from shlex import quote

from toolbench.install_commands import install_commands


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
    return text if isabs(text) or text.startswith(("./", "../")) else f"./{text}"  # noqa: PTH117 - a text
