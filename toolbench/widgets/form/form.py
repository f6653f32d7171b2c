"""A form for any JSON Schema. It shows its value exactly."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ipywidgets import HTML, VBox, Widget
from traitlets import Bunch

from toolbench.display.escape import Html, escape
from toolbench.errors import Path, Problem
from toolbench.jsonschema.problems import REQUIRED
from toolbench.redaction.redactor import Redactor
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET
from toolbench.widgets.fields.form_context import Frame
from toolbench.widgets.fields.raw_json import to_text
from toolbench.widgets.fields.rules import Registry
from toolbench.widgets.fields.rules import registry as default_registry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.form.error_placement import locate, placed
from toolbench.widgets.form.json_tab import JsonTab
from toolbench.widgets.kit.parts import FORM
from toolbench.widgets.live_view import shown_views

Validate = Callable[[dict[str, Any]], list[Problem]]
Observer = Callable[[Bunch], None]
# Fields named in an alert
_MAX_NAMES = 5


class WrongField(NamedTuple):
    """A field with an error.

    Attributes:
        name: The name of the field; the path to a field inside of another, as `subtasks[2].title`.
        focus: A function that puts the cursor into the field.
    """

    name: str
    focus: Callable[[], None]


class SchemaForm:
    """A form for a JSON Schema.

    Law: for every dict `v`, valid or not, `form.value = v` makes `form.value == v`; `true`
    and `1`, `1` and `1.0` stay different, and keys keep their order. Every field is unset,
    null or a value; a field that was not touched is not in the value.
    """

    def __init__(
        self,
        schema: Mapping[str, Any],
        value: dict[str, Any] | None = None,
        *,
        registry: Registry | None = None,
        validate: Validate | None = None,
    ) -> None:
        """Make a form for *schema* that shows *value*.

        Args:
            schema: Any JSON Schema; a part that cannot be read becomes a JSON field.
            value: The value at the start; None for an untouched form.
            registry: The rules that choose editors; `fields.registry` if None.
            validate: A function that lists the problems of a value, instead of the JSON Schema.
        """
        self.frame = Frame(schema, registry or default_registry, self._settle)
        self._made_in = shown_views.cell
        self._validate = validate
        self._tab = JsonTab(self)
        self.slot = Slot(self.frame, self.frame.view.whole, required=True, settled=True)
        self._observers: list[Observer] = []
        self.is_blank = True
        """Whether nothing was written or typed into the form yet."""
        self._widget: Any = None
        self._head: Any = None
        notice = self.slot.notice
        self._notice = f"The schema {notice}." if notice else ""
        self._last_value: Any = None
        self._refusal: list[Problem] | None = None
        if value is not None:
            self.value = value

    def __repr__(self) -> str:
        return f"<SchemaForm of {len(self.slot.node.properties)} fields>"

    @property
    def is_busy(self) -> bool:
        """Always False: nothing runs in a form."""
        return False

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        shown_views.add(self, self._made_in)
        bundle = self.widget._repr_mimebundle_(**options)
        return {**bundle, "text/plain": repr(self)}

    # --- the value ----------------------------------------------------------------

    @property
    def value(self) -> dict[str, Any]:
        """The value: a new dict, without the fields that are unset."""
        with self.frame.lock:
            return _dict(self.slot.read())

    @value.setter
    def value(self, value: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            msg = f"A form holds a dict, not {value!r:.80}."
            raise TypeError(msg)
        with self.frame.edit():
            self.frame.revealed = False
            self.write(value)

    def write(self, value: dict[str, Any]) -> None:
        """Set *value*. Call this only inside of an edit: `with frame.edit()`."""
        self.frame.touched(())
        self.slot.write(value)

    @property
    def typed(self) -> dict[str, Any]:
        """What a person typed, for `take_over` of another form; also texts that cannot be read.

        It may hold secrets.
        """
        with self.frame.lock:
            return _dict(self.slot.typed())

    def take_over(self, typed: dict[str, Any], json: str = "") -> None:
        """Fill the form with what was typed in another form.

        A text that is no value of its field, perhaps because the field has another type now, stays as
        it was typed, with its error.

        Args:
            typed: What the other form had; see `typed`.
            json: The text of the other form as JSON, if it cannot be read.
        """
        with self.frame.edit():
            if typed:
                self.write(typed)
            if json:
                self._tab.put(json)
            for slot in self.slot.walk():
                if slot.built is not None and slot.built.trouble:
                    slot.touch()

    @property
    def json_draft(self) -> str:
        """The typed JSON text, if it cannot be read; else empty."""
        with self.frame.lock:
            return self._tab.text if self._tab.trouble else ""

    @property
    def json(self) -> str:
        """The value as JSON text with secrets hidden; while a person types, the typed text.

        To set `json` is like typing: a text that is not a JSON object stays, and blocks the form.
        """
        with self.frame.lock:
            return self._tab.text

    @json.setter
    def json(self, text: str) -> None:
        with self.frame.edit():
            self._tab.put(text)

    @property
    def masked(self) -> dict[str, Any]:
        """The value with its secrets hidden, safe to show, log and save."""
        with self.frame.lock:
            return _dict(self.slot.masked())

    @property
    def secrets(self) -> list[str]:
        """The secrets in the value."""
        with self.frame.lock:
            return list(self.slot.secrets())

    def observe(self, fn: Observer) -> Callable[[], None]:
        """Call `fn(change)` after every edit.

        `change.new` is the value after the edit, and `change.old` the value before. A typed text
        that cannot be read is an edit too: it changes `errors` and `blocked`.

        Returns:
            A function that removes *fn*.
        """
        self._observers.append(fn)

        def stop() -> None:
            with suppress(ValueError):
                self._observers.remove(fn)

        return stop

    # --- errors -----------------------------------------------------------------------

    @property
    def errors(self) -> list[tuple[Path, str]]:
        """All errors: typed text that cannot be read, and the results of validation."""
        with self.frame.lock:
            return [(p.path, p.message) for _, p in self._problems()]

    @property
    def blocked(self) -> bool:
        """Whether typed text cannot be read, so there is no value to send."""
        with self.frame.lock:
            return next(self._drafts(), None) is not None

    def reveal_errors(self, *, focus: bool = False) -> None:
        """Show the errors of every field, also of the fields that were not edited.

        Args:
            focus: Put the cursor into the first field with an error.
        """
        with self.frame.edit():
            self.frame.revealed = True
            if focus:
                self.frame.focus(self._first_wrong)

    def _first_wrong(self) -> tuple[Widget, ...]:
        if self._tab.trouble:
            return (self._tab.widget,)
        return next((slot.display.body for slot in self.slot.walk() if slot.display.errors), ())

    def focus(self) -> None:
        """Put the cursor into the first field, if there is one."""
        self._focus(self.slot)

    def to_fix(self, count: int) -> str:
        """Return what a person must fix before a run if *count* fields are wrong, such as "Fix 3 fields".

        If the JSON text cannot be read, it comes first: the fields still hold what it was before.
        """
        return "Fix the JSON" if self._tab.trouble else notes.to_fix(count)

    def wrong_fields(self) -> list[WrongField]:
        """Return the fields that show an error, in the order of the form."""
        with self.frame.lock:
            slots = [slot for slot in self.slot.walk() if slot.display.errors and slot.title]
            return [WrongField(_name_of(slot), partial(self._focus, slot)) for slot in slots]

    def _focus(self, slot: Slot) -> None:
        with self.frame.edit():
            slot.unfold()
            self.frame.focus(lambda: slot.display.body)

    def refuse(self, problems: list[Problem]) -> None:
        """Show *problems*, for which a call was refused, until a person edits the value.

        Until then, do not check the value.
        """
        with self.frame.edit():
            self.frame.revealed = True
            self._refusal = list(problems)

    def show_problems(self, problems: list[Problem]) -> None:
        """Show *problems*, which other code has found, each at its field. An edit there removes them."""
        with self.frame.edit():
            self.frame.outside = list(problems)

    def _drafts(self) -> Iterator[Problem]:
        if self._tab.trouble:
            yield Problem((), self._tab.trouble)
        yield from self.slot.troubles()
        value = self.slot.read()
        if value is not UNSET and not isinstance(value, dict):
            yield Problem((), "the arguments must be an object: { … }")

    def _problems(self) -> list[tuple[Slot, Problem]]:
        # The fields hold what the text was before
        if self._tab.trouble:
            return self._concealed([(self.slot, Problem((), self._tab.trouble))])
        drafts = list(self._drafts())
        unread = {problem.path for problem in drafts}
        value = self.slot.read()
        wrong = self._check(_dict(value))
        faults_of_schema = placed(self.slot, wrong, self.frame.view.problems)
        faults = [(locate(self.slot, p.path).slot, p) for p in drafts]
        faults += [(s, p) for s, p in faults_of_schema if p.path not in unread]
        return self._concealed(faults)

    def _concealed(self, faults: list[tuple[Slot, Problem]]) -> list[tuple[Slot, Problem]]:
        """Return *faults* with secrets hidden in their messages, because messages quote values."""
        redactor = Redactor(self.slot.secrets() if faults else ())
        return [(s, Problem(p.path, redactor.sentence(p.message))) for s, p in faults]

    def _check(self, value: dict[str, Any]) -> list[Problem]:
        if self._refusal is not None:
            return self._refusal
        if self._validate is not None:
            return self._validate(value)
        broken = self.frame.view.broken
        if not broken:
            problems = self.frame.view.problems(self.frame.view.root, value)
            return problems or _unsendable(value)
        self._notice = f"{broken} The form only checks for missing values."
        return [
            Problem(slot.path, REQUIRED)
            for slot in self.slot.walk()
            if slot.starred and slot.read() is UNSET
        ]

    # --- widgets ----------------------------------------------------------------------

    @property
    def widget(self) -> Widget:
        """The widget with the fields. It is built on first use."""
        if self._widget is None:
            with self.frame.lock:
                make = self.frame.pool.make
                _, cells, note, _ = self.slot.display.entry()
                self._head = make(HTML, "tb-top", value=self._top(note))
                children = (self._head, *cells)
                self._widget = make(VBox, "tb-form", children=children)
        return self._widget

    @property
    def json_widget(self) -> Widget:
        """The widget with the value as JSON text, and with the errors of the text."""
        with self.frame.lock:
            return self._tab.widget

    def _arrange(self) -> None:
        if self._head is not None:
            _, cells, note, _ = self.slot.display.entry()
            children = (self._head, *cells)
            if self._widget.children != children:
                self._widget.children = children
            top = self._top(note)
            if self._head.value != top:
                self._head.value = top

    def _top(self, note: Html) -> Html:
        """Return the top of the form: notes on the whole form, and the number of errors."""
        notice_html = f'<div class="tb-notice">{escape(self._notice)}</div>'
        fields = self.wrong_fields()
        names = ", ".join(field.name for field in fields[:_MAX_NAMES])
        text = f"{self.to_fix(len(fields))}{': ' * bool(names)}{names}."
        alert = f'<div class="tb-sr" role="alert">{escape(text)}</div>'
        is_wrong = bool(fields or self.slot.display.errors)
        parts = (notice_html if self._notice else "", note, alert if is_wrong else "")
        return Html(f"{FORM}{''.join(parts)}{self._offers()}")

    def _offers(self) -> Html:
        """Return a text that screen readers read: the buttons that appeared before fields."""
        editors = [slot.built for slot in self.slot.walk()]
        texts = [
            f"Shift+Tab leads from {notes.line(editor.slot.label)} to {editor.offer_words}."
            for editor in editors
            if editor is not None and editor.offer_words
        ]
        if not texts:
            return Html("")
        return Html(f'<div class="tb-sr" role="status">{escape(" ".join(texts))}</div>')

    def close(self) -> None:
        """Close every widget of the form; its value can still be read."""
        with self.frame.lock:
            self._observers.clear()
            # Nothing is drawn any more
            self._head = None
            self._tab.close()
            self.slot.close()
            self.frame.close()

    def _settle(self) -> list[Callable[[], None]]:
        """Update errors and widgets after an edit; return functions that call the observers."""
        changed, self.frame.changed = self.frame.changed, False
        if changed:
            self.is_blank = False
            self._refusal = None
            self._tab.follow()
        self._show_faults()
        self.frame.draw()
        self._tab.draw()
        self._arrange()
        if not changed or not self._observers:
            return []
        value, before = self.value, self._last_value
        change = Bunch(name="value", old=before, new=value, owner=self, type="change")
        self._last_value = value
        return [partial(fn, change) for fn in self._observers]

    def _show_faults(self) -> None:
        slots = list(self.slot.walk())
        outside, revealed = self.frame.outside, self.frame.revealed
        faults: dict[Slot, list[str]] = {}
        if revealed or outside or any(slot.touched for slot in slots):
            revealed_faults = [(s, p) for s, p in self._problems() if revealed or s.touched]
            outer = self._concealed(placed(self.slot, outside))
            for slot, problem in [*revealed_faults, *outer]:
                faults.setdefault(slot, []).append(problem.message)
        for slot in dict.fromkeys([*slots, *faults]):
            slot.display.show_errors(faults.get(slot, []))
            if slot.display.errors:
                slot.unfold()


def _name_of(slot: Slot) -> str:
    """Return the name of *slot* far from its place, where several fields may have one title."""
    is_inside = len(slot.path) > 1
    return notes.line(Problem(slot.path, "").where if is_inside else slot.title)


def _unsendable(value: dict[str, Any]) -> list[Problem]:
    """Return the reason why *value* cannot be JSON; empty if it can. A schema does not always check this."""
    try:
        to_text(value)
    except (TypeError, ValueError, RecursionError) as error:
        return [Problem((), f"cannot be sent as JSON: {error}")]
    return []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
