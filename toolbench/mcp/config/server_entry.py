"""One server of a configuration: what to start or where to connect, and what to keep secret."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from toolbench.mcp.config.placeholders import expand
from toolbench.redaction.detection.settings import secrets_in, secrets_in_words
from toolbench.redaction.redactor import SHORTEST_SETTING, Redactor

Transport = Literal["stdio", "http", "sse", "memory", "replay"]
"""How a server is reached; a `replay` is a recording in its place."""


@dataclass(frozen=True, kw_only=True)
class ServerEntry:
    """How to reach one server, as the configuration says it: references not yet filled in."""

    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: Any = None
    """A bearer token, `"oauth"`, the settings of an OAuth client, or an httpx2 auth object."""
    server: Any = None
    """A FastMCP object, `module:name` or a path, in this process; for an OpenAPI document a
    mapping: `openapi` (it, or its place), `base_url` and `headers` of the service."""
    seconds: float | None = None
    """How long a call may take; None leaves it to the client."""
    mode: str | None = None
    """`auto`, `legacy`, or a protocol version; None leaves it to the caller that connects."""
    enabled: bool = True
    base: Path = field(default_factory=Path.cwd)
    """Where relative paths and `${workspaceFolder}` start."""
    fastmcp: Mapping[str, Any] | None = None
    """The entry as it came, if it uses FastMCP's own tool transforms and tag filters."""

    def expanded(self, variables: Mapping[str, str]) -> "ServerEntry":
        """Return the entry with the environment *variables* put in.

        Raises:
            ServerError: If one is not set.
        """
        places = {
            "workspaceFolder": str(self.base),
            "userHome": str(Path.home()),
            **variables,
        }
        filled = {
            name: expand(getattr(self, name), places)
            for name in ("command", "args", "env", "cwd", "url", "headers", "auth")
        }
        if self.fastmcp is not None:
            filled["fastmcp"] = expand(self.fastmcp, places)
        if settings := self._settings:
            filled["server"] = {**self.server, **expand(settings, places)}
        return replace(self, **{**filled, "args": tuple(filled["args"])})

    @property
    def target(self) -> str:
        """What is connected to, in one line that holds no secret."""
        if self.transport == "replay":
            return f"{self.url} (a recording)"
        if self.transport == "memory":
            return self.redactor.text(f"{self._server_name} (in this process)")
        words = [self.url] if self.url else [self.command, *self.args]
        line = " ".join(
            Redactor(s, shortest=1).text(word) for word, s in secrets_in_words(words)
        )
        return self.redactor.text(line)

    @property
    def redactor(self) -> Redactor:
        """Replaces the values in the entry that must not be shown."""
        return Redactor(self.secrets, shortest=SHORTEST_SETTING)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values in the entry that must not be shown."""
        return tuple(self._secret_values())

    def _secret_values(self) -> Iterator[str]:
        for _, secrets in secrets_in_words(self.args):
            yield from secrets
        yield from secrets_in([self.env, self.headers, self.url, self._settings])
        if self.auth != "oauth":
            yield from secrets_in(self.auth, "auth")

    @property
    def _settings(self) -> dict[str, Any]:
        """What an OpenAPI entry says beside the document."""
        settings = self.server if isinstance(self.server, Mapping) else {}
        return {k: v for k, v in settings.items() if not _is_document(k, v)}

    @property
    def _server_name(self) -> Any:
        if not isinstance(self.server, Mapping):
            return getattr(self.server, "name", None) or self.server
        document = self.server.get("openapi")
        return document if isinstance(document, str) else "OpenAPI document"

    def __repr__(self) -> str:
        facts = [f"transport={self.transport!r}", f"target={self.target!r}"]
        for name in ("env", "headers"):
            if keys := sorted(getattr(self, name)):
                facts.append(f"{name}=[{', '.join(keys)}]")
        return f"ServerEntry({', '.join(facts)})"


def _is_document(key: str, value: Any) -> bool:
    return key == "openapi" and not isinstance(value, str)
