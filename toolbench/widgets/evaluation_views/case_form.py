"""A form for cases: a list of the cases, and the fields of the open case."""

from collections import Counter
from collections.abc import Iterable
from threading import RLock
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.evals.case import Case
from toolbench.evals.cases import Cases, expected_text
from toolbench.values import clip
from toolbench.widgets.evaluation_views.case_fields import CaseFields
from toolbench.widgets.kit.parts import SUBMIT, Parts, put, show_if
from toolbench.widgets.kit.plain_style import PANEL
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.kit.three_panes import Panes
from toolbench.widgets.live_view import LiveView
from toolbench.wording import counted

_NEW = ""
"""The key of a new case, which a person types and has not added yet."""


class CaseForm(LiveView):
    """A form to type, change and remove cases. Any thread may call the callbacks of the form."""

    def __init__(
        self,
        tools: Iterable[ToolDefinition[Any, Any]],
        cases: Iterable[Any] = (),
    ) -> None:
        """Show *cases*. If *cases* is a `Cases` object, the form changes this object itself.

        Args:
            tools: The tools of the expected calls.
            cases: The cases at the start.
        """
        self.cases = cases if isinstance(cases, Cases) else Cases(cases)
        """The present cases."""
        self._tools = {tool.name: tool for tool in tools}
        self._lock = RLock()
        self._parts = parts = Parts()
        self._drafts: dict[str, CaseFields] = {}
        self._open_key = _NEW
        self._head = parts.html()
        self._list = PickList(parts, "Cases", self._open, self._lock)
        self._place = parts.column()
        self._status = parts.html()
        self._save = self._button("Add case", self.save, look="primary", kind=SUBMIT)
        self._confirm = self._button("Confirm", self.confirm)
        self._confirm.tooltip = "You have read this proposal, and agree with it"
        self._remove = self._button("Remove", self.remove)
        self._new = self._button("New case", self.new)
        buttons = parts.row(self._save, self._confirm, self._remove, self._new)
        panes = Panes(parts)
        panes.fill(
            lists=[self._head, self._list.widget],
            main=[self._place, buttons, self._status],
        )
        super().__init__(
            parts,
            self._lock,
            [parts.html(PANEL), panes.widget],
            *("toolbench-panel", "toolbench-workbench"),
            use="the form",
        )
        self._refresh()

    def _button(self, label: str, act: Any, **look: str) -> Any:
        button = self._parts.button(label, **look)
        button.on_click(lambda _: act())
        return button

    # --- what the buttons do ----------------------------------------------------------

    def save(self) -> None:
        """Add the typed case, or replace the opened case by the typed case."""
        with self._lock:
            case = self._fields.case()
            if case is None:
                return
            place = self._place_of(self._open_key)
            if place is None:
                self.cases.append(case)
                self._say(f"Added: {case.title}")
            else:
                self.cases[place] = case
                self._say(f"Changed: {case.title}")
            self._leave(_NEW if place is None else self._keys()[place])

    def confirm(self) -> None:
        """Mark the opened case as confirmed by a person. Before, the case was a proposal."""
        with self._lock:
            place, case = self._place_of(self._open_key), self._fields.case()
            if place is not None and case is not None:
                self.cases[place] = case.confirmed()
                self._say(f"Confirmed: {case.title}")
                self._leave(self._keys()[place])

    def remove(self) -> None:
        """Remove the opened case from the list."""
        with self._lock:
            place = self._place_of(self._open_key)
            if place is not None:
                case = self.cases.pop(place)
                self._say(f"Removed: {case.title}")
                self._leave(_NEW)

    def new(self) -> None:
        """Show the fields for a new case. Unsaved changes of other cases are kept."""
        with self._lock:
            self._open(_NEW)
            self._say("")

    def show_case(self, place: int) -> None:
        """Show the case at *place* of the list, so that a person can change or remove it."""
        with self._lock:
            self._open(self._keys()[place])

    # --- what it shows ------------------------------------------------------------------

    def _open(self, key: str) -> None:
        """Show the case with this *key*; unsaved changes of the earlier case are kept."""
        before = self._drafts.get(self._open_key)
        if before is not None and not before.is_changed:
            self._drafts.pop(self._open_key).close()
        self._open_key = key
        self._refresh()

    def _leave(self, key: str) -> None:
        """Close the fields of the open case, because it was saved or removed; show another case.

        *key* is the key of the other case.
        """
        old = self._drafts.pop(self._open_key, None)
        self._open_key = key
        self._refresh()
        if old is not None:
            old.close()
        self.renew()

    @property
    def _fields(self) -> CaseFields:
        """Return the fields of the open case. They are made when they are first needed."""
        key = self._open_key
        if key not in self._drafts:
            place = self._place_of(key)
            case = None if place is None else self.cases[place]
            self._drafts[key] = CaseFields(case, self._tools, lambda: None)
        return self._drafts[key]

    def _keys(self) -> list[str]:
        """Return a key for each case. The key of a case stays when other cases are added or removed."""
        times: Counter[int] = Counter()
        keys = []
        for case in self.cases:
            times[id(case)] += 1
            keys.append(f"{id(case)} {times[id(case)]}")
        return keys

    def _place_of(self, key: str) -> int | None:
        keys = self._keys()
        return keys.index(key) if key in keys else None

    def _refresh(self) -> None:
        keys = self._keys()
        if self._open_key not in keys:
            self._open_key = _NEW
        place = self._place_of(self._open_key)
        case = None if place is None else self.cases[place]
        items = [self._item(key, one) for key, one in zip(keys, self.cases, strict=True)]
        put(self._head, _head_html(self.cases))
        self._list.offer(items, "There are no cases yet: type the first one below.")
        self._list.show_picked(self._open_key or None)
        self._place.children = [self._fields.widget]
        self._save.description = "Add case" if case is None else "Save changes"
        show_if(self._confirm, is_shown=case is not None and case.is_proposal)
        for button in (self._remove, self._new):
            show_if(button, is_shown=case is not None)

    def _item(self, key: str, case: Case) -> Item:
        is_draft = key in self._drafts and self._drafts[key].is_changed
        marks = ["changed, not saved"] * is_draft + ["proposal"] * case.is_proposal
        about = ", ".join([*marks, expected_text(case)])
        also = f"{case.masked_prompt} {' '.join(case.tags)}"
        mark = "incomplete" if case.is_proposal or is_draft else ""
        return Item(key, case.title, about, also=also, mark=mark)

    def _say(self, text: str) -> None:
        line = f'<div role="status">{escape(clip(text, 200).strip(chr(34)))}</div>'
        put(self._status, Html(line if text else ""))

    # --- as a widget --------------------------------------------------------------------

    def _release(self) -> None:
        # The cases stay
        with self._lock:
            for fields in self._drafts.values():
                fields.close()
            self._drafts.clear()

    def _static(self) -> dict[str, Any]:
        return self.cases._repr_mimebundle_()


def _head_html(cases: Cases) -> Html:
    text = f"<strong>{escape(counted(len(cases), 'case'))}</strong>"
    count = len(cases.proposals)
    if not count:
        return Html(text)
    remark = f"{counted(count, 'proposal')} that no person has confirmed"
    return Html(f"{text}{notice(remark, 'warning')}")
