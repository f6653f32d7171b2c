"""A private file with the URL and the token of a served notebook, so that clients find it."""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Any
from urllib.parse import urlsplit

from platformdirs import user_state_path

from toolbench.errors import ServerError
from toolbench.files import write_whole

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PROBING_SECONDS = 5.0
_DAMAGED = (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError)


@dataclass(frozen=True)
class ConnectionFile:
    """A file from which `toolbench connect` learns how to connect to a server.

    It contains the URL, token, process and machine of the server. Each server writes a separate
    file, so several servers may have the same name.
    """

    name: str
    url: str
    token: str = field(repr=False)
    process: int = field(default_factory=os.getpid)
    """The id of the server's process."""
    machine: str = field(default_factory=socket.gethostname)
    """The name of the server's machine; several machines may share the home directory."""
    began: float = field(default_factory=time)
    id: str = field(default_factory=lambda: token_hex(4))
    """A random string that makes the name of the file unique."""

    @property
    def path(self) -> Path:
        """The path of the file."""
        return folder() / f"{self.name}~{self.id}.json"

    def write(self) -> None:
        """Write the file, and remove files that servers left behind when they were killed.

        Raises:
            ServerError: If the file cannot be written.
        """
        path = self.path
        content = {
            "url": self.url,
            "token": str(self.token),
            "process": self.process,
            "machine": self.machine,
            "began": self.began,
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            for other in _files("*"):
                other.remove_if_gone()
            write_whole(path, json.dumps(content))
        except OSError as error:
            msg = f"{str(path)!r} cannot be written: {error.strerror}."
            raise ServerError(msg) from error

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def remove_if_gone(self) -> bool:
        """Remove the file if its server ran on this machine and has ended; tell whether it has."""
        is_gone = self.is_here and not (is_running(self.process) and _is_open(self.url))
        if is_gone:
            self.remove()
        return is_gone

    @property
    def is_here(self) -> bool:
        """Whether the server is on this machine."""
        return self.machine == socket.gethostname()

    @property
    def is_current(self) -> bool:
        """Whether the file still exists, and the process that wrote it is still running."""
        return self.path.exists() and is_running(self.process)


def is_running(process: int) -> bool:
    """Tell whether the process with the id *process* is running; True if unknown."""
    # On Windows os.kill(process, 0) would end the process
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _is_open(url: str) -> bool:
    """Tell whether a server listens at *url*; True if this is uncertain.

    It is not enough that the server's process id is in use, because another process may have got
    the same id since.
    """
    try:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname or "", parts.port or 0), _PROBING_SECONDS):
            return True
    except (ConnectionRefusedError, ValueError):
        # ValueError: *url* is invalid
        return False
    except OSError:
        # The server may be too busy to answer
        return True


def folder() -> Path:
    """Return the folder of all connection files, on Linux below `XDG_STATE_HOME`."""
    return user_state_path("toolbench") / "served"


def check_name(name: Any) -> None:
    """Check that *name* can be used in the name of a file and in a client's configuration.

    Raises:
        ServerError: If *name* is invalid; the message names the allowed characters.
    """
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        msg = (
            f"{name!r} cannot be the name of a server: use letters, digits, '_', '-' and '.', "
            "64 at most, and begin with a letter or digit."
        )
        raise ServerError(msg)


def connections(name: str) -> list[ConnectionFile]:
    """Return the files of the running servers called *name* on this machine, newest first.

    Raises:
        ServerError: If there is no such server. The message names the servers that are running.
    """
    check_name(name)
    known = list(_files(name))
    alive = [one for one in known if one.is_here and not one.remove_if_gone()]
    if alive:
        return sorted(alive, key=lambda one: one.began, reverse=True)
    elsewhere = sorted({one.machine for one in known if not one.is_here})
    if elsewhere:
        msg = f"{name!r} is served on another machine ({', '.join(elsewhere)}): connect there."
    elif known:
        msg = gone(name)
    else:
        others = sorted({one.name for one in _files("*") if not one.remove_if_gone()})
        hint = f" Served now: {', '.join(others)}." if others else ""
        msg = (
            f"Nothing is served as {name!r}: run `%mcp serve` in the notebook, or call "
            f"`serve(tools, name={name!r})`.{hint}"
        )
    raise ServerError(msg)


def gone(name: str) -> str:
    """Return the error message for a server called *name* that has ended."""
    return (
        f"The server {name!r} cannot be reached: its kernel ended or was restarted. "
        "Run `%mcp serve` in that notebook again, then connect again."
    )


def _files(name: str) -> Iterator[ConnectionFile]:
    """Yield the files of all servers called *name*, or of all servers if *name* is "*".

    The files of servers that have ended are included; damaged files are not.
    """
    for path in folder().glob(f"{name}~*.json"):
        own_name, _, id_ = path.stem.partition("~")
        with suppress(*_DAMAGED):
            content = json.loads(path.read_text(encoding="utf-8"))
            yield ConnectionFile(
                own_name,
                str(content["url"]),
                str(content["token"]),
                int(content["process"]),
                str(content["machine"]),
                float(content["began"]),
                id_,
            )
