"""The preview of a tool's app: HTML from the tool's server, and the calls that the app makes."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.mcp.apps.app_bridge import AppBridge
from toolbench.mcp.apps.preview import App, AppAddress, app_in, app_uri, preview
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.server_session import MCPServerSession
from toolbench.widgets.explorer.requests import Failure, ServerRequest
from toolbench.widgets.form.question import AGREE, QuestionBox
from toolbench.widgets.frontend import front_end
from toolbench.widgets.frontend.app_messages import app_messages
from toolbench.widgets.kit.parts import Parts, put, show_if
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.result import state_badge
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

# Addresses in the label of a button
_MOST_NAMES = 3


class AppView:
    """A button that shows the app of a tool: an HTML page that the tool's server provides.

    The app gets the arguments and the last result from the tool's panel. Questions and calls of the
    app are shown below the app. The app can send requests only if the page has loaded our
    JavaScript module.
    """

    def __init__(self, session: MCPServerSession, panel: "ToolPanel") -> None:
        """Make the button for the tool of *panel*."""
        self._session = session
        self._panel = panel
        self._server_request: ServerRequest[MCPResourceObservation] = ServerRequest(nullcontext())
        self._parts = parts = Parts()
        self._button = parts.button(
            "Preview its app",
            tip="Show the tool's app with these arguments and the result of the last run",
        )
        self._allow = parts.button("", look="warning", kind=AGREE)
        show_if(self._allow, is_shown=False)
        self._preview = parts.html()
        self._app: App | None = None
        self._button.on_click(lambda _: self._ask())
        self._allow.on_click(lambda _: self._go_online())
        self._questions = QuestionBox(parts)
        self._calls = parts.html()
        self._bridge: AppBridge | None = None
        self._name = ""
        self.widget = parts.column(
            self._button,
            self._allow,
            self._preview,
            self._questions.widget,
            self._calls,
            kind="toolbench-app",
        )

    def _ask(self) -> None:
        uri = app_uri(self._panel.tool)
        if uri is not None:
            self._app = None
            show_if(self._allow, is_shown=False)
            put(self._preview, notice("Reading the app …", "neutral"))
            read = partial(self._session.read_resource, uri)
            self._server_request.start(read, self._show)

    def _show(self, outcome: MCPResourceObservation | Failure) -> None:
        if isinstance(outcome, Failure):
            put(self._preview, notice(outcome.text, "danger"))
            return
        app = app_in(outcome)
        if app is None:
            message = f"{outcome.uri} holds no HTML: there is no app to show."
            put(self._preview, notice(message, "warning"))
            return
        self._app = app
        addresses = app.network.addresses
        self._allow.description = _allow_label(addresses)
        self._allow.tooltip = ", ".join(addresses)
        self._draw(app, is_online=False)
        show_if(self._allow, is_shown=bool(addresses))
        self._button.description = "Preview its app again"

    def _go_online(self) -> None:
        """Show the same app again, and let it access the addresses that the button names."""
        if self._app is not None:
            show_if(self._allow, is_shown=False)
            self._draw(self._app, is_online=True)

    def _draw(self, app: App, *, is_online: bool) -> None:
        result: Any = self._panel.result
        if not isinstance(result, MCPToolObservation):
            result = None
        self._leave()
        html = preview(
            app,
            arguments=self._panel.form.masked,
            result=result,
            address=self._connected(),
            is_online=is_online,
        )
        put(self._preview, html)

    def _connected(self) -> AppAddress | None:
        """Connect the app with the kernel, and return the address for the app's requests.

        If the page has not loaded our JavaScript module, connect nothing and return None.
        """
        key = front_end.key
        if not key:
            return None
        changed = partial(ticker.watch, self._show_calls)
        self._bridge = AppBridge(self._session, ask=self._questions.ask, changed=changed)
        self._name = app_messages.open(self._bridge.receive)
        return AppAddress(key, self._name)

    def _show_calls(self) -> bool:
        """Show the calls and messages of the app.

        Return False, so that the ticker stops calling this.
        """
        if self._bridge is not None and self._calls.comm is not None:
            put(self._calls, _calls_html(self._bridge))
        return False

    def _leave(self) -> None:
        """Disconnect the app that was shown before."""
        app_messages.close(self._name)
        bridge, self._bridge = self._bridge, None
        if bridge is not None:
            bridge.close()
        put(self._calls, Html(""))

    def close(self) -> None:
        """Close the app and stop its calls."""
        self._server_request.forget()
        self._leave()
        self._parts.close()


def _allow_label(addresses: Sequence[str]) -> str:
    """Return the label of the button that allows access to *addresses*, with the first few."""
    names = ", ".join(addresses[:_MOST_NAMES])
    left = len(addresses) - _MOST_NAMES
    if left > 0:
        names += f" and {counted(left, 'other')}"
    return f"Allow {names} for one preview"


def _calls_html(bridge: AppBridge) -> Html:
    """Return a line for each of the last calls and messages of the app."""
    lines = ""
    for run in bridge.runs:
        name = f"<code>{escape(run.tool.name[:200])}</code>"
        lines += f"<li>{state_badge(run.state, run.outcome)}{name} (run {run.id})</li>"
    for text in bridge.messages:
        lines += f"<li>To a model, which did not get it: {escape(text)}</li>"
    if not lines:
        return Html("")
    return Html(
        '<div role="status">What the app did:</div>'
        '<ul style="margin:2px 0 6px;padding-left:1.4em;overflow-wrap:anywhere">'
        f"{lines}</ul>"
    )
