"""Keep what approved servers offered (tools, instructions) in the user's state directory only.

A cloned repository must not bring its own approval, so no file is kept beside notebooks.
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
    """The approved offers of this user's servers: tools and instructions, one file for each server."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep the approvals in *folder*; by default `approved-servers` in the state directory."""
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder of the files (on Linux below `XDG_STATE_HOME`)."""
        return self._folder or user_state_path("toolbench") / "approved-servers"

    def of(self, server: str) -> Mapping[str, Any] | None:
        """Return the approved offer of a server; None if no offer was approved.

        Args:
            server: The key of the server, from `server_key`.

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
        text = json.dumps({"server": server, "offer": offer}, indent=1, sort_keys=True)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._file(server), text, errors="replace")
        except OSError as error:
            _log.warning("The approval of %s was not kept: %s.", server, error.strerror)

    def _file(self, server: str) -> Path:
        return self.folder / f"{sha256(server.encode()).hexdigest()[:32]}.json"


def server_key(entry: ServerEntry) -> str | None:
    """Return a key that identifies the server of *entry*; None if the server needs no approval.

    Servers in this process and recordings need no approval: they belong to the user. If the command
    starts a program in its working directory, this directory is part of the key.
    """
    if entry.transport in _REMOTE:
        return entry.target
    if entry.transport != "stdio":
        return None
    # In another project they are other words
    words = [entry.command, *entry.args, entry.cwd or str(Path.cwd())]
    command, *arguments, folder = with_known(words, places(entry.base))
    place = Path(located(folder, entry.base))
    target = replace(entry, command=command, args=tuple(arguments)).target
    if starts_what_is_in(place, command, arguments):
        return f"{target} (in {place})"
    return target
