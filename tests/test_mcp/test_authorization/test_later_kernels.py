"""Tokens in another process, as of a kernel that starts later; a client with a document of its own."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import keyring
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from starlette.responses import JSONResponse

from test_mcp.peers import serving_app, serving_on_a_free_port
from test_mcp.test_authorization.conftest import notes
from test_mcp.test_authorization.file_keyring import FileKeyring
from toolbench.errors import ServerError

TESTS = Path(__file__).parents[2]
LATER = """
import sys, webbrowser
from toolbench.mcp import MCPClient
webbrowser.open = lambda page: sys.exit("a person was asked again")
with MCPClient(timeout=120) as client:
    session = client.connect("notes", {"url": sys.argv[1], "auth": "oauth"})
    print(session.tools["note"]({}).text)
"""
DOCUMENT = "https://toolbench.example/client.json"


def later_kernel(url, backend):
    """What a process prints that starts now and has the keyring *backend*."""
    env = {**os.environ, "PYTHON_KEYRING_BACKEND": backend, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", LATER, url]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


class TestALaterKernel:
    @pytest.mark.slow
    def test_has_the_tokens_of_the_keyring(
        self, client, guarded, person, state, tmp_path, monkeypatch
    ):
        """Nobody is asked again, and no file of ours has them."""
        file = tmp_path / "keyring.json"
        monkeypatch.setenv("FILE_KEYRING", str(file))
        keyring.set_keyring(FileKeyring())
        url, provider = guarded
        client.connect("notes", {"url": url, "auth": "oauth"})
        backend = f"{FileKeyring.__module__}.{FileKeyring.__name__}"
        assert later_kernel(url, backend) == "milk"
        assert len(person) == 1
        assert not state.exists() or not list(state.iterdir())
        (token, *_) = provider.access_tokens
        assert token in "".join(json.loads(file.read_text()).values())

    # In one process in test_browser, for each `make test`
    @pytest.mark.long
    def test_has_the_tokens_of_the_file(self, client, guarded, person, state):
        """Where there is no keyring; only its owner reads the file."""
        url, _ = guarded
        client.connect("notes", {"url": url, "auth": "oauth"})
        assert later_kernel(url, "keyring.backends.null.Keyring") == "milk"
        assert len(person) == 1
        (file,) = state.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(state.stat().st_mode) == 0o700


def with_documents(app, address):
    """*app*, whose authorization server reads the documents of clients instead of registering them."""

    async def wrapped(scope, receive, send):
        if scope.get("path") == "/register":
            raise AssertionError
        if scope.get("path") != "/.well-known/oauth-authorization-server":
            await app(scope, receive, send)
            return
        metadata = {
            "issuer": f"{address}/",
            "authorization_endpoint": f"{address}/authorize",
            "token_endpoint": f"{address}/token",
            "registration_endpoint": f"{address}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": True,
        }
        await JSONResponse(metadata)(scope, receive, send)

    return wrapped


class TestAClientWithADocument:
    def test_is_not_registered(self, client, person, port):
        """The URL of its document is its id."""
        from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider

        registered = OAuthClientInformationFull(
            client_id=DOCUMENT,
            redirect_uris=[f"http://localhost:{port}/callback"],
            scope="",
            token_endpoint_auth_method="none",
        )

        def make(address):
            provider = InMemoryOAuthProvider(base_url=address)
            # As it reads in the document
            provider.clients[DOCUMENT] = registered
            return with_documents(notes(provider).http_app(), address)

        auth = {"client_metadata_url": DOCUMENT, "callback_port": port}
        with serving_on_a_free_port(make) as address:
            entry = {"url": f"{address}/mcp", "auth": auth}
            assert client.connect("notes", entry).tools["note"]({}).text == "milk"
        assert "client_id=https%3A%2F%2Ftoolbench.example%2Fclient.json" in person[0]

    def test_has_it_at_an_address_that_can_be_one(self, client):
        """Anything else is a sentence before a request is sent."""
        auth = {"client_metadata_url": "http://toolbench.example/"}
        with pytest.raises(ServerError, match=r"'auth' cannot be used: .* HTTPS URL"):
            client.connect("x", {"url": "http://127.0.0.1:9/mcp", "auth": auth})


class TestAProxy:
    def test_that_wants_a_password_is_named(self, client, monkeypatch):
        """The sentence says where to put it."""

        async def proxy(scope, receive, send):
            head = {"type": "http.response.start", "status": 407, "headers": []}
            await send(head)
            await send({"type": "http.response.body", "body": b""})

        for variable in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(variable, raising=False)
        with serving_app(proxy) as url:
            monkeypatch.setenv("HTTP_PROXY", url)
            with pytest.raises(ServerError, match="The proxy requires a password"):
                client.connect("x", "http://mcp.example/mcp")
