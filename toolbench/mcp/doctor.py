"""Check a connection to a server step by step, and explain the first step that fails.

The cheap checks come first: whether the program exists, or whether the host, its port and its
certificate are usable. Then the server is connected exactly as `%mcp connect` would connect it. No
tool is called, nothing is approved or recorded, no login is started, and no process is left
running.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import time
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import anyio

from toolbench.core.background_loop import portal
from toolbench.display.escape import on_one_line
from toolbench.errors import ServerError, ToolbenchError, ended
from toolbench.mcp.authorization.refusals import network_advice, proxy_variable, slowness_advice
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
OFFERS = (*_LISTS, "schemas")
"""The names of the steps that check what a connected server offers."""
_LAST = ("protocol version", *OFFERS)
_WEB = ("URL", "proxy", "DNS", "TCP", "TLS", "HTTP", ".well-known", "authorization", *_LAST)
_STEPS = {
    "stdio": ("configuration", "command", "process", "first message", *_LAST),
    "http": _WEB,
    "sse": _WEB,
    "memory": ("configuration", "object", *_LAST),
}
"""The names of the steps in order, for each transport."""
_PORTS = {"http": 80, "https": 443}
_WELL_KNOWN = "/.well-known/oauth-protected-resource"
# The most wrong schemas, each reported in a separate step
_WRONG = 20
# The most quoted lines of stdout, or names
_QUOTED = 3


class Step(NamedTuple):
    """The result of one step; secrets are hidden, and invisible characters are made visible."""

    name: str
    state: State
    milliseconds: float | None
    """How long the step took; None if it was skipped."""
    words: str
    """The result on one line."""
    advice: str = ""
    """Advice, perhaps with the last lines of stderr; empty if there is none."""


def diagnose(name: str, entry: Any, *, seconds: float = 30.0) -> Iterator[Step]:
    """Connect to the server *name* in a separate session, and yield the result of each step.

    After the first failure, the remaining steps are yielded as `skipped`. Each invalid schema of a
    tool is a separate failed step. Any thread may call this function. If it is interrupted, it ends
    everything that it has started.

    Args:
        name: The name of the server.
        entry: The configuration, in any form that `MCPClient.connect` accepts.
        seconds: The time limit for connecting and reading the lists together.

    Raises:
        ConsentError: If *entry* was found in a file and is not approved.
        ServerError: If *entry* is not a valid configuration of a server.
        ToolbenchError: If *entry* is a recording.
    """
    entry = read_entry(entry)
    if isinstance(entry, UnapprovedEntry):
        entry = approved({name: entry}, approve=False)[name]
    if entry.transport == "replay":
        msg = f"Server {name!r} is replayed from a recording: there is no connection to check."
        raise ToolbenchError(msg)
    # The first import takes seconds, which must not count for the server
    from toolbench.mcp.wire import sdk_session, transports  # noqa: F401, PLC0415

    diagnosis = _Diagnosis(name, entry, seconds)
    left = list(_STEPS[entry.transport])
    for step in chain(diagnosis.configuration(), diagnosis.way(), diagnosis.connection()):
        yield step
        if step.name in left:
            left.remove(step.name)
        if step.state == "failed" and left:
            break
    for missing in left:
        yield Step(missing, "skipped", None, "not looked at")


class _Diagnosis:
    """One diagnosis of a connection; each public method checks some of the steps."""

    def __init__(self, name: str, entry: ServerEntry, seconds: float) -> None:
        self._entry = self._expanded = entry
        self._seconds = seconds
        self._inbox = Inbox(name)
        self._began = time()
        # The results of steps over the connection, which is closed before they are yielded
        self._seen: list[Step] = []
        # When a step of the connection ended
        self._times: dict[str, float] = {}
        self._tools = Pages([])

    def _step(self, name: str, state: State, words: str, advice: str = "") -> Step:
        """Return the result of the step *name*, whose end is the beginning of the next step."""
        end = self._times.get(name, time())
        took, self._began = max(0.0, end - self._began), end
        safe = self._inbox.safe_text
        return Step(name, state, round(took * 1000, 1), on_one_line(safe(words)), safe(advice))

    def _failed(self, name: str, text: str) -> Step:
        """Return the failed step *name*; *text* is the reason, followed by advice."""
        reason, *advice = re.split(r"\.\s", text, maxsplit=1)
        return self._step(name, "failed", reason.removesuffix("."), "".join(advice))

    # --- before anything is started or sent ---------------------------------------------

    def configuration(self) -> Iterator[Step]:
        """Check the entry itself: its variables, its URL and the settings for authorization."""
        first = _STEPS[self._entry.transport][0]
        try:
            self._expanded = self._entry.expanded(os.environ)
            self._inbox.redact_with(self._expanded.redactor)
            self._url = urlsplit(self._expanded.url)
            # An invalid port raises an error
            self._port = self._url.port or _PORTS.get(self._url.scheme, 0)
            if self._expanded.url:
                self._begin_no_login()
        except (ServerError, ValueError) as error:
            yield self._failed(first, str(error))
        else:
            yield self._step(first, "ok", self._expanded.target)

    def _begin_no_login(self) -> None:
        """Let the authorization use only stored tokens, without starting a login."""
        from fastmcp.client.auth import OAuth  # noqa: PLC0415 - loaded by now

        from toolbench.mcp.wire.auth import BrowserOAuth, auth_of  # noqa: PLC0415 - as above

        auth: Any = auth_of(self._expanded, self._inbox)
        if isinstance(auth, OAuth):
            kept = vault.items(self._expanded.url).values()
            if isinstance(auth, BrowserOAuth) and any("access_token" in item for item in kept):
                auth.begins_login = False
            else:
                auth = None
            self._entry = replace(self._entry, auth=auth)

    def way(self) -> Iterator[Step]:
        """Check that the program of the server exists, or that its host can be reached."""
        if self._entry.transport == "stdio":
            yield self._command()
        elif self._expanded.url:
            yield from self._network()

    def _command(self) -> Step:
        entry = self._expanded
        env = {**os.environ, **entry.env}
        try:
            program = find_program(entry.command, env, str(Path.cwd() / (entry.cwd or "")))
        except OSError as error:
            return self._failed("command", str(error))
        return self._step("command", "ok", program)

    def _network(self) -> Iterator[Step]:
        host, port = self._url.hostname or "(no host)", self._port
        words, no_tls = f"no variable names one for {host}", "http:// has none"
        if variable := proxy_variable(self._expanded.url, os.environ):
            # The value may have no scheme
            proxy = urlsplit(f"//{os.environ[variable].rpartition('//')[2]}")
            try:
                host, port = str(proxy.hostname), proxy.port or _PORTS["http"]
            except ValueError:
                reason = (
                    f"the port of the proxy in {variable} is not a port number. Correct it, or "
                )
                yield self._failed("proxy", f"{reason}add {host} to NO_PROXY.")
                return
            words, no_tls = f"{variable} names {host}, port {port}", "it goes through the proxy"
        yield self._step("proxy", "ok", words)
        looks = [("DNS", _addresses), ("TCP", _opened)]
        if self._url.scheme == "https" and not variable:
            looks.append(("TLS", self._secured))
        for name, look in looks:
            try:
                words = portal.call(look, host, port, timeout=self._seconds)
            except TimeoutError:
                late = f"no answer within {self._seconds:.3g} s."
                yield self._failed(name, f"{late}{slowness_advice('', self._seconds)}")
            # The name may have invalid characters or an invalid length for a host name
            except (OSError, UnicodeError) as error:
                yield self._failed(name, _unreached(self._expanded.url, name, host, port, error))
            else:
                yield self._step(name, "ok", words)
        if "TLS" not in dict(looks):
            yield Step("TLS", "skipped", None, no_tls)

    async def _secured(self, host: str, port: int) -> str:
        from anyio.streams.tls import TLSStream  # noqa: PLC0415 - asyncio, only for what is async

        from toolbench.mcp.wire.http import certificates  # noqa: PLC0415 - loaded by now

        async with await anyio.connect_tcp(host, port) as stream:
            # The time for reaching the port is not part of the next step
            self._began = time()
            await TLSStream.wrap(stream, hostname=host, ssl_context=certificates())
        return f"the certificate of {host} is trusted"

    # --- the real connection ------------------------------------------------------------

    def connection(self) -> Iterator[Step]:
        """Connect, read the lists, and disconnect; yield the results."""
        portal.call(self._connect)
        yield from self._seen

    async def _connect(self) -> None:
        self._attempt = Attempt(
            self._entry,
            self._inbox,
            ClientFeatures(),
            mode=self._entry.mode or "auto",
            seconds=self._seconds,
            folder=Path.cwd(),
        )
        self._began = time()
        try:
            connection = await self._attempt.connected(self._greet)
        except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
            await self._note_failure(error)
            return
        try:
            self._note_good("tools")
            await self._look_at_lists(connection)
        finally:
            # An interrupt must leave no process behind
            with anyio.CancelScope(shield=True):
                await connection.close()

    async def _greet(self, connection: Connection) -> None:
        """List the tools, as a session does after connecting."""
        self._times["protocol version"] = time()
        self._tools = await self._pages(connection, "tools")
        self._times["tools"] = time()

    async def _pages(self, connection: Connection, key: str) -> Pages:
        return await connection.pages(
            key, f"{key}/list", self._seconds, used=self._attempt.seconds_used
        )

    async def _note_failure(self, error: Exception) -> None:
        step, text = self._attempt.failed_at(error), self._attempt.reason(error)
        self._note_good(step)
        if step == "authorization":
            self._seen.append(await self._well_known())
            if self._expanded.auth is not None and self._entry.auth is None:
                text = "the server requires a login. %mcp connect starts it, doctor does not."
        self._seen.append(self._failed(step, text))

    def _note_good(self, failed: str) -> None:
        """Note that all steps of connecting before the step *failed* succeeded."""
        for message in self._inbox.traffic:
            if message.direction == "sent":
                self._times.setdefault("process", message.time)
            elif message.kind != "noise":
                self._times.setdefault("first message", message.time)
                self._times.setdefault("HTTP", message.time)
        words = self._words()
        steps = _STEPS[self._entry.transport]
        for name in steps[: steps.index(failed)]:
            if name in words:
                # Some steps end at the same moment as the previous step
                self._times.setdefault(name, self._began)
                self._seen.append(self._step(name, "ok", words[name]))
            elif name == ".well-known" and failed != "authorization":
                self._seen.append(Step(name, "skipped", None, "the server requires no login"))

    def _words(self) -> dict[str, str]:
        """Return the result to report for each step of the connection that succeeds."""
        connection, inbox = self._attempt.connection, self._inbox
        first, version = "it is a message of JSON-RPC", connection.protocol_version
        if inbox.noise_count:
            noise = ", ".join(map(repr, inbox.noise[:_QUOTED]))
            first = (
                f"it is not a message: {noise} ({counted(inbox.noise_count, 'such line')}). Other clients "
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
        }

    async def _well_known(self) -> Step:
        """Ask the server for its authorization servers, which it may not answer."""
        from toolbench.mcp.wire.http import http_client  # noqa: PLC0415 - loaded by now

        plain = replace(self._expanded, auth=None, headers={})
        url = f"{self._url.scheme}://{self._url.netloc.rpartition('@')[2]}{_WELL_KNOWN}"
        words = "it cannot be read"
        # A server may answer anything, and the answer is only a hint
        with suppress(Exception), anyio.move_on_after(self._seconds):
            async with http_client(plain, self._inbox) as client:
                for place in (f"{url}{self._url.path}", url):
                    response = await client.get(place)
                    words = f"there is none: status {response.status_code}"
                    if response.is_success:
                        servers = map(str, response.json()["authorization_servers"])
                        words = f"logins are made at {listed(list(servers), _QUOTED)}"
                        return self._step(".well-known", "ok", words)
        return self._step(".well-known", "skipped", words)

    # --- what the server offers -----------------------------------------------------------

    async def _look_at_lists(self, connection: Connection) -> None:
        # A session requests the tools even if none are declared
        declared = {"tools", *connection.described().get("capabilities", {})}
        for key in _LISTS:
            if key not in declared:
                self._seen.append(Step(key, "skipped", None, "the server declares none"))
                continue
            pages = self._tools
            if key != "tools":
                try:
                    pages = await self._pages(connection, key)
                except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
                    pages = Pages([], str(connection.broken(f"{sentence(error)}.")))
            words = counted(len(pages.items), key[:-1])
            if pages.problem is not None:
                self._seen.append(self._failed(key, f"{pages.problem}. It had listed {words}."))
                return
            self._seen.append(self._step(key, "ok", words))
        self._look_at_schemas(is_modern=connection.is_modern)

    def _look_at_schemas(self, *, is_modern: bool) -> None:
        good, bad = read_tools(self._tools.items, is_modern=is_modern)
        wrong = [f"{tool.name!r} cannot be called: {tool.reason}" for tool in bad]
        for tool in good:
            wrong += [f"{tool.name!r}: {note}" for note in tool.notes]
        if len(wrong) > _WRONG:
            wrong[_WRONG:] = [f"and {len(wrong) - _WRONG:,} more"]
        for words in wrong:
            self._seen.append(self._step("schemas", "failed", words))
        if not wrong:
            words = f"a form and a check for {counted(len(good), 'tool')}"
            self._seen.append(self._step("schemas", "ok", words))


# --- the network ------------------------------------------------------------------------


async def _addresses(host: str, port: int) -> str:
    found = await anyio.getaddrinfo(host, port)
    return listed(list(dict.fromkeys(str(address[-1][0]) for address in found)), _QUOTED)


async def _opened(host: str, port: int) -> str:
    async with await anyio.connect_tcp(host, port):
        return f"port {port} is open"


def _unreached(url: str, step: str, host: str, port: int, error: Exception) -> str:
    """Return why *step* failed to reach *host* on the way to *url*, with advice."""
    root = root_of(error.__cause__ or error)
    reason = str(getattr(root, "strerror", "") or root)
    if step == "TLS":
        return ended(network_advice(url, type(root).__name__, str(root)) or f"no TLS: {reason}")
    words, advice = f"no address of {host} is known ({reason})", "Is the host written right?"
    if step == "TCP":
        # anyio's own message is about its call
        reason = os.strerror(getattr(root, "errno", 0) or 0)
        words = f"nothing answers at {host}, port {port} ({reason})"
        advice = "Does the server run, and is the port right?"
    return ended(network_advice(url, "ConnectError", words) or f"{words}. {advice}")
