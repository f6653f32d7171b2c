"""The tab of a server's resources: list, read and subscribe to them."""

from functools import partial
from typing import Any, ClassVar

from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.images import icon_html, icon_source
from toolbench.display.markdown import markdown_html
from toolbench.display.page import badge, notice
from toolbench.mcp.lists.resources import (
    MCPResourceObservation,
    Resource,
    ResourceTemplate,
)
from toolbench.mcp.session import MCPServerSession
from toolbench.redaction.detect import Secrecy
from toolbench.widgets.explorer.panes.pane import (
    MOST,
    ListNotes,
    ListPane,
    Lock,
)
from toolbench.widgets.explorer.panes.request_form import PickedForm, proposals
from toolbench.widgets.explorer.updates import Failure, ServerQuestions, ServerRequest
from toolbench.widgets.kit.parts import show_if
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.resource_views.resource_contents import contents_html
from toolbench.wording import human_size, listed

Offer = Resource | ResourceTemplate
_UPDATED = "notifications/resources/updated"


class ResourcesPane(ListPane):
    """A list of resources and templates. A person can read and subscribe to the picked item."""

    title = "Resources"
    hears: ClassVar[frozenset[str]] = frozenset({"resources", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Ask the server for its resources and templates, in the background."""
        super().__init__(session, lock)
        parts = self._parts
        self._offers: dict[str, Offer] = {}
        self._lists: ServerRequest[list[Offer]] = ServerRequest(self._lock)
        self._reading: ServerRequest[MCPResourceObservation] = ServerRequest(self._lock)
        self._following: ServerRequest[None] = ServerRequest(self._lock)
        self._uri = ""
        self._subscribed: set[str] = set()
        self._last_update = _last_message(session)
        self._notes = ListNotes(parts, session, "resources")
        self._list = PickList(parts, "Resources", self._pick, lock)
        self._about = parts.html()
        self._read = parts.button("Read", look="primary")
        self._follow = parts.button("Subscribe", tip="Get a note when it changes")
        self._buttons = parts.row(self._read, self._follow)
        self._questions = ServerQuestions(parts)
        self._updates = parts.html()
        self._result = parts.html()
        self.detail = parts.column(self._notes.empty, kind="toolbench-page")
        self._picked = PickedForm(self.detail)
        self.on(self._read, self._ask)
        self.on(self._follow, self._subscribe)
        self.widget = parts.column(self._notes.above, self._list.widget)
        self.refresh()

    # --- the list -----------------------------------------------------------------

    def refresh(self) -> None:
        """Show the latest resources. The session asks the server for them only if this is necessary."""
        self._tell_updates()
        if self._notes.can_list():
            self._lists.start(self._listed, self._show_list)

    def _listed(self) -> list[Offer]:
        return [*self.session.resources, *self.session.resources.templates]

    def _show_list(self, result: list[Offer] | Failure) -> None:
        if isinstance(result, Failure):
            self._notes.say_failure(result.text)
            return
        self._offers = {_key(offer): offer for offer in result}
        self._notes.say_changes(self._offers)
        self._list.offer([_item(o) for o in self._offers.values()], "No resources.")
        self._list.pick_first()

    # --- the picked item -------------------------------------------------------------

    def _pick(self, key: str) -> None:
        offer = self._offers[key]
        self._reading.forget()
        self._questions.leave()
        self._picked.drop()
        self._about.value = _about_html(offer)
        self._result.value = self._updates.value = Html("")
        fields = []
        if isinstance(offer, ResourceTemplate):
            propose = proposals(self.session, offer)
            fields.append(self._picked.open(key, offer.schema, propose).widget)
        else:
            self._uri = offer.uri
        self._show_subscription()
        self.detail.children = [
            *(self._about, *fields, self._buttons),
            *(self._updates, self._questions.widget, self._result),
        ]

    def _wanted(self) -> str | None:
        """Return the URI of the picked resource, or of the picked template with its typed values.

        Return None if no valid URI can be made.
        """
        form = self._picked.form
        if form is None:
            return self._uri
        template = self._offers.get(self._list.picked or "")
        if not isinstance(template, ResourceTemplate) or not form.is_ready:
            return None
        # In the URI no name shows that one is a secret
        secrets = Secrecy(template.schema).secrets_in(form.values)
        self.session.keep_secret(secrets)
        self._uri = template.expand(**form.values)
        return self._uri

    def _ask(self) -> None:
        uri = self._wanted()
        if uri is not None:
            self._result.value = notice(f"Reading {uri} …", "neutral")
            self._updates.value = Html("")
            read = partial(self.session.resources.read, uri, anew=True)
            self._reading.start(self._questions.around(read), self._show)

    def _show(self, result: MCPResourceObservation | Failure) -> None:
        if isinstance(result, Failure):
            self._result.value = notice(result.text, "danger")
        else:
            self._result.value = contents_html(result)
        self._show_subscription()

    # --- updates of the picked item -----------------------------------------------------------------

    def _subscribe(self) -> None:
        uri = self._wanted()
        if uri is not None:
            resources, known = self.session.resources, uri in self._subscribed
            change = resources.subscribe
            if known:
                change = resources.unsubscribe
            self._following.start(partial(change, uri), partial(self._settle, uri))

    def _settle(self, uri: str, result: Failure | None) -> None:
        if isinstance(result, Failure):
            self._updates.value = notice(result.text, "danger")
            return
        self._subscribed ^= {uri}
        self._updates.value = Html("")
        self._show_subscription()

    def _show_subscription(self) -> None:
        known = self._uri in self._subscribed
        offer = self.session.capabilities.get("resources")
        can_subscribe = isinstance(offer, dict) and bool(offer.get("subscribe"))
        show_if(self._follow, is_shown=known or can_subscribe)
        self._follow.description = "Unsubscribe" if known else "Subscribe"

    def _tell_updates(self) -> None:
        """Show which resources have changed since the last call of this method."""
        since, self._last_update = self._last_update, _last_message(self.session)
        uris = {
            str(_params(message.json).get("uri"))
            for message in self.session.traffic.find(method=_UPDATED)
            if message.id > since
        }
        if uris:
            names = listed(sorted(uris), MOST)
            text = f"Changed on the server: {names}. Read it again."
            self._updates.value = notice(text, "info")

    def close(self) -> None:
        """Close the tab and its form; results of requests that still run are ignored."""
        for request in (self._lists, self._reading, self._following):
            request.forget()
        self._questions.leave()
        self._picked.drop()
        super().close()


def _key(offer: Offer) -> str:
    if isinstance(offer, Resource):
        return offer.uri
    return offer.uri_template


def _item(offer: Offer) -> Item:
    kind = "template: " if isinstance(offer, ResourceTemplate) else ""
    name = offer.title or offer.name
    about = offer.description.strip().partition("\n")[0]
    description = " · ".join(part for part in (name, about) if part and part != _key(offer))
    return Item(
        *(_key(offer), f"{kind}{_key(offer)}", description),
        title=name,
        icon=icon_source(offer.raw.get("icons")),
    )


def _about_html(offer: Offer) -> Html:
    marks = []
    if isinstance(offer, ResourceTemplate):
        marks.append(badge("template"))
    if offer.mime_type:
        marks.append(badge(offer.mime_type))
    size = getattr(offer, "size", None)
    if size is not None and size >= 0:
        marks.append(badge(human_size(size)))
    about = Html("")
    if offer.description.strip():
        about = markdown_html(offer.description)
    return Html(
        f'<div style="margin:6px 0 4px;overflow-wrap:anywhere"><strong>'
        f"{icon_html(offer.raw.get('icons'))}{escape(offer.title or offer.name)}</strong>"
        f" {''.join(marks)}"
        f'<div style="{REMARK}">{escape(_key(offer))}</div></div>{about}'
    )


def _last_message(session: MCPServerSession) -> int:
    traffic = session.traffic
    if not len(traffic):
        return 0
    return traffic[-1].id


def _params(message: Any) -> dict[str, Any]:
    params = message.get("params") if isinstance(message, dict) else None
    return params if isinstance(params, dict) else {}
