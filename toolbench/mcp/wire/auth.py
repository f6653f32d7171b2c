"""Authorize requests to an HTTP server: by a bearer token, or OAuth in the browser."""

import warnings
import webbrowser
from collections.abc import Mapping
from typing import Any

import httpx2
from fastmcp.client.auth import BearerAuth, OAuth
from key_value.aio.stores.memory import MemoryStore

from toolbench.mcp.config.server_entry import ServerEntry


class BrowserOAuth(OAuth):
    """FastMCP's OAuth, which opens the authorization page only once, in the browser.

    FastMCP itself first requests the page to check it. Servers count this as another
    authorization.
    """

    async def redirect_handler(self, authorization_url: str) -> None:
        """Open *authorization_url* in the browser."""
        webbrowser.open(authorization_url)


def auth_of(entry: ServerEntry) -> httpx2.Auth | None:
    """Return the object that authorizes requests to *entry*, or None.

    `auth` is a bearer token, `"oauth"`, a mapping with the settings of FastMCP's `OAuth`
    (`client_id`, `client_secret`, `scopes`, ...), or an httpx2 auth object.
    """
    auth = entry.auth
    if auth is None or isinstance(auth, httpx2.Auth):
        if isinstance(auth, OAuth):
            auth._bind(entry.url)  # as FastMCP's own transport does
        return auth
    if auth == "oauth":
        return _oauth(entry.url, {})
    if isinstance(auth, Mapping):
        return _oauth(entry.url, dict(auth))
    return BearerAuth(str(auth))


def _oauth(url: str, settings: dict[str, Any]) -> OAuth:
    if settings.get("client_secret"):
        # most servers with client secrets expect this; `additional_client_metadata` can change it
        metadata = {"token_endpoint_auth_method": "client_secret_basic"}
        metadata |= settings.get("additional_client_metadata") or {}
        settings["additional_client_metadata"] = metadata
    settings.setdefault("token_storage", MemoryStore())
    with (
        warnings.catch_warnings()
    ):  # tokens in memory are lost with the kernel on purpose
        warnings.simplefilter("ignore", UserWarning)
        return BrowserOAuth(url, **{"client_name": "toolbench", **settings})
