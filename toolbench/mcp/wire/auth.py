"""Authorize requests to an HTTP server by a bearer token, OAuth in the browser, or credentials."""

import socket
import warnings
import webbrowser
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
from fastmcp.client.auth import (
    BearerAuth,
    ClientCredentialsOAuthProvider,
    OAuth,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from fastmcp.client.oauth_callback import OAuthCallbackResult, create_oauth_callback_server
from mcp.shared.auth import AuthorizationCodeResult
from pydantic import ValidationError
from uvicorn import Server

from toolbench.errors import ServerError
from toolbench.mcp.authorization.token_vault import TokenStore, registered_port, vault
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.open_calls import WaitingCalls, current_call
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.threads import daemon_thread

# Seconds that the user has to authorize
_PATIENCE = 300.0
# Seconds in which the last page is sent
_LAST_SECONDS = 0.1
_KEY_SETTINGS = ("private_key", "private_key_file")


class BrowserOAuth(OAuth):
    """FastMCP's OAuth, but it opens the login page in the browser without requesting it first.

    FastMCP requests the page to check it, but servers treat this request as another login. While
    the user logs in, the time limits of all calls that need the token are paused.
    """

    inbox: Inbox | None = None
    patience = _PATIENCE
    """The seconds that the user has to log in."""
    begins_login = True
    """Whether the user is asked to log in if the stored tokens are not sufficient."""

    def __init__(self, url: str, **settings: Any) -> None:
        """Prepare to authorize at *url*, with the *settings* of FastMCP's `OAuth`."""
        super().__init__(url, **settings)
        self._calls = WaitingCalls()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Authorize *request*; the SDK makes other requests wait for the same token."""
        async with (
            self._calls.including(current_call()),
            aclosing(super().async_auth_flow(request)) as flow,
        ):
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                try:
                    outgoing = await flow.asend(response)
                except StopAsyncIteration:
                    return

    async def redirect_handler(self, authorization_url: str) -> None:
        """Show *authorization_url* to the user, and open it in the browser.

        Raises:
            ServerError: If logins must not be started.
        """
        if not self.begins_login:
            msg = "the kept token is not taken any more, and no login is begun here"
            raise ServerError(msg)
        if self.inbox is not None:
            self.inbox.ask_to_authorize(authorization_url)
        # In a thread, because a command in BROWSER may wait until the browser is closed
        daemon_thread(_open_browser, authorization_url, name="toolbench-browser").start()

    async def callback_handler(self) -> AuthorizationCodeResult:
        """Wait until the user has logged in, and return the server's answer."""
        async with self._calls.waiting_for_person():
            try:
                return await self._answer_of_browser()
            finally:
                if self.inbox is not None:
                    self.inbox.ask_to_authorize("")

    async def _answer_of_browser(self) -> AuthorizationCodeResult:
        """Wait for the browser's answer like FastMCP's `callback_handler`, but limit connections.

        Raises:
            ServerError: If the user does not log in within the time limit, or the port is taken.
        """
        from toolbench.http_limits import limit_connections  # noqa: PLC0415 - only here: uvicorn

        answer, has_come = OAuthCallbackResult(), anyio.Event()
        server = create_oauth_callback_server(
            port=self.redirect_port,
            host=self._callback_host,
            server_url=self.mcp_url,
            result_container=answer,
            result_ready=has_come,
        )
        limit_connections(server.config, lambda _: False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_serve, server, self.redirect_port)
            with anyio.move_on_after(self.patience):
                await has_come.wait()
            server.should_exit = True
            # The page must reach the browser
            await anyio.sleep(_LAST_SECONDS)
            tasks.cancel_scope.cancel()
        if not has_come.is_set():
            msg = (
                f"nobody authorized in the browser within {self.patience:.3g} s; "
                "connect again to be asked again"
            )
            raise ServerError(msg)
        if answer.error:
            raise answer.error
        return AuthorizationCodeResult(code=str(answer.code), state=answer.state, iss=answer.iss)


async def _serve(server: Server, port: int) -> None:
    try:
        await server.serve()
    except SystemExit:
        # uvicorn would end the process if it cannot listen
        msg = f"the port {port} for the answer of the browser is taken"
        raise ServerError(msg) from None


def _open_browser(page: str) -> None:
    # If the browser does not open, the user still has the link
    with suppress(Exception):
        webbrowser.open(page)


def auth_of(entry: ServerEntry, inbox: Inbox | None = None) -> httpx2.Auth | None:
    """Return the object that authorizes requests to the server of *entry*; None without `auth`.

    `auth` of *entry* is a bearer token, `"oauth"`, an httpx2 auth object, or a mapping of settings.
    *inbox* hides the OAuth tokens, like other secrets. The possible settings are:

    - If the user logs in: the settings of FastMCP's `OAuth`, such as `client_metadata_url`,
      `scopes`, or the `client_id` and `client_secret` of a registered client.
    - If the client authorizes itself without a user: `client_id` and `issuer`, together with either
      `client_secret` and the `grant_type` `client_credentials`, or `private_key`, or
      `private_key_file`.

    Raises:
        ServerError: If the settings are invalid.
    """
    auth = entry.auth
    if auth is None or isinstance(auth, httpx2.Auth):
        if isinstance(auth, OAuth):
            # FastMCP's own transport does the same
            auth._bind(entry.url)
        return auth
    if isinstance(auth, Mapping):
        settings = dict(auth)
    elif auth == "oauth":
        settings = {}
    else:
        return BearerAuth(str(auth))
    store = TokenStore(entry.url, _hider(inbox))
    settings.setdefault("token_storage", store)
    make: Callable[[ServerEntry, dict[str, Any]], httpx2.Auth] = _browser
    if settings.pop("grant_type", None) == "client_credentials":
        make = _credentials
    if any(key in settings for key in _KEY_SETTINGS):
        make = _signed
    try:
        # The user may have chosen to keep tokens in memory
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            provider = make(entry, settings)
    except (TypeError, ValueError) as error:
        msg = f"The settings in 'auth' cannot be used: {_missing(error)}."
        raise ServerError(msg) from None
    if isinstance(provider, BrowserOAuth):
        provider.inbox = inbox
    return provider


def _browser(entry: ServerEntry, settings: dict[str, Any]) -> OAuth:
    if settings.get("client_secret"):
        # Most servers with client secrets expect this; `additional_client_metadata` can change it
        metadata = {"token_endpoint_auth_method": "client_secret_basic"}
        metadata |= settings.get("additional_client_metadata") or {}
        settings["additional_client_metadata"] = metadata
    if "callback_port" not in settings:
        port = registered_port(vault.items(entry.url))
        # The client is registered at the server with this port only
        if port and not _is_free(port):
            vault.forget_clients(entry.url)
            port = None
        settings["callback_port"] = port
    settings.setdefault("callback_timeout", _PATIENCE)
    oauth = BrowserOAuth(entry.url, **{"client_name": "toolbench", **settings})
    oauth.patience = settings["callback_timeout"]
    return oauth


def _credentials(entry: ServerEntry, settings: dict[str, Any]) -> httpx2.Auth:
    return ClientCredentialsOAuthProvider(entry.url, **_issued(settings))


def _signed(entry: ServerEntry, settings: dict[str, Any]) -> httpx2.Auth:
    key, file = (settings.pop(name, None) for name in _KEY_SETTINGS)
    algorithm = settings.pop("signing_algorithm", "RS256")
    client = settings.get("client_id")
    if not client:
        msg = "'auth' with a private key needs 'client_id', the name of the client."
        raise ServerError(msg)
    if key is None:
        path = entry.base / Path(str(file)).expanduser()
        try:
            key = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is not text"
            msg = f"The private key in {str(path)!r} cannot be read: {why}."
            raise ServerError(msg) from None
    parameters = SignedJWTParameters(
        issuer=client, subject=client, signing_key=key, signing_algorithm=algorithm
    )
    signer = parameters.create_assertion_provider()
    return PrivateKeyJWTOAuthProvider(entry.url, assertion_provider=signer, **_issued(settings))


def _issued(settings: dict[str, Any]) -> dict[str, Any]:
    """Return *settings* unchanged after checking that they name an issuer.

    If they did not, the MCP server would decide to which authorization server the credentials are
    sent.

    Raises:
        ServerError: If *settings* name no issuer.
    """
    if not settings.get("issuer"):
        msg = (
            "'auth' with credentials needs 'issuer', the URL of the authorization server "
            "that may get them."
        )
        raise ServerError(msg)
    return settings


def _hider(inbox: Inbox | None) -> Callable[[Iterable[str]], object]:
    """Return a function that hides secrets in everything that the session keeps and shows."""

    def hide(secrets: Iterable[str]) -> None:
        if inbox is not None and (new := frozenset(secrets)):
            inbox.redact_with(inbox.entry_redactor.including(new))

    return hide


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As uvicorn does
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except OSError:
            return False
    return True


def _missing(error: Exception) -> str:
    """Return the message about invalid settings from Python or pydantic, without class names."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).partition("() ")[2] or str(error)
