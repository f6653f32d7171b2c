"""Look at each step of a connection to a server, and name the first that fails, with what to do.

The cheap steps come first: the program, or the host, its port and its certificate. Then the server
is connected as `%mcp connect` does it, by the same `Attempt`, so that the two never disagree. No tool
is called, nothing is approved or recorded, no login is begun, and no process is left.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, time
from typing import Any, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

import anyio

from toolbench.core.background_loop import portal
from toolbench.display.escape import on_one_line
from toolbench.errors import ServerError
from toolbench.mcp.authorization.refusals import (
    network_advice,
    proxy_variable,
    slowness_advice,
)
from toolbench.mcp.authorization.token_vault import vault
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.program import find_program
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.config.server_entry import ServerEntry, UnapprovedEntry
from toolbench.mcp.connection.attempt import Attempt
from toolbench.mcp.connection.connection import Connection, Pages
from toolbench.mcp.errors import root_of, sentence
from toolbench.mcp.lists.listing import read_tools
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.trust.configurations import approved
from toolbench.wording import counted, listed

State = Literal["ok", "failed", "skipped"]
_LISTS = ("tools", "resources", "prompts")
_LAST = ("protocol version", *_LISTS, "schemas")
_WEB = ("URL", "proxy", "DNS", "TCP", "TLS", "HTTP", ".well-known", "authorization", *_LAST)
_STEPS = {
    "stdio": ("configuration", "command", "process", "first message", *_LAST),
    "http": _WEB,
    "sse": _WEB,
    "memory": ("configuration", "object", *_LAST),
}
"""The names of the steps, in their order, by the transport of the server."""
_NOT_REACHED = "not looked at"
_WELL_KNOWN = "/.well-known/oauth-protected-resource"
_PORTS = {"http": 80, "https": 443}
# Tools with a wrong schema, each in a step of its own
_WRONG = 20
# Lines on stdout that are quoted
_QUOTED = 3


class Step(NamedTuple):
    """What was seen of one step of a connection; secrets are hidden, all text is on one line."""

    name: str
    state: State
    milliseconds: float | None
    """How long it took; None if it was not looked at."""
    words: str
    """What was seen."""
    advice: str = ""
    """What to do, perhaps with the last lines on stderr; empty if nothing is known."""


def diagnose(name: str, entry: Any, *, seconds: float = 30.0) -> Iterator[Step]:
    """Connect the server *name* once, in a session of its own, and yield each step as it is known.

    The steps after the first failure are yielded as `skipped`. Tools with a wrong schema are a failed
    step each. Any thread may call this; an interrupt ends all that was started.

    Args:
        name: The name of the server.
        entry: Its configuration: whatever `MCPClient.connect` takes.
        seconds: The time limit for connecting with its lists.

    Raises:
        ConsentError: If *entry* was found in a file and is not approved.
        ServerError: If *entry* is no configuration of a server, or a recording.
    """
    entry = read_entry(entry)
    if isinstance(entry, UnapprovedEntry):
        entry = approved({name: entry}, approve=False)[name]
    if entry.transport == "replay":
        msg = f"Server {name!r} is replayed from a recording: there is no connection to look at."
        raise ServerError(msg)
    # The first time this takes seconds, which are none of the server's
    from toolbench.mcp.wire import sdk_session, transports  # noqa: F401, PLC0415

    visit = _Visit(name, entry, seconds)
    left = list(_STEPS[entry.transport])
    has_failed = False
    for look in (visit.configuration, visit.way, visit.connection):
        for step in look():
            has_failed = has_failed or step.state == "failed"
            if step.name in left:
                left.remove(step.name)
            yield step
        if has_failed:
            break
    for missing in left:
        yield Step(missing, "skipped", None, _NOT_REACHED)


class _Visit:
    """One look at a connection; each public method yields the steps of a part of it."""

    def __init__(self, name: str, entry: ServerEntry, seconds: float) -> None:
        self._entry = self._expanded = entry
        self._seconds = seconds
        self._inbox = Inbox(name)
        self._began = monotonic()
        self._steps: list[Step] = []
        self._tools = Pages([])

    def _step(self, name: str, state: State, words: str, advice: str = "") -> Step:
        """Return the step *name*, which has just ended; the next one begins."""
        now, began = monotonic(), self._began
        self._began = now
        return self._made(name, state, now - began, words, advice)

    def _made(self, name: str, state: State, took: float, words: str, advice: str = "") -> Step:
        safe = self._inbox.safe_text
        shown = on_one_line(safe(words))
        return Step(name, state, max(round(took * 1000, 1), 0.0), shown, safe(advice))

    def _failed(self, name: str, text: str) -> Step:
        """Return the failed step *name*: the first sentence of *text* is the reason, the rest advice."""
        ends = [text.find(end) for end in (". ", ".\n") if end in text]
        if ends:
            return self._step(name, "failed", text[: min(ends)], text[min(ends) + 2 :])
        return self._step(name, "failed", text.rstrip("."))

    # --- before anything is started or sent ---------------------------------------------

    def configuration(self) -> Iterator[Step]:
        """Look at the entry itself: its variables, its URL, the settings of its authorization."""
        first = _STEPS[self._entry.transport][0]
        try:
            self._expanded = self._entry.expanded(os.environ)
            self._inbox.redact_with(self._expanded.redactor)
            if self._expanded.url:
                self._begin_no_login()
                # A wrong port raises an error
                if not self._url.hostname or not self._port:
                    yield self._failed(first, f"{self._expanded.target} has no host")
                    return
        except (ServerError, ValueError) as error:
            yield self._failed(first, str(error))
            return
        yield self._step(first, "ok", self._expanded.target)

    def _begin_no_login(self) -> None:
        """Let the authorization of the entry use the tokens that are kept, and ask nobody for more."""
        from fastmcp.client.auth import OAuth  # noqa: PLC0415 - loaded by now

        from toolbench.mcp.wire.auth import BrowserOAuth, auth_of  # noqa: PLC0415 - as above

        auth = auth_of(self._expanded, self._inbox)
        if not isinstance(auth, OAuth):
            return
        has_token = any("access_token" in item for item in vault.items(self._expanded.url).values())
        if isinstance(auth, BrowserOAuth) and has_token:
            auth.begins_login = False
            self._entry = replace(self._entry, auth=auth)
        else:
            self._entry = replace(self._entry, auth=None)

    @property
    def _url(self) -> SplitResult:
        return urlsplit(self._expanded.url)

    @property
    def _port(self) -> int:
        return self._url.port or _PORTS.get(self._url.scheme, 0)

    def way(self) -> Iterator[Step]:
        """Look at the way to the server: its program, or the network."""
        if self._entry.transport == "stdio":
            yield self._command()
        elif self._entry.url:
            yield from self._network()

    def _command(self) -> Step:
        from mcp.client.stdio import get_default_environment  # noqa: PLC0415 - loaded by now

        entry = self._expanded
        env = get_default_environment() | dict(entry.env)
        try:
            program = find_program(entry.command, env, str(Path.cwd() / (entry.cwd or "")))
        except OSError as error:
            return self._failed("command", str(error))
        return self._step("command", "ok", program)

    def _network(self) -> Iterator[Step]:
        url, host, port = self._expanded.url, str(self._url.hostname), self._port
        variable = proxy_variable(url, os.environ)
        words = f"no variable names one for {host}"
        if variable:
            proxy = os.environ[variable]
            if "://" not in proxy:
                proxy = f"http://{proxy}"
            parts = urlsplit(proxy)
            host, port = str(parts.hostname), parts.port or _PORTS.get(parts.scheme, 1080)
            words = f"{variable} names {host}, port {port}: the next steps are about that"
        yield self._step("proxy", "ok", words)
        looks = [("DNS", self._dns), ("TCP", self._tcp)]
        if self._url.scheme == "https" and not variable:
            looks.append(("TLS", self._tls))
        for name, look in looks:
            try:
                words = portal.call(_within, self._seconds, look, host, port)
            except TimeoutError:
                text = f"no answer within {self._seconds:.3g} s."
                yield self._failed(name, f"{text}{slowness_advice('', self._seconds)}")
                return
            # A name may have letters, or a length, that no name of a host has
            except (OSError, UnicodeError) as error:
                yield self._failed(name, _unreached(url, name, (host, port), error))
                return
            yield self._step(name, "ok", words)
        if len(looks) < 3:
            words = "http:// has none"
            if self._url.scheme == "https":
                words = "it goes through the proxy"
            yield Step("TLS", "skipped", None, words)

    async def _dns(self, host: str, port: int) -> str:
        found = await anyio.getaddrinfo(host, port)
        addresses = list(dict.fromkeys(str(address[-1][0]) for address in found))
        return listed(addresses, 4)

    async def _tcp(self, host: str, port: int) -> str:
        async with await anyio.connect_tcp(host, port):
            return f"port {port} is open"

    async def _tls(self, host: str, port: int) -> str:
        from anyio.streams.tls import TLSStream  # noqa: PLC0415 - asyncio, only for what is async

        from toolbench.mcp.wire.http import certificates  # noqa: PLC0415 - loaded by now

        async with await anyio.connect_tcp(host, port) as stream:
            # The way to the port is not a part of it
            self._began = monotonic()
            await TLSStream.wrap(stream, hostname=host, ssl_context=certificates())
        return f"the certificate of {host} is trusted"

    # --- the real connection ------------------------------------------------------------

    def connection(self) -> Iterator[Step]:
        """Connect, list, and end the connection again; yield what was seen of it."""
        portal.call(self._connect)
        yield from self._steps

    async def _connect(self) -> None:
        self._attempt = attempt = Attempt(
            self._entry,
            self._inbox,
            ClientFeatures(),
            mode=self._entry.mode or "auto",
            seconds=self._seconds,
            folder=Path.cwd(),
        )
        self._times = {"": time()}
        try:
            connection = await attempt.connected(self._greet)
        except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
            await self._note_failure(error)
            return
        try:
            self._note_good("")
            await self._look_at_lists(connection)
        finally:
            # An interrupt must leave no process behind
            with anyio.CancelScope(shield=True):
                await connection.close()

    async def _greet(self, connection: Connection) -> None:
        """List the tools, as a session does when it has connected."""
        self._times["protocol version"] = time()
        used = self._attempt.seconds_used
        self._tools = await connection.pages("tools", "tools/list", self._seconds, used=used)
        self._times["tools"] = time()

    async def _note_failure(self, error: Exception) -> None:
        attempt, name = self._attempt, self._inbox.server
        step = attempt.failed_at(error)
        text = attempt.explained(error)
        for head in (f"Server {name!r} did not connect: ", f"Server {name!r}: "):
            text = text.removeprefix(head)
        self._note_good(step)
        if step == "authorization":
            self._steps.append(await self._well_known())
            if self._expanded.auth is not None and self._entry.auth is None:
                text = (
                    "the server wants a login in the browser. The doctor begins none: "
                    f"%mcp connect {name} does."
                )
        self._steps.append(self._failed(step, text))

    def _note_good(self, failed: str) -> None:
        """Note the steps of the connection before *failed*; all up to the tools if that is empty."""
        for message in self._inbox.traffic:
            if message.direction == "sent":
                self._times.setdefault("process", message.time)
            elif message.kind != "noise":
                self._times.setdefault("first message", message.time)
                self._times.setdefault("HTTP", message.time)
        words, last = self._words(), self._times[""]
        for name in _STEPS[self._entry.transport]:
            if name == failed:
                break
            if name == ".well-known" and failed != "authorization":
                self._steps.append(Step(name, "skipped", None, "the server wants no login"))
            elif name in words:
                ended = self._times.get(name, last)
                self._steps.append(self._made(name, "ok", ended - last, words[name]))
                last = ended
        # What follows began then
        self._began = monotonic() - (time() - last)

    def _words(self) -> dict[str, str]:
        """Return what is said of each step of the connection if it is good."""
        connection, inbox = self._attempt.connection, self._inbox
        first, version = "it is a message of JSON-RPC", connection.protocol_version
        if inbox.noise_count:
            noise = ", ".join(map(repr, inbox.noise[:_QUOTED]))
            first = (
                f"it is no message: {noise} ({counted(inbox.noise_count, 'such line')}). Other clients "
                "may fail at that: a server has to write its log to stderr"
            )
        if not connection.is_modern:
            version += ", with a handshake"
        if inbox.has_ignored_newer:
            version += "; server/discover is never answered, which costs seconds"
        status, kind = inbox.http_answer
        return {
            "object": "it is there",
            "process": f"it was started, as process {connection.pid or '?'}",
            "first message": first,
            "HTTP": f"status {status or 200}, {kind or 'a stream of events'}",
            "authorization": "the server asks for none, or takes what was sent",
            "protocol version": version,
            "tools": counted(len(self._tools.items), "tool"),
        }

    async def _well_known(self) -> Step:
        """Ask which authorization servers the server names; it may name none."""
        from toolbench.mcp.wire.http import http_client  # noqa: PLC0415 - loaded by now

        plain = replace(self._expanded, auth=None, headers={})
        url = f"{self._url.scheme}://{self._url.netloc.rpartition('@')[2]}{_WELL_KNOWN}"
        words = "it cannot be asked for"
        # A server may do anything with it, and it is only a hint
        with suppress(Exception), anyio.move_on_after(self._seconds):
            async with http_client(plain, self._inbox) as client:
                for place in dict.fromkeys([f"{url}{self._url.path}", url]):
                    response = await client.get(place)
                    words = f"there is none (HTTP {response.status_code})"
                    if response.is_success:
                        servers = response.json()["authorization_servers"]
                        words = f"logins are made at {listed(list(map(str, servers)), 3)}"
                        return self._step(".well-known", "ok", words)
        return self._step(".well-known", "skipped", words)

    # --- what the server offers -----------------------------------------------------------

    async def _look_at_lists(self, connection: Connection) -> None:
        if self._is_broken("tools", self._tools):
            return
        declared = connection.described().get("capabilities", {})
        for key in _LISTS[1:]:
            if key not in declared:
                self._steps.append(Step(key, "skipped", None, "the server declares none"))
                continue
            used = time() - self._times[""]
            try:
                pages = await connection.pages(key, f"{key}/list", self._seconds, used=used)
            except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
                text = str(connection.broken(f"{sentence(error)}."))
                self._steps.append(self._failed(key, text))
                return
            self._steps.append(self._step(key, "ok", counted(len(pages.items), key[:-1])))
            if self._is_broken(key, pages):
                return
        self._look_at_schemas(is_modern=connection.is_modern)

    def _is_broken(self, key: str, pages: Pages) -> bool:
        """Put the problem of a list into its step, the last one; return whether it has one."""
        if pages.problem is None:
            return False
        last, words = self._steps.pop(), pages.problem
        if pages.items:
            words = f"{last.words}, and then: {words}"
        self._steps.append(last._replace(state="failed", words=on_one_line(words)))
        return True

    def _look_at_schemas(self, *, is_modern: bool) -> None:
        good, bad = read_tools(self._tools.items, is_modern=is_modern)
        wrong = [f"{tool.name!r} cannot be called: {tool.reason}" for tool in bad]
        for tool in good:
            wrong += [f"{tool.name!r}: {note}" for note in tool.notes]
        for words in wrong[:_WRONG]:
            self._steps.append(self._step("schemas", "failed", words))
        if not wrong:
            words = f"a form and a check for {counted(len(good), 'tool')}"
            self._steps.append(self._step("schemas", "ok", words))
        elif len(wrong) > _WRONG:
            words = f"and {len(wrong) - _WRONG:,} more"
            self._steps.append(self._step("schemas", "failed", words))


async def _within(seconds: float, look: Any, *args: Any) -> Any:
    with anyio.fail_after(seconds):
        return await look(*args)


def _unreached(url: str, step: str, place: tuple[str, int], error: Exception) -> str:
    """Return why *step* does not reach *place*, on the way to *url*, with advice."""
    root = root_of(error.__cause__ or error)
    reason = str(getattr(root, "strerror", "") or root)
    if step == "TLS":
        return network_advice(url, type(root).__name__, str(root)) or f"no TLS: {reason}"
    if isinstance(root, OSError) and (root.errno or 0) > 0:
        reason = os.strerror(root.errno or 0)
    host, port = place
    words, advice = f"no address of {host} is known ({reason})", "Is the host written right?"
    if step == "TCP":
        words = f"nothing answers at {host}, port {port} ({reason})"
        advice = "Does the server run, and is the port right?"
    return network_advice(url, "ConnectError", words) or f"{words}. {advice}"
