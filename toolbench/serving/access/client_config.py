"""The configuration with which a client reaches a served notebook, without secrets."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Literal, get_args

from toolbench.errors import ToolbenchError, did_you_mean

Client = Literal["claude", "cursor", "vscode", "codex", "mcp"]
CLIENTS: tuple[Client, ...] = get_args(Client)
_PLACES: dict[Client, str] = {
    "claude": "claude_desktop_config.json of Claude Desktop, or .mcp.json of a project "
    "for Claude Code",
    "cursor": ".cursor/mcp.json of a project, or ~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json of a project",
    "codex": "~/.codex/config.toml",
    "mcp": "any client that reads `mcpServers`, such as `mcp_config` of OpenHands",
}
# The variable that sets the folder of the file with the token
_PASSED_ON = ("XDG_STATE_HOME",)


class ClientConfig(dict[str, Any]):
    """The configuration with which a client connects; `str()` returns it as text to paste.

    With this configuration, the client starts `toolbench connect NAME`. This program reads the URL
    and the token of the server from a file that only you can read. The configuration therefore
    contains no secrets, and remains valid when the kernel is restarted.

    Examples:
        >>> from toolbench.serving import ClientConfig
        >>> config = ClientConfig("cursor", "notebook")
        >>> config["mcpServers"]["notebook"]["args"]
        ['connect', 'notebook']
        >>> print(config.place)
        .cursor/mcp.json of a project, or ~/.cursor/mcp.json
    """

    def __init__(self, client: Client, name: str) -> None:
        """Create the configuration of *client*, such as "cursor", for the server *name*.

        Raises:
            ToolbenchError: If there is no such client.
        """
        if client not in CLIENTS:
            hint = did_you_mean(str(client), CLIENTS) or f" Known: {', '.join(CLIENTS)}."
            msg = f"There is no configuration for {client!r}.{hint}"
            raise ToolbenchError(msg)
        self.client = client
        entry = _entry(name)
        if client == "vscode":
            super().__init__({"servers": {name: {"type": "stdio", **entry}}})
        elif client == "codex":
            super().__init__({"mcp_servers": {name: entry}})
        else:
            super().__init__({"mcpServers": {name: entry}})

    @property
    def place(self) -> str:
        """Where to paste the text, usually the name of one of the client's files."""
        return _PLACES[self.client]

    def __str__(self) -> str:
        """Return the text to paste: JSON, or TOML for Codex."""
        if self.client == "codex":
            return "\n".join(_toml(self["mcp_servers"]))
        return json.dumps(self, indent=2, ensure_ascii=False)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": f"{self}\n\nFor {self.place}."}


def _entry(name: str) -> dict[str, Any]:
    env = {key: os.environ[key] for key in _PASSED_ON if os.environ.get(key)}
    entry = {"command": program(), "args": ["connect", name]}
    return {**entry, "env": env} if env else entry


def program() -> str:
    """Return the full path of this environment's `toolbench`; else "toolbench".

    The full path is needed because a client may have another PATH.
    """
    beside = str(Path(sys.executable).parent)
    return shutil.which("toolbench", path=beside) or "toolbench"


def _toml(servers: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, entry in servers.items():
        lines.append(f"[mcp_servers.{json.dumps(name)}]")
        for key, value in entry.items():
            # Strings and lists of strings look the same in JSON and TOML
            if key != "env":
                lines.append(f"{key} = {json.dumps(value)}")
        if env := entry.get("env"):
            lines += ["", f"[mcp_servers.{json.dumps(name)}.env]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in env.items()]
    return lines
