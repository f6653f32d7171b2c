"""Read a configuration of MCP servers, in the format of FastMCP, an editor or an agent."""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf, nan
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from toolbench.errors import BodyError, ServerError
from toolbench.mcp.config.placeholders import LiveVariables, expand, with_known
from toolbench.mcp.config.registry_file import is_registry_file, registry_table
from toolbench.mcp.config.server_entry import (
    ServerEntry,
    Transport,
    UnapprovedEntry,
    located,
    places,
    read_env_file,
    workspace_of,
)

_SERVERS = ("mcpServers", "servers", "mcp_servers", "context_servers")
_OPENAPI = re.compile(r"/(openapi|swagger)\.(json|ya?ml)$")
_HEADER = re.compile(r"\s*(?P<name>[!#$%&'*+.^_`|~\w-]+)\s*:\s*(?P<value>.*?)\s*")
_TRANSFORMS = ("tools", "include_tags", "exclude_tags")
"""The keys that make FastMCP leave out or change tools of a server."""
LEAST_MILLISECONDS = 1000
"""The lowest `timeout` that is read as milliseconds; lower values are read as seconds."""


def read_config(config: Any, *, base: Path | None = None) -> dict[str, ServerEntry]:
    """Return the servers of *config* by name.

    Args:
        config: The configuration, in one of many forms. A mapping has the key `mcpServers`
            (FastMCP, Claude, Cursor, Windsurf, `.mcp.json`), `servers` (VS Code) or `mcp_servers`
            (Codex), or maps names to servers. A file contains such a mapping as JSON, TOML or YAML,
            or is a `server.json` of the MCP registry. A URL or a FastMCP object is one server. An
            OpenAPI document may be given as a mapping, as a path, or as a URL that ends in
            `/openapi.json` or similar.
        base: The folder to which relative paths refer. The default is the folder of the file. If
            the file belongs to an editor (`.vscode/mcp.json`), the default is the project's folder.
            Without a file, it is the current folder.

    Raises:
        ServerError: If *config* has no servers, or a server has neither a command nor a URL.
    """
    if isinstance(config, str | Path) and not _is_url(config):
        path = Path(config).expanduser()
        if not _names_module(config):
            entries = read_config(load(path), base=base or workspace_of(path, Path.cwd()))
            return {n: UnapprovedEntry.of(path.absolute(), e) for n, e in entries.items()}
    base = (base or Path.cwd()).absolute()
    table = _server_table(config, base)
    if table is None:
        msg = "The configuration has no servers: expected {'mcpServers': {name: {...}}}."
        raise ServerError(msg)
    return {str(name): _named(name, entry, base) for name, entry in table.items()}


def header_in(text: str) -> tuple[str, str]:
    """Return the name and the value of the HTTP header in *text*, such as `X-Team: data`.

    Raises:
        BodyError: If *text* is not an HTTP header.
    """
    match = _HEADER.fullmatch(text)
    if match is None or not match["value"]:
        msg = "--header takes a name and a value: --header 'X-Team: data'."
        raise BodyError(msg)
    return match["name"], match["value"]


def _named(name: Any, entry: Any, base: Path) -> ServerEntry:
    try:
        return read_entry(entry, base=base)
    except ServerError as error:
        msg = f"Server {name!r}: {error}"
        raise ServerError(msg) from None


def read_entry(entry: Any, *, base: Path | None = None) -> ServerEntry:
    """Return the configuration of the server that *entry* describes.

    *entry* is a mapping as in a configuration file, a URL, `module:name`, a path or an object.

    Raises:
        ServerError: If the server has neither a command to start nor a URL to connect to.
    """
    base = base or Path.cwd()
    if isinstance(entry, ServerEntry):
        return entry
    if isinstance(entry, str | Path):
        if _is_url(entry):
            if _OPENAPI.search(str(entry)):
                kind = "openapi"
            else:
                kind = "url"
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
    variables = entry.get("notebookVariables")
    if not isinstance(variables, LiveVariables):
        variables = {}
    shared: dict[str, Any] = {
        "base": base,
        "variables": variables,
        "seconds": _seconds(entry),
        "mode": entry.get("mode"),
        "enabled": bool(entry.get("enabled", not entry.get("disabled", False))),
    }
    for key in _TRANSFORMS:
        if _changes_tools(key, entry.get(key)):
            msg = (
                f"{key!r} asks FastMCP to change the tools of the server, which is not done here. "
                "Remove it, or start the changed server yourself and connect it."
            )
            raise ServerError(msg)
    if "command" in entry:
        return _stdio(entry, shared)
    for key in ("url", "serverUrl", "httpUrl"):
        if key in entry:
            return ServerEntry(
                transport=_remote(entry, str(entry[key])),
                url=str(entry[key]),
                headers=_headers(entry),
                auth=entry.get("auth"),
                **shared,
            )
    if "openapi" in entry:
        return ServerEntry(transport="memory", server=_service(entry, base), **shared)
    for key in ("server", "module"):
        if key in entry:
            return ServerEntry(transport="memory", server=entry[key], **shared)
    msg = "A server needs a 'command' to start or a 'url' to connect to; this one has "
    raise ServerError(msg + (", ".join(map(repr, entry)) or "nothing") + ".")


def _changes_tools(key: str, value: Any) -> bool:
    """Tell whether *value* under *key* asks FastMCP to leave out or change tools."""
    if key != "tools":
        return bool(value)
    # Other programs have a list of tools to offer here
    if not isinstance(value, Mapping):
        return False
    for change in value.values():
        # Codex notes here which tools it need not ask about
        if not isinstance(change, Mapping) or change.keys() - {"approval_mode"}:
            return True
    return False


def _stdio(entry: Mapping[str, Any], shared: dict[str, Any]) -> ServerEntry:
    command, args = entry["command"], entry.get("args", [])
    if not isinstance(command, str) or not isinstance(args, list | tuple):
        msg = (
            "'command' must be a str and 'args' a list, not "
            f"{type(command).__name__} and {type(args).__name__}."
        )
        raise ServerError(msg)
    # The name in opencode. Without these variables, the server would start and fail later
    if isinstance(entry.get("environment"), Mapping):
        msg = "'environment' is not read: write the variables of the program in 'env'."
        raise ServerError(msg)
    for key in ("cwd", "envFile"):
        if not isinstance(entry.get(key), str | None):
            msg = f"{key!r} must be a str, not {type(entry[key]).__name__}."
            raise ServerError(msg)
    env_file = None
    if place := entry.get("envFile"):
        env_file = read_env_file(place, shared["base"])
    return ServerEntry(
        transport="stdio",
        command=command,
        args=tuple(map(_text, args)),
        env=_texts(entry, "env"),
        env_file=env_file,
        cwd=entry.get("cwd"),
        **shared,
    )


def _service(entry: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return the settings of a service with an OpenAPI document; if this is a file, read it now."""
    document: Any = entry["openapi"]
    url: Any = entry.get("base_url")
    if isinstance(document, str) and not _is_url(document):
        document = _document_in(document, base)
    if not url and isinstance(document, Mapping):
        # The URL is shown before the server is approved, and must not change later
        with suppress(LookupError, TypeError):
            url = document["servers"][0]["url"]
        if not _is_url(url):
            url = None
        # A document is not a configuration: its references are not replaced by variables
        elif "${" in url:
            msg = "The server's URL in the OpenAPI document has ${, which is not filled in: set 'base_url'."
            raise ServerError(msg)
    return {"openapi": document, "base_url": url, "headers": _headers(entry)}


def _document_in(place: str, base: Path) -> Any:
    """Read the OpenAPI document in the file *place*; return *place* itself if it may be a URL.

    *place* may be a URL if it contains an unknown variable, or if the values of its variables make
    it one.
    """
    shown = located(with_known(place, places(base)), base)
    try:
        path = expand(with_known(place, places(base)), os.environ)
    except ServerError:
        # It may be a variable of the notebook, which is filled in when the server is connected
        return place
    if _is_url(path):
        return place
    # Variables of the environment may be secret, so the message shows references, not values
    about = f"OpenAPI document {shown!r}"
    file = Path(located(path, base))
    # A device or a pipe may have no end; Path raises for a long word
    if os.path.exists(file) and not os.path.isfile(file):  # noqa: PTH110, PTH113
        msg = f"Cannot read the {about}: it is not a file."
        raise ServerError(msg)
    document = load(file, about)
    if not isinstance(document, Mapping):
        msg = f"Cannot read the {about}: it holds no mapping with 'paths'."
        raise ServerError(msg)
    return document


def _texts(entry: Mapping[str, Any], key: str) -> dict[str, str]:
    """Return the names and values under *key*; error messages contain no value."""
    texts = entry.get(key, {})
    if not isinstance(texts, Mapping):
        msg = f"{key!r} must map names to values; it is a {type(texts).__name__}."
        raise ServerError(msg)
    return {str(name): _text(value) for name, value in texts.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    return str(value)


def _remote(entry: Mapping[str, Any], url: str) -> Transport:
    transport = str(entry.get("transport", entry.get("type", ""))).lower()
    path = _split(url).path
    if transport == "sse" or (not transport and re.search(r"/sse(/|\?|$)", path)):
        return "sse"
    return "http"


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        # The error may quote the password
        msg = "The host in the URL cannot be read: write https://host/path."
        raise ServerError(msg) from None


def _headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the HTTP headers to send, including those of Codex's settings."""
    headers = {**_texts(entry, "headers"), **_texts(entry, "http_headers")}
    for name, variable in _texts(entry, "env_http_headers").items():
        headers[name] = f"${{env:{variable}}}"
    if bearer := entry.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{env:{bearer}}}"
    return headers


def _seconds(entry: Mapping[str, Any]) -> float | None:
    """Return the time limit for calls that *entry* sets, in seconds; None if it sets none.

    `timeout` is in milliseconds in FastMCP, but in seconds in Cline and Roo Code. Small numbers are
    read as seconds, because nobody sets a limit of a few milliseconds.
    """
    for key in ("tool_timeout_sec", "timeout"):
        if key in entry:
            try:
                limit = float(entry[key])
            except (TypeError, ValueError, OverflowError):
                limit = nan
            if not 0 < limit < inf:
                msg = f"{key!r} must be a number above 0, not {entry[key]!r}."
                raise ServerError(msg)
            is_seconds = key == "tool_timeout_sec" or limit < LEAST_MILLISECONDS
            if is_seconds:
                return limit
            return limit / 1000
    return None


def _server_table(config: Any, base: Path) -> Mapping[str, Any] | None:
    """Return the servers of *config* by name; None if *config* has no table of servers."""
    if hasattr(config, "mcpServers"):
        return dict(config.mcpServers)
    if _is_url(config):
        return {_split(str(config)).hostname or "server": str(config)}
    if isinstance(config, str | Path):
        return {re.split(r"[:/\\]", str(config).removesuffix(".py"))[-1] or "server": config}
    if not isinstance(config, Mapping):
        return {getattr(config, "name", None) or "server": config}
    if is_registry_file(config):
        return registry_table(config, base)
    if _is_openapi(config):
        info = config.get("info")
        return {str((isinstance(info, Mapping) and info.get("title")) or "openapi"): config}
    if any(key in config for key in (*_SERVERS, "mcp")):
        return table_of(config)
    named = {k: v for k, v in config.items() if not isinstance(v, str) or _is_url(v)}
    if config and not named:
        return None
    return named


def table_of(config: Any) -> Mapping[str, Any] | None:
    """Return the servers by name in a program's configuration; None if it has no table of them."""
    if not isinstance(config, Mapping):
        return None
    # VS Code has them under `mcp`
    for table in (config, config.get("mcp")):
        for key in _SERVERS:
            if isinstance(table, Mapping) and isinstance(table.get(key), Mapping):
                return dict(table[key])
    return None


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))


def _is_openapi(value: Mapping[str, Any]) -> bool:
    """Tell whether *value* is an OpenAPI document, not an entry that refers to one."""
    return "openapi" in value and "paths" in value


def _names_module(value: Any) -> bool:
    """Tell whether *value* is `file.py`, `file.py:name` or `package.module:name`."""
    return bool(re.search(r"\.py(:\w+)?$|^[\w.]+:\w+$", str(value)))


def load(path: Path, about: str = "") -> Any:
    """Return the content of a TOML, YAML or JSON file. JSON may contain comments.

    *about* is the name of the file in error messages. The default is "configuration" and the path.

    Raises:
        ServerError: If the file cannot be read.
    """
    parse, name = _PARSERS.get(path.suffix, _json), about or f"configuration {str(path)!r}"
    try:
        # Windows editors add a byte order mark
        return parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        msg = f"Cannot read the {name}: {error.strerror}."
    except RecursionError:
        msg = f"The {name} cannot be read: it is nested too deeply."
    except ValueError as error:
        msg = f"The {name} cannot be read: {error}."
    raise ServerError(msg)


_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


def _toml(text: str) -> Any:
    import tomllib  # noqa: PLC0415 - few connections read such a file

    return tomllib.loads(text)


def _yaml(text: str) -> Any:
    import yaml  # noqa: PLC0415 - few connections read such a file

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        # The full error quotes the file
        msg = str(error.problem)
        if mark := error.problem_mark:
            msg = f"{msg}, line {mark.line + 1}"
    except yaml.YAMLError as error:
        msg = str(error)
    raise ValueError(msg)


def _json(text: str) -> Any:
    """Read JSON; comments and trailing commas are allowed, as in configuration files of editors."""
    try:
        return json.loads(text)
    except ValueError:
        for noise in (_COMMENT, _LAST_COMMA):
            text = noise.sub(lambda match: match[1] or "", text)
        return json.loads(text)


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
}
