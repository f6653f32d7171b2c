"""What comes from a server outside of answers: logs, progress, questions, news of its lists."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Literal

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
from toolbench.mcp.monitoring.change_listeners import Changes
from toolbench.mcp.monitoring.logs import ServerLog
from toolbench.mcp.monitoring.stderr import StderrTail
from toolbench.mcp.monitoring.traffic import Traffic
from toolbench.mcp.recording.opening import Opening
from toolbench.mcp.recording.server_recorder import ServerRecorder
from toolbench.redaction.detection.secrecy import Secrecy
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.remembered import remembered

_LISTS = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}
_KEPT_CALLS = 100  # that had secrets each of its own
_log = logging.getLogger(__name__)


class Inbox:
    """Where one session's messages go. It outlives the connections of the session."""

    def __init__(
        self, server: str, *, answerer: Callable[[], Answerer | None] = lambda: None
    ) -> None:
        """Make the inbox of *server*; *answerer* returns the handler of questions for calls without one."""
        self.server = server
        self.answerer = answerer
        self.entry_redactor = Redactor()
        """Replaces the secrets of the server's own entry, which must appear nowhere."""
        self.redactor = Redactor()
        """Replaces those of calls too, in what is kept to look at: a caller knows its own."""
        self._call_secrets: deque[frozenset[str]] = deque(maxlen=_KEPT_CALLS)
        self.changes = Changes()
        self.log = ServerLog(on_change=lambda: self.changes.note("log"))
        self.stderr = StderrTail(on_change=lambda: self.changes.note("stderr"))
        self.traffic = Traffic()
        self.calls = OpenCalls()
        self.noise: list[str] = []
        """The first lines on stdout that were no messages."""
        self.noise_count = 0
        self.recorder: ServerRecorder | None = None
        """Writes all of it into a file, if it is recorded."""
        self.opening = Opening()
        """How the connection there is was opened, for a recording that begins later."""
        self.stderr.on_line = lambda line: self._record("stderr", line)
        self.on_list_changed: Callable[[str], None] = lambda name: None
        self.on_resource_updated: Callable[[str], None] = lambda uri: None

    def redact_with(self, redactor: Redactor) -> None:
        """Have *redactor* replace the secrets of the entry in all that comes from now on."""
        self.entry_redactor = redactor
        self._renew()

    def keep_secret(self, secrets: Iterable[str]) -> None:
        """Replace *secrets* of a call from now on, in traffic, log, stderr and messages."""
        known = frozenset(secrets)
        if known and known not in self._call_secrets:
            self._call_secrets.append(known)
            self._renew()

    def _renew(self) -> None:
        of_calls = frozenset[str]().union(*self._call_secrets)
        redactor = self.entry_redactor.including(of_calls)
        remembered.add(redactor.secrets)
        self.redactor = self.log.redactor = redactor
        self.stderr.redactor = self.traffic.redactor = redactor

    def told(self, text: str) -> str:
        """Return *text* without secrets, its control characters spelled out."""
        return visible(self.redactor.text(text))

    def note_noise(self, line: str) -> None:
        """Keep a line of stdout that is no message."""
        self.noise_count += 1
        if len(self.noise) < 20:
            self.noise.append(self.redactor.text(line)[:500])
        self.traffic.note("received", line, kind="noise")
        self._record("noise", line)

    def _record(self, direction: Literal["stderr", "noise"], line: str) -> None:
        if self.recorder is not None:
            self.recorder.line(direction, line, self.redactor)

    def note_http_failure(self, failure: HttpFailure | None) -> None:
        """Remember what the call under way got over HTTP, if that was no message."""
        if (call := current_call()) is not None:
            call.http_failure = failure

    def take(self, method: str, params: Mapping[str, Any]) -> bool:
        """Handle a notification here and now; say whether that was all there is to do."""
        if method == "notifications/message":
            pieces = self.log.add(self.redactor.value(params))
            if pieces:
                self.traffic.hide(piece.text for piece in pieces)
        elif method == "notifications/progress":
            self._progress(params)
        elif method == "notifications/resources/updated":
            self.on_resource_updated(str(params.get("uri")))
        elif method in _LISTS:
            self.on_list_changed(_LISTS[method])
        else:
            return False
        return True

    def _progress(self, params: Mapping[str, Any]) -> None:
        call = self.calls.of_token(params.get("progressToken"))
        value, message = _number(params.get("progress")), params.get("message")
        if call is None or call.on_progress is None or value is None:
            return
        text = self.redactor.text(message) if isinstance(message, str) else ""
        try:
            call.on_progress(value, _number(params.get("total")), text)
        except Exception:  # noqa: BLE001 - the person's own: the call goes on without it
            _log.exception(
                "What hears of progress failed and hears no more of this call."
            )
            call.on_progress = None

    # --- questions ----------------------------------------------------------------

    async def ask_form(self, message: str, schema: Mapping[str, Any]) -> Answer:
        """Pass a form to the handler of the call under way."""
        message = self.redactor.text(message)
        answer = await self._ask(
            lambda about: FormQuestion(message=message, schema=schema, **about)
        )
        self.keep_secret(Secrecy(schema).secrets_in(answer.content or {}))
        return answer

    async def ask_url(self, message: str, url: str) -> Answer:
        """Ask the handler of the call under way to have *url* visited."""
        return await self._ask(
            lambda about: UrlQuestion(message=message, url=url, **about)
        )

    async def ask_message(self, params: dict[str, Any]) -> Answer:
        """Ask the handler of the call under way for a sampled message."""
        messages = params.pop("messages", [])
        return await self._ask(
            lambda about: SamplingQuestion(
                message="The server wants a model to reply (sampling). Answer as the model:",
                messages=messages,
                params=params,
                **about,
            )
        )

    async def _ask(self, make: Callable[[dict[str, Any]], Question]) -> Answer:
        call = self.calls.asking() or Call(seconds=0)
        question = make({"server": self.server, "tool": call.tool, "round": call.round})
        call.round += 1
        answerer = call.answerer or self.answerer()
        if answerer is None:
            return Answer("decline")
        async with call.waiting_for_person():
            return await answer_of(answerer, question)


def _number(value: Any) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float) else None
    except OverflowError:  # a JSON number has no largest value
        return None
    return number if number is not None and isfinite(number) else None
