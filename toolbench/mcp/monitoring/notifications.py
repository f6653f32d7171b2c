"""Handle a server's notifications and questions: logs, progress, changed lists."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from toolbench.display.escape import visible
from toolbench.mcp.connection.open_calls import (
    Call,
    HttpFailure,
    OpenCalls,
    current_call,
)
from toolbench.mcp.elicitation import (
    Answer,
    Answerer,
    FormQuestion,
    Question,
    SamplingQuestion,
    UrlQuestion,
    answer_of,
)
from toolbench.mcp.monitoring.changes import Changes
from toolbench.mcp.monitoring.log import ServerLog
from toolbench.mcp.monitoring.stderr import StderrTail
from toolbench.mcp.monitoring.traffic import ConnectionEnd, Traffic
from toolbench.mcp.recording.recorder import Opening, ServerRecorder
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import remembered
from toolbench.redaction.logs import secrets_of_servers
from toolbench.redaction.redactor import Redactor
from toolbench.runs.dialogue import preset_here
from toolbench.runs.questions import Question as Asked

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

_LISTS = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}
# The number of calls whose secrets are hidden, and whose failures are kept
_KEPT_CALLS = 100
_log = logging.getLogger(__name__)


class Inbox:
    """Receives the notifications, questions, log and stderr of one server, over all connections.

    The inbox also keeps the traffic with the server.
    """

    def __init__(self, server: str, session: "MCPServerSession | None" = None) -> None:
        """Create the inbox of *server*, which notifies *session* of changes at the server."""
        self.server = server
        self._session = session
        self.entry_redactor = Redactor()
        """Hides the secrets of the server's entry, which must not appear anywhere."""
        self.redactor = Redactor()
        """Also hides the secrets of calls; used for logs and traffic, but not for results."""
        self._call_secrets: list[frozenset[str]] = []
        # Held while a redactor is read, extended and replaced, so that no thread's change is lost
        self._lock = Lock()
        self.changes = Changes()
        self.log = ServerLog(on_change=lambda: self.changes.note("log"))
        self.log_level: str | None = None
        """The lowest log level that was requested; None if none was requested."""
        self.stderr = StderrTail(
            on_line=lambda line: self._record("stderr", line),
            on_change=lambda: self.changes.note("stderr"),
        )
        self.traffic = Traffic()
        self.request_ids = count(1)
        """The ids of requests, unique over all connections: calls may end in an earlier process."""
        self.calls = OpenCalls()
        self.noise: list[str] = []
        """The first lines on stdout that are not messages."""
        self.noise_count = 0
        self.remarks: list[str] = []
        """Notes for the user about a call, which the next result will contain."""
        self.recorder: ServerRecorder | None = None
        """Writes all messages to a file; None if the session is not recorded."""
        self.failures: deque[tuple[str, str, Sequence[str]]] = deque(maxlen=_KEPT_CALLS)
        """The last calls that got an error instead of an answer: token, text and notes."""
        self.authorization_url = ""
        """The web page on which the user must log in now; empty if there is none."""
        self.http_answer = (0, "")
        """The HTTP status and media type of the last answer to a message."""
        self.ignores_newer = False
        """Whether the server did not answer `server/discover` in time."""
        self.opening = Opening()
        """The first messages of the current connection, for a recording that begins later."""
        self.connection = ConnectionEnd("")
        """The end of the current connection, to which all its messages refer."""

    def begin_connection(self, transport: str, mode: str, connection: ConnectionEnd) -> None:
        """Prepare for a new connection, and discard the kept first messages of the last one."""
        self.opening, self.connection = Opening(transport, mode), connection
        if self.recorder is not None:
            self.recorder.connected(transport, mode)

    def ask_to_authorize(self, page: str) -> None:
        """Show the URL of the login *page* in all views; an empty string removes it."""
        self.authorization_url = page
        self.changes.note("status")

    @property
    def has_ignored_newer(self) -> bool:
        """Whether the server has not answered `server/discover`, not even after the time limit."""
        if not self.ignores_newer:
            return False
        return not self.traffic.find(method="server/discover", direction="received")

    def redact_with(self, redactor: Redactor) -> None:
        """Hide the secrets of the configuration in all later messages.

        *redactor* knows these secrets. Secrets of earlier redactors stay hidden too, because a
        variable in the configuration may have had another value before.
        """
        with self._lock:
            self.entry_redactor = redactor.joined(self.entry_redactor)
            self._renew()

    def keep_secret(self, secrets: Iterable[str]) -> None:
        """Hide *secrets*, which a call contains, in all later traffic and logs.

        At least the secrets of the last hundred calls stay hidden. Any thread may call this.
        """
        known = frozenset(secrets)
        if not known:
            return
        with self._lock:
            if known in self._call_secrets:
                return
            self._call_secrets.append(known)
            if len(self._call_secrets) > 2 * _KEPT_CALLS:
                # Done rarely, because everything is rebuilt
                del self._call_secrets[:-_KEPT_CALLS]
                self._renew()
            else:
                self._hide_with(self.redactor.including(known))

    def _renew(self) -> None:
        of_calls = frozenset[str]().union(*self._call_secrets)
        self._hide_with(self.entry_redactor.including(of_calls))

    def _hide_with(self, redactor: Redactor) -> None:
        remembered.add(redactor.secrets)
        secrets_of_servers.add(redactor.secrets)
        self.redactor = redactor
        self.stderr.redactor = self.traffic.redactor = redactor

    def safe_text(self, text: str) -> str:
        """Return *text* with secrets hidden and control characters made visible."""
        return visible(self.redactor.text(text))

    def note_noise(self, line: str) -> None:
        """Keep *line* of stdout, which is not a message."""
        self.noise_count += 1
        shown = self.redactor.text(line)[:500]
        if len(self.noise) < 20:
            self.noise.append(shown)
        for call in self.calls:
            call.noise = call.noise or shown
        self.traffic.note("received", line, kind="noise")
        self._record("noise", line)

    def _record(self, direction: Literal["stderr", "noise"], line: str) -> None:
        if self.recorder is not None:
            self.recorder.line(direction, line, self.redactor)

    def note_http_failure(self, failure: HttpFailure | None) -> None:
        """Set the HTTP failure of the current call, if there is one; None means no failure."""
        if (call := current_call()) is not None:
            call.http_failure = failure

    def take(self, method: str, params: Mapping[str, Any]) -> bool:
        """Handle a notification; return True if the SDK can ignore it."""
        if method == "notifications/message":
            self.log.add(self.redactor.value(params))
        elif method == "notifications/progress":
            self._progress(params)
        elif method == "notifications/resources/updated":
            if self._session is not None:
                self._session.resources.note_update(str(params.get("uri")))
        elif method in _LISTS:
            if self._session is not None:
                self._session.list_changed(_LISTS[method])
        else:
            return False
        return True

    def _progress(self, params: Mapping[str, Any]) -> None:
        call = self.calls.of_token(params.get("progressToken"))
        value, message = _number(params.get("progress")), params.get("message")
        if call is None or call.on_progress is None or value is None:
            return
        text = ""
        if isinstance(message, str):
            text = self.redactor.text(message)
        try:
            call.on_progress(value, _number(params.get("total")), text)
        except Exception:  # noqa: BLE001 - the user's own function: the call goes on
            _log.exception("The progress handler failed; it is not called again in this call.")
            call.on_progress = None

    # --- questions ----------------------------------------------------------------

    def answerer(self) -> Answerer | None:
        """Return the handler of questions for calls that have none of their own."""
        return None if self._session is None else self._session.answerer

    async def ask_form(self, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the handler of the running call to fill in a form, and return the answer."""
        answer = await self._ask(FormQuestion, message=self.redactor.text(message), schema=schema)
        self.keep_secret(Secrecy(schema).secrets_in(answer.content or {}))
        return answer

    async def ask_url(self, message: str, url: str) -> Answer:
        """Ask the handler of the running call to visit *url*, and return the answer."""
        return await self._ask(UrlQuestion, message=message, url=url)

    async def ask_message(self, params: dict[str, Any]) -> Answer:
        """Ask the handler of the running call to reply in place of a model; return the answer."""
        message = "The server wants a model to reply (sampling). Answer as the model:"
        messages = params.pop("messages", [])
        return await self._ask(SamplingQuestion, message=message, messages=messages, params=params)

    async def _ask(self, kind: type[Question], **fields: Any) -> Answer:
        """Ask a question of the class *kind* with *fields*, and return the answer."""
        calls = self.calls.asking()
        call = Call(seconds=0)
        if calls:
            call = calls[0]
        question = kind(
            server=self.server,
            tool=call.tool,
            round=call.round,
            is_for_person=self._have_several_presets(calls),
            **fields,
        )
        call.round += 1
        answerer = call.answerer or self.answerer()
        if answerer is None:
            return Answer("decline")
        async with call.waiting_for_person():
            # This may be the connection's task, which another run started
            asking = answer_of(answerer, question)
            context = call.context.copy()
            return await asyncio.create_task(asking, context=context)

    def _have_several_presets(self, calls: Iterable[Call]) -> bool:
        """Tell whether the tool calls in *calls* have different preset answers for this server."""
        question = Asked("", {}, server=self.server)
        contexts = (call.context.copy() for call in calls if call.tool is not None)
        return len({context.run(preset_here, question) for context in contexts}) > 1


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        # A JSON number has no largest value
        return None
    if isfinite(number):
        return number
    return None
