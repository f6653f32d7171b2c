"""One server of a configuration: its command or URL, secrets, folder and `envFile`."""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from io import StringIO
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import SecretStr

from toolbench.errors import ServerError
from toolbench.mcp.config.placeholders import expand, names_in, with_known
from toolbench.redaction.detect import (
    IsSecret,
    is_short_secret,
    secrets_in,
    secrets_in_words,
)
from toolbench.redaction.names import is_secret_setting
from toolbench.redaction.redactor import SHORTEST_SETTING, Redactor

# --- the folder for relative paths --------------------------------------------------

_OF_EDITORS = frozenset({".vscode", ".cursor", ".roo", ".gemini"})
"""Folders of a project in which editors and agents keep their configuration."""


def workspace_of(file: Path, here: Path) -> Path:
    """Return the folder for `${workspaceFolder}` and relative paths in the configuration *file*.

    Usually, this is the folder that contains *file*. If *file* is in a project's folder for an
    editor (`.vscode/mcp.json`), return the folder of the project. If *file* contains the user's
    settings for all projects, return *here*, the current folder.
    """
    # Without `..`, because the name of the folder is compared
    folder = Path(os.path.abspath(file)).parent  # noqa: PTH100 - links stay, as in the editors
    if folder == settings_folder(Path.home()) / "Code/User":
        return here
    if folder.name not in _OF_EDITORS:
        return folder
    if folder.parent == Path.home():
        return here
    return folder.parent


def settings_folder(home: Path) -> Path:
    """Return the folder in which programs keep settings of the user with the home folder *home*."""
    if sys.platform == "darwin":
        return home / "Library/Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", home / "AppData/Roaming"))
    return Path(os.environ.get("XDG_CONFIG_HOME", home / ".config"))


def located(place: str, base: Path) -> str:
    """Return *place*, a path in a configuration. A relative path is joined to the folder *base*.

    A path that begins with a variable, such as `${HOME}/data`, is returned unchanged.
    """
    if place.startswith("${"):
        return place
    # `~nobody` is unchanged too, and is not found later
    return str(base / os.path.expanduser(place))  # noqa: PTH111 - Path would raise


def places(workspace: Path) -> dict[str, str]:
    """Return the values of the variables that VS Code and Cursor define for configurations."""
    return {
        "workspaceFolder": str(workspace),
        "workspaceFolderBasename": workspace.name,
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
        "/": os.sep,
    }


# --- `envFile`: a file of environment variables, as in VS Code and Cursor -----------

# In bytes; such files have a few lines
_MOST_BYTES = 100_000


@dataclass(frozen=True)
class EnvFile:
    """A file of environment variables, with its content when the configuration was read."""

    path: str
    """The absolute path; references to environment variables in it are not replaced."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables as written in the file; a `${NAME}` in them is not replaced."""
    problem: str = ""
    """Why the file cannot be read; empty if it was read."""


def read_env_file(place: str, base: Path) -> EnvFile:
    """Read the environment file at *place*, a path that may be relative to *base*."""
    # The path is shown, so it must not contain values of the environment, which may be secret
    path = located(with_known(place, places(base)), base)
    try:
        text = _text_in(Path(located(expand(path, os.environ), base)))
        return EnvFile(path, _variables_in(text))
    except (ServerError, ValueError) as error:
        problem = str(error).rstrip(".")
    except OSError as error:
        problem = f"{error.strerror}. Create it, or remove 'envFile'"
    return EnvFile(path, problem=f"the envFile {path!r} cannot be read: {problem}.")


def _variables_in(text: str) -> dict[str, str]:
    from dotenv.parser import parse_stream  # noqa: PLC0415 - no page has it, and it starts no server

    variables = {}
    for each in parse_stream(StringIO(text)):
        if each.error:
            msg = f"line {each.original.line} is not NAME=VALUE. Write it so, or remove it"
            raise ValueError(msg)
        if each.key is not None and each.value is not None:
            variables[each.key] = each.value
    return variables


def _text_in(path: Path) -> str:
    # Of a device or a pipe there may be no end
    if path.exists() and not path.is_file():
        msg = "it is not a file"
        raise ValueError(msg)
    if path.stat().st_size > _MOST_BYTES:
        msg = f"it has more than {_MOST_BYTES:,} bytes"
        raise ValueError(msg)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        # The error would quote a part of the file
        text = "\0"
    if "\0" in text:
        msg = "it is not text in UTF-8"
        raise ValueError(msg)
    return text


# --- the entry ---------------------------------------------------------------------------

Transport = Literal["stdio", "http", "sse", "memory", "replay"]
"""How a server is reached: `memory` is an object in this process, `replay` a recording."""


@dataclass(frozen=True, kw_only=True)
class ServerEntry:
    """The configuration of one server, in which variables (`${NAME}`) are not replaced yet."""

    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    env_file: EnvFile | None = None
    """A file with more variables for the process; variables in `env` take precedence."""
    cwd: str | None = None
    """The folder in which the process starts, perhaps relative to `base`."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: Any = None
    """A bearer token, `"oauth"`, the settings of an OAuth client, or an httpx2 auth object."""
    server: Any = None
    """A server in this process: a FastMCP object, `module:name` or a path. For an OpenAPI document:
    a mapping with `openapi` (the document, its path or URL), `base_url` and `headers`."""
    seconds: float | None = None
    """The time limit of a call in seconds; if None, the client decides."""
    mode: str | None = None
    """`auto`, `legacy`, or a protocol version; if None, the caller that connects decides."""
    enabled: bool = True
    base: Path = field(default_factory=Path.cwd)
    """The folder for relative paths and `${workspaceFolder}`."""
    required: Mapping[str, str] = field(default_factory=dict)
    """The environment variables that must be set, each with its description."""
    secret_variables: frozenset[str] = frozenset()
    """The environment variables whose values must not be shown, regardless of their names."""
    secret_texts: tuple[str, ...] = ()
    """Other strings that must not be shown anywhere."""
    variables: Mapping[str, str | SecretStr] = field(default_factory=dict)
    """Variables of the notebook, for `${NAME}`; environment variables take precedence."""

    def expanded(self, environment: Mapping[str, str]) -> "ServerEntry":
        """Return a copy in which variables (`${NAME}`) are replaced by their values.

        The values come from *environment*. Variables that it does not contain are taken from the
        notebook.

        Raises:
            ServerError: If a variable is not set, or the environment file cannot be read.
        """
        if self.env_file is not None and self.env_file.problem:
            raise ServerError(self.env_file.problem)
        own = {k: v for k, v in self.variables.items() if not environment.get(k)}
        variables = {**environment, **{k: _plain(v) for k, v in own.items()}}
        self._check_required(variables)
        # The same values as were shown when the user was asked to approve the server
        known = {**variables, **places(self.base)}
        filled = {}
        for name in ("command", "args", "env", "cwd", "url", "headers", "auth"):
            filled[name] = expand(getattr(self, name), known)
        filled["env"] = {**self._file_variables, **filled["env"]}
        if self.cwd:
            filled["cwd"] = located(filled["cwd"], self.base)
        if settings := self.settings:
            filled["server"] = {**self.server, **expand(settings, known)}
        values = [variables.get(name, "") for name in sorted(self.secret_variables)]
        values += [_plain(v) for v in own.values() if isinstance(v, SecretStr)]
        values += self._secrets_in(variables)
        filled["secret_texts"] = (*self.secret_texts, *filter(None, values))
        return replace(self, **{**filled, "args": tuple(filled["args"])})

    def _secrets_in(self, variables: Mapping[str, str]) -> list[str]:
        """Return the values of those *variables* that the entry uses and that are secrets."""
        parts = (self.args, self.env, self.url, self.headers, self.auth)
        names = sorted(set(names_in([*parts, self.settings])))
        return list(secrets_in({name: variables.get(name, "") for name in names}))

    def _check_required(self, variables: Mapping[str, str]) -> None:
        missing = []
        for name, note in self.required.items():
            if not variables.get(name) and note:
                missing.append(f"{name!r} ({note})")
            elif not variables.get(name):
                missing.append(repr(name))
        if missing:
            msg = f"It needs {', '.join(missing)} in the environment: set what is missing."
            raise ServerError(msg)

    @property
    def identity(self) -> tuple[str, ...]:
        """The parts that identify the server: transport, command, arguments, folder and URL.

        Environment variables and headers are left out.
        """
        folder = str(self.base / (self.cwd or ""))
        return self.transport, self.command, *self.args, folder, self.url

    @property
    def target(self) -> str:
        """The command, URL or object on one line, without secrets."""
        if self.transport == "replay":
            return f"{self.url} (a recording)"
        if self.transport == "memory":
            return self.redactor.text(f"{self._server_name} (in this process)")
        if self.url:
            words = [self.url]
        else:
            words = [self.command, *self.args]
        line = " ".join(Redactor(s, shortest=1).text(word) for word, s in secrets_in_words(words))
        return self.redactor.text(line)

    @property
    def redactor(self) -> Redactor:
        """A redactor of the secrets in the entry; short secrets are hidden only as whole words."""
        known = Redactor(self.secrets, shortest=SHORTEST_SETTING)
        return known.including(self._secret_values(is_short_secret))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values in the entry that must not be shown."""
        return tuple(self._secret_values(is_secret_setting))

    def _secret_values(self, is_secret: IsSecret) -> Iterator[str]:
        yield from self.secret_texts
        for _, secrets in secrets_in_words(self.args, is_secret):
            yield from secrets
        settings = [self._file_variables, self.env, self.headers, self.url, self.settings]
        yield from secrets_in(settings, "", is_secret)
        if self.auth != "oauth":
            yield from secrets_in(self.auth, "auth", is_secret)

    @property
    def _file_variables(self) -> Mapping[str, str]:
        if self.env_file is None:
            return {}
        return self.env_file.variables

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of an OpenAPI entry, without the document."""
        if isinstance(self.server, Mapping):
            settings = self.server
        else:
            settings = {}
        return {k: v for k, v in settings.items() if not _is_document(k, v)}

    @property
    def _server_name(self) -> Any:
        if not isinstance(self.server, Mapping):
            return getattr(self.server, "name", None) or self.server
        document = self.server.get("openapi")
        if isinstance(document, str):
            return document
        return "OpenAPI document"

    def __repr__(self) -> str:
        facts = [f"transport={self.transport!r}", f"target={self.target!r}"]
        for name in ("env", "headers"):
            if keys := sorted(getattr(self, name)):
                facts.append(f"{name}=[{', '.join(keys)}]")
        return f"ServerEntry({', '.join(facts)})"


@dataclass(frozen=True, kw_only=True)
class UnapprovedEntry(ServerEntry):
    """An entry from a configuration file, which must be approved before it is connected."""

    file: Path

    @classmethod
    def of(cls, file: Path, entry: ServerEntry) -> Self:
        """Return *entry*, which was read from *file*, as an unapproved entry."""
        return cls(file=file, **_settings_of(entry))

    def approved(self) -> ServerEntry:
        """Return this entry as an approved entry, which can be connected."""
        return ServerEntry(**_settings_of(self))


def _settings_of(entry: ServerEntry) -> dict[str, Any]:
    return {each.name: getattr(entry, each.name) for each in fields(ServerEntry)}


def _plain(value: str | SecretStr) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return value


def _is_document(key: str, value: Any) -> bool:
    return key == "openapi" and not isinstance(value, str)
