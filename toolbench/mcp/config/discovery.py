"""Find the MCP servers in the configurations of other programs on this machine."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.config.placeholders import names_in
from toolbench.mcp.config.reader import load, read_entry, table_of
from toolbench.mcp.config.server_entry import (
    ServerEntry,
    UnapprovedEntry,
    settings_folder,
    workspace_of,
)


@dataclass(frozen=True)
class DiscoveredServer:
    """A server in another program's configuration; pass its `entry` to `client.connect`."""

    name: str
    source: str
    """The program: `claude-desktop`, `cursor`, ..."""
    path: Path
    """The configuration file that names the server."""
    entry: ServerEntry | None = field(default=None, repr=False)
    """The server's entry; None if it cannot be read."""
    problem: str = ""
    """The reason why the server cannot be used; empty if it can be used."""

    @property
    def summary(self) -> str:
        """The transport, the target and the names of variables sent there; or else the problem.

        The summary is one line and contains no secrets.
        """
        entry = self.entry
        if entry is None:
            return self.problem
        line = f"{entry.transport}: {entry.target}"
        names = sorted(set(names_in([entry.url, entry.headers, entry.auth, entry.settings])))
        if names:
            return f"{line}, sends your variables {', '.join(names)}"
        return line


def discover(directory: str | Path | None = None) -> list[DiscoveredServer]:
    """Return the servers that are configured in other programs for this user and for *directory*.

    *directory* defaults to the current directory. Missing files and disabled servers are skipped.
    No server is started.
    """
    here = Path(directory or Path.cwd()).resolve()
    servers: list[DiscoveredServer] = []
    for source, path in _places(here, Path.home()):
        if path.is_file():
            servers += _servers_in(source, path, here)
    return servers


def _servers_in(source: str, path: Path, here: Path) -> Iterator[DiscoveredServer]:
    base = workspace_of(path, here)
    try:
        table = _table(source, load(path), here)
    except ServerError as error:
        yield DiscoveredServer("?", source, path, problem=str(error))
        return
    for name, entry in table.items():
        if not isinstance(entry, Mapping):
            continue
        try:
            server_entry = UnapprovedEntry.of(path, read_entry(entry, base=base))
        except ServerError as error:
            yield DiscoveredServer(str(name), source, path, problem=str(error))
        else:
            if server_entry.enabled:
                yield DiscoveredServer(str(name), source, path, server_entry)


def _places(here: Path, home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the program and the file of each configuration; project files come last."""
    settings = settings_folder(home)
    yield "claude-desktop", settings / "Claude/claude_desktop_config.json"
    yield "claude-code", home / ".claude.json"
    yield "cursor", home / ".cursor/mcp.json"
    yield "vscode", settings / "Code/User/mcp.json"
    yield "vscode", settings / "Code/User/settings.json"
    yield "windsurf", home / ".codeium/windsurf/mcp_config.json"
    yield "codex", home / ".codex/config.toml"
    yield "gemini", home / ".gemini/settings.json"
    yield "goose", _goose_dir(home) / "config.yaml"
    for source, name in (
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("project", ".mcp.json"),
        ("project", "mcp.json"),
    ):
        for folder in _upwards(here, home):
            if (folder / name).is_file():
                yield source, folder / name
                break


def _upwards(here: Path, home: Path) -> Iterator[Path]:
    """Yield *here* and the folders above it, up to the home directory, which is left out."""
    for folder in (here, *here.parents):
        if folder == home:
            return
        yield folder


def _goose_dir(home: Path) -> Path:
    base = settings_folder(home)
    if sys.platform == "win32":
        return base / "Block/goose/config"
    return base / "goose"


def _table(source: str, data: Any, here: Path) -> Mapping[str, Any]:
    """Return the servers by name in *data*, a configuration of the program *source*."""
    if source == "goose":
        return _of_goose(data)
    table = table_of(data) or {}
    if source == "claude-code":
        # Besides the user's servers, each project has its own
        project = _mapping(_mapping(data, "projects"), str(here))
        return {**table, **(table_of(project) or {})}
    return table


def _of_goose(data: Any) -> dict[str, Any]:
    # Goose gives time limits in seconds
    translated = {"cmd": "command", "envs": "env", "uri": "url", "timeout": "tool_timeout_sec"}
    servers = {}
    for name, entry in _mapping(data, "extensions").items():
        if isinstance(entry, Mapping) and ("cmd" in entry or "uri" in entry):
            servers[name] = {translated.get(key, key): value for key, value in entry.items()}
    return servers


def _mapping(data: Any, key: str) -> Mapping[str, Any]:
    if isinstance(data, Mapping) and isinstance(data.get(key), Mapping):
        found: Mapping[str, Any] = data[key]
        return found
    return {}
