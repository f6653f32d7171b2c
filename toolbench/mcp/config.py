"""Read a configuration of MCP servers: FastMCP's format, and what editors and agents write."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from yaml import YAMLError, safe_load

from toolbench.errors import ServerError
from toolbench.mcp.entries import ServerEntry, Transport

_SERVERS = ("mcpServers", "servers", "mcp_servers", "context_servers")
_OPENAPI = re.compile(r"/(openapi|swagger)\.(json|ya?ml)$")
_TRANSFORMS = ("tools", "include_tags", "exclude_tags")


def read_config(config: Any, *, base: Path | None = None) -> dict[str, ServerEntry]:
    """Return the servers of *config* by name.

    Args:
        config: A mapping with `mcpServers` (FastMCP, Claude, Cursor, Windsurf, `.mcp.json`),
            `servers` (VS Code) or `mcp_servers` (Codex); the path of a file with one, JSON or
            TOML; a mapping from names to servers; one URL; one FastMCP object; one OpenAPI
            document, its file, or its URL if that ends like `/openapi.json`.
        base: Where relative paths start; the directory of the file, or the current one.

    Raises:
        ServerError: If it holds no servers, or one that says not how it is reached.
    """
    if isinstance(config, str | Path) and not _is_url(config):
        path = Path(config).expanduser()
        if not _names_module(config):
            return read_config(load(path), base=base or path.parent)
    found = _server_table(config)
    if not found:
        msg = "The configuration holds no servers: expected {'mcpServers': {name: {...}}}."
        raise ServerError(msg)
    base = (base or Path.cwd()).absolute()
    return {str(name): read_entry(entry, base=base) for name, entry in found.items()}


def read_entry(entry: Any, *, base: Path | None = None) -> ServerEntry:
    """Return one server: a mapping, a URL, `module:name`, a path, or a FastMCP object.

    Raises:
        ServerError: If it does not say what to start or where to connect.
    """
    base = base or Path.cwd()
    if isinstance(entry, ServerEntry):
        return entry
    if isinstance(entry, str | Path):
        if _is_url(entry):
            kind = "openapi" if _OPENAPI.search(str(entry)) else "url"
            return read_entry({kind: str(entry)}, base=base)
        return ServerEntry(transport="memory", server=str(entry), base=base)
    if hasattr(entry, "model_dump"):
        entry = entry.model_dump(exclude_none=True)
    if not isinstance(entry, Mapping):
        return ServerEntry(transport="memory", server=entry, base=base)
    if _is_openapi(entry):
        entry = {"openapi": entry}
    return _read_mapping({k: v for k, v in entry.items() if v is not None}, base)


def _read_mapping(entry: Mapping[str, Any], base: Path) -> ServerEntry:
    shared: dict[str, Any] = {
        "base": base,
        "seconds": _seconds(entry),
        "mode": entry.get("mode"),
        "enabled": bool(entry.get("enabled", not entry.get("disabled", False))),
    }
    if any(
        isinstance(entry.get(key), Mapping | list) and entry[key] for key in _TRANSFORMS
    ):
        shared["fastmcp"] = entry
    url = next((entry[k] for k in ("url", "serverUrl", "httpUrl") if k in entry), None)
    if "command" in entry:
        return _stdio(entry, shared)
    if url is not None:
        return ServerEntry(
            transport=_remote(entry, str(url)),
            url=str(url),
            headers=_headers(entry),
            auth=entry.get("auth"),
            **shared,
        )
    for key in ("server", "module", "openapi"):
        if key in entry:
            wanted = entry if key == "openapi" else entry[key]
            return ServerEntry(transport="memory", server=wanted, **shared)
    msg = "A server needs a 'command' to start or a 'url' to connect to; this one has "
    raise ServerError(msg + (", ".join(repr(k) for k in entry) or "nothing") + ".")


def _stdio(entry: Mapping[str, Any], shared: dict[str, Any]) -> ServerEntry:
    command: Any = entry["command"]
    args: Any = entry.get("args", ())
    if isinstance(command, list) and command:  # some write the whole line as one list
        command, args = command[0], [*command[1:], *args]
    if not isinstance(command, str) or isinstance(args, str):
        msg = f"A command is a str and its args a list, not {command!r} and {args!r}."
        raise ServerError(msg)
    env = entry.get("env", entry.get("environment", {}))
    return ServerEntry(
        transport="stdio",
        command=command,
        args=tuple(str(word) for word in args),
        env={str(name): str(value) for name, value in env.items()},
        cwd=entry.get("cwd"),
        **shared,
    )


def _remote(entry: Mapping[str, Any], url: str) -> Transport:
    named = str(entry.get("transport", entry.get("type", ""))).lower()
    if named == "sse" or (not named and re.search(r"/sse(/|\?|$)", urlsplit(url).path)):
        return "sse"
    return "http"


def _headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """The headers to send, Codex's names for them included."""
    headers = {**entry.get("headers", {}), **entry.get("http_headers", {})}
    for name, variable in entry.get("env_http_headers", {}).items():
        headers[name] = f"${{env:{variable}}}"
    if variable := entry.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{env:{variable}}}"
    return {str(name): str(value) for name, value in headers.items()}


def _seconds(entry: Mapping[str, Any]) -> float | None:
    """How long a call may take: `timeout` is in ms (FastMCP), Codex's is in seconds."""
    if "tool_timeout_sec" in entry:
        return float(entry["tool_timeout_sec"])
    return float(entry["timeout"]) / 1000 if "timeout" in entry else None


def _server_table(config: Any) -> Mapping[str, Any]:
    if hasattr(config, "mcpServers"):
        return dict(config.mcpServers)
    if _is_url(config):
        return {urlsplit(str(config)).hostname or "server": str(config)}
    if isinstance(config, str | Path):
        return {
            re.split(r"[:/\\]", str(config).removesuffix(".py"))[-1] or "server": config
        }
    if not isinstance(config, Mapping):
        return {getattr(config, "name", None) or "server": config}
    if _is_openapi(config):
        return {str(config.get("info", {}).get("title", "openapi")): config}
    if any(key in config for key in _SERVERS) or "mcp" in config:
        return table_of(config)
    return {k: v for k, v in config.items() if not isinstance(v, str) or _is_url(v)}


def table_of(config: Any) -> Mapping[str, Any]:
    """Return the servers by name that a file of some program holds; without any, none."""
    nested = config.get("mcp") if isinstance(config, Mapping) else None  # VS Code
    for table in (config, nested):
        if isinstance(table, Mapping):
            for key in _SERVERS:
                if isinstance(table.get(key), Mapping):
                    return dict(table[key])
    return {}


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))


def _is_openapi(value: Mapping[str, Any]) -> bool:
    """Whether *value* is a document itself, not the entry of one."""
    return "openapi" in value and "paths" in value


def _names_module(value: Any) -> bool:
    """Whether *value* is `file.py`, `file.py:name` or `package.module:name`."""
    return bool(re.search(r"\.py(:\w+)?$|^[\w.]+:\w+$", str(value)))


def load(path: Path) -> Any:
    """Return what the file at *path* holds: JSON as editors write it, TOML or YAML.

    Raises:
        ServerError: If it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"Cannot read the configuration {str(path)!r}: {error.strerror}."
        raise ServerError(msg) from None
    parse = _PARSERS.get(path.suffix, _json)
    try:
        return parse(text)
    except (ValueError, YAMLError) as error:
        msg = f"The configuration {str(path)!r} cannot be read: {error}."
        raise ServerError(msg) from None


_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


def _yaml(text: str) -> Any:
    return safe_load(text)


def _json(text: str) -> Any:
    """Read JSON as editors write it: with comments, and a comma after the last item."""
    try:
        return json.loads(text)
    except ValueError:
        for noise in (_COMMENT, _LAST_COMMA):
            text = noise.sub(lambda match: match[1] or "", text)
        return json.loads(text)


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".toml": tomllib.loads,
    ".yaml": _yaml,
    ".yml": _yaml,
}
