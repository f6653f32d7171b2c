"""The resources to which a result has links: a button for each link, and the contents below.

A resource is read only after a click. The texts of a link and of a resource may be hostile.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

from toolbench.core.schema import redactor_of
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.mcp.results import MCPObservation, is_for
from toolbench.mcp.servers import connected
from toolbench.mcp.session import MCPServerSession
from toolbench.mcp.tool import MCPToolExecutor
from toolbench.redaction.redactor import Redactor
from toolbench.widgets.explorer.updates import Failure, ServerQuestions, ServerRequest
from toolbench.widgets.fields import notes
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.resource_views.resource_contents import contents_html
from toolbench.wording import counted

MOST_LINKS = 20
"""The maximum number of links that have a button."""


class _Link(NamedTuple):
    uri: str
    name: str


class LinkedResources:
    """A button for each link in the latest result, and the contents of the resource that was read."""

    def __init__(self, parts: Parts, lock: AbstractContextManager[Any]) -> None:
        """Make an empty view. Its callbacks run while *lock* is held."""
        self._parts = parts
        self._lock = lock
        self._reading: ServerRequest[MCPResourceObservation] = ServerRequest(lock)
        self._session: MCPServerSession | None = None
        self._redactor = Redactor()
        self._buttons: list[Any] = []
        self._row = parts.row()
        self._more = parts.html()
        self._questions = ServerQuestions(parts)
        self._contents = parts.html()
        self.widget = parts.column(self._row, self._more, self._questions.widget, self._contents)

    def offer(
        self,
        session: MCPServerSession | None,
        observation: MCPObservation,
        redactor: Redactor | None = None,
    ) -> None:
        """Show a button for each link in *observation*, a result from *session*.

        If *session* is None, show no buttons. *redactor* hides the secrets of the call
        in the names of the links.
        """
        self.clear()
        self._session = session
        links = list(dict.fromkeys(_links_in(observation)))
        self._redactor = redactor or Redactor()
        hide = self._redactor.text
        for link in links[:MOST_LINKS] if session is not None else ():
            name, uri = (notes.label(hide(text)) for text in (link.name, link.uri))
            button = self._parts.button(f"Read {name}", tip=f"Read the resource {uri}")
            button.on_click(partial(self._ask, link.uri))
            self._buttons.append(button)
        self._row.children = self._buttons
        left = len(links) - MOST_LINKS
        if left > 0:
            text = f"{counted(left, 'more link')}: result.links has all."
            put(self._more, notice(text, "neutral"))

    def clear(self) -> None:
        """Remove the links and the contents. Ignore the result of a read that still runs."""
        self.leave()
        self._row.children = ()
        self._parts.drop(self._buttons)
        self._buttons = []
        put(self._more, Html(""))
        put(self._contents, Html(""))

    def leave(self) -> None:
        """Ignore the result of a read that still runs, and cancel the server's open question."""
        self._reading.forget()
        self._questions.leave()

    def _ask(self, uri: str, button: Any) -> None:
        with self._lock:
            session = self._session
            if session is None:
                return
            text = f"Reading {button.description.removeprefix('Read ')} …"
            put(self._contents, notice(text, "neutral"))
            read = partial(session.read_resource, uri)
            self._reading.start(self._questions.around(read), self._show)

    def _show(self, result: MCPResourceObservation | Failure) -> None:
        if isinstance(result, Failure):
            put(self._contents, notice(result.text, "danger"))
            return
        uri = redactor_of(result).text(self._redactor.text(result.uri))
        head = f"<div><code>{escape(notes.line(uri))}</code></div>"
        put(self._contents, Html(head + contents_html(result, self._redactor)))


def session_of(tool: ToolDefinition[Any, Any]) -> MCPServerSession | None:
    """Return the session with the server of *tool*; None if there is no session."""
    executor = tool.executor
    if isinstance(executor, MCPToolExecutor):
        return executor.client
    return connected.session(getattr(tool, "server", ""))


def _links_in(observation: MCPObservation) -> Iterator[_Link]:
    """Yield the links in *observation*, except links that are only for a model."""
    for block in observation.blocks:
        uri = block.get("uri")
        is_link = block.get("type") == "resource_link" and is_for(block, "user")
        if is_link and isinstance(uri, str) and uri:
            yield _Link(uri, _name(block) or uri)


def _name(block: Mapping[str, Any]) -> str:
    names = (block.get("title"), block.get("name"))
    return next((name for name in names if isinstance(name, str) and name.strip()), "")
