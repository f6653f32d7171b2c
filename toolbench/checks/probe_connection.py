"""A connection with which a probe asks a server questions, each of which is a row of its report."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from toolbench.checks.probe_report import ProbeResult, State
from toolbench.checks.probe_rules import fix_of, rule_of
from toolbench.display.escape import on_one_line
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.attempt import Attempt
from toolbench.mcp.connection.connection import Connection, RoundsError
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.errors import METHOD_NOT_FOUND, PARSE_ERROR, code_of, lost_connection, sentence
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.monitoring.traffic import STREAM
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.values import clip

# Characters of a request or an answer in a report; breaches of one question
_LONGEST, _MOST = 600, 20


class Answer(NamedTuple):
    """The outcome of one request: a result, an error, or no answer."""

    sent: str
    result: dict[str, Any] | None = None
    """The result; None if the server sent none."""
    code: int | None = None
    """The code of the error with which the server answered; None if it sent no error."""
    message: str = ""
    """The message of that error, or the reason why there is no readable answer."""
    seconds: float = 0.0
    is_late: bool = False
    """Whether the time limit ended the request."""

    @property
    def is_lost(self) -> bool:
        """Whether neither a readable result nor a readable error came."""
        return self.result is None and self.code is None

    @property
    def came(self) -> str:
        """The answer in words."""
        if self.result is not None:
            return clip(self.result, _LONGEST)
        if self.code is not None:
            return f"error {self.code}: {self.message}"
        return self.message


class Breach(NamedTuple):
    """A breach of a rule: the rule, and what breaks it."""

    rule: str
    words: str
    state: State | None = None
    """The state of the row for the breach; None for the state that the rule defines."""


class EndedError(Exception):
    """The server has ended, or its connection was closed."""


class ProbeConnection:
    """One connection to a server, and the facts that the probe has learnt about the server.

    A connection uses either a legacy version of MCP, with the `initialize` handshake, or a modern
    version without it.
    """

    def __init__(
        self,
        name: str,
        entry: ServerEntry,
        folder: Path,
        results: list[ProbeResult],
        *,
        mode: str,
        seconds: float,
        named: frozenset[str],
        blocked: str,
    ) -> None:
        """Prepare to connect to *entry*.

        Args:
            name: The name of the server.
            entry: The configuration of the server.
            folder: The folder for relative paths in the configuration.
            results: The rows of the report; each question adds to them.
            mode: `auto`, `legacy` or a version, as for `Connection`.
            seconds: The time limit of a request.
            named: The names of tools that are called even though they are not read-only.
            blocked: Why no tool may be called; empty if tools may be called.
        """
        self.name = name
        self.transport = entry.transport
        self.named = named
        self.blocked = blocked
        self.lists: dict[str, list[Any]] = {}
        """The items of each list that was read, by the key of the list in its result."""
        self.tools: list[MCPToolDefinition] = []
        """The tools that can be called."""
        self.took: dict[str, float] = {}
        """The seconds that each tool took, for tools that were called and returned a result."""
        self.results = results
        self.inbox = Inbox(name)
        self.seconds = seconds
        self.attempt = Attempt(
            entry, self.inbox, ClientFeatures(), mode=mode, seconds=3 * seconds, folder=folder
        )
        self.version = ""
        """The version of MCP that both sides speak."""
        self.capabilities: dict[str, Any] = {}
        """The capabilities that the server declares."""
        self.unanswered = ""
        """The last question that got no answer in time."""
        self.paged: list[str] = []
        """The keys of the lists that have more than one page."""

    async def open(self) -> None:
        """Connect to the server.

        Raises:
            Exception: The same errors as `Attempt.connected` raises.
        """
        connection = await self.attempt.connected(_greet)
        self.version = connection.protocol_version
        self.capabilities = dict(connection.described().get("capabilities", {}))

    async def close(self) -> None:
        """Disconnect and end the server's process, even if the probe was cancelled."""
        with anyio.CancelScope(shield=True):
            await self.attempt.connection.close()

    @property
    def is_modern(self) -> bool:
        """Whether the server speaks a version of MCP without a handshake."""
        return self.attempt.connection.is_modern

    @property
    def is_alive(self) -> bool:
        """Whether the server can still be asked."""
        return self.attempt.connection.is_alive

    async def ask(
        self, method: str, params: Mapping[str, Any] | None = None, *, seconds: float | None = None
    ) -> Answer:
        """Send a request, and return the answer.

        Raises:
            EndedError: If an earlier request ended the connection.
        """
        if not self.is_alive:
            raise EndedError
        params = params or {}
        sent = self.inbox.safe_text(clip({"method": method, "params": params}, _LONGEST))
        call = Call(seconds=seconds or self.seconds)
        began = anyio.current_time()
        try:
            result = await self.attempt.connection.request(method, params, call)
        except Exception as error:  # noqa: BLE001 - any failure is what came
            took = anyio.current_time() - began
            text = self.inbox.safe_text(sentence(error, call=call))
            code = code_of(error)
            is_refusal = call.http_failure is None or call.http_failure.is_answer
            if lost_connection(error) or code == PARSE_ERROR or not is_refusal:
                code = None
            if code is not None:
                text = self.inbox.safe_text(str(error))
            is_late = isinstance(error, CallTimeoutError | RoundsError)
            return Answer(sent, None, code, text, took, is_late)
        safe: dict[str, Any] = self.inbox.redactor.value(result)
        return Answer(sent, safe, seconds=anyio.current_time() - began)

    # --- rows -------------------------------------------------------------------------------

    def add(
        self,
        question: str,
        answer: Answer | str,
        rule: str = "",
        *,
        state: State | None = None,
        era: str = "",
    ) -> None:
        """Add a row for *question* and the server's *answer*.

        If *rule* is given, *answer* breaks this rule. If *rule* is empty, *answer* is correct. The
        rule defines the state of the row, unless *state* is given. *era* is the version of MCP that
        the row shows. By default, it is the version of this connection.
        """
        if isinstance(answer, str):
            answer = Answer("", None, None, answer)
        era = era or self.version
        came = on_one_line(self.inbox.safe_text(answer.came))
        row = ProbeResult(question, era, state or "ok", answer.sent, came, seconds=answer.seconds)
        if rule:
            broken = rule_of(rule, era)
            row = replace(
                row,
                state=state or broken.breach,
                rule=broken.sentence,
                source=broken.source(era),
                what_to_do=fix_of(rule),
            )
        self.results.append(row)

    def add_each(self, question: str, breaches: Iterable[Breach], good: str) -> None:
        """Add a row for each of *breaches*; if there are none, add a row with the text *good*."""
        found = list(breaches)
        for breach in found[:_MOST]:
            self.add(question, breach.words, breach.rule, state=breach.state)
        if not found:
            self.add(question, good)

    def add_not_asked(self, question: str, why: str) -> None:
        """Add a row that says *why* a question was not asked."""
        self.add(question, why, state="not asked")

    def is_lost(self, question: str, answer: Answer) -> bool:
        """Tell whether *answer* is missing or cannot be read; if so, add a row that says so."""
        if answer.is_lost:
            state: State = "wrong"
            if answer.is_late:
                # Nothing says how fast an answer has to be
                state = "advice"
                self.unanswered = question
            elif self.unanswered and not self.is_alive:
                # A server that fails may end only when the next line comes
                self.add_not_asked(question, f"the server ended after: {self.unanswered}")
                return True
            self.add(question, answer, "response", state=state)
        return answer.is_lost

    async def ask_refused(
        self,
        question: str,
        method: str,
        params: Mapping[str, Any],
        rule: str,
        code: int,
        *,
        answered: State | None = None,
    ) -> None:
        """Ask for something that does not exist; *rule* requires the error *code* as the answer.

        If the server sends a successful result instead, the row gets the state *answered*.
        """
        answer = await self.ask(method, params)
        if self.is_lost(question, answer):
            return
        if answer.code == code:
            self.add(question, answer)
            return
        state = None
        if answer.result is not None and not answer.result.get("isError"):
            state = answered
        self.add(question, answer, rule, state=state)

    async def ask_declared(self, method: str, params: Mapping[str, Any]) -> None:
        """Ask for something that the server declares to support."""
        self.add_declared(f"{method}: answered", await self.ask(method, params))

    async def listen(self, filters: Mapping[str, Any]) -> None:
        """Open and close the stream of notifications that a server of a modern version declares."""
        from mcp import MCPError  # noqa: PLC0415 - loaded by now
        from mcp.client.subscriptions import SubscriptionLost, listen  # noqa: PLC0415 - the same
        from pydantic.alias_generators import to_camel  # noqa: PLC0415 - the same

        question = f"{STREAM}: acknowledged"
        wanted = {to_camel(name): value for name, value in filters.items()}
        sent = clip({"method": STREAM, "params": {"notifications": wanted}}, _LONGEST)
        try:
            with anyio.fail_after(self.seconds):
                async with listen(self.attempt.connection.session, **filters) as subscription:
                    answer = Answer(
                        sent, subscription.honored.model_dump(by_alias=True, exclude_none=True)
                    )
        except TimeoutError:
            # It may have come in a form that the SDK does not read
            words = f"no acknowledgement that can be read within {self.seconds:.3g} s"
            self.add_not_asked(question, words)
            return
        except (MCPError, SubscriptionLost) as error:
            answer = Answer(sent, None, code_of(error), self.inbox.safe_text(str(error)))
        if answer.code is None:
            self.add_declared(question, answer)
        else:
            # No sentence says that who declares a list that changes has to offer this stream
            self.add(question, answer, "declared", state="advice")

    def add_declared(self, question: str, answer: Answer) -> None:
        """Add a row for *answer* to a request that the server declares to support."""
        if self.is_lost(question, answer):
            return
        if answer.result is not None:
            self.add(question, answer)
        elif answer.code == METHOD_NOT_FOUND:
            self.add(question, answer, "declared")
        elif self.inbox.traffic.find(direction="received", kind="request"):
            # It asked this client something first
            self.add_not_asked(question, f"a probe answers no questions of a server: {answer.came}")
        else:
            self.add(question, answer, "declared", state="advice")


async def _greet(connection: Connection) -> None:
    """Send nothing after connecting, because the probe sends its questions later."""
