"""Authorizing without a person: with credentials, a key, or a client that is registered already."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.shared.auth import OAuthClientInformationFull

from test_mcp.peers import serving_on_a_free_port
from test_mcp.test_authorization.conftest import Programs, programs
from toolbench.errors import ServerError

SECRET = "the-secret-of-a-program"


@pytest.fixture
def served():
    """A function that serves a server for programs; it returns the server."""
    stack = []

    def serve(public_key=None):
        server = Programs("", public_key)

        def make(address):
            server.address = address
            return programs(address, server)

        context = serving_on_a_free_port(make)
        context.__enter__()
        stack.append(context)
        return server

    yield serve
    for context in stack:
        context.__exit__(None, None, None)


def note(client, server, auth):
    """What the tool behind *server* gives."""
    entry = {"url": f"{server.address}/mcp", "auth": auth}
    return client.connect("notes", entry).tools["note"]({}).text


class TestClientCredentials:
    AUTH = {  # noqa: RUF012 - never changed
        "grant_type": "client_credentials",
        "client_id": "robot",
        "client_secret": SECRET,
    }

    def test_get_a_token_without_a_person(self, client, served, monkeypatch, state):
        """The secret comes from the environment, reaches the server, and is shown nowhere."""
        monkeypatch.setenv("ROBOT", SECRET)
        server = served()
        auth = {**self.AUTH, "client_secret": "${ROBOT}", "issuer": server.address}
        assert note(client, server, auth) == "milk"
        (header, form), *_ = server.requests
        assert header.startswith("Basic ")
        assert form["grant_type"] == "client_credentials"
        session = client.servers["notes"]
        text = repr(session) + repr(session.entry) + session.traffic.to_ndjson()
        assert SECRET not in text
        assert "token-of-a-program-1" not in text
        assert session.connection.inbox.safe_text("token-of-a-program-1") != "token-of-a-program-1"

    def test_go_to_nobody_but_the_named_issuer(self, client, served):
        """Without a name the server would choose who gets the secret."""
        server = served()
        with pytest.raises(ServerError, match="needs 'issuer'"):
            note(client, server, self.AUTH)
        other = {**self.AUTH, "issuer": "https://issuer.example"}
        with pytest.raises(ServerError, match="the authorization failed"):
            note(client, server, other)
        assert server.requests == []


class TestAPrivateKey:
    def test_signs_for_the_program(self, client, served, tmp_path):
        """The key stays here; the server gets a signature."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file = tmp_path / "key.pem"
        file.write_bytes(pem)
        server = served(key.public_key())
        auth = {"client_id": "robot", "issuer": server.address}
        assert note(client, server, {**auth, "private_key_file": str(file)}) == "milk"
        session = client.servers["notes"]
        client.disconnect("notes")
        assert note(client, server, {**auth, "private_key": pem.decode()}) == "milk"
        line = pem.decode().splitlines()[3]
        for each in (session, client.servers["notes"]):
            assert line not in repr(each) + repr(each.entry) + each.traffic.to_ndjson()

    @pytest.mark.parametrize(
        ("auth", "reason"),
        [
            ({"private_key_file": "no.pem"}, "cannot be read: No such file"),
            ({"private_key": "x", "client_id": ""}, "needs 'client_id'"),
            ({"private_key": "x", "issuer": ""}, "needs 'issuer'"),
            ({"grant_type": "client_credentials"}, "missing .* 'client_secret'"),
        ],
    )
    def test_or_settings_that_cannot_be_used_are_a_sentence(self, client, auth, reason):
        """Which setting, and what is missing."""
        whole = {"client_id": "robot", "issuer": "https://i.example", **auth}
        entry = {"url": "http://127.0.0.1:9/mcp", "auth": whole}
        with pytest.raises(ServerError, match=reason):
            client.connect("x", entry)


class TestARegisteredClient:
    def test_is_not_registered_again(self, client, guarded, person, port):
        """The server sees the id that it gave out before."""
        url, provider = guarded
        provider.clients["known-before"] = OAuthClientInformationFull(
            client_id="known-before",
            client_secret=SECRET,
            redirect_uris=[f"http://localhost:{port}/callback"],
            scope="",
            token_endpoint_auth_method="client_secret_basic",
        )
        auth = {"client_id": "known-before", "client_secret": SECRET}
        limits = {"callback_port": port, "callback_timeout": 60}
        entry = {"url": url, "auth": {**auth, **limits}}
        assert client.connect("notes", entry).tools["note"]({}).text == "milk"
        assert list(provider.clients) == ["known-before"]
        assert "client_id=known-before" in person[0]
