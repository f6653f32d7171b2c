"""A logout asks the authorization server to revoke the tokens, and only the one that issued them."""

import json
from asyncio import sleep
from base64 import b64decode

import pytest
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from test_mcp.peers import serving_on_a_free_port
from test_mcp.test_authorization.conftest import notes
from toolbench.mcp.authorization import logout
from toolbench.mcp.authorization.logout import log_out
from toolbench.mcp.authorization.token_vault import vault
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.server_session import MCPServerSession


@pytest.fixture(params=[True, False], ids=["offered", "not offered"])
def guarded(request):
    """The URL of a server with OAuth, its provider, and whether it revokes."""
    providers = []

    def make(address):
        provider = InMemoryOAuthProvider(
            base_url=address,
            client_registration_options=ClientRegistrationOptions(enabled=True),
            revocation_options=RevocationOptions(enabled=request.param),
        )
        providers.append(provider)
        return notes(provider).http_app()

    with serving_on_a_free_port(make) as address:
        yield f"{address}/mcp", providers[0], request.param


def test_a_logout_revokes_the_tokens(client, guarded, person, state):
    """They are worth nothing afterwards; without an endpoint for that, this is said."""
    url, provider, is_offered = guarded
    session = client.connect("notes", {"url": url, "auth": "oauth"})
    assert provider.access_tokens
    assert provider.refresh_tokens
    outcome = log_out(session)
    assert list(state.iterdir()) == []
    if is_offered:
        assert outcome.endswith("Its authorization server has revoked them.")
        assert not provider.access_tokens
        assert not provider.refresh_tokens
    else:
        assert "still valid" in outcome
        assert "offers no revocation" in outcome


class Issuer:
    """An authorization server that tells what it likes; `requests` has what was sent to revoke."""

    def __init__(self):
        self.requests = []
        self.metadata = {}
        self.answer = lambda: JSONResponse(self.metadata)
        self.status = 200

    async def described(self, request):
        return self.answer()

    async def revoke(self, request):
        form = dict(await request.form())
        self.requests.append((form, request.headers.get("authorization")))
        return Response(status_code=self.status)

    def app(self, address):
        self.metadata = {
            "issuer": address,
            "authorization_endpoint": f"{address}/authorize",
            "token_endpoint": f"{address}/token",
            "response_types_supported": ["code"],
            "revocation_endpoint": f"{address}/revoke",
        }
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self.described),
                Route("/revoke", self.revoke, methods=["POST"]),
            ]
        )


@pytest.fixture
def issuer():
    """An issuer, and its address."""
    issuer = Issuer()
    with serving_on_a_free_port(issuer.app) as address:
        yield issuer, address


def logged_out(issuer, **registration):
    """What a logout says of a server with kept tokens that *issuer* issued."""
    url = "http://127.0.0.1:9/mcp"
    client_info = {"client_id": "me", "issuer": issuer, **registration}
    tokens = {"access_token": "the-access-token", "refresh_token": "the-refresh-token"}
    vault.put(url, {"a tokens": tokens, "b client": client_info})
    session = MCPServerSession("gone", read_entry({"url": url, "auth": "oauth"}))
    outcome = log_out(session)
    assert vault.items(url) == {}
    assert "the-" not in outcome
    return outcome


@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic"])
def test_the_client_says_who_it_is(issuer, method):
    """As it was registered; the token by which others are made is revoked first."""
    issuer, address = issuer
    secret = {} if method == "none" else {"client_secret": "hush"}
    outcome = logged_out(address, token_endpoint_auth_method=method, **secret)
    assert "has revoked them" in outcome
    (refresh, header), (access, _) = issuer.requests
    assert (refresh["token"], access["token"]) == (
        "the-refresh-token",
        "the-access-token",
    )
    assert refresh["token_type_hint"] == "refresh_token"
    assert refresh["client_id"] == "me"
    sent = "hush" if method == "client_secret_post" else ""
    assert refresh.get("client_secret", "") == sent
    assert (header is not None) == (method == "client_secret_basic")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"issuer": "https://another.example"}, "describes itself as another one"),
        ({"revocation_endpoint": "http://away.example/revoke"}, "offers no revocation"),
        ({"revocation_endpoint": "file:///tmp/x"}, "offers no revocation"),
        ({"revocation_endpoint": 7}, "offers no revocation"),
        (
            {"revocation_endpoint": f"https://{'a' * 70}.the-refresh-token.\u00e9/"},
            "Invalid IDNA hostname",
        ),
    ],
)
def test_tokens_go_nowhere_else(issuer, change, reason):
    """A changed description, or an address that others could listen to, gets none."""
    issuer, address = issuer
    issuer.metadata |= change
    outcome = logged_out(address)
    assert reason in outcome
    assert issuer.requests == []


def test_a_description_that_others_can_change_is_not_believed(issuer):
    """An issuer at another machine without https could be anybody, and name any place."""
    issuer, address = issuer
    # This machine, as nobody calls it
    elsewhere = address.replace("127.0.0.1", "0.0.0.0")
    issuer.metadata["issuer"] = elsewhere
    assert "offers no revocation" in logged_out(elsewhere)
    assert issuer.requests == []


def test_a_colon_in_the_name_of_a_client_is_no_separator(issuer):
    """Name and secret are encoded before they are joined, as RFC 6749 says."""
    issuer, address = issuer
    method = {"token_endpoint_auth_method": "client_secret_basic"}
    logged_out(address, **method, client_id="a:b", client_secret="c%/")
    header = issuer.requests[0][1].removeprefix("Basic ")
    assert b64decode(header) == b"a%3Ab:c%25%2F"


async def drops():
    """A byte every now and then, without end."""
    while True:
        yield b" "
        await sleep(0.05)


def test_an_answer_that_cannot_be_read_ends_in_a_sentence(issuer, monkeypatch):
    """A logout does not hang on an answer without end, nor fail at a deep one."""
    issuer, address = issuer
    issuer.answer = lambda: Response(b"[" * 100_000 + b"]" * 100_000)
    assert "nested too deeply" in logged_out(address)
    monkeypatch.setattr(logout, "SECONDS", 0.5)
    issuer.answer = lambda: StreamingResponse(drops())
    assert "no answer within 0.5 s" in logged_out(address)


def test_a_refusal_is_a_sentence(issuer):
    """The tokens are forgotten here in any case."""
    issuer, address = issuer
    issuer.status = 503
    assert "revoking them failed (HTTP 503)" in logged_out(address)
    assert "revoking them failed" in logged_out("http://127.0.0.1:9")


def test_without_a_known_issuer_nothing_is_sent():
    """As for tokens of an older version."""
    assert "not known who issued" in logged_out(None)
    assert json.dumps(vault.items("http://127.0.0.1:9/mcp")) == "{}"
