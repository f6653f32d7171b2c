"""One server of a configuration: what to start or where to connect, and what to keep secret."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from toolbench.core.masking import Masking
from toolbench.core.state import Secrets
from toolbench.mcp.expand import expand
from toolbench.mcp.secrets import secrets_in, secrets_in_words

Transport = Literal["stdio", "http", "sse", "memory"]

_SHORTEST_SECRET = 6  # characters: below, a mask would hide half the text


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
    """`auto`, `legacy`, or a protocol version; None leaves it to whoever connects."""
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
        if self.transport == "memory":
            return self.secrets.mask(f"{self._server_name} (in this process)")
        words = [self.url] if self.url else [self.command, *self.args]
        line = " ".join(Masking(s).text(word) for word, s in secrets_in_words(words))
        return self.secrets.mask(line)

    @property
    def secrets(self) -> Secrets:
        """The values in the entry that must not be shown."""
        found = (v for v in self._secret_values() if len(v) >= _SHORTEST_SECRET)
        return Secrets({f"secret {n}": v for n, v in enumerate(dict.fromkeys(found))})

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
        shown = [f"transport={self.transport!r}", f"target={self.target!r}"]
        for name in ("env", "headers"):
            if keys := sorted(getattr(self, name)):
                shown.append(f"{name}=[{', '.join(keys)}]")
        return f"ServerEntry({', '.join(shown)})"


def _is_document(key: str, value: Any) -> bool:
    return key == "openapi" and not isinstance(value, str)
