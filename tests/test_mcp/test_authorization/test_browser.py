"""Authorizing in the browser: once, kept for later kernels, forgotten by logout."""

import json
import socket
import stat

import anyio
import pytest
from fastmcp.client.auth import OAuth

from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.authorization.logout import log_out
from toolbench.mcp.connection.open_calls import Call, current_call


def note(client, url, auth={"callback_timeout": 60}):  # noqa: B006 - never changed
    """What the tool of the server at *url* gives."""
    session = client.connect("notes", {"url": url, "auth": auth})
    return session.tools["note"]({}).text


class TestAPerson:
    def test_authorizes_once_for_all_kernels(self, client, guarded, person, state):
        """The next client, as of another kernel, has the token; only its owner reads the file."""
        url, _ = guarded
        assert note(client, url, "oauth") == "milk"
        with MCPClient(timeout=20) as later:
            assert note(later, url, "oauth") == "milk"
        assert len(person) == 1
        (file,) = state.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(state.stat().st_mode) == 0o700

    def test_is_asked_again_after_a_logout(self, client, guarded, person, state):
        """The token is gone from the file and from the session."""
        url, _ = guarded
        note(client, url)
        session = client.servers["notes"]
        assert log_out(session)
        assert (session.status, list(state.iterdir())) == ("closed", [])
        assert not log_out(session)
        session.reconnect()
        assert session.tools["note"]({}).text == "milk"
        assert len(person) == 2

    def test_is_asked_again_if_the_server_knows_no_token_any_more(
        self, client, guarded, person
    ):
        """A server that lost its state wants a new yes, and gets it at the same address."""
        url, provider = guarded
        note(client, url)
        provider.access_tokens.clear()
        provider.refresh_tokens.clear()
        with MCPClient(timeout=20) as later:
            assert note(later, url) == "milk"
        assert len(person) == 2

    def test_is_asked_at_another_port_if_that_of_before_is_taken(
        self, client, guarded, person
    ):
        """The client is registered anew, as servers know it at one port only."""
        url, provider = guarded
        note(client, url)
        provider.access_tokens.clear()
        provider.refresh_tokens.clear()
        (registered,) = provider.clients.values()
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("localhost", registered.redirect_uris[0].port))
            other.listen()
            with MCPClient(timeout=20) as later:
                assert note(later, url) == "milk"
        assert len(provider.clients) == 2

    def test_has_all_the_time_there_is(self, client, guarded, person, monkeypatch):
        """No time limit runs while the page is open."""
        url, _ = guarded
        waited = []
        wait = OAuth.callback_handler

        async def callback_handler(self):
            waited.append(current_call().is_waiting)
            return await wait(self)

        monkeypatch.setattr(OAuth, "callback_handler", callback_handler)
        assert note(client, url) == "milk"
        assert waited == [True]

    def test_who_does_not_come_is_a_sentence(self, client, guarded, monkeypatch):
        """It says for how long the page was open."""
        monkeypatch.setattr("webbrowser.open", lambda page: True)
        auth = {"callback_timeout": 0.2}
        with pytest.raises(
            ServerError, match="no person authorized in the browser within"
        ):
            note(client, guarded[0], auth)


class TestATokenOfOAuth:
    def test_appears_nowhere(self, client, guarded, person, state):
        """Neither in what is shown of the session, nor in a result that has it."""
        url, provider = guarded
        note(client, url)
        tokens = [*provider.access_tokens, *provider.refresh_tokens]
        assert len(tokens) == 2
        session = client.servers["notes"]
        texts = [
            repr(session), repr(session.entry), session.traffic.to_ndjson(),
            *map(str, session.log), repr(session.connection.inbox.opening),
        ]  # fmt: skip
        assert not any(token in text for token in tokens for text in texts)
        inbox = session.connection.inbox
        assert not any(token in inbox.safe_text(f"it is {token}.") for token in tokens)
        (file,) = state.iterdir()
        assert tokens[0] in file.read_text()


class TestADamagedFile:
    @pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "\x00"])
    def test_means_to_be_asked_again(self, client, guarded, person, state, content):
        """It is replaced, and nothing breaks."""
        url, _ = guarded
        note(client, url)
        (file,) = state.iterdir()
        file.write_text(content)
        with MCPClient(timeout=20) as later:
            assert note(later, url) == "milk"
        assert json.loads(file.read_text())


class TestTimeLimits:
    def test_stand_still_while_a_person_is_asked(self):
        """Also one within another; they go on afterwards."""

        async def deadlines():
            call = Call(seconds=100)
            with call.limited(), call.within(50):
                before = anyio.current_effective_deadline()
                async with call.waiting_for_person():
                    during = anyio.current_effective_deadline()
                return before, during, anyio.current_effective_deadline()

        before, during, after = anyio.run(deadlines)
        assert during == float("inf")
        assert before <= after < float("inf")
