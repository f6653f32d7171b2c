"""Search a registry of MCP servers, and get the `server.json` of a server.

Source: the generic registry API, v0.1 (openapi.yaml of modelcontextprotocol/registry, 2025-12-01).
Requests are sent only to the registry. No MCP server is started or contacted.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

import anyio

from toolbench.core.background_loop import portal
from toolbench.display.escape import on_one_line
from toolbench.errors import BodyError, ServerError
from toolbench.mcp.config.registry_file import way_label
from toolbench.network import limit_async_answer, status_of
from toolbench.redaction.detect import secrets_in
from toolbench.redaction.redactor import Redactor
from toolbench.threads import NO_THREADS, have_threads
from toolbench.values import clip

if TYPE_CHECKING:
    from httpx2 import AsyncClient

T = TypeVar("T")
SECONDS = 20.0
"""The time limit in seconds for all requests of one search together."""
# The most servers of one page; registries have such a limit too
_PAGE = 100
# The key of the registry's own information on a server
_OFFICIAL_KEY = "io.modelcontextprotocol.registry/official"


class RegisteredServer(NamedTuple):
    """One version of a server in a registry. All its strings come from strangers."""

    document: Mapping[str, Any]
    """The `server.json`."""
    status: str
    """`active`, `deprecated` or `deleted`."""
    status_message: str
    """Why the server has this status; empty if the registry does not say."""

    @property
    def name(self) -> str:
        """The name in the registry, such as `io.github.example/weather`."""
        return self.text("name")

    def text(self, key: str) -> str:
        """Return the string under *key* in the `server.json`; empty if there is none."""
        value = self.document.get(key)
        if not isinstance(value, str):
            return ""
        return value

    @property
    def source(self) -> str:
        """The name, version and status of the server, on one line."""
        state = ""
        if self.status != "active":
            state = f" ({self.status} there)"
        return on_one_line(f"{self.name} {self.text('version')} of the registry{state}")

    @property
    def runs_by(self) -> list[str]:
        """How to reach the server: the URLs of its remotes, and its packages with their kinds."""
        remotes, packages = self.document.get("remotes"), self.document.get("packages")
        return [way_label(each) for each in [*_mappings(remotes), *_mappings(packages)]]


Found = tuple[Sequence[RegisteredServer], bool]
"""The servers found in a registry, and whether the registry has more of them."""


def search(address: str, words: Sequence[str], *, limit: int) -> Found:
    """Return up to *limit* servers of the registry at *address* that match *words*.

    The registry itself can only search for one word in the names of servers. This function
    therefore sends the first word, and filters the results by the other words: each must occur in
    the name, the title or the description. Only the latest version of each server is returned.

    Raises:
        ServerError: If the registry cannot be reached, or does not answer like a registry.
    """
    return _asked(address, lambda client: _search(client, words, limit))


def get_server(address: str, name: str, version: str = "latest") -> RegisteredServer:
    """Return the server *name* of the registry at *address*, in the version *version*.

    Raises:
        ServerError: If there is no such server, or the registry cannot be reached or does not
            answer like a registry.
    """
    return _asked(address, lambda client: _get_server(client, name, version))


def _asked(address: str, question: Callable[["AsyncClient"], Awaitable[T]]) -> T:
    """Call *question* with an HTTP client for *address*, and return its result."""
    if not have_threads():
        msg = f"The registry cannot be asked: {NO_THREADS}."
        raise ServerError(msg)
    import httpx2  # noqa: PLC0415 - not for %load_ext

    async def within_time() -> T:
        with anyio.fail_after(SECONDS):
            async with httpx2.AsyncClient(
                base_url=f"{address.rstrip('/')}/v0.1/",
                timeout=None,
                follow_redirects=True,
                event_hooks={"response": [limit_async_answer]},
            ) as client:
                return await question(client)

    try:
        return portal.call(within_time)
    except TimeoutError:
        why = f"it did not answer within {SECONDS:.3g} s"
    except httpx2.HTTPStatusError as error:
        why = f"it answered {status_of(error)}"
    except (httpx2.HTTPError, httpx2.InvalidURL, BodyError, ValueError) as error:
        why = on_one_line(str(error) or type(error).__name__).rstrip(".")
    shown = Redactor([*secrets_in(address)]).text(f"The registry {address} cannot be used: {why}")
    msg = f"{shown}. Try again later, or set another: %config Toolbench.registry = 'https://...'."
    raise ServerError(msg)


async def _search(client: "AsyncClient", words: Sequence[str], limit: int) -> Found:
    parameters = {"version": "latest", "limit": str(min(limit, _PAGE))}
    if words:
        parameters["search"] = words[0]
    servers: list[RegisteredServer] = []
    while True:
        page = await _json_of(client, "servers", parameters)
        if not isinstance(page.get("servers"), list):
            msg = "its answer has no list of servers"
            raise BodyError(msg)
        for item in _mappings(page["servers"]):
            server = _server_of(item)
            if server is not None and _has_words(server, words[1:]):
                servers.append(server)
        # A cursor that is repeated ends with the limit or the time limit
        cursor = _mapping(page.get("metadata")).get("nextCursor")
        if not cursor or len(servers) >= limit:
            return servers[:limit], len(servers) > limit or bool(cursor)
        parameters["cursor"] = str(cursor)


async def _get_server(client: "AsyncClient", name: str, version: str) -> RegisteredServer:
    path = f"servers/{quote(name, safe='')}/versions/{quote(version, safe='')}"
    # Includes deleted servers, to say that they are deleted
    answer = await _json_of(client, path, {"include_deleted": "true"})
    server = _server_of(answer)
    if server is None or server.name != name:
        msg = f"its answer for {clip(name)} is not the description of this server"
        raise BodyError(msg)
    return server


async def _json_of(client: "AsyncClient", path: str, parameters: Mapping[str, str]) -> Any:
    """Return the JSON object at *path*.

    Raises:
        ServerError: If there is no such server.
        BodyError: If the answer is not a JSON object.
        HTTPError: If there is no answer, or the answer has another error status.
    """
    response = await client.get(path, params=parameters)
    if response.status_code == 404 and path != "servers":
        msg = (
            "The registry has no such server or version. %mcp registry WORDS finds names; "
            "--version takes a version that was published."
        )
        raise ServerError(msg)
    response.raise_for_status()
    try:
        answer = json.loads(response.content)
    # A RecursionError comes from endlessly nested lists
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        kind = response.headers.get("content-type", "").partition(";")[0]
        msg = f"its answer, {clip(kind)}, is not a JSON object"
        raise BodyError(msg)
    return answer


def _server_of(item: Mapping[str, Any]) -> RegisteredServer | None:
    """Return the server in *item*, an entry of an answer; None if it does not describe a server."""
    document = item.get("server")
    if not isinstance(document, Mapping) or not isinstance(document.get("name"), str):
        return None
    facts = _mapping(_mapping(item.get("_meta")).get(_OFFICIAL_KEY))
    return RegisteredServer(
        document,
        status=str(facts.get("status") or "active"),
        status_message=str(facts.get("statusMessage") or ""),
    )


def _has_words(server: RegisteredServer, words: Sequence[str]) -> bool:
    text = " ".join(map(server.text, ("name", "title", "description"))).lower()
    return all(word.lower() in text for word in words)


def _mappings(values: Any) -> list[Mapping[str, Any]]:
    if not isinstance(values, list):
        return []
    return [value for value in values if isinstance(value, Mapping)]


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    return value
