"""Where a served notebook is found: a file of its owner's, with the URL and the token."""

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_state_path

from toolbench.errors import ServerError
from toolbench.whole_file import write_whole

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class ConnectionFile:
    """What `toolbench connect NAME` reads: who serves under that name now."""

    name: str
    url: str
    token: str = field(repr=False)
    process: int = field(default_factory=os.getpid)
    """The id of the process that serves."""

    def write(self) -> None:
        """Write the file; the one that serves last under a name has it.

        Raises:
            ServerError: If it cannot be written.
        """
        path = path_of(self.name)
        content = {"url": self.url, "token": str(self.token), "process": self.process}
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, json.dumps(content))
        except OSError as error:
            msg = f"{str(path)!r} cannot be written: {error.strerror}."
            raise ServerError(msg) from error

    def remove(self) -> None:
        """Remove the file, unless it is of another server by now."""
        with suppress(OSError):
            if self._is_named:
                path_of(self.name).unlink(missing_ok=True)

    @property
    def is_current(self) -> bool:
        """Whether the file still says so, and the process that wrote it goes on."""
        return self._is_named and is_running(self.process)

    @property
    def _is_named(self) -> bool:
        try:
            return read_connection(self.name) == self
        except ServerError:
            return False


def is_running(process: int) -> bool:
    """Tell whether the process of that number goes on; where the system does not tell, it does."""
    if os.name != "posix":  # elsewhere the question would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def folder() -> Path:
    """Where the files are (on Linux below `XDG_STATE_HOME`)."""
    return user_state_path("toolbench") / "served"


def path_of(name: str) -> Path:
    """Return the path of the file for *name*.

    Raises:
        ServerError: If no file can be called so.
    """
    check_name(name)
    return folder() / f"{name}.json"


def check_name(name: str) -> None:
    """Refuse a *name* that no file and no client's configuration can have.

    Raises:
        ServerError: It says what a name is made of.
    """
    if not _NAME.fullmatch(name):
        msg = (
            f"{name!r} cannot be the name of a server: use letters, digits, '_', '-' and '.', "
            "64 at most, and begin with a letter or digit."
        )
        raise ServerError(msg)


def names() -> Iterable[str]:
    """Return the names under which something is, or was, served."""
    return sorted(path.stem for path in folder().glob("*.json"))


def read_connection(name: str) -> ConnectionFile:
    """Return what serves under *name*.

    Raises:
        ServerError: If nothing does, or the file cannot be read.
    """
    path = path_of(name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return ConnectionFile(
            name, content["url"], content["token"], content["process"]
        )
    except FileNotFoundError:
        known = ", ".join(names())
        hint = f" Served now: {known}." if known else ""
        msg = (
            f"Nothing is served as {name!r}: run `%mcp serve` in the notebook, or call "
            f"`serve(tools, name={name!r})`.{hint}"
        )
        raise ServerError(msg) from None
    except (OSError, ValueError, TypeError, LookupError) as error:
        why = getattr(error, "strerror", None) or "it does not say where a server is"
        msg = f"{str(path)!r} cannot be read: {why}."
        raise ServerError(msg) from None
