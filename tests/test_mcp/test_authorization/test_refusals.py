"""What a person reads when a server or the network refuses."""

import json
import sys
import time

import jwt
import pytest

from test_mcp.peers import serving_app
from toolbench.errors import ServerError
from toolbench.mcp.authorization.refusals import (
    ABSENT,
    EXPIRED,
    REFUSED,
    network_advice,
    refusal,
    slowness_advice,
)

URL = "https://mcp.example/mcp"


def bearer(token):
    """The headers of a request with *token*."""
    return {"authorization": f"Bearer {token}"}


class TestRefusals:
    def test_no_token_a_wrong_one_and_an_expired_one_are_three_sentences(self):
        """By what was sent, by what the server says, or by the token itself."""
        past = jwt.encode({"exp": time.time() - 60}, "k" * 32)
        future = jwt.encode({"exp": time.time() + 600}, "k" * 32)
        headers = {"www-authenticate": 'Bearer error_description="The token expired"'}
        assert refusal(401, {}, {}, "") == ABSENT
        assert refusal(401, {}, headers, "") == ABSENT
        assert refusal(401, bearer("abc"), {}, "") == REFUSED
        assert refusal(401, bearer(future), {}, "") == REFUSED
        assert refusal(401, bearer(past), {}, "") == EXPIRED
        assert refusal(401, bearer("abc"), headers, "") == EXPIRED
        assert refusal(401, bearer("abc"), {}, '{"error": "token is Expired"}') == EXPIRED

    @pytest.mark.parametrize(
        ("text", "advice"),
        [
            ("invalid, expired, or no longer recognized by the server", REFUSED),
            ("The access token is expired or revoked", REFUSED),
            ("Token is invalid or has expired. Log in again.", REFUSED),
            ("Invalid token: token is expired", EXPIRED),
            ("The token has expired. Log in or refresh it.", EXPIRED),
        ],
    )
    def test_that_names_several_reasons_is_not_called_expired(self, text, advice):
        """Only a server that says so, and nothing else, knows that a token has expired."""
        challenge = f'Bearer error="invalid_token", error_description="{text}"'
        headers = {"www-authenticate": challenge}
        body = json.dumps({"error": "invalid_token", "error_description": text})
        assert refusal(401, bearer("abc"), headers, "") == advice
        assert refusal(401, bearer("abc"), {}, body) == advice

    @pytest.mark.parametrize("token", ["a.b.c", "a..c", "a.e30.c", "a.W10.c", "ä.ö.ü"])
    def test_a_token_of_any_shape_is_read(self, token):
        """It is not ours, so it may be anything."""
        assert refusal(401, bearer(token), {}, "") == REFUSED

    def test_a_missing_scope_is_named(self):
        """With the name that the server gives."""
        headers = {"www-authenticate": 'Bearer error="insufficient_scope", scope="write"'}
        assert "needs the scope 'write'" in refusal(403, bearer("a"), headers, "")

    def test_other_answers_have_no_advice_here(self):
        """Except the one of a proxy."""
        assert refusal(403, {}, {}, "") == refusal(500, bearer("a"), {}, "") == ""
        assert "proxy requires a password" in refusal(407, {}, {}, "")


class TestConnecting:
    @pytest.mark.parametrize(
        ("auth", "body", "sentence"),
        [
            (None, b"", ABSENT),
            ("s3cret-token-1", b"", REFUSED),
            ("s3cret-token-1", b"token expired", EXPIRED),
        ],
    )
    def test_says_which_of_the_three_it_is(self, client, auth, body, sentence):
        """And the token is not in it."""

        async def refuses(scope, receive, send):
            head = {"type": "http.response.start", "status": 401, "headers": []}
            await send(head)
            await send({"type": "http.response.body", "body": body})

        with serving_app(refuses) as url, pytest.raises(ServerError) as error:
            client.connect("guarded", {"url": f"{url}/mcp", "auth": auth})
        assert sentence in str(error.value)
        assert "s3cret" not in str(error.value)

    def test_to_a_port_without_tls_says_http(self, client):
        """And the other way round."""

        async def plain(scope, receive, send):
            raise AssertionError

        with (
            serving_app(plain) as url,
            pytest.raises(ServerError, match="does not speak TLS"),
        ):
            client.connect("x", url.replace("http://", "https://"))

    def test_to_a_certificate_of_nobody_names_the_remedy(self, client, tls):
        """A TLS server that signed for itself; http to it is another sentence."""
        with pytest.raises(ServerError, match=r"is not trusted .*SSL_CERT_FILE"):
            client.connect("x", f"https://localhost:{tls}/mcp")
        with pytest.raises(ServerError, match="has to begin with https://"):
            client.connect("x", f"http://localhost:{tls}/mcp")

    def test_through_a_proxy_that_is_not_there_names_the_variable(self, client, monkeypatch):
        """Not its value, which may hold a password."""
        monkeypatch.setenv("HTTP_PROXY", "http://me:s3cret-word@127.0.0.1:9")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(ServerError) as error:
            client.connect("x", "http://mcp.example/mcp")
        assert "the variable HTTP_PROXY" in str(error.value)
        assert "add mcp.example to NO_PROXY" in str(error.value)
        assert "s3cret" not in str(error.value)


class TestAdvice:
    def test_spares_hosts_that_need_no_proxy(self):
        """As httpx does."""
        proxies = {"https_proxy": "http://127.0.0.1:9"}
        advice = network_advice(URL, "ConnectError", "refused", proxies)
        assert "the variable https_proxy" in advice
        for spared in ("mcp.example", ".example", "example, other", "*"):
            variables = {**proxies, "no_proxy": spared}
            assert network_advice(URL, "ConnectError", "refused", variables) == ""

    def test_names_a_program_that_downloads(self):
        """The first start of uvx, npx and the like takes minutes."""
        for command in ("npx", "/usr/bin/uvx", r"C:\bin\npx.cmd", "docker"):
            assert "may still have been downloading" in slowness_advice(command, 30)
        assert "only slow" in slowness_advice("python", 30)
        assert "--timeout 120" in slowness_advice("", 30)
        # Who waited as long already needs more
        assert "--timeout 600" in slowness_advice("uvx", 300)

    def test_is_given_when_a_download_takes_too_long(self, client, tmp_path):
        """With what to write to give it more time."""
        program = tmp_path / "uvx"
        program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.stdin.read()'\n")
        program.chmod(0o755)
        with pytest.raises(ServerError, match=r"uvx may still have .*--timeout 300"):
            client.connect("slow", {"command": str(program)}, timeout=0.5)
