"""The contents of a resource, and a button for each resource to which a result links.

A resource is read only after a click on its button. Links and resources may be hostile.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

from toolbench.core.schema import redactor_of
from toolbench.core.tool import ToolDefinition
from toolbench.display.blocks import blocks_html
from toolbench.display.escape import Html, escape
from toolbench.display.markdown import markdown_html
from toolbench.display.page import notice, section
from toolbench.mcp.apps.preview import app_in, preview
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.mcp.results import MCPObservation, is_for
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.servers import connected
from toolbench.mcp.tool import MCPToolExecutor
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.widgets.explorer.requests import AskingRequest, Failure
from toolbench.widgets.fields import notes
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

MOST_LINKS = 20
"""The maximum number of links that have a button."""


def contents_html(observation: MCPResourceObservation, redactor: Redactor = NO_SECRETS) -> Html:
    """Return the contents of *observation* as safe HTML. An app is shown as a preview.

    Secrets are hidden: the secrets of the observation, and all secrets that *redactor* knows.
    """
    return Html(redactor.html(redactor_of(observation).html(_contents_html(observation))))


def _contents_html(observation: MCPResourceObservation) -> Html:
    warnings = "".join(notice(text, "warning") for text in observation.warnings)
    app = app_in(observation)
    if app is not None:
        return Html(f'{warnings}<div class="toolbench-app">{preview(app)}</div>')
    if not observation.blocks or not all(map(_is_markdown, observation.blocks)):
        return Html(warnings + blocks_html(observation.content))
    html = warnings
    for block in observation.blocks:
        html += section("Markdown", markdown_html(block["resource"]["text"]))
    return Html(html)


def _is_markdown(block: Any) -> bool:
    part = block.get("resource")
    return (
        isinstance(part, dict)
        and str(part.get("mimeType", "")).startswith("text/markdown")
        and isinstance(part.get("text"), str)
    )


# --- links -------------------------------------------------------------------------------


class _Link(NamedTuple):
    uri: str
    name: str


class LinkedResources:
    """A button for each link in the latest result, and the contents of the last resource read."""

    def __init__(self, parts: Parts, lock: AbstractContextManager[Any]) -> None:
        """Make an empty view. Its callbacks run while *lock* is held."""
        self._parts = parts
        self._lock = lock
        self._reading: AskingRequest[MCPResourceObservation] = AskingRequest(lock, parts)
        self._redactor = NO_SECRETS
        self._buttons: list[Any] = []
        self._row = parts.row()
        self._more = parts.html()
        self._contents = parts.html()
        self.widget = parts.column(self._row, self._more, self._reading.widget, self._contents)

    def offer(
        self,
        session: MCPServerSession | None,
        observation: MCPObservation,
        redactor: Redactor,
    ) -> None:
        """Show a button for each link in a result.

        Args:
            session: The server that sent the result. If it is None, no buttons are shown.
            observation: The result.
            redactor: Hides secrets of the call in the names of the links.
        """
        self.clear()
        self._redactor = redactor
        links = list(dict.fromkeys(_links_in(observation)))
        if session is not None:
            for link in links[:MOST_LINKS]:
                self._add(session, link)
        self._row.children = self._buttons
        left = len(links) - MOST_LINKS
        if left > 0:
            text = f"{counted(left, 'more link')}: result.links has all."
            put(self._more, notice(text, "neutral"))

    def _add(self, session: MCPServerSession, link: _Link) -> None:
        name, uri = (notes.label(self._redactor.text(text)) for text in (link.name, link.uri))
        button = self._parts.button(f"Read {name}", tip=f"Read the resource {uri}")

        def read(_: Any) -> None:
            with self._lock:
                put(self._contents, notice(f"Reading {name} …", "neutral"))
                self._reading.start(partial(session.read_resource, link.uri), self._show)

        button.on_click(read)
        self._buttons.append(button)

    def clear(self) -> None:
        """Remove the links and the contents. Ignore the result of a read that is still running."""
        self.leave()
        self._row.children = ()
        self._parts.drop(self._buttons)
        self._buttons = []
        put(self._more, Html(""))
        put(self._contents, Html(""))

    def leave(self) -> None:
        """Ignore the result of a read that is still running, and cancel its open question."""
        self._reading.forget()

    def _show(self, result: MCPResourceObservation | Failure) -> None:
        if isinstance(result, Failure):
            put(self._contents, notice(result.text, "danger"))
            return
        uri = redactor_of(result).text(self._redactor.text(result.uri))
        head = f"<div><code>{escape(notes.line(uri))}</code></div>"
        put(self._contents, Html(head + contents_html(result, self._redactor)))


def session_of(tool: ToolDefinition[Any, Any]) -> MCPServerSession | None:
    """Return the session with the server of *tool*; None if it is not connected."""
    executor = tool.executor
    if isinstance(executor, MCPToolExecutor):
        return executor.client
    return connected.session(getattr(tool, "server", ""))


def _links_in(observation: MCPObservation) -> Iterator[_Link]:
    """Yield the links in *observation*, except those that are only for a model."""
    for block in observation.blocks:
        uri = block.get("uri")
        is_link = block.get("type") == "resource_link" and is_for(block, "user")
        if is_link and isinstance(uri, str) and uri:
            name = uri
            for word in (block.get("name"), block.get("title")):
                if isinstance(word, str) and word.strip():
                    name = word
            yield _Link(uri, name)
