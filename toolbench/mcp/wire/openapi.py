"""Create an MCP server in this process from the OpenAPI document of an HTTP service."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2
import yaml
from fastmcp.client.transports import FastMCPTransport
from fastmcp.client.transports.base import ClientTransport
from mcp import ClientSession

from toolbench.errors import MissingExtraError, ServerError
from toolbench.network import limit_async_answer

# The extra that contains FastMCP's server half
_EXTRA = "demo"
_LIMITED: Any = {"response": [limit_async_answer]}


@dataclass
class OpenApiTransport(ClientTransport):
    """A transport that creates a server from an OpenAPI document, for one session."""

    settings: Mapping[str, Any]
    """The service's `openapi` (the document, its path or URL), `base_url` and `headers`."""
    base: Path
    """The folder for a relative path of the document."""

    @asynccontextmanager
    async def connect_session(self, **settings: Any) -> AsyncIterator[ClientSession]:
        """Read the document, and yield a session with a server that has its operations as tools."""
        try:
            from fastmcp import FastMCP  # noqa: PLC0415 - the server half, an extra
        except ImportError as error:
            raise MissingExtraError(_EXTRA) from error
        place = self.settings["openapi"]
        if isinstance(place, Mapping):
            document = place
        else:
            document = await self._read(str(place))
        url = self.settings.get("base_url") or _first_server(document, str(place))
        headers = dict(self.settings.get("headers", {}))
        title = str(document.get("info", {}).get("title", "openapi"))
        async with httpx2.AsyncClient(
            base_url=url, headers=headers, event_hooks=_LIMITED
        ) as client:
            server = FastMCP.from_openapi(dict(document), client=client, name=title)
            async with FastMCPTransport(server).connect_session(**settings) as session:
                yield session

    async def _read(self, place: str) -> Mapping[str, Any]:
        try:
            if _is_http(place):
                text = await _fetched(place)
            else:
                text = self._file(place)
            is_json = text.lstrip().startswith("{")
            if is_json:
                document = json.loads(text)
            else:
                document = yaml.safe_load(text)
        except RecursionError:
            msg = f"The OpenAPI document {place!r} cannot be read: it is nested too deeply."
            raise ServerError(msg) from None
        except (OSError, ValueError, yaml.YAMLError, httpx2.HTTPError) as error:
            msg = f"The OpenAPI document {place!r} cannot be read: {error}."
            raise ServerError(msg) from None
        if not isinstance(document, Mapping):
            msg = f"{place!r} has no OpenAPI document."
            raise ServerError(msg)
        return document

    def _file(self, place: str) -> str:
        return (self.base / Path(place).expanduser()).read_text(encoding="utf-8")


async def _fetched(url: str) -> str:
    async with httpx2.AsyncClient(
        timeout=30.0, follow_redirects=True, event_hooks=_LIMITED
    ) as client:
        response = await client.get(url)
        text: str = response.raise_for_status().text
        return text


def _first_server(document: Mapping[str, Any], place: str) -> str:
    """Return the URL of the first server in *document*, an OpenAPI document.

    A relative URL is completed with *place*, the URL of the document.
    """
    servers = document.get("servers") or [{}]
    url = urljoin(place if _is_http(place) else "", str(servers[0].get("url", "/")))
    if not _is_http(url):
        msg = "The OpenAPI document names no server URL: set 'base_url'."
        raise ServerError(msg)
    return url


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))
