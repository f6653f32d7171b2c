"""The open message of the traffic, with its answer. A person can copy, repeat or edit a request."""

import json
from functools import partial
from typing import Any, Protocol

import ipywidgets as w

from toolbench.display.css import CODE_FONT
from toolbench.display.escape import Html, escape
from toolbench.display.json_tree import json_html
from toolbench.display.page import Card, cards_html, notice
from toolbench.mcp.monitoring.traffic import Exchange, Message, params_of
from toolbench.mcp.session import ELSEWHERE, MCPServerSession
from toolbench.redaction import MARK
from toolbench.widgets.explorer.updates import Failure, ServerQuestions, ServerRequest
from toolbench.widgets.kit.parts import Parts, put, show_if
from toolbench.wording import counted

_CALL = "tools/call"


class UseTool(Protocol):
    """A function that opens the panel of a tool, with arguments in its form; it may also run the tool."""

    def __call__(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name* with *arguments*, and run it if *is_run* is true.

        Return False if there is no such tool.
        """


class OpenMessage:
    """The view of one exchange: a message, and its answer if there is one.

    New messages do not close the view.
    """

    def __init__(
        self, parts: Parts, session: MCPServerSession, lock: Any, use_tool: UseTool
    ) -> None:
        """Show nothing until `show` is called.

        Args:
            parts: The factory of the widgets.
            session: The server to which requests are sent.
            lock: A lock that is held while something is shown.
            use_tool: A function that opens a tool in its panel. The panel asks for consent before
                a call.
        """
        self._session, self._lock = session, lock
        self._use_tool = use_tool
        self._server_request: ServerRequest[dict[str, Any]] = ServerRequest(lock)
        self._exchange: Exchange | None = None
        self._head = parts.html()
        self.repeat = parts.button("Repeat", tip="Send the same request again")
        self.edit = parts.button(
            "Edit and send",
            tip="Change its parameters first; a call of a tool is changed in its form",
        )
        self.send = parts.button("Send", look="primary")
        self.close = parts.button("Close")
        self._parts = parts
        self._area = parts.make(w.Textarea, "toolbench-code", description="Parameters")
        # Made when it is first shown
        self._editor: Any = None
        self._questions = ServerQuestions(parts)
        self._message = parts.html()
        self._cards = parts.html()
        self._buttons = parts.row(self.repeat, self.edit, self.close)
        self.widget = parts.column(kind="toolbench-opened")

    @property
    def number(self) -> int | None:
        """The number of the open message; None if no message is open."""
        return None if self._exchange is None else self._exchange.id

    def show(self, exchange: Exchange | None) -> None:
        """Show *exchange*. If it is None, show nothing."""
        self._exchange = exchange
        self.forget()
        put(self._message, Html(""))
        if exchange is None:
            self.widget.children = ()
            return
        message = exchange.message
        is_ours = message.kind == "request" and message.direction == "sent"
        can_send = is_ours and (message.method == _CALL or message.method not in ELSEWHERE)
        show_if(self.repeat, is_shown=can_send)
        show_if(self.edit, is_shown=can_send)
        self.refresh()
        self.widget.children = [
            self._head,
            self._buttons,
            self._questions.widget,
            self._message,
            self._cards,
        ]

    def refresh(self) -> None:
        """Show the exchange again, because its answer may have arrived."""
        exchange = self._exchange
        if exchange is None:
            return
        put(self._head, _head_html(exchange))
        cards = [_card(exchange.message)]
        cards += [_card(exchange.answer)] if exchange.answer is not None else []
        put(self._cards, cards_html(cards))

    def send_again(self) -> None:
        """Send the request again, unless it has a hidden secret. A tool call runs in the tool's panel."""
        exchange = self._exchange
        if exchange is None or self._holds_secret(exchange.message):
            return
        if exchange.message.method == _CALL:
            self._use(exchange.message, is_run=True)
        else:
            self._request(exchange.message.method, params_of(exchange.message))

    def start_editing(self) -> None:
        """Show the parameters for editing. A tool call is edited in the form of its tool."""
        exchange = self._exchange
        if exchange is None:
            return
        if exchange.message.method == _CALL:
            self._use(exchange.message, is_run=False)
            return
        params = {k: v for k, v in params_of(exchange.message).items() if k != "_meta"}
        self._area.value = json.dumps(params, indent=2, ensure_ascii=False)
        if self._editor is None:
            self._editor = self._parts.editor_of(self._area)
        self.widget.children = [
            self._head,
            self._buttons,
            self._editor,
            self.send,
            self._questions.widget,
            self._message,
            self._cards,
        ]

    def send_edited(self) -> None:
        """Send the request with the edited parameters."""
        exchange = self._exchange
        # A click that was held may come when another message is open
        if exchange is not None and self.send in self.widget.children:
            self._send_parameters(exchange.message.method)

    def _send_parameters(self, method: str) -> None:
        try:
            params = json.loads(self._area.value or "{}")
        except ValueError as error:
            put(self._message, notice(f"This is not JSON: {error}.", "warning"))
            return
        if not isinstance(params, dict):
            text = f"The parameters are an object, {{...}}, and not {type(params).__name__}."
            put(self._message, notice(text, "warning"))
            return
        self._request(method, params)

    def _holds_secret(self, message: Message) -> bool:
        """Return whether *message* has a hidden secret. If so, tell the person why it is not sent."""
        is_hidden = MARK in message.text
        if is_hidden:
            text = f"The message holds a secret, shown as {MARK}. Edit and send it: type the secret again."
            put(self._message, notice(text, "warning"))
        return is_hidden

    def _use(self, message: Message, *, is_run: bool) -> None:
        params = params_of(message)
        name, arguments = params.get("name"), params.get("arguments")
        arguments = dict(arguments) if isinstance(arguments, dict) else {}
        if not self._use_tool(str(name), arguments, is_run=is_run):
            text = f"The server does not list the tool {name!r}."
            put(self._message, notice(text, "warning"))
        elif not is_run:
            text = (
                f"The form of {name} now holds these arguments: change them there, then click Run."
            )
            put(self._message, notice(text, "neutral"))

    def _request(self, method: str, params: dict[str, Any]) -> None:
        params = {name: value for name, value in params.items() if name != "_meta"}
        put(self._message, notice("Sending …", "neutral"))
        ask = partial(self._session.request, method, params)
        self._server_request.start(self._questions.around(ask), self._sent)

    def _sent(self, result: dict[str, Any] | Failure) -> None:
        if isinstance(result, Failure):
            put(self._message, notice(result.text, "danger"))
        else:
            put(self._message, notice("Answered: see the newest message.", "success"))

    def forget(self) -> None:
        """Cancel the question of a request that still runs, and ignore its answer."""
        self._server_request.forget()
        self._questions.leave()


def _head_html(exchange: Exchange) -> Html:
    return Html(
        f'<div class="toolbench-head"><strong>#{exchange.id} {escape(exchange.subject)}</strong></div>'
    )


def _card(message: Message) -> Card:
    took = "" if message.seconds is None else f" · {message.seconds * 1000:,.0f} ms"
    size = counted(message.size, "character")
    sender = "Sent" if message.direction == "sent" else "Received"
    value: Any = message.json
    if isinstance(value, str):
        style = f"{CODE_FONT};margin:0;white-space:pre-wrap;overflow-wrap:anywhere"
        content = Html(f'<pre style="{style}">{escape(value)}</pre>')
    else:
        content = json_html(value)
    return Card(f"{sender}: {message.kind}", content, f"{size}{took}")
