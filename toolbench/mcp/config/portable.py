"""Complete the configuration of a connected server, so that any folder can connect it again."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolbench.mcp.config.placeholders import with_known
from toolbench.mcp.config.program import starts_what_is_in
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.config.workspace import located, places

_KEY_FILE = "private_key_file"
_OF_THE_WORKSPACE = ("workspaceFolder", "workspaceFolderBasename")


def portable_entry(entry: ServerEntry, *, folder: Path, mode: str) -> ServerEntry:
    """Return *entry* with its folders as absolute paths, and with the mode of its connection.

    Args:
        entry: The configuration of the server.
        folder: The current folder when the server was connected.
        mode: The mode of the connection: `auto`, `legacy`, or a version of the protocol.
    """
    known = {name: places(entry.base)[name] for name in _OF_THE_WORKSPACE}
    names = ("command", "args", "env", "cwd", "url", "headers", "auth", "fastmcp")
    parts = {name: with_known(getattr(entry, name), known) for name in names}
    parts["args"] = tuple(parts["args"])
    settled = replace(entry, **parts)
    cwd, auth = _directory(settled, folder), _with_key_file(settled)
    known_mode = None if mode == "auto" else mode
    raw = settled.fastmcp
    if raw is not None:
        env_file = None if entry.env_file is None else entry.env_file.path
        changes = {"cwd": cwd, "mode": known_mode, "envFile": env_file}
        raw = {**raw, **{key: part for key, part in changes.items() if part}}
    return replace(
        settled,
        cwd=cwd,
        auth=auth,
        server=_file_of_module(settled),
        mode=known_mode,
        fastmcp=raw,
    )


def _directory(entry: ServerEntry, folder: Path) -> str | None:
    """Return the working directory of the server's process; None if the process needs none."""
    if entry.transport != "stdio":
        return entry.cwd
    if entry.cwd:
        return located(entry.cwd, entry.base)
    is_needed = starts_what_is_in(folder, entry.command, entry.args)
    return str(folder) if is_needed else None


def _file_of_module(entry: ServerEntry) -> Any:
    """Return `entry.server`; if it is a Python file, with the absolute path of the file."""
    server = entry.server
    if not isinstance(server, str):
        return server
    place, colon, name = server.partition(":")
    if not place.endswith(".py"):
        return server
    return f"{located(place, entry.base)}{colon}{name}"


def _with_key_file(entry: ServerEntry) -> Any:
    """Return `entry.auth`; if it names the file of a key, with the absolute path of the file."""
    auth = entry.auth
    if not isinstance(auth, Mapping) or not isinstance(auth.get(_KEY_FILE), str):
        return auth
    return {**auth, _KEY_FILE: located(auth[_KEY_FILE], entry.base)}
