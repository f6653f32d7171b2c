"""The folder to which the configuration of an editor belongs, and the names that stand for it."""

import os
import sys
from pathlib import Path

_OF_EDITORS = frozenset({".vscode", ".cursor", ".roo", ".gemini"})
"""Folders in a project, in which an editor or an agent keeps its configuration."""


def workspace_of(file: Path, here: Path) -> Path:
    """Return the folder that `${workspaceFolder}` and relative paths mean in the configuration *file*.

    It is the folder of *file*; for a file of an editor in a project (`.vscode/mcp.json`) it is the
    project. A file that a user has for all projects means the project *here*.
    """
    # Without `..`: the name of the folder counts
    folder = Path(os.path.abspath(file)).parent  # noqa: PTH100 - links stay, as in the editors
    if folder == settings_folder(Path.home()) / "Code/User":
        return here
    if folder.name not in _OF_EDITORS:
        return folder
    return here if folder.parent == Path.home() else folder.parent


def settings_folder(home: Path) -> Path:
    """Return the folder in which programs keep the settings of the user whose folder is *home*."""
    if sys.platform == "darwin":
        return home / "Library/Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", home / "AppData/Roaming"))
    return Path(os.environ.get("XDG_CONFIG_HOME", home / ".config"))


def located(place: str, base: Path) -> str:
    """Return the path *place* of a configuration, which may be relative to *base*.

    One that begins with a reference, as `${HOME}/data`, stays as it is.
    """
    if place.startswith("${"):
        return place
    # A home of nobody stays too, and is not found later
    return str(base / os.path.expanduser(place))  # noqa: PTH111 - Path would raise


def places(workspace: Path) -> dict[str, str]:
    """Return what stands for the names that VS Code and Cursor know in a configuration."""
    return {
        "workspaceFolder": str(workspace),
        "workspaceFolderBasename": workspace.name,
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
