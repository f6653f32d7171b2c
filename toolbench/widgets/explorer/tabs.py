"""The tabs of a server. Each has a pane, which is made on first use and updated while visible."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, ClassVar

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.mcp.lists.listing import ToolsDiff
from toolbench.mcp.server_session import MCPServerSession
from toolbench.widgets.explorer.request_form import RequestForm, proposals
from toolbench.widgets.explorer.requests import AskingRequest, Failure, ServerRequest
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.resource_views import contents_html
from toolbench.wording import listed

MOST = 6
"""The maximum number of names in one notice."""
Lock = AbstractContextManager[Any]
"""A reentrant lock."""


class Pane(ABC):
    """The base class of a tab's content, or of a part of it.

    A pane is made when its tab is first opened.
    """

    title: ClassVar[str]
    hears: ClassVar[frozenset[str]]
    """The names of the server's parts, such as "tools", after whose changes the pane is updated.

    See `toolbench.mcp.monitoring.changes`.
    """
    widget: Any

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show *session* without waiting for the server.

        *lock* is the lock of the explorer. The pane's callbacks hold it, because any thread may
        call them.
        """
        self.session = session
        self._lock = lock
        self._parts = Parts()
        self._requests: list[ServerRequest[Any]] = []

    def button(
        self, label: str, act: Callable[[], object], *, look: str = "", tip: str = ""
    ) -> Any:
        """Return a button that calls *act*. *look* is the `button_style` of ipywidgets."""
        return self._parts.button(label, partial(self._react, act), look=look, tip=tip)

    def on(self, widget: Any, react: Callable[[], object]) -> None:
        """Call *react* after each change of the value of *widget*."""
        widget.observe(lambda _: self._react(react), "value")

    def _react(self, react: Callable[[], object]) -> None:
        with self._lock:
            react()

    def request(self) -> ServerRequest[Any]:
        """Return a new `ServerRequest`, whose results are ignored after the pane is closed."""
        self._requests.append(ServerRequest(self._lock))
        return self._requests[-1]

    def asking_request(self) -> AskingRequest[Any]:
        """Return a new `AskingRequest`, which has a place for the server's questions."""
        request: AskingRequest[Any] = AskingRequest(self._lock, self._parts)
        self._requests.append(request)
        return request

    @abstractmethod
    def refresh(self) -> None:
        """Update the content. It is called only while the tab is open."""

    @property
    def is_busy(self) -> bool:
        """Whether a tool is running in the tab."""
        return False

    @staticmethod
    def count(session: MCPServerSession) -> str:
        """Return the number of items for the tab's title.

        The base class returns an empty string.
        """
        return ""

    def close(self) -> None:
        """Close every widget of the tab, and ignore the results of requests still running."""
        for request in self._requests:
            request.forget()
        self._parts.close()


class ListPane(Pane):
    """The base class of panes with a list. The explorer shows the picked item beside the list."""

    detail: Any
    """The widget that shows the picked item."""


class RemoteListPane(ListPane):
    """The base class of panes that request a list, and then its items, from the server."""

    verb: ClassVar[str] = "Read"
    """The label of the button that reads the picked item."""

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Make an empty list. A subclass calls `refresh` after it has made its own parts."""
        super().__init__(session, lock)
        parts = self._parts
        self._offers: dict[str, Any] = {}
        self._is_listed = False
        # The notice above the list is about the list itself, not about changes of its items
        self._has_trouble = True
        self._listing, self._reading = self.request(), self.asking_request()
        self._note = parts.html(notice("Listing…", "neutral"))
        self._empty = parts.html()
        self._list = PickList(parts, self.title, self._pick, lock)
        self._form: RequestForm | None = None
        self._form_key = ""
        self._typed: dict[str, Mapping[str, str]] = {}
        self._about = parts.html()
        self._read = self.button(self.verb, self._read_picked, look="primary")
        self._result = parts.html()
        # The widgets below the form of an item, and below the result of reading it
        self._operations: list[Any] = [self._read]
        self._extras: list[Any] = []
        self.detail = parts.column(self._empty, kind="toolbench-page")
        self.widget = parts.column(self._note, self._list.widget)

    @abstractmethod
    def _ask(self) -> Iterable[Any]:
        """Return the items. The session asks the server for them only if necessary."""

    @abstractmethod
    def _item(self, offer: Any) -> Item:
        """Return the entry in the page's list for *offer*, an item that the server has listed."""

    @abstractmethod
    def _about_html(self, offer: Any) -> Html:
        """Return a description of *offer* as HTML."""

    def _schema_of(self, offer: Any) -> Mapping[str, Any] | None:
        """Return the schema of the arguments of *offer*; None if it takes no arguments."""
        return None

    @abstractmethod
    def _read_picked(self) -> None:
        """Read the picked item, with the arguments that were typed for it."""

    def _result_html(self, result: Any) -> Html:
        """Return *result*, which was read from the picked item, as HTML.

        The base class shows the contents of a resource.
        """
        return contents_html(result)

    def refresh(self) -> None:
        """Show the latest list. If the server sent no list, show why."""
        plural = self.title.lower()
        if self.session.status in ("connected", "incomplete", "lost"):
            self._listing.start(lambda: list(self._ask()), self._show_list)
        elif self.session.status == "connecting":
            self._say_trouble(notice("Connecting…", "neutral"), Html(""))
        else:
            text = f"Its {plural} can be read when the server is connected. The tab Server connects it."
            self._say_trouble(notice("Not connected.", "neutral"), notice(text, "neutral"))

    def _say_trouble(self, note: Html, instead: Html) -> None:
        """Show *note* above the list and, while no item is picked, *instead* beside the list."""
        self._has_trouble = True
        put(self._note, note)
        put(self._empty, instead)

    def _show_list(self, offers: list[Any] | Failure) -> None:
        if isinstance(offers, Failure):
            self._say_trouble(notice(offers.text, "danger"), Html(""))
            return
        items = {}
        before, self._offers = self._offers, {}
        for offer in offers:
            item = self._item(offer)
            items[item.key], self._offers[item.key] = item, offer
        change = None
        if self._is_listed:
            change = ToolsDiff.between(before, self._offers)
        if change or self._has_trouble:
            put(self._note, changes_html(change))
        self._is_listed, self._has_trouble = True, False
        plural = self.title.lower()
        put(self._empty, notice(f"This server offers no {plural}.", "neutral"))
        self._list.offer(list(items.values()), f"No {plural}.")
        self._list.pick_first()

    def _pick(self, key: str) -> None:
        """Show the item with *key*, with the arguments that were typed for it before."""
        offer = self._offers[key]
        self._drop_form()
        put(self._about, self._about_html(offer))
        put(self._result, Html(""))
        fields, schema = [], self._schema_of(offer)
        if schema is not None:
            propose = proposals(self.session, offer)
            self._form = RequestForm(schema, propose, self._typed.get(key, {}))
            self._form_key = key
            fields = [self._form.widget]
        below = [*self._operations, self._reading.widget, self._result, *self._extras]
        self.detail.children = [self._about, *fields, *below]

    def _drop_form(self) -> None:
        """Close the form, if there is one, but keep the typed values.

        If an item is still being read, ignore its contents.
        """
        self._reading.forget()
        if self._form is not None:
            self._typed[self._form_key] = self._form.values
            # Before it is closed
            self.detail.children = ()
            self._form.close()
            self._form = None

    def close(self) -> None:
        """Close the tab and its form."""
        self._drop_form()
        super().close()

    def _start(self, read: Callable[[], Any], sentence: str) -> None:
        """Show *sentence* while *read* asks the server, then the result or why it failed."""
        put(self._result, notice(sentence, "neutral"))
        self._reading.start(read, self._show_result)

    def _show_result(self, result: Any) -> None:
        if isinstance(result, Failure):
            put(self._result, notice(result.text, "danger"))
        else:
            put(self._result, self._result_html(result))


def changes_html(change: ToolsDiff | None) -> Html:
    """Return a notice with the first few names in *change*; empty if nothing changed."""
    if not change:
        return Html("")
    texts = []
    for verb in ("added", "removed", "changed"):
        names = getattr(change, verb)
        if names:
            texts.append(f"{verb} {listed(names, MOST)}")
    return notice(f"The list changed: {'; '.join(texts)}.", "info")


MakePane = Callable[[MCPServerSession, Lock], Pane]


class TabSet:
    """A widget with tabs, each of which has a pane.

    When the server changes, the visible pane is updated at once. The other panes are updated when
    the user opens their tabs.
    """

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        kinds: Mapping[type[Pane], MakePane],
        *,
        when_turned: Callable[[], None] = lambda: None,
    ) -> None:
        """Show the first pane of *session*.

        The other panes are made when their tabs are first opened.

        Args:
            session: The server.
            lock: The lock of the view that contains the tabs, which is held during their updates.
            kinds: The classes of the panes, in the order of the tabs. The value of a class is the
                function that makes its pane.
            when_turned: A function that is called when the user opens another tab.
        """
        self.session = session
        self._lock = lock
        self._kinds = dict(kinds)
        self._when_turned = when_turned
        self._parts = parts = Parts()
        self._panes: dict[type[Pane], Pane] = {}
        self._stale: set[type[Pane]] = set()
        self._changed: set[str] = set()
        self._closed = False
        boxes = [parts.column() for _ in kinds]
        self.widget: Any = parts.make(w.Tab, "toolbench-tabs", children=boxes)
        self._open()
        self.widget.observe(lambda _: self._turned(), "selected_index")

    def hear(self, names: frozenset[str], changed: frozenset[str] = frozenset()) -> None:
        """Update the panes that are affected by a change of the server.

        Args:
            names: The names of the changed parts of the server, such as "tools".
            changed: The tabs to mark as changed, by their titles in lower case. The open tab is
                never marked.
        """
        with self._lock:
            if self._closed:
                return
            self._changed |= changed - {self._kind.title.lower()}
            self._stale |= {kind for kind in self._kinds if names & kind.hears}
            self._refresh()

    def add(self, kind: type[Pane], make: MakePane) -> None:
        """Add a tab for a pane of the class *kind* at the end, unless there already is one."""
        if kind not in self._kinds and not self._closed:
            self._kinds[kind] = make
            self.widget.children = (*self.widget.children, self._parts.column())
            self._entitle()

    @property
    def _kind(self) -> type[Pane]:
        return list(self._kinds)[self.widget.selected_index or 0]

    @property
    def pane(self) -> Pane:
        """The visible pane."""
        return self._panes[self._kind]

    def made(self, kind: type[Pane]) -> Pane:
        """Return the pane of the class *kind*, whose tab was opened before."""
        return self._panes[kind]

    @property
    def is_busy(self) -> bool:
        """Whether a tool is running in one of the panes."""
        return any(pane.is_busy for pane in self._panes.values())

    def show(self, kind: type[Pane]) -> Pane:
        """Open the tab with the pane of the class *kind*, and return the pane."""
        self.widget.selected_index = list(self._kinds).index(kind)
        return self.pane

    def _turned(self) -> None:
        with self._lock:
            if not self._closed:
                self._open()
                self._when_turned()

    def _open(self) -> None:
        kind = self._kind
        self._changed.discard(kind.title.lower())
        if kind not in self._panes:
            pane = self._panes[kind] = self._kinds[kind](self.session, self._lock)
            self.widget.children[list(self._kinds).index(kind)].children = [pane.widget]
            self._stale.discard(kind)
        self._refresh()

    def _refresh(self) -> None:
        kind = self._kind
        # A click opens the tab before `_turned`, which makes its pane, gets the lock
        if kind in self._stale and kind in self._panes:
            self._stale.discard(kind)
            self._panes[kind].refresh()
        self._entitle()

    def _entitle(self) -> None:
        titles = []
        for kind in self._kinds:
            title = kind.title + kind.count(self.session)
            if kind.title.lower() in self._changed:
                title += " (changed)"
            titles.append(title)
        self.widget.titles = tuple(titles)

    def close(self) -> None:
        """Close every pane that was made."""
        with self._lock:
            self._closed = True
            for pane in self._panes.values():
                pane.close()
            self._panes.clear()
            self._parts.close()
