"""The tab of a server's prompts: a form for the arguments, and the messages."""

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
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import (
    ListNotes,
    ListPane,
    Lock,
)
from toolbench.widgets.explorer.panes.request_form import PickedForm, proposals
from toolbench.widgets.explorer.updates import Failure, ServerQuestions, ServerRequest
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.resource_views.linked_resources import LinkedResources

_MESSAGES = 100


class PromptsPane(ListPane):
    """A list of prompts. For the picked prompt it shows a form and the messages."""

    title = "Prompts"
    hears: ClassVar[frozenset[str]] = frozenset({"prompts", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Ask the server for its prompts, in the background."""
        super().__init__(session, lock)
        parts = self._parts
        self._prompts: dict[str, Prompt] = {}
        self._lists: ServerRequest[list[Prompt]] = ServerRequest(self._lock)
        self._writing: ServerRequest[MCPPromptObservation] = ServerRequest(self._lock)
        self._notes = ListNotes(parts, session, "prompts")
        self._list = PickList(parts, "Prompts", self._pick, lock)
        self._about = parts.html()
        self._write = parts.button("Get messages", look="primary")
        self._questions = ServerQuestions(parts)
        self._result = parts.html()
        self._links = LinkedResources(parts, lock)
        self.detail = parts.column(self._notes.empty, kind="toolbench-page")
        self._picked = PickedForm(self.detail)
        self.on(self._write, self._ask)
        self.widget = parts.column(self._notes.above, self._list.widget)
        self.refresh()

    def refresh(self) -> None:
        """Show the latest prompts. The session asks the server for its prompts only if this is necessary."""
        if self._notes.can_list():
            self._lists.start(lambda: list(self.session.prompts), self._show_list)

    def _show_list(self, result: list[Prompt] | Failure) -> None:
        if isinstance(result, Failure):
            self._notes.say_failure(result.text)
            return
        self._prompts = {prompt.name: prompt for prompt in result}
        self._notes.say_changes(self._prompts)
        self._list.offer([_item(prompt) for prompt in result], "No prompts.")
        self._list.pick_first()

    def _pick(self, name: str) -> None:
        prompt = self._prompts[name]
        self._leave_prompt()
        self._result.value = Html("")
        self._links.clear()
        self._about.value = _about_html(prompt)
        form = self._picked.open(name, prompt.schema, proposals(self.session, prompt))
        fields = []
        if prompt.arguments:
            fields.append(form.widget)
        self.detail.children = [
            *(self._about, *fields, self._write),
            *(self._questions.widget, self._result, self._links.widget),
        ]

    def _ask(self) -> None:
        """Ask the server for the messages, if the form has no errors."""
        name, form = self._list.picked, self._picked.form
        if name is not None and form is not None and form.is_ready:
            self._result.value = notice("Asking the server …", "neutral")
            self._links.clear()
            write = partial(self.session.get_prompt, name, **form.values)
            self._writing.start(self._questions.around(write), self._show)

    def _show(self, result: MCPPromptObservation | Failure) -> None:
        if isinstance(result, Failure):
            self._result.value = notice(result.text, "danger")
        else:
            prompt = self._prompts.get(self._list.picked or "")
            known = "" if prompt is None else prompt.description
            self._result.value = _messages_html(result, known)
            self._links.offer(self.session, result, redactor_of(result))

    def _leave_prompt(self) -> None:
        self._writing.forget()
        self._questions.leave()
        self._picked.drop()

    def close(self) -> None:
        """Close the tab and its form; results of requests that still run are ignored."""
        self._lists.forget()
        self._links.leave()
        self._leave_prompt()
        super().close()


def _item(prompt: Prompt) -> Item:
    return Item(
        *(prompt.name, prompt.title or prompt.name, prompt.description, prompt.name),
        icon=icon_source(prompt.raw.get("icons")),
    )


def _about_html(prompt: Prompt) -> Html:
    title = prompt.title or prompt.name
    name = f" <code>{escape(prompt.name)}</code>" if title != prompt.name else ""
    icon = icon_html(prompt.raw.get("icons"))
    about = markdown_html(prompt.description) if prompt.description.strip() else ""
    return Html(
        f'<div style="margin:6px 0 4px"><strong>{icon}{escape(title)}</strong>{name}</div>{about}'
    )


def _messages_html(written: MCPPromptObservation, known: str) -> Html:
    """Return the messages; above them their description, unless it is *known*, the prompt's own."""
    warnings = "".join(notice(text, "warning") for text in written.warnings)
    about = f'<div style="{REMARK}">{escape(written.description)}</div>'
    messages = "".join(map(_message_html, written.messages[:_MESSAGES]))
    is_new = written.description.strip() not in ("", known.strip())
    return Html(warnings + about * is_new + messages)


def _message_html(message: dict[str, Any]) -> str:
    role = str(message.get("role") or "unknown")
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content]
    texts = [
        item
        for block in blocks
        for item in (
            describe(block, []) if isinstance(block, dict) else [TextContent(text=str(block))]
        )
    ]
    tone: Tone = "info" if role == "user" else "neutral"
    return (
        f'<div style="border-left:{LINE};padding:0 0 2px 10px;margin:6px 0">'
        f"<div>{badge(role, tone)}</div>{blocks_html(texts)}</div>"
    )
