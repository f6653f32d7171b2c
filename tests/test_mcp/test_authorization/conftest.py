"""Servers that want to know who asks, a person with a browser, and a place for their tokens."""

import os
import socket
import threading
import urllib.error
import urllib.request
import webbrowser
from contextlib import suppress
from urllib.parse import parse_qs

import jwt
import keyring
import pytest
from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from keyring.backends import null
from mcp.server.auth.settings import ClientRegistrationOptions
from patience import PATIENCE, eventually
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from test_mcp.peers import serving_on_a_free_port


def notes(auth=None):
    """A FastMCP object with one tool."""
    server = FastMCP("notes", auth=auth)

    @server.tool
    def note() -> str:
        """Return a note."""
        return "milk"

    return server


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The folder of the state of this user; there is no keyring."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    yield tmp_path / "state" / "toolbench" / "tokens"
    keyring.set_keyring(before)


@pytest.fixture
def person(monkeypatch):
    """A person who says yes on each page that is opened; the list of the pages."""
    pages = []

    def visit(page):
        pages.append(page)
        threading.Thread(target=say_yes, args=(page,), daemon=True).start()
        return True

    monkeypatch.setattr(webbrowser, "open", visit)
    return pages


@pytest.fixture
def port():
    """A free port that the system gives to nobody: it is below those that it chooses from."""
    for number in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as free, suppress(OSError):
            free.bind(("localhost", number))
            return number
    raise AssertionError("no port is free")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def say_yes(page):
    try:
        urllib.request.build_opener(_NoRedirect).open(page, timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        callback = error.headers["Location"]
        error.close()

    def has_come_back():
        """Whether the page that is returned to is served, which takes a moment."""
        try:
            urllib.request.urlopen(callback, timeout=PATIENCE).close()
        except OSError:
            return False
        return True

    eventually(has_come_back)


@pytest.fixture
def guarded():
    """The URL of a server with OAuth, and its provider: who is registered, which tokens."""
    providers = []

    def make(address):
        options = ClientRegistrationOptions(enabled=True)
        provider = InMemoryOAuthProvider(base_url=address, client_registration_options=options)
        providers.append(provider)
        return notes(provider).http_app()

    with serving_on_a_free_port(make) as address:
        yield f"{address}/mcp", providers[0]


class Programs:
    """An authorization server for programs: with a secret, or with a key of their own."""

    def __init__(self, address, public_key=None):
        self.address = address
        self.public_key = public_key
        self.requests = []

    async def metadata(self, request):
        return JSONResponse(
            {
                "issuer": self.address,
                "authorization_endpoint": f"{self.address}/authorize",
                "token_endpoint": f"{self.address}/token",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
            }
        )

    async def resource(self, request):
        return JSONResponse(
            {"resource": f"{self.address}/mcp", "authorization_servers": [self.address]}
        )

    async def token(self, request):
        form = {k: v[0] for k, v in parse_qs((await request.body()).decode()).items()}
        self.requests.append((request.headers.get("authorization"), form))
        if self.public_key is not None:
            claims = jwt.decode(
                form["client_assertion"],
                self.public_key,
                ["RS256"],
                audience=self.address,
            )
            assert claims["iss"] == "robot"
        elif not str(request.headers.get("authorization")).startswith("Basic "):
            return JSONResponse({"error": "invalid_client"}, 401)
        answer = {"access_token": "token-of-a-program-1", "token_type": "Bearer"}
        return JSONResponse({**answer, "expires_in": 3600})


def programs(address, server):
    """The application of *server*, a `Programs`, and of a FastMCP object behind it."""
    inner = notes().http_app()

    async def guarded_app(scope, receive, send):
        headers = dict(scope.get("headers", ()))
        is_call = scope["type"] == "http" and scope["path"] == "/mcp"
        if is_call and headers.get(b"authorization") != b"Bearer token-of-a-program-1":
            where = f"{address}/.well-known/oauth-protected-resource"
            challenge = {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'}
            await Response(status_code=401, headers=challenge)(scope, receive, send)
            return
        await inner(scope, receive, send)

    routes = [
        Route("/.well-known/oauth-protected-resource", server.resource),
        Route("/.well-known/oauth-authorization-server", server.metadata),
        Route("/token", server.token, methods=["POST"]),
        Mount("/", guarded_app),
    ]
    return Starlette(routes=routes, lifespan=inner.lifespan)
