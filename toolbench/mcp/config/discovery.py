"""Find the MCP servers in the configurations of other programs on this machine."""

import sys
from collections.abc import Callable, Iterator, Mapping
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
    """A server in another program's configuration: connect it with `client.connect`."""

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
        """The transport, the target and the names of variables that go there; or else the problem.

        It is one line without secrets.
        """
        entry = self.entry
        if entry is None:
            return self.problem
        line = f"{entry.transport}: {entry.target}"
        names = sorted(set(names_in([entry.url, entry.headers, entry.auth])))
        if names:
            return f"{line}, sends your variables {', '.join(names)}"
        return line


Read = Callable[[Any, Path], Mapping[str, Any]]
"""A function that takes the content of a file and a directory, and returns servers by name."""


def discover(directory: str | Path | None = None) -> list[DiscoveredServer]:
    """Return the servers that programs have configured for this user and for *directory*.

    *directory* is the current directory by default. Missing files are skipped, disabled servers
    are left out, and nothing is started.
    """
    here = Path(directory or Path.cwd()).resolve()
    return [
        server
        for source, path, read in _places(here, Path.home())
        if path.is_file()
        for server in _servers_in(source, path, read, here)
    ]


def _servers_in(source: str, path: Path, read: Read, here: Path) -> Iterator[DiscoveredServer]:
    base = workspace_of(path, here)
    try:
        table = read(load(path), here)
    except ServerError as error:
        yield DiscoveredServer("?", source, path, problem=str(error))
        return
    for name, entry in table.items():
        try:
            server_entry = UnapprovedEntry.of(path, read_entry(entry, base=base))
        except ServerError as error:
            yield DiscoveredServer(name, source, path, problem=str(error))
        else:
            if server_entry.enabled:
                yield DiscoveredServer(name, source, path, server_entry)


def _places(here: Path, home: Path) -> Iterator[tuple[str, Path, Read]]:
    """Yield the program, file and reader of each configuration; project files come last."""
    settings = settings_folder(home)
    yield "claude-desktop", settings / "Claude/claude_desktop_config.json", _plain
    yield "claude-code", home / ".claude.json", _claude_code
    yield "cursor", home / ".cursor/mcp.json", _plain
    yield "vscode", settings / "Code/User/mcp.json", _plain
    yield "vscode", settings / "Code/User/settings.json", _plain
    yield "windsurf", home / ".codeium/windsurf/mcp_config.json", _plain
    yield "codex", home / ".codex/config.toml", _plain
    yield "gemini", home / ".gemini/settings.json", _plain
    yield "goose", _goose_dir(home) / "config.yaml", _goose
    for source, name in (
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("project", ".mcp.json"),
        ("project", "mcp.json"),
    ):
        for folder in _upwards(here, home):
            if (folder / name).is_file():
                yield source, folder / name, _plain
                break


def _upwards(here: Path, home: Path) -> Iterator[Path]:
    """Yield *here* and the folders above it, but not the home directory or above."""
    for folder in (here, *here.parents):
        if folder == home:
            return
        yield folder


def _goose_dir(home: Path) -> Path:
    base = settings_folder(home)
    if sys.platform == "win32":
        return base / "Block/goose/config"
    return base / "goose"


def _plain(data: Any, here: Path) -> Mapping[str, Any]:
    """Return the servers of a file in one of the usual formats."""
    return _only_mappings(table_of(data))


def _claude_code(data: Any, here: Path) -> Mapping[str, Any]:
    """Return the servers in Claude Code's file: those of the user, and those of the project *here*."""
    if isinstance(data, Mapping):
        projects = data.get("projects")
    else:
        projects = None
    if isinstance(projects, Mapping):
        project = projects.get(str(here))
    else:
        project = None
    return {**_plain(data, here), **_plain(project or {}, here)}


def _goose(data: Any, here: Path) -> Mapping[str, Any]:
    if isinstance(data, Mapping):
        extensions = data.get("extensions")
    else:
        extensions = None
    # Its time limits are in seconds
    translated = {"cmd": "command", "envs": "env", "uri": "url", "timeout": "tool_timeout_sec"}
    return {
        name: {translated.get(key, key): value for key, value in entry.items()}
        for name, entry in _only_mappings(extensions).items()
        if "cmd" in entry or "uri" in entry
    }


def _only_mappings(table: Any) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        return {}
    return {str(k): v for k, v in table.items() if isinstance(v, Mapping)}
