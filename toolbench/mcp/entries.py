"""One server of a configuration: what to start or where to connect, and what to keep secret."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from toolbench.core.masking import MASK
from toolbench.core.state import Secrets
from toolbench.mcp.expand import expand

Transport = Literal["stdio", "http", "sse", "memory"]

_SECRET_NAME = re.compile(
    r"key|token|secret|passw|pwd|credential|auth(?!or)|cookie", re.I
)
_SECRET_ARGUMENT = re.compile(
    r"(?i)^--?[\w-]*(?:key|token|secret|passw|pwd|credential|auth)[\w-]*$"
)
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
    """A FastMCP object, `module:name`, a path, or an OpenAPI document, in this process."""
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
        return replace(self, **{**filled, "args": tuple(filled["args"])})

    @property
    def target(self) -> str:
        """What is connected to, in one line that holds no secret."""
        if self.transport == "stdio":
            return " ".join(_masked_words([self.command, *self.args]))
        if self.transport == "memory":
            name = getattr(self.server, "name", None)
            return f"{name or self.server} (in this process)"
        return _masked_url(self.url)

    @property
    def secrets(self) -> Secrets:
        """The values in the entry that must not be shown."""
        named = {
            **{k: v for k, v in self.env.items() if _SECRET_NAME.search(k)},
            **self.headers,
            **_auth_secrets(self.auth),
            **dict(_secret_words(self.args)),
        }
        for text in (self.url, *self.args, *self.env.values()):
            named |= _url_secrets(text)
        bare = {f"{k} value": v.split(" ", 1)[-1] for k, v in self.headers.items()}
        found = {**named, **bare}
        return Secrets({k: v for k, v in found.items() if len(v) >= _SHORTEST_SECRET})

    def __repr__(self) -> str:
        shown = [f"transport={self.transport!r}", f"target={self.target!r}"]
        for name in ("env", "headers"):
            if keys := sorted(getattr(self, name)):
                shown.append(f"{name}=[{', '.join(keys)}]")
        return f"ServerEntry({', '.join(shown)})"


def _secret_words(words: tuple[str, ...]) -> list[tuple[str, str]]:
    """The values of arguments like `--api-key VALUE` and `--api-key=VALUE`."""
    found: list[tuple[str, str]] = []
    for place, option in enumerate(words):
        name, equals, value = option.partition("=")
        if _SECRET_ARGUMENT.match(name):
            found.append((name, value if equals else "".join(words[place + 1 :][:1])))
    return found


def _masked_words(words: list[str]) -> list[str]:
    hidden = {value for _, value in _secret_words(tuple(words)) if value}
    return [
        _masked_url(word.replace(value, MASK) if value else word)
        for word in words
        for value in [next((v for v in hidden if v in word), "")]
    ]


def _masked_url(url: str) -> str:
    if "://" not in url:
        return url
    secrets = Secrets(_url_secrets(url))
    return secrets.mask(url)


def _url_secrets(url: str) -> dict[str, str]:
    if "://" not in url:
        return {}
    parts = urlsplit(url)
    named = {k: v for k, v in parse_qsl(parts.query) if _SECRET_NAME.search(k)}
    if parts.password:
        named["password"] = parts.password
    return {f"{parts.hostname} {name}": value for name, value in named.items()}


def _auth_secrets(auth: Any) -> dict[str, str]:
    if isinstance(auth, str) and auth != "oauth":
        return {"auth": auth}
    if isinstance(auth, Mapping):
        return {
            f"auth {k}": v
            for k, v in auth.items()
            if isinstance(v, str) and _SECRET_NAME.search(k)
        }
    return {}
