"""Where a served notebook is found: a file of its owner's, with the URL and the token."""

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
from toolbench.whole_file import write_whole

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PROBING_SECONDS = 5.0
_DAMAGED = (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError)


@dataclass(frozen=True)
class ConnectionFile:
    """What `toolbench connect NAME` reads: one server, and who serves there.

    Each server has a file of its own, so several may have one name.
    """

    name: str
    url: str
    token: str = field(repr=False)
    process: int = field(default_factory=os.getpid)
    """The id of the process that serves."""
    machine: str = field(default_factory=socket.gethostname)
    """The name of its machine: others may share the home directory."""
    began: float = field(default_factory=time)
    id: str = field(default_factory=lambda: token_hex(4))
    """Makes the file another than that of any other server."""

    @property
    def path(self) -> Path:
        """Where the file is."""
        return folder() / f"{self.name}~{self.id}.json"

    def write(self) -> None:
        """Write the file, and remove those that killed processes left behind.

        Raises:
            ServerError: If it cannot be written.
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
        """Remove the file if nothing serves there any more; tell whether that is so."""
        is_gone = self.is_here and not (is_running(self.process) and _is_open(self.url))
        if is_gone:
            self.remove()
        return is_gone

    @property
    def is_here(self) -> bool:
        """Whether it is served on this machine."""
        return self.machine == socket.gethostname()

    @property
    def is_current(self) -> bool:
        """Whether the file is still there, and the process that wrote it goes on."""
        return self.path.exists() and is_running(self.process)


def is_running(process: int) -> bool:
    """Tell whether the process of that number goes on; where the system does not tell, it does."""
    if os.name != "posix":  # elsewhere the question would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _is_open(url: str) -> bool:
    """Tell whether something listens at *url*: a process may have the number of one that is gone."""
    try:
        parts = urlsplit(url)
        with socket.create_connection(
            (parts.hostname or "", parts.port or 0), _PROBING_SECONDS
        ):
            return True
    except (ConnectionRefusedError, ValueError):  # or it is no address
        return False
    except OSError:  # it may be too busy to answer
        return True


def folder() -> Path:
    """Where the files are (on Linux below `XDG_STATE_HOME`)."""
    return user_state_path("toolbench") / "served"


def check_name(name: Any) -> None:
    """Refuse a *name* that no file and no client's configuration can have.

    Raises:
        ServerError: It says what a name is made of.
    """
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        msg = (
            f"{name!r} cannot be the name of a server: use letters, digits, '_', '-' and '.', "
            "64 at most, and begin with a letter or digit."
        )
        raise ServerError(msg)


def connections(name: str) -> list[ConnectionFile]:
    """Return what is served as *name* on this machine, the newest first; it is at least one.

    Raises:
        ServerError: If there is none; it says what there is.
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
    """Return what to say where nothing is served as *name* any more."""
    return (
        f"What was served as {name!r} cannot be reached: its kernel ended or was "
        "restarted. Run `%mcp serve` there again, and start this again."
    )


def _files(name: str) -> Iterator[ConnectionFile]:
    """Return what files say is, or was, served as *name*; "*" stands for every name."""
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
