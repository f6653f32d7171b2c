"""Check and answer the requests of an app, which runs in a page. Its tool calls are ordinary runs.

Messages of apps are treated as hostile. An app can read the resources of its own server only, and
can call only those tools of this server that are meant for apps. The size and the rate of its
messages are limited, as are the number and the duration of its calls. Source: MCP Apps, SEP-1865.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock, Semaphore, Thread
from time import monotonic
from typing import Any

from toolbench.errors import ToolbenchError, ToolNotFoundError
from toolbench.mcp.apps.preview import call_result
from toolbench.mcp.elicitation import Answer as ServerAnswer
from toolbench.mcp.elicitation import answering
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.server_session import MCPServerSession
from toolbench.runs.control import Cancellable, Stop, StopCause, stop
from toolbench.runs.perform import start
from toolbench.runs.questions import Answer, Question
from toolbench.runs.run import Run

LARGEST_MESSAGE = 200_000
"""The maximum number of characters in an app's message."""
MOST_CALLS = 4
"""The maximum number of simultaneous calls of an app."""
BURST, PER_SECOND = 40, 10.0
"""How many messages an app may send at once, and then per second; others are dropped."""
# The most runs and messages that are shown
_MOST_LINES = 10
# The most characters of a message to the user
_LONGEST_TEXT = 2_000
_INVALID, _UNKNOWN, _REFUSED = -32602, -32601, -32000

Asker = Callable[[Question, Cancellable], Answer]
"""A function that asks the user a question for a run, until the run is cancelled."""


class AppBridge:
    """Answers the requests of one app in the kernel; any thread may use it."""

    def __init__(
        self,
        session: MCPServerSession,
        *,
        ask: Asker,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        """Create a bridge for an app of *session*.

        Args:
            session: The session with the app's server; the app can access no other server.
            ask: A function that asks the user a question.
            changed: A function that is called, from any thread, when the view of the app must be
                updated.
        """
        self._session, self._ask, self._changed = session, ask, changed
        self._lock = Lock()
        self._slots = Semaphore(MOST_CALLS)
        self._tokens, self._at = float(BURST), monotonic()
        self._is_closed = False
        self._runs: deque[Run] = deque(maxlen=_MOST_LINES)
        self._live: set[Run] = set()
        self._messages: deque[str] = deque(maxlen=_MOST_LINES)

    @property
    def runs(self) -> list[Run]:
        """The last calls of the app, newest last."""
        return list(self._runs)

    @property
    def messages(self) -> list[str]:
        """The last messages that the app tried to send to a model; they are never sent to one."""
        return list(self._messages)

    def close(self) -> None:
        """Stop the calls of the app; later messages get no answer."""
        with self._lock:
            self._is_closed, live = True, list(self._live)
        for run in live:
            stop(run, Stop(StopCause.PROGRAM, "cancelled: the app was closed"))

    # --- messages ---------------------------------------------------------------------

    def receive(self, text: Any, reply: Callable[[str], object]) -> None:
        """Handle *text*, a message from the app, and pass the answer to *reply*.

        The method does not wait for tools or the server: *reply* may be called after it returns.
        Messages that are not requests are ignored. If the app sends too many messages, the excess
        is ignored too.
        """
        if self._is_closed or not self._may_speak() or not isinstance(text, str):
            return
        message = _request_in(text)
        if message is None:
            return
        answer = partial(self._answer, message["id"], reply)
        parameters = message.get("params")
        if not isinstance(parameters, Mapping):
            parameters = {}
        match message["method"]:
            case "tools/call":
                self._call(parameters, answer)
            case "resources/read":
                self._read(parameters, answer)
            case "ui/message":
                self._note(parameters, answer)
            case method:
                answer(error=(_UNKNOWN, f"toolbench does not answer {method[:80]!r}."))

    def _may_speak(self) -> bool:
        with self._lock:
            now = monotonic()
            self._tokens += (now - self._at) * PER_SECOND
            self._tokens, self._at = min(self._tokens, float(BURST)) - 1, now
            if self._tokens < 0:
                self._tokens = 0.0
                return False
            return True

    def _answer(
        self,
        number: int | str,
        reply: Callable[[str], object],
        *,
        result: Mapping[str, Any] | None = None,
        error: tuple[int, str] | None = None,
    ) -> None:
        """Send the answer to the request *number*, with secrets hidden."""
        if self._is_closed:
            return
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        if error is not None:
            message["error"] = {"code": error[0], "message": error[1]}
        else:
            message["result"] = result
        redactor = self._session.keep_secret(())
        reply(json.dumps(redactor.value(message), default=str))

    # --- requests ---------------------------------------------------------------------

    def _call(self, parameters: Mapping[str, Any], answer: Any) -> None:
        name, arguments = parameters.get("name"), parameters.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            answer(error=(_INVALID, "A call needs a name and an object of arguments."))
            return
        try:
            tool = self._session.tool(name)
        except ToolNotFoundError:
            answer(error=(_INVALID, f"This server has no tool {name[:80]!r}."))
            return
        if "app" not in tool.callers:
            answer(error=(_INVALID, f"{name[:80]} is not for apps."))
            return
        if not self._slots.acquire(blocking=False):
            answer(error=(_REFUSED, f"{MOST_CALLS} calls are in progress: wait."))
            return
        try:
            run = Run(tool, arguments, source="app")
        except Exception as error:  # noqa: BLE001 - of values that an app made up
            self._slots.release()
            answer(error=(_INVALID, f"The arguments: {type(error).__name__}."))
            return
        run.dialogue.asker = lambda question: self._ask(question, run)
        with self._lock:
            # Another thread may have closed the bridge meanwhile
            is_closed = self._is_closed
            if not is_closed:
                self._runs.append(run)
                self._live.add(run)
        if is_closed:
            self._slots.release()
            return
        seconds = self._session.call_seconds
        start(run, timeout=seconds, then=partial(self._end, answer))
        self._changed()

    def _end(self, answer: Any, run: Run) -> None:
        self._slots.release()
        with self._lock:
            self._live.discard(run)
        outcome = run.outcome
        if isinstance(outcome, MCPToolObservation):
            result = call_result(outcome)
        else:
            result = outcome.to_mcp_result()
        answer(result=run.secrets.redactor.value(result))
        self._changed()

    def _read(self, parameters: Mapping[str, Any], answer: Any) -> None:
        uri = parameters.get("uri")
        if not isinstance(uri, str) or not uri:
            answer(error=(_INVALID, "resources/read needs a uri."))
        elif not self._slots.acquire(blocking=False):
            answer(error=(_REFUSED, f"{MOST_CALLS} calls are in progress: wait."))
        else:
            work = partial(self._read_now, uri, answer)
            Thread(target=work, name="toolbench-app-read", daemon=True).start()

    def _read_now(self, uri: str, answer: Any) -> None:
        try:
            with answering(lambda question: ServerAnswer("decline")):
                blocks = self._session.read_resource(uri).blocks
        except ToolbenchError as error:
            answer(error=(_REFUSED, str(error)))
        except Exception as error:  # noqa: BLE001 - the app waits for an answer
            answer(error=(_REFUSED, f"{type(error).__name__}: {error}"))
        else:
            answer(result={"contents": [block["resource"] for block in blocks]})
        finally:
            self._slots.release()

    def _note(self, parameters: Mapping[str, Any], answer: Any) -> None:
        """Keep the text of a `ui/message` request to show it to the user."""
        blocks = parameters.get("content")
        if not isinstance(blocks, list):
            blocks = [blocks]
        texts = []
        for block in blocks:
            if isinstance(block, Mapping) and isinstance(block.get("text"), str):
                texts.append(block["text"])
        if not texts:
            answer(result={"isError": True})
            return
        text = self._session.keep_secret(()).value("\n".join(texts)[:_LONGEST_TEXT])
        self._messages.append(str(text))
        answer(result={})
        self._changed()


def _request_in(text: str) -> dict[str, Any] | None:
    """Return the JSON-RPC request in *text*; None if *text* is not a request, or is too large."""
    if len(text) > LARGEST_MESSAGE:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    number, method = message.get("id"), message.get("method")
    if not isinstance(method, str) or isinstance(number, bool) or not isinstance(number, int | str):
        return None
    return message
