"""What comes from a server outside of answers: logs, progress, questions, news of its lists."""

import logging
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from toolbench.core.state import Secrets
from toolbench.display.escape import visible
from toolbench.mcp.calls import Call, HttpFailure, OpenCalls, current_call
from toolbench.mcp.changes import Changes
from toolbench.mcp.handlers import (
    Answer,
    Answerer,
    FormQuestion,
    Question,
    SamplingQuestion,
    UrlQuestion,
    answer_of,
)
from toolbench.mcp.logs import ServerLog
from toolbench.mcp.stderr import StderrTail
from toolbench.mcp.tap import Traffic

_LISTS = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}
_log = logging.getLogger(__name__)


class Inbox:
    """Where one session's messages go. It outlives the connections of the session."""

    def __init__(self, server: str, *, answerer: Answerer | None = None) -> None:
        """Make the inbox of *server*; *answerer* answers where a call names nobody."""
        self.server = server
        self.answerer = answerer
        self.secrets = Secrets()
        """What the server must not say: the values its own entry holds."""
        self.changes = Changes()
        self.log = ServerLog(on_change=lambda: self.changes.note("log"))
        self.stderr = StderrTail(on_change=lambda: self.changes.note("stderr"))
        self.traffic = Traffic()
        self.calls = OpenCalls()
        self.noise: list[str] = []
        """The first lines on stdout that were no messages."""
        self.noise_count = 0
        self.on_list_changed: Callable[[str], None] = lambda name: None
        self.on_resource_updated: Callable[[str], None] = lambda uri: None

    def keep_secret(self, secrets: Secrets) -> None:
        """Mask *secrets* in all that the server says from now on."""
        self.secrets = self.stderr.secrets = self.traffic.secrets = secrets

    def told(self, text: str) -> str:
        """Return *text* as it may be told: without secrets, and control characters spelled out."""
        return visible(self.secrets.mask(text))

    def note_noise(self, line: str) -> None:
        """Keep a line of stdout that is no message."""
        self.noise_count += 1
        if len(self.noise) < 20:
            self.noise.append(self.secrets.mask(line)[:500])
        self.traffic.note("received", line, kind="noise")

    def note_http_failure(self, failure: HttpFailure | None) -> None:
        """Remember what the call under way got over HTTP, if that was no message."""
        if (call := current_call()) is not None:
            call.http_failure = failure

    def take(self, method: str, params: Mapping[str, Any]) -> bool:
        """Handle a notification here and now; say whether that was all there is to do."""
        if method == "notifications/message":
            self.log.add(params)
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
        said = message if isinstance(message, str) else ""
        try:
            call.on_progress(value, _number(params.get("total")), said)
        except Exception:  # noqa: BLE001 - the person's own: the call goes on without it
            _log.exception(
                "What hears of progress failed and hears no more of this call."
            )
            call.on_progress = None

    # --- questions ----------------------------------------------------------------

    async def ask_form(self, message: str, schema: Mapping[str, Any]) -> Answer:
        """Put a form to whoever answers for the call under way."""
        return await self._ask(
            lambda about: FormQuestion(message=message, schema=schema, **about)
        )

    async def ask_url(self, message: str, url: str) -> Answer:
        """Ask whoever answers for the call under way to visit *url*."""
        return await self._ask(
            lambda about: UrlQuestion(message=message, url=url, **about)
        )

    async def ask_message(self, params: dict[str, Any]) -> Answer:
        """Ask whoever answers for the call under way for a sampled message."""
        messages = params.pop("messages", [])
        return await self._ask(
            lambda about: SamplingQuestion(
                message="The server asks for a message of a model.",
                messages=messages,
                params=params,
                **about,
            )
        )

    async def _ask(self, make: Callable[[dict[str, Any]], Question]) -> Answer:
        call = self.calls.asking() or Call(seconds=0)
        question = make({"server": self.server, "tool": call.tool, "round": call.round})
        call.round += 1
        answerer = call.answerer or self.answerer
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
