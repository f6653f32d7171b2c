"""The tab with all JSON-RPC messages of a server: filter, open, copy and repeat them."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Protocol

import ipywidgets as w

from toolbench.display.css import CODE_FONT
from toolbench.display.escape import Html, escape, on_one_line
from toolbench.display.json_tree import json_html
from toolbench.display.page import Card, Tone, cards_html, notice
from toolbench.mcp.monitoring.traffic import (
    TRAFFIC_KEYS,
    Exchange,
    Exchanges,
    Message,
    params_of,
)
from toolbench.mcp.server_session import ELSEWHERE, MCPServerSession
from toolbench.redaction import MARK
from toolbench.widgets.explorer.requests import Failure
from toolbench.widgets.explorer.tabs import Lock, Pane
from toolbench.widgets.kit.filter_field import FilterField
from toolbench.widgets.kit.message_lines import Line, MessageLines
from toolbench.widgets.kit.parts import put, show_if
from toolbench.wording import counted, duration

CALL = "tools/call"
"""The method of a call of a tool."""
_PROGRESS = "notifications/progress"


class UseTool(Protocol):
    """A function that opens a tool's panel with arguments in its form, and may run the tool."""

    def __call__(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name* with *arguments*, and run it if *is_run* is true.

        Return False if there is no such tool.
        """


class TrafficPane(Pane):
    """One line for each exchange (a message with its answer), and below them the opened message."""

    title = "Traffic"
    hears: ClassVar[frozenset[str]] = frozenset({"traffic", "status"})

    def __init__(
        self, session: MCPServerSession, lock: Lock, use_tool: UseTool, *, tool: str = ""
    ) -> None:
        """Show the messages that were sent and received so far.

        Args:
            session: The server.
            lock: The lock of the view that contains the pane.
            use_tool: A function that opens a tool when the user repeats or edits one of its calls.
            tool: The name of a tool on the server, to show only its calls and their progress; empty
                to show all messages.
        """
        super().__init__(session, lock)
        parts = self._parts
        self._tool = tool
        # The progress tokens of the tool's calls
        self._progress_tokens: list[Any] = []
        self._read = 0
        self._exchanges = Exchanges()
        self._all: dict[int, Exchange] = {}
        self._filter = FilterField(parts, "Filter messages", TRAFFIC_KEYS)
        nothing = "No message matches."
        if tool:
            nothing = "No message of its calls."
        self._lines = MessageLines(
            parts,
            _line,
            label="Messages",
            opens="Open message",
            noun="exchange",
            nothing=nothing,
        )
        self._number = self._lines.number
        close = partial(self._number.set_trait, "value", "")
        self._opened = OpenMessage(session, lock, use_tool, close)
        self.on(self._filter.text, self._restart)
        self.on(self._number, self._open)
        self.widget = parts.column(
            self._filter.widget,
            self._lines.widget,
            self._opened.widget,
        )
        self.refresh()

    def refresh(self) -> None:
        """Add the new messages, and mark the requests that ended with the connection."""
        kept = list(self.session.traffic)
        new = [m for m in kept if m.id > self._read]
        found = self._exchanges.add(new)
        if new:
            self._read = new[-1].id
        changed = [each for each in found if self._is_of_tool(each)]
        if not changed:
            return
        self._all.update((exchange.id, exchange) for exchange in changed)
        # The user may have cleared the traffic
        if kept:
            self._forget_old(kept[0].id)
        self._lines.add(filter(self._filter.matches, changed))
        if self._opened.exchange in changed:
            self._opened.refresh()

    def _is_of_tool(self, exchange: Exchange) -> bool:
        """Tell whether *exchange* is to be shown: it belongs to the tool, or all are shown."""
        message = exchange.message
        if not self._tool:
            return True
        if exchange.before is not None:
            return False
        if message.method == _PROGRESS:
            return params_of(message).get("progressToken") in self._progress_tokens
        if exchange.tool != self._tool:
            return False
        params = params_of(message)
        meta = params.get("_meta")
        if isinstance(meta, dict):
            self._progress_tokens.append(meta.get("progressToken"))
        return True

    def _forget_old(self, oldest: int) -> None:
        """Remove the exchanges that the session has already dropped.

        *oldest* is the number of the oldest message that the session still has.
        """
        for number in list(self._all):
            exchange = self._all[number]
            if (exchange.answer or exchange.message).id >= oldest:
                break
            del self._all[number]

    @staticmethod
    def count(session: MCPServerSession) -> str:
        """Return the number of messages, in brackets; empty if there are none."""
        if not len(session.traffic):
            return ""
        return f" ({len(session.traffic):,})"

    def _restart(self) -> None:
        self._lines.restart(list(filter(self._filter.matches, self._all.values())))

    def _open(self) -> None:
        # A picked reconnection has the negative number of its first message
        number = self._number.value.strip().lstrip("#-")
        exchange = None
        if number.isdecimal():
            exchange = self._all.get(int(number))
        self._opened.show(exchange)

    def close(self) -> None:
        """Close the tab and the open message."""
        self._opened.close()
        super().close()


def _messages_of(exchange: Exchange) -> list[Message]:
    if exchange.answer is None:
        return [exchange.message]
    return [exchange.message, exchange.answer]


def _line(exchange: Exchange) -> Line:
    message = exchange.message
    return Line(
        number=exchange.id,
        at=int(message.time),
        is_sent=message.direction == "sent",
        subject=on_one_line(exchange.subject),
        outcome=on_one_line(exchange.outcome),
        duration=exchange.took,
        is_failed=exchange.is_failed,
    )


# --- the open message --------------------------------------------------------------------


class OpenMessage(Pane):
    """The view of a message to or from a server, and of its answer if there is one.

    The view stays open when new messages arrive. If the message is a request, the user can copy,
    repeat or edit it.
    """

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        use_tool: UseTool,
        close: Callable[[], object],
    ) -> None:
        """Show nothing until `show` is called.

        Args:
            session: The server to which requests are sent.
            lock: The lock of the view that contains this one, which is held during updates.
            use_tool: A function that opens a tool in its panel. Calls are repeated there, because
                the panel asks for consent.
            close: The function that the button *Close* calls.
        """
        super().__init__(session, lock)
        parts = self._parts
        self._request = self.asking_request()
        self._use_tool = use_tool
        self.exchange: Exchange | None = None
        """The open exchange."""
        self._head = parts.html()
        self._repeat = self.button("Repeat", self._send_again, tip="Send the same request again")
        self._edit = self.button(
            "Edit and send",
            self._start_editing,
            tip="Change its parameters first; a call of a tool is changed in its form",
        )
        self._send = self.button("Send", self._send_edited, look="primary")
        self._area = parts.make(w.Textarea, "toolbench-code", description="Parameters")
        # Made when it is first shown
        self._editor: Any = None
        self._message = parts.html()
        self._cards = parts.html()
        self._buttons = parts.row(self._repeat, self._edit, self.button("Close", close))
        self.widget = parts.column(kind="toolbench-opened")

    def show(self, exchange: Exchange | None) -> None:
        """Show *exchange*, or nothing if it is None."""
        self.exchange = exchange
        self._request.forget()
        self._say("")
        if exchange is None:
            self.widget.children = ()
            return
        message = exchange.message
        is_ours = message.kind == "request" and message.direction == "sent"
        can_send = is_ours and (message.method == CALL or message.method not in ELSEWHERE)
        show_if(self._repeat, is_shown=can_send)
        show_if(self._edit, is_shown=can_send)
        self.refresh()
        self._place()

    def _place(self, *editing: Any) -> None:
        below = [self._request.widget, self._message, self._cards]
        self.widget.children = [self._head, self._buttons, *editing, *below]

    def _say(self, text: str, tone: Tone = "neutral") -> None:
        html = Html("")
        if text:
            html = notice(text, tone)
        put(self._message, html)

    def refresh(self) -> None:
        """Show the exchange again, because its answer may have arrived since."""
        if self.exchange is not None:
            title = escape(self.exchange.subject)
            head = f"<strong>#{self.exchange.id} {title}</strong>"
            put(self._head, Html(f'<div class="toolbench-head">{head}</div>'))
            put(self._cards, cards_html(map(_card, _messages_of(self.exchange))))

    def _send_again(self) -> None:
        """Send the request again, unless it contains a hidden secret.

        If the request is a call, run it in the panel of its tool.
        """
        if self.exchange is None:
            return
        message = self.exchange.message
        if MARK in message.text:
            text = f"The message holds a secret, shown as {MARK}. Edit and send it: type the secret again."
            self._say(text, "warning")
        elif message.method == CALL:
            self._use(message, is_run=True)
        else:
            self._send_request(message.method, params_of(message))

    def _start_editing(self) -> None:
        """Show the parameters as JSON for editing. For a call, open the tool's form instead."""
        if self.exchange is None:
            return
        message = self.exchange.message
        if message.method == CALL:
            self._use(message, is_run=False)
            return
        params = _without_meta(params_of(message))
        self._area.value = json.dumps(params, indent=2, ensure_ascii=False)
        if self._editor is None:
            self._editor = self._parts.editor_of(self._area)
        self._place(self._editor, self._send)

    def _send_edited(self) -> None:
        """Send the request with the edited parameters."""
        # A delayed click may arrive when another message is open
        if self.exchange is None or self._send not in self.widget.children:
            return
        try:
            params = json.loads(self._area.value or "{}")
        except ValueError as error:
            self._say(f"This is not JSON: {error}.", "warning")
            return
        if isinstance(params, dict):
            self._send_request(self.exchange.message.method, params)
        else:
            kind = type(params).__name__
            self._say(f"The parameters must be an object, {{...}}, not {kind}.", "warning")

    def _use(self, message: Message, *, is_run: bool) -> None:
        params = params_of(message)
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(arguments, dict):
            arguments = {}
        if not self._use_tool(str(name), dict(arguments), is_run=is_run):
            self._say(f"The server does not list the tool {name!r}.", "warning")
        elif not is_run:
            self._say(
                f"The form of {name} now holds these arguments: change them there, then click Run."
            )

    def _send_request(self, method: str, params: dict[str, Any]) -> None:
        self._say("Sending …")
        send = partial(self.session.request, method, _without_meta(params))
        self._request.start(send, self._sent)

    def _sent(self, result: dict[str, Any] | Failure) -> None:
        if isinstance(result, Failure):
            self._say(result.text, "danger")
        else:
            self._say("Answered: see the newest message.", "success")


def _without_meta(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "_meta"}


def _card(message: Message) -> Card:
    remark = counted(message.size, "character")
    if message.seconds is not None:
        remark += f" · {duration(message.seconds)}"
    value: Any = message.json
    if isinstance(value, str):
        style = f"{CODE_FONT};margin:0;white-space:pre-wrap;overflow-wrap:anywhere"
        content = Html(f'<pre style="{style}">{escape(value)}</pre>')
    else:
        content = json_html(value)
    return Card(f"{message.direction.capitalize()}: {message.kind}", content, remark)
