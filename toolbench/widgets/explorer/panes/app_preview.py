"""Preview the app of a tool: the HTML its server offers to chats, without scripts."""

from contextlib import nullcontext
from functools import partial
from typing import Any, Protocol

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.mcp.features.apps import app_in, app_uri, preview
from toolbench.mcp.features.resources import MCPResourceObservation
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.updates import Failure, ServerRequest
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts


class Panel(Protocol):
    """The parts of a tool's panel that the preview needs."""

    @property
    def tool(self) -> ToolDefinition[Any, Any]:
        """The tool."""

    @property
    def form(self) -> SchemaForm:
        """Its form."""

    @property
    def result(self) -> Observation | None:
        """The observation of its last run."""


class AppView:
    """A button that shows the app with the panel's arguments and last result."""

    def __init__(self, session: MCPServerSession, panel: Panel) -> None:
        """Make the button for the tool of *panel*."""
        self._session = session
        self._panel = panel
        self._server_request: ServerRequest[MCPResourceObservation] = ServerRequest(
            nullcontext()
        )
        self._parts = parts = Parts()
        self._button = parts.button(
            "Preview its app",
            tip="With these arguments, and the result of the last run",
        )
        self._preview = parts.html()
        self._button.on_click(lambda _: self._ask())
        self.widget = parts.column(self._button, self._preview, kind="toolbench-app")

    def _ask(self) -> None:
        uri = app_uri(self._panel.tool)
        if uri is not None:
            self._preview.value = notice("Reading the app …", "neutral")
            read = partial(self._session.read_resource, uri)
            self._server_request.start(read, self._show)

    def _show(self, outcome: MCPResourceObservation | Failure) -> None:
        if isinstance(outcome, Failure):
            self._preview.value = notice(outcome.text, "danger")
            return
        app = app_in(outcome)
        if app is None:
            message = f"{outcome.uri} holds no HTML: there is no app to show."
            self._preview.value = notice(message, "warning")
            return
        result = self._panel.result
        self._preview.value = Html(
            preview(
                app,
                arguments=self._panel.form.masked,
                result=result if isinstance(result, MCPToolObservation) else None,
            )
        )
        self._button.description = "Preview its app again"

    def close(self) -> None:
        """Close the preview."""
        self._server_request.forget()
        self._parts.close()
