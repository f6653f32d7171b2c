"""Remove the tokens of a server, and ask its authorization server to revoke them (RFC 7009).

The tokens are sent only to the authorization server at which the client was registered. If the MCP
server now names another one, that one does not receive the tokens.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import anyio

from toolbench.core.background_loop import portal
from toolbench.display.escape import visible
from toolbench.errors import ServerError
from toolbench.mcp.authorization.token_vault import Items, vault
from toolbench.network import limit_async_answer
from toolbench.redaction.redactor import Redactor

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession


SECONDS = 20.0
"""The time limit in seconds for all requests together, as an answer may arrive very slowly."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Registration:
    """This client's registration at the issuer, the authorization server that issued the tokens."""

    issuer: str
    client_id: str
    secret: str
    method: str
    """How the secret is sent: `none`, `client_secret_post` or `client_secret_basic`."""

    @classmethod
    def among(cls, items: Items) -> "Registration | None":
        """Return the registration in *items*; None if the issuer of the tokens is unknown."""
        for item in items.values():
            if item.get("issuer") and item.get("client_id"):
                return cls(
                    issuer=str(item["issuer"]),
                    client_id=str(item["client_id"]),
                    secret=str(item.get("client_secret") or ""),
                    method=str(item.get("token_endpoint_auth_method") or "none"),
                )
        return None


async def revoke(items: Items, server: str) -> str:
    """Ask the authorization server to revoke the tokens in *items*.

    The tokens belong to the server at the URL *server*. Return a sentence for the user about the
    outcome, or an empty string if there are no tokens. A failure is reported in this sentence, and
    no error is raised.
    """
    import httpx2  # noqa: PLC0415 - with the first server

    tokens = list(_tokens(items))
    if not tokens:
        return ""
    registration = Registration.among(items)
    if registration is None:
        return "They are still valid there: it is not known who issued them."
    try:
        with anyio.fail_after(SECONDS):
            hooks = {"response": [limit_async_answer]}
            async with httpx2.AsyncClient(timeout=None, event_hooks=hooks) as client:
                place = await _place(client, registration.issuer, server)
                if not place:
                    return (
                        "They are still valid there: its authorization server offers no revocation."
                    )
                for kind, token in tokens:
                    await _revoked(client, place, registration, kind, token)
    except TimeoutError:
        why = f"no answer within {SECONDS:.3g} s"
    except RecursionError:
        why = "its answer is nested too deeply"
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        # A server's answer may repeat the tokens
        redactor = Redactor([registration.secret, *(token for _, token in tokens)])
        why = visible(redactor.text(_why(error)))
    else:
        return "Its authorization server has revoked them."
    return f"They may still be valid there: revoking them failed ({why})."


def _tokens(items: Items) -> Iterator[tuple[str, str]]:
    """Yield each token with its kind, refresh tokens first because they can create new tokens."""
    for kind in ("refresh_token", "access_token"):
        for item in items.values():
            if isinstance(token := item.get(kind), str) and token:
                yield kind, token


async def _place(client: Any, issuer: str, server: str) -> str:
    """Return the URL at which *issuer* revokes tokens; empty if there is no safe URL."""
    from mcp.client.auth.utils import (  # noqa: PLC0415 - with the first server
        build_oauth_authorization_server_metadata_discovery_urls,
        issuers_match,
    )

    # Without encryption, an attacker in the network could name another URL
    if not _is_safe(issuer):
        return ""
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, server):
        answer = await client.get(url)
        if answer.status_code != 200:
            continue
        metadata = answer.json()
        if not isinstance(metadata, Mapping):
            continue
        if not issuers_match(str(metadata.get("issuer")), issuer):
            msg = "the authorization server describes itself as another one"
            raise ValueError(msg)
        place = metadata.get("revocation_endpoint")
        if isinstance(place, str) and _is_safe(place):
            return place
        return ""
    return ""


def _is_safe(url: str) -> bool:
    """Tell whether a request to *url* is encrypted, or stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


async def _revoked(
    client: Any, place: str, registration: Registration, kind: str, token: str
) -> None:
    form = {
        "token": token,
        "token_type_hint": kind,
        "client_id": registration.client_id,
        # An empty secret means none (RFC 6749, 2.3.1); SDK servers refuse a form without the field
        "client_secret": registration.secret,
    }
    auth = None
    if registration.method == "client_secret_basic":
        form["client_secret"] = ""
        # Both are encoded before they are joined by a colon (RFC 6749, 2.3.1)
        auth = (quote(registration.client_id, safe=""), quote(registration.secret, safe=""))
    answer = await client.post(place, data=form, auth=auth)
    answer.raise_for_status()


def _why(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP {response.status_code}"
    return str(error).rstrip(".") or type(error).__name__


def log_out(session: "MCPServerSession") -> str:
    """Disconnect *session*, revoke its tokens, and remove them from this machine.

    The server must have a URL. Tokens are revoked only if the authorization server supports it.

    Returns:
        Sentences for the user about the outcome, or an empty string if there were no tokens.
    """
    session.close()
    try:
        url = session.entry.expanded(os.environ).url
    # The vault finds tokens only by the URL
    except ServerError as error:
        return f"If it has tokens, they are still here. {error}"
    items = vault.items(url)
    if not vault.remove(url):
        return ""
    outcome = "are still here: the keyring or the file refused to delete them"
    if not vault.items(url):
        outcome = "are gone from this machine"
    return f"Its tokens {outcome}. {portal.call(revoke, items, url)}".strip()
