"""Authorizing in the browser: once, kept for later kernels, forgotten by logout."""

import json
import socket
import stat
import threading
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually

from test_mcp.test_authorization.conftest import say_yes
from toolbench import http_limits
from toolbench.core.background_loop import portal
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.authorization.logout import log_out
from toolbench.mcp.connection.open_calls import Call, current_call
from toolbench.mcp.wire.auth import BrowserOAuth


def note(client, url, auth={"callback_timeout": 60}):  # noqa: B006 - never changed
    """What the tool of the server at *url* gives."""
    session = client.connect("notes", {"url": url, "auth": auth})
    return session.tools["note"]({}).text


class TestAPerson:
    def test_authorizes_once_for_all_kernels(self, client, guarded, person, state):
        """The next client, as of another kernel, has the token; only its owner reads the file."""
        url, _ = guarded
        assert note(client, url, "oauth") == "milk"
        with MCPClient(timeout=PATIENCE) as later:
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

    def test_is_asked_again_if_the_server_knows_no_token_any_more(self, client, guarded, person):
        """A server that lost its state wants a new yes, and gets it at the same address."""
        url, provider = guarded
        note(client, url)
        provider.access_tokens.clear()
        provider.refresh_tokens.clear()
        with MCPClient(timeout=PATIENCE) as later:
            assert note(later, url) == "milk"
        assert len(person) == 2

    def test_is_asked_at_another_port_if_that_of_before_is_taken(self, client, guarded, person):
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
            with MCPClient(timeout=PATIENCE) as later:
                assert note(later, url) == "milk"
        assert len(provider.clients) == 2

    def test_has_all_the_time_there_is(self, client, guarded, person, monkeypatch):
        """No time limit runs while the page is open."""
        url, _ = guarded
        waited = []
        wait = BrowserOAuth._answer_of_browser

        async def answer_of_browser(self):
            waited.append(current_call().is_waiting)
            return await wait(self)

        monkeypatch.setattr(BrowserOAuth, "_answer_of_browser", answer_of_browser)
        assert note(client, url) == "milk"
        assert waited == [True]

    def test_comes_back_though_others_hold_connections(self, client, guarded, person, monkeypatch):
        """Where too many are open at the page for the answer, the oldest make room."""
        monkeypatch.setattr(http_limits, "_MOST_CONNECTIONS", 2)
        url, _ = guarded
        closed = []

        def flood(page):
            [back] = parse_qs(urlsplit(page).query)["redirect_uri"]
            place = ("localhost", urlsplit(back).port)
            with ExitStack() as stack:

                def connected():
                    try:
                        return stack.enter_context(socket.create_connection(place, PATIENCE))
                    except ConnectionRefusedError:
                        # The page is not there yet
                        return None

                others = [eventually(connected) for _ in range(5)]
                closed.extend(other.recv(1) for other in others[:3])
                say_yes(page)

        monkeypatch.setattr(
            webbrowser,
            "open",
            lambda page: threading.Thread(target=flood, args=(page,)).start(),
        )
        assert note(client, url) == "milk"
        assert closed == [b"", b"", b""]

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    def test_has_all_the_time_there_is_for_all_calls(
        self, client, guarded, person, monkeypatch, mode
    ):
        """No limit runs of a call that waits for the same yes, whether it came before or after."""
        url, provider = guarded
        entry = {"url": url, "auth": {"callback_timeout": 60}, "mode": mode}
        session = client.connect("notes", entry)
        provider.access_tokens.clear()
        provider.refresh_tokens.clear()
        first_are_there, is_open = threading.Event(), threading.Event()
        calls = session.connection.inbox.calls

        def are_paused(number):
            return lambda: len(list(calls)) == number and all(call.is_waiting for call in calls)

        def think(page):
            person.append(page)
            is_open.set()
            eventually(are_paused(3))
            say_yes(page)

        open_page = BrowserOAuth.redirect_handler

        async def redirect_handler(self, page):
            await anyio.to_thread.run_sync(first_are_there.wait, PATIENCE)
            await open_page(self, page)

        monkeypatch.setattr(BrowserOAuth, "redirect_handler", redirect_handler)
        monkeypatch.setattr(
            webbrowser,
            "open",
            lambda page: threading.Thread(target=think, args=(page,)).start(),
        )
        with ThreadPoolExecutor() as pool:
            first = [pool.submit(session.call, "note") for _ in range(2)]
            eventually(lambda: len(list(calls)) == 2)
            first_are_there.set()
            assert is_open.wait(PATIENCE)
            results = [*first, pool.submit(session.call, "note")]
            assert [result.result(PATIENCE).text for result in results] == ["milk"] * 3
        assert len(person) == 2

    def test_who_does_not_come_is_a_sentence(self, client, guarded, monkeypatch):
        """It says for how long the page was open."""
        monkeypatch.setattr("webbrowser.open", lambda page: True)
        auth = {"callback_timeout": 0.2}
        with pytest.raises(ServerError, match="nobody authorized in the browser within"):
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
        with MCPClient(timeout=PATIENCE) as later:
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

    def test_of_a_list_stand_still_over_all_its_pages(self, client, monkeypatch):
        """A page that waits for a person takes no time from the pages after it."""
        server = FastMCP("two", list_page_size=1)
        server.tool(lambda: "a", name="a")
        server.tool(lambda: "b", name="b")
        connection = client.connect("two", server).connection
        waited, left = [], []

        ask = connection.current.session.ask

        async def send(*request):
            left.append(anyio.current_effective_deadline() - anyio.current_time())
            before = anyio.current_time()
            async with current_call().waiting_for_person():
                await anyio.to_thread.run_sync(threading.Event().wait, 0.3)
            waited.append(anyio.current_time() - before)
            return await ask(*request)

        async def pages():
            before = anyio.current_time()
            all_pages = await connection.use(lambda one: one.pages("tools", "tools/list", 100))
            return all_pages, anyio.current_time() - before

        monkeypatch.setattr(connection.current.session, "ask", send)
        (items, problem, _), seconds = portal.call(pages)
        assert ([item["name"] for item in items], problem) == (["a", "b"], None)
        assert 100 - left[1] <= seconds - sum(waited) + 0.01
