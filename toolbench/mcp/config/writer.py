"""Write connected servers as a configuration without secrets that is valid in any folder."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolbench.mcp.config.placeholders import names_in, with_known
from toolbench.mcp.config.program import starts_what_is_in
from toolbench.mcp.config.reader import LEAST_MILLISECONDS
from toolbench.mcp.config.server_entry import ServerEntry, located, places
from toolbench.redaction.redactor import Redactor

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

_REFERENCE = re.compile(r"\$\{[^}]*\}")
# The scheme is not a secret
_SCHEME = re.compile(r"^(bearer|basic|token) +", re.IGNORECASE)


class Written(NamedTuple):
    """A configuration to save in a file, with facts that the user needs in order to use the file.

    Attributes:
        config: A mapping with the key `mcpServers`, as FastMCP, Claude and Cursor read it.
        variables: The environment variables that the user must set, by name. The values are the
            secrets that these variables replace in `config`.
        left_out: The names of servers that are not in `config`, because they are objects in this
            process.
        without_objects: The names of servers whose `auth` contains Python objects. These objects
            are not in `config`.
    """

    config: dict[str, Any]
    variables: tuple[str, ...]
    left_out: tuple[str, ...]
    without_objects: tuple[str, ...]


def write_config(sessions: "Iterable[MCPServerSession]") -> Written:
    """Return a configuration of *sessions*, with a variable (`${NAME}`) for each secret."""
    variables: dict[str, str] = {}
    servers: dict[str, Any] = {}
    left_out, without_objects = [], []
    for session in sessions:
        entry = session.portable_entry
        written = written_entry(session.name, entry, variables)
        if written is None:
            left_out.append(session.name)
        else:
            servers[session.name] = written
            if _has_objects(entry.auth):
                without_objects.append(session.name)
    config = {"mcpServers": servers}
    return Written(config, tuple(variables), tuple(left_out), tuple(without_objects))


def written_entry(
    name: str, entry: ServerEntry, variables: dict[str, str]
) -> dict[str, Any] | None:
    """Return *entry* as a JSON object for a file; None if the server is a Python object.

    Args:
        name: The name of the server.
        entry: The configuration of the server.
        variables: A dict to which secrets are added. In the result, each secret is replaced by a
            variable. This dict then maps the name of the variable to the secret.
    """
    for known in sorted(set(names_in([entry.url, entry.headers, entry.auth]))):
        # A file cannot refer to variables of the notebook
        if known in entry.variables:
            variables.setdefault(known, "")
    hidden = _Hidden(name, entry, variables)
    if entry.transport == "stdio":
        written = _program(entry, hidden)
    elif entry.transport in ("http", "sse"):
        written = _address(name, entry, hidden)
    elif entry.transport == "memory" and isinstance(entry.server, str):
        written = {"server": entry.server}
    else:
        return None
    if entry.seconds is not None:
        limit = entry.seconds * 1000
        if limit < LEAST_MILLISECONDS:
            written["tool_timeout_sec"] = entry.seconds
        else:
            written["timeout"] = limit
    written["mode"] = entry.mode
    return {key: part for key, part in written.items() if part}


def _program(entry: ServerEntry, hidden: "_Hidden") -> dict[str, Any]:
    written = {
        "command": entry.command,
        "args": _mapped(entry.args, hidden, "ARGUMENT"),
        "env": _mapped(entry.env, hidden),
        "cwd": entry.cwd,
    }
    if entry.env_file is not None:
        written["envFile"] = entry.env_file.path
    return written


def _address(name: str, entry: ServerEntry, hidden: "_Hidden") -> dict[str, Any]:
    headers = {}
    for key, text in entry.headers.items():
        headers[key] = hidden.text(text, f"{name}_{key}")
    return {
        "url": hidden.text(entry.url, f"{name}_URL"),
        "transport": entry.transport,
        "headers": headers,
        "auth": _auth(entry, hidden, name),
    }


def _auth(entry: ServerEntry, hidden: "_Hidden", name: str) -> Any:
    """Return `auth` of *entry*, with references instead of secrets and without Python objects."""
    auth = entry.auth
    if isinstance(auth, Mapping):
        ready = {key: part for key, part in auth.items() if _is_json(part)}
        return _mapped(ready, hidden) or "oauth"
    if not isinstance(auth, str):
        return None
    if auth == "oauth":
        return auth
    return hidden.text(auth, f"{name}_TOKEN")


def _has_objects(auth: Any) -> bool:
    if isinstance(auth, Mapping):
        return not all(map(_is_json, auth.values()))
    return not _is_json(auth)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _mapped(value: Any, hidden: "_Hidden", key: str = "VALUE") -> Any:
    if isinstance(value, str):
        return hidden.text(value, key)
    if isinstance(value, Mapping):
        return {name: _mapped(item, hidden, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, hidden, key) for item in value]
    return value


class _Hidden:
    """Replaces the secrets of one entry with references to variables."""

    def __init__(self, name: str, entry: ServerEntry, variables: dict[str, str]) -> None:
        self._name, self._variables = name, variables
        secrets = {_SCHEME.sub("", secret) for secret in entry.secrets} - {""}
        self._secrets = sorted(secrets, key=len, reverse=True)

    def text(self, text: str, key: str) -> str:
        """Return *text* with secrets replaced by references, whose names begin with *key*."""
        for secret in self._secrets:
            if secret in _REFERENCE.sub("", text):
                text = text.replace(secret, f"${{{self._variable(key, secret)}}}")
        bare = _REFERENCE.sub("", text)
        if self._secrets and Redactor(self._secrets).text(bare) != bare:
            # It contains an encoded secret, for example
            return f"${{{self._variable(key, text)}}}"
        return text

    def _variable(self, key: str, secret: str) -> str:
        """Return a variable name for *secret* that no other secret has."""
        word, number = key, 1
        while True:
            name = re.sub(r"\W+", "_", word).strip("_").upper()
            if not name[:1].isalpha():
                name = f"SECRET_{name}"
            if self._variables.setdefault(name, secret) == secret:
                return name
            word = f"{key}_{number}"
            if number == 1:
                word = f"{self._name}_{key}"
            number += 1


# --- an entry that does not depend on the folder ------------------------------------------

_KEY_FILE = "private_key_file"
_OF_THE_WORKSPACE = ("workspaceFolder", "workspaceFolderBasename")


def portable_entry(entry: ServerEntry, *, folder: Path, mode: str) -> ServerEntry:
    """Return a copy of *entry* with absolute paths, so that it works from any folder.

    Args:
        entry: The configuration of the server.
        folder: The current folder when the server was connected.
        mode: The mode to store in the copy: `auto`, `legacy`, or a version of the protocol.
    """
    known, parts = {}, {}
    for name in _OF_THE_WORKSPACE:
        known[name] = places(entry.base)[name]
    for name in ("command", "args", "env", "cwd", "url", "headers", "auth"):
        parts[name] = with_known(getattr(entry, name), known)
    parts["args"] = tuple(parts["args"])
    settled = replace(entry, **parts)
    cwd, auth = _directory(settled, folder), _with_key_file(settled)
    settled = replace(settled, cwd=cwd, auth=auth, server=_file_of_module(settled), mode=None)
    if mode == "auto":
        return settled
    return replace(settled, mode=mode)


def _directory(entry: ServerEntry, folder: Path) -> str | None:
    """Return the working directory that the server's process needs; None if it needs none."""
    if entry.transport != "stdio":
        return entry.cwd
    if entry.cwd:
        return located(entry.cwd, entry.base)
    is_needed = starts_what_is_in(folder, entry.command, entry.args)
    if is_needed:
        return str(folder)
    return None


def _file_of_module(entry: ServerEntry) -> Any:
    """Return `entry.server`; if it is a Python file, its path is made absolute."""
    server = entry.server
    if not isinstance(server, str):
        return server
    place, colon, name = server.partition(":")
    if not place.endswith(".py"):
        return server
    return f"{located(place, entry.base)}{colon}{name}"


def _with_key_file(entry: ServerEntry) -> Any:
    """Return `entry.auth`; if it names a key file, the path of the file is made absolute."""
    auth = entry.auth
    if not isinstance(auth, Mapping) or not isinstance(auth.get(_KEY_FILE), str):
        return auth
    return {**auth, _KEY_FILE: located(auth[_KEY_FILE], entry.base)}
