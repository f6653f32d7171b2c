"""The tabs with a server's resources and its skills, which are also resources."""

from collections.abc import Iterable, Mapping
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
from toolbench.mcp.lists.skills import Skill
from toolbench.mcp.monitoring.traffic import params_of
from toolbench.mcp.server_session import MCPServerSession
from toolbench.redaction.detect import Secrecy
from toolbench.widgets.explorer.requests import Failure
from toolbench.widgets.explorer.tabs import MOST, Lock, RemoteListPane
from toolbench.widgets.kit.parts import put, show_if
from toolbench.widgets.kit.search_list import Item
from toolbench.wording import human_size, listed

Offer = Resource | ResourceTemplate
_UPDATED = "notifications/resources/updated"


class ResourcesPane(RemoteListPane):
    """A list of resources and templates. The user can read the picked one and subscribe to it."""

    title = "Resources"
    hears: ClassVar[frozenset[str]] = frozenset({"resources", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """List the resources and templates of the server, in the background."""
        super().__init__(session, lock)
        parts = self._parts
        self._following = self.request()
        self._uri = ""
        self._subscribed: set[str] = set()
        self._last_update = _last_message(session)
        self._follow = self.button("Subscribe", self._subscribe, tip="Get a note when it changes")
        self._updates = parts.html()
        self._operations = [parts.row(self._read, self._follow), self._updates]
        self.refresh()

    def refresh(self) -> None:
        """Show the latest resources, and which of them have changed."""
        self._tell_updates()
        super().refresh()

    def _ask(self) -> list[Offer]:
        return [*self.session.resources, *self.session.resources.templates]

    def _item(self, offer: Offer) -> Item:
        key = label = _key(offer)
        if isinstance(offer, ResourceTemplate):
            label = f"template: {key}"
        name = offer.title or offer.name
        about = offer.description.strip().partition("\n")[0]
        description = " · ".join(part for part in (name, about) if part and part != key)
        icon = icon_source(offer.raw.get("icons"))
        return Item(key, label, description, title=name, icon=icon)

    # --- the picked item -------------------------------------------------------------

    def _about_html(self, offer: Offer) -> Html:
        marks = []
        if isinstance(offer, ResourceTemplate):
            marks.append(badge("template"))
        if offer.mime_type:
            marks.append(badge(offer.mime_type))
        size = getattr(offer, "size", None)
        if size is not None and size >= 0:
            marks.append(badge(human_size(size)))
        name = Html(icon_html(offer.raw.get("icons")) + escape(offer.title or offer.name))
        return _head_html(name, marks, _key(offer), offer.description)

    def _schema_of(self, offer: Offer) -> Mapping[str, Any] | None:
        if isinstance(offer, ResourceTemplate):
            return offer.schema
        return None

    def _pick(self, key: str) -> None:
        offer = self._offers[key]
        if isinstance(offer, Resource):
            self._uri = offer.uri
        put(self._updates, Html(""))
        self._show_subscription()
        super()._pick(key)

    def _wanted(self) -> str | None:
        """Return the URI of the picked resource, or of the picked template with the typed values.

        Return None if no valid URI can be made.
        """
        form = self._form
        if form is None:
            return self._uri
        template = self._offers.get(self._list.picked or "")
        if not isinstance(template, ResourceTemplate) or not form.is_ready:
            return None
        # In the URI no name shows that a value is a secret
        secrets = Secrecy(template.schema).secrets_in(form.values)
        self.session.keep_secret(secrets)
        self._uri = template.expand(**form.values)
        return self._uri

    def _read_picked(self) -> None:
        uri = self._wanted()
        if uri is not None:
            put(self._updates, Html(""))
            shown = self.session.keep_secret(()).text(uri)
            self._start(partial(self.session.resources.read, uri, anew=True), f"Reading {shown} …")

    def _show_result(self, result: MCPResourceObservation | Failure) -> None:
        super()._show_result(result)
        self._show_subscription()

    # --- updates of the picked item --------------------------------------------------

    def _subscribe(self) -> None:
        uri = self._wanted()
        if uri is not None:
            change = self.session.resources.subscribe
            if uri in self._subscribed:
                change = self.session.resources.unsubscribe
            self._following.start(partial(change, uri), partial(self._settle, uri))

    def _settle(self, uri: str, result: Failure | None) -> None:
        if isinstance(result, Failure):
            put(self._updates, notice(result.text, "danger"))
            return
        self._subscribed ^= {uri}
        put(self._updates, Html(""))
        self._show_subscription()

    def _show_subscription(self) -> None:
        known = self._uri in self._subscribed
        offer = self.session.capabilities.get("resources")
        can_subscribe = isinstance(offer, dict) and bool(offer.get("subscribe"))
        show_if(self._follow, is_shown=known or can_subscribe)
        self._follow.description = "Subscribe"
        if known:
            self._follow.description = "Unsubscribe"

    def _tell_updates(self) -> None:
        """Show which resources have changed since the last call of this method."""
        since, self._last_update = self._last_update, _last_message(self.session)
        uris = set()
        for message in self.session.traffic.find(method=_UPDATED):
            if message.id > since:
                uris.add(str(params_of(message).get("uri")))
        if uris:
            names = listed(sorted(uris), MOST)
            put(self._updates, notice(f"Changed on the server: {names}. Read it again.", "info"))


def _key(offer: Offer) -> str:
    if isinstance(offer, Resource):
        return offer.uri
    return offer.uri_template


def _head_html(name: Html, marks: list[Html], uri: str, description: str) -> Html:
    about = Html("")
    if description.strip():
        about = markdown_html(description)
    return Html(
        f'<div style="margin:6px 0 4px;overflow-wrap:anywhere"><strong>{name}</strong>'
        f' {"".join(marks)}<div style="{REMARK}">{escape(uri)}</div></div>{about}'
    )


def _last_message(session: MCPServerSession) -> int:
    traffic = session.traffic
    if not len(traffic):
        return 0
    return traffic[-1].id


# --- skills ------------------------------------------------------------------------------

# Files of a skill to choose from
_FILES = 200
_MAIN = "SKILL.md"


class SkillsPane(RemoteListPane):
    """A list of skills. The user can read the files of the picked skill; no file is run."""

    title = "Skills"
    hears: ClassVar[frozenset[str]] = frozenset({"skills", "resources", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """List the skills of the server, in the background."""
        super().__init__(session, lock)
        self._file = self._parts.chooser("File", [_MAIN])
        self._operations = [self._parts.row(self._file, self._read)]
        self.refresh()

    def _ask(self) -> Iterable[Skill]:
        return self.session.skills

    def _item(self, offer: Skill) -> Item:
        return Item(offer.uri, offer.name, offer.description, title=offer.name)

    def _about_html(self, offer: Skill) -> Html:
        how = "checked by digest"
        if offer.is_dynamic:
            how = "made when read, not checked"
        marks = [badge(how)]
        sizes = [file.size for file in offer.files if file.size is not None]
        if sizes:
            marks.append(badge(human_size(sum(sizes))))
        return _head_html(escape(offer.name), marks, offer.uri, offer.description)

    def _pick(self, key: str) -> None:
        paths = [file.path for file in self._offers[key].files] or [_MAIN]
        paths.sort(key=lambda path: (path != _MAIN, path))
        self._file.options = paths[:_FILES]
        show_if(self._file, is_shown=len(paths) > 1)
        super()._pick(key)

    def _read_picked(self) -> None:
        skill = self._offers.get(self._list.picked or "")
        if skill is not None:
            read = partial(self.session.skills.read, skill, self._file.value)
            self._start(read, "Reading …")


def has_skills(session: MCPServerSession) -> bool:
    """Return whether the server of *session* says that it has skills."""
    return session.skills.is_offered(session.capabilities)
