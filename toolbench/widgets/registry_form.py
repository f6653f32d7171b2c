"""The form to connect a server of a registry: required values, a preview, and approval."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import RLock
from typing import Any

from toolbench.display.escape import Html, escape, link, on_one_line
from toolbench.display.page import badge, notice
from toolbench.errors import ToolbenchError
from toolbench.mcp.config.registry import RegisteredServer
from toolbench.mcp.config.registry_file import Way
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.trust.configurations import connection_question
from toolbench.runs.dialogue import settle
from toolbench.runs.questions import Answer, Question
from toolbench.widgets.explorer.requests import Failure, ServerRequest
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.parts import PANEL, SUBMIT, Parts, put, show_if
from toolbench.widgets.live_view import LiveView

Connect = Callable[[ServerEntry], Any]
"""A function that connects an entry, and returns the object that a cell would show."""
_REFUSED = "Nothing was connected: you declined."


class RegistryForm(LiveView):
    """A form to connect a server that is listed in a registry.

    The form shows what will run. A server is started or connected only after the user has approved
    this.

    Attributes:
        form: The form for the values that the server needs, such as an API key. It is None after
            the server has been connected.
    """

    def __init__(
        self, name: str, server: RegisteredServer, ways: Mapping[str, Way], connect: Connect
    ) -> None:
        """Show the form of the first way to connect. If it has no fields, ask for approval at once.

        Args:
            name: The name that the server will have in this session.
            server: The description of the server in the registry.
            ways: The ways to reach or start the server, such as a URL or a command, by label.
            connect: A function that connects the server. A thread calls it after approval.
        """
        self._name, self._server, self._ways, self._connect = name, server, ways, connect
        self._head = _head_html(server)
        self._outcome = Html("")
        self._is_connecting = False
        self._asked: Future[Answer] = Future()
        parts, lock = Parts(), RLock()
        self._request: ServerRequest[Any] = ServerRequest(lock)
        self._chooser = parts.chooser("How it runs", list(ways))
        self._chooser.observe(lambda _: self._choose(), "value")
        self._place = parts.column()
        self._next = parts.button("Show what will run", self._show, look="primary", kind=SUBMIT)
        self._box = QuestionBox(parts)
        self._state = parts.html()
        show_if(self._chooser, is_shown=len(ways) > 1)
        # The inputs are removed once the server is connected
        self._inputs = parts.column(self._chooser, self._place, parts.row(self._next))
        self.form: SchemaForm | None = None
        self._choose()
        shown = [parts.html(PANEL), parts.html(self._head), self._inputs]
        shown += [self._box.widget, self._state]
        super().__init__(parts, lock, shown, "toolbench-panel", "toolbench-registry")

    def _choose(self) -> None:
        """Show the form of the chosen way."""
        self._forget_question()
        way = self._ways[self._chooser.value]
        self._put_form(SchemaForm(way.schema))
        if not way.asks:
            self._show()

    def _put_form(self, form: SchemaForm | None) -> None:
        """Show *form* in place of the previous form, whose values are lost."""
        before, self.form = self.form, form
        self._place.children = []
        if form is not None:
            self._place.children = [form.widget]
        if before is not None:
            before.close()

    def _show(self) -> None:
        """Show what will run with the values of the form, and ask for approval."""
        form = self.form
        if form is None or self._is_connecting:
            return
        self._forget_question()
        if form.errors:
            form.reveal_errors(focus=True)
            return
        way, values = self._ways[self._chooser.value], form.value
        try:
            entry = way.entry(values)
            shown = way.entry(values, with_marks=True)
            question = connection_question(self._name, shown, self._server.source)
        except ToolbenchError as error:
            put(self._state, notice(str(error), "danger"))
            return
        self._asked = self._box.put(question)
        self._asked.add_done_callback(partial(self._answered, question, entry))

    def _forget_question(self) -> None:
        """Withdraw the open question for approval, because the form has changed since."""
        settle(self._asked, Answer("cancel"))
        put(self._state, Html(""))

    def _answered(self, question: Question, entry: ServerEntry, asked: "Future[Answer]") -> None:
        answer = question.meaning_of(asked.result())
        if answer:
            self._set_connecting(is_connecting=True)
            put(self._state, Html(f'<span role="status">{badge("connecting", "info")}</span>'))
            self._request.start(partial(self._connect, entry), self._connected)
        elif answer.action == "decline":
            put(self._state, notice(_REFUSED, "neutral"))

    def _connected(self, result: Any) -> None:
        """Show the outcome. If the server is connected, remove the form."""
        if isinstance(result, Failure):
            self._outcome = notice(result.text, "danger")
        else:
            self._put_form(None)
            show_if(self._inputs, is_shown=False)
            self._outcome = Html(result._repr_mimebundle_()["text/html"])
        put(self._state, self._outcome)
        self._set_connecting(is_connecting=False)
        self.renew()

    def _set_connecting(self, *, is_connecting: bool) -> None:
        self._is_connecting = is_connecting
        self._next.disabled = self._chooser.disabled = is_connecting

    @property
    def is_busy(self) -> bool:
        """Whether the server is being connected."""
        return self._is_connecting

    def _release(self) -> None:
        self._request.forget()
        settle(self._asked, Answer("cancel"))
        self._put_form(None)

    def _static(self) -> dict[str, Any]:
        html = f"{self._head}{self._outcome}"
        return {"text/plain": repr(self), "text/html": html}

    def __repr__(self) -> str:
        return f"<the form to connect {self._server.source}>"


def _head_html(server: RegisteredServer) -> Html:
    """Return the title, description, status and home page of *server* in the registry, as HTML."""
    title = on_one_line(server.text("title") or server.name)
    html = Html(
        f"<div><strong>{escape(title)}</strong> {escape(server.source)}</div>"
        f"<div>{escape(on_one_line(server.text('description')))}</div>"
    )
    if server.status != "active":
        text = on_one_line(f"The registry says {server.status}. {server.status_message}".strip())
        html = Html(html + notice(text, "warning"))
    page = server.text("websiteUrl")
    if page:
        html = Html(f"{html}<div>{link(page, escape(on_one_line(page)))}</div>")
    return html
