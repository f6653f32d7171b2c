"""The tab with a server's prompts: a form for the arguments, and the messages."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from toolbench.core.content import TextContent, describe
from toolbench.core.schema import redactor_of
from toolbench.display.blocks import blocks_html
from toolbench.display.css import LINE, REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.images import icon_html, icon_source
from toolbench.display.markdown import markdown_html
from toolbench.display.page import Tone, badge, notice
from toolbench.mcp.lists.prompts import MCPPromptObservation, Prompt
from toolbench.mcp.server_session import MCPServerSession
from toolbench.widgets.explorer.requests import Failure
from toolbench.widgets.explorer.tabs import Lock, RemoteListPane
from toolbench.widgets.kit.search_list import Item
from toolbench.widgets.resource_views import LinkedResources

_MESSAGES = 100


class PromptsPane(RemoteListPane):
    """A list of prompts. The picked prompt has a form, and below it the messages."""

    title = "Prompts"
    verb = "Get messages"
    hears: ClassVar[frozenset[str]] = frozenset({"prompts", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """List the prompts of the server, in the background."""
        super().__init__(session, lock)
        self._links = LinkedResources(self._parts, lock)
        self._extras = [self._links.widget]
        self.refresh()

    def _ask(self) -> Iterable[Prompt]:
        return self.session.prompts

    def _item(self, offer: Prompt) -> Item:
        name = offer.title or offer.name
        icon = icon_source(offer.raw.get("icons"))
        return Item(offer.name, name, offer.description, offer.name, icon=icon)

    def _about_html(self, offer: Prompt) -> Html:
        name = about = ""
        if offer.title and offer.title != offer.name:
            name = f" <code>{escape(offer.name)}</code>"
        if offer.description.strip():
            about = markdown_html(offer.description)
        title = Html(icon_html(offer.raw.get("icons")) + escape(offer.title or offer.name))
        head = f"<strong>{title}</strong>{name}"
        return Html(f'<div style="margin:6px 0 4px">{head}</div>{about}')

    def _schema_of(self, offer: Prompt) -> Mapping[str, Any] | None:
        if offer.arguments:
            return offer.schema
        return None

    def _pick(self, key: str) -> None:
        self._links.clear()
        super()._pick(key)

    def _read_picked(self) -> None:
        """Ask the server for the messages, if the form has no errors."""
        name, values = self._list.picked, {}
        if self._form is not None:
            if not self._form.is_ready:
                return
            values = self._form.values
        if name is not None:
            self._links.clear()
            read = partial(self.session.get_prompt, name, **values)
            self._start(read, "Asking the server …")

    def _show_result(self, result: MCPPromptObservation | Failure) -> None:
        super()._show_result(result)
        if not isinstance(result, Failure):
            self._links.offer(self.session, result, redactor_of(result))

    def _result_html(self, result: MCPPromptObservation) -> Html:
        """Return the messages as HTML.

        The result may have a description of its own. If it differs from the prompt's, it is shown
        above the messages.
        """
        html = "".join(notice(text, "warning") for text in result.warnings)
        prompt = self._offers.get(self._list.picked or "")
        known = {""}
        if prompt is not None:
            known.add(prompt.description.strip())
        if result.description.strip() not in known:
            html += f'<div style="{REMARK}">{escape(result.description)}</div>'
        html += "".join(map(_message_html, result.messages[:_MESSAGES]))
        # A server may write the arguments into the messages
        return Html(redactor_of(result).html(html))

    def close(self) -> None:
        """Close the tab. If a linked resource is still being read, ignore it."""
        self._links.leave()
        super().close()


def _message_html(message: dict[str, Any]) -> str:
    role = str(message.get("role") or "unknown")
    tone: Tone = "neutral"
    if role == "user":
        tone = "info"
    content = message.get("content")
    if not isinstance(content, list):
        content = [content]
    blocks = []
    for block in content:
        if isinstance(block, dict):
            blocks += describe(block, [])
        else:
            blocks.append(TextContent(text=str(block)))
    return (
        f'<div style="border-left:{LINE};padding:0 0 2px 10px;margin:6px 0">'
        f"<div>{badge(role, tone)}</div>{blocks_html(blocks)}</div>"
    )
