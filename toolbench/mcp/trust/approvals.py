"""Store the user's approvals of servers' tools and instructions, and of configuration entries.

Approvals are stored only in the user's state directory, and never next to a notebook. Otherwise, a
cloned repository could contain approvals that the user never gave.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from toolbench.errors import ServerError
from toolbench.files import write_whole
from toolbench.mcp.config.placeholders import with_known
from toolbench.mcp.config.program import starts_what_is_in
from toolbench.mcp.config.server_entry import ServerEntry, located, places

_REMOTE = ("http", "sse")
_log = logging.getLogger(__name__)


class Approvals:
    """The tools and instructions that the user approved, in one file for each server."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep approvals in *folder*, by default `approved-servers` in the state directory."""
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder of the files, on Linux below `XDG_STATE_HOME`."""
        return self._folder or user_state_path("toolbench") / "approved-servers"

    def of(self, server: str) -> Mapping[str, Any] | None:
        """Return the tools and instructions approved for a server; None if nothing was approved.

        Args:
            server: The key that identifies the server, as returned by `server_key`.

        Raises:
            ServerError: If the file of the approval exists but cannot be read.
        """
        path = self._file(server)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            offer = content["offer"]
            if not isinstance(offer, dict):
                raise TypeError
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
            why = getattr(error, "strerror", None) or "it holds no approval"
            msg = f"the file {str(path)!r} cannot be read ({why})"
            raise ServerError(msg) from None
        return offer

    def approve(self, server: str, offer: Mapping[str, Any]) -> None:
        """Keep *offer* as approved for *server*; only the user can read the file."""
        _keep(self._file(server), {"server": server, "offer": offer}, server)

    def _file(self, server: str) -> Path:
        return self.folder / f"{sha256(server.encode()).hexdigest()[:32]}.json"


class ApprovedContents:
    """The approved contents of entries in configuration files.

    Each content has its own file, so that no approval is lost if two processes write.
    """

    def __init__(self) -> None:
        """Keep approvals in the user's state directory."""
        self._folder = user_state_path("toolbench") / "approved-configurations"

    def has(self, digest: str) -> bool:
        """Tell whether a content with the hash *digest* was approved, for any file."""
        return self._read(self._folder / f"{digest}.json").get("content") == digest

    def keep(self, digest: str, *, file: str, server: str, lines: list[str]) -> None:
        """Keep the hash *digest* of an approved content, with the *lines* that were shown."""
        kept = {"content": digest, "file": file, "server": server, "lines": lines}
        _keep(self._folder / f"{digest}.json", kept, server)

    def lines_before(self, *, file: str, server: str) -> list[str]:
        """Return the lines shown at the last approval of *server* in *file*; else empty."""
        newest = 0.0
        lines: Any = None
        for path in self._folder.glob("*.json"):
            kept = self._read(path)
            is_same = kept.get("file") == file and kept.get("server") == server
            if is_same and path.stat().st_mtime > newest:
                newest, lines = path.stat().st_mtime, kept.get("lines")
        if not isinstance(lines, list):
            return []
        return list(map(str, lines))

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return kept


def _keep(path: Path, approval: Mapping[str, Any], server: str) -> None:
    text = json.dumps(approval, indent=1, sort_keys=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, text, errors="replace")
    except OSError as error:
        _log.warning("The approval of %s was not kept: %s.", server, error.strerror)


def server_key(entry: ServerEntry) -> str | None:
    """Return a key that identifies the server of *entry*; None if the server needs no approval.

    Objects in this process and recordings belong to the user, and therefore need no approval. If
    the server's command starts a program in the working directory, the key contains this directory.
    """
    if entry.transport in _REMOTE:
        return entry.target
    if entry.transport != "stdio":
        return None
    # In another project, the variables have other values
    words = [entry.command, *entry.args, entry.cwd or str(Path.cwd())]
    command, *arguments, folder = with_known(words, places(entry.base))
    place = Path(located(folder, entry.base))
    target = replace(entry, command=command, args=tuple(arguments)).target
    if starts_what_is_in(place, command, arguments):
        return f"{target} (in {place})"
    return target
