"""A form for any JSON Schema, which holds every value exactly."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ipywidgets import HTML, Textarea, VBox, Widget
from traitlets import Bunch

from toolbench.display.escape import Html, escape
from toolbench.errors import Path, Problem
from toolbench.jsonschema.problems import REQUIRED
from toolbench.redaction.detect import hidden_in, put_back
from toolbench.redaction.redactor import Redactor
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET
from toolbench.widgets.fields.form_context import Frame
from toolbench.widgets.fields.object import ObjectEditor
from toolbench.widgets.fields.raw_json import from_text, to_text
from toolbench.widgets.fields.rules import Registry
from toolbench.widgets.fields.rules import registry as default_registry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text_box import UnreadableError
from toolbench.widgets.fields.union import Union, tags_of
from toolbench.widgets.kit.parts import FORM, INVALID, mark, put
from toolbench.widgets.live_view import shown_views

Validate = Callable[[dict[str, Any]], list[Problem]]
Observer = Callable[[Bunch], None]
# Fields named in an alert
_MAX_NAMES = 5
# Errors below the JSON text
_MAX_ERRORS = 10


class WrongField(NamedTuple):
    """A field with an error.

    Attributes:
        name: The name of the field. The name of a nested field is its path, such as
            `subtasks[2].title`.
        focus: A function that puts the cursor in the field.
    """

    name: str
    focus: Callable[[], None]


class SchemaForm:
    """A form for a JSON Schema.

    The form keeps every value exactly: after `form.value = v`, `form.value == v` holds for every
    dict `v`, even if `v` is not valid. `true`, `1` and `1.0` stay different, and keys keep their
    order. A field is unset, is null or has a value. If a field is unset, as an optional field is
    before the user edits it, `form.value` does not contain its key.

    Examples:
        >>> from toolbench.widgets.form import SchemaForm
        >>> schema = {"type": "object", "properties": {"people": {"type": "integer", "minimum": 1}}}
        >>> form = SchemaForm(schema)
        >>> form.value = {"people": 0}
        >>> form.value, form.errors
        ({'people': 0}, [(('people',), 'should be at least 1')])
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
            schema: Any JSON Schema. A part that the form cannot read becomes a field for JSON text.
            value: The initial value; None for an untouched form.
            registry: The rules that choose editors; `fields.registry` if None.
            validate: A function that returns the problems of a value. By default, the form checks
                the value against *schema*.
        """
        self.frame = Frame(schema, registry or default_registry, self._settle)
        self._made_in = shown_views.cell
        self._validate = validate
        self._json_text = JsonText(self)
        self.slot = Slot(self.frame, self.frame.view.whole, required=True, settled=True)
        self._observers: list[Observer] = []
        self.is_blank = True
        """Whether nothing has been written or typed into the form yet."""
        self._widget: Any = None
        self._head: Any = None
        self._notice = ""
        if self.slot.notice:
            self._notice = f"The schema {self.slot.notice}."
        self._last_value: Any = None
        self._refusal: list[Problem] | None = None
        if value is not None:
            self.value = value

    def __repr__(self) -> str:
        return f"<SchemaForm of {len(self.slot.node.properties)} fields>"

    @property
    def is_busy(self) -> bool:
        """Always False, because a form runs nothing."""
        return False

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        shown_views.add(self, self._made_in)
        bundle = self.widget._repr_mimebundle_(**options)
        return {**bundle, "text/plain": repr(self)}

    # --- the value ----------------------------------------------------------------

    @property
    def value(self) -> dict[str, Any]:
        """The form's value: a new dict, without the fields that are unset."""
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
        """Set the value of the form. The caller must be inside `with form.frame.edit()`."""
        self.frame.touched(())
        self.slot.write(value)

    @property
    def typed(self) -> dict[str, Any]:
        """The contents of the form, including text that cannot be read.

        Another form takes them with `take_over`. They may contain secrets.
        """
        with self.frame.lock:
            return _dict(self.slot.typed())

    def take_over(self, typed: dict[str, Any], json: str = "") -> None:
        """Fill the form with the contents of another form, such as a form for an earlier schema.

        If a text is not valid for its field in this form, the field shows it as it was typed, with
        an error.

        Args:
            typed: The attribute `typed` of the other form.
            json: The attribute `json_draft` of the other form.
        """
        with self.frame.edit():
            if typed:
                self.write(typed)
            if json:
                self._json_text.put(json)
            for slot in self.slot.walk():
                if slot.built is not None and slot.built.trouble:
                    slot.touch()

    @property
    def json_draft(self) -> str:
        """The text in `json_widget` if it is not a JSON object; otherwise empty."""
        with self.frame.lock:
            if not self._json_text.trouble:
                return ""
            return self._json_text.text

    @property
    def json(self) -> str:
        """The text in `json_widget`: the value of the form as JSON, with its secrets hidden.

        While the user types text that is not a JSON object, `json` is this text, and `blocked` is
        true, because the form has no value to send. Setting `json` has the same effect as typing.
        """
        with self.frame.lock:
            return self._json_text.text

    @json.setter
    def json(self, text: str) -> None:
        with self.frame.edit():
            self._json_text.put(text)

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

        `change.new` is the value after the edit, and `change.old` is the value before the edit.
        Typing text that cannot be read also counts as an edit, because it changes `errors` and
        `blocked`.

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
        """All errors: typed text that cannot be read, and problems that validation has found."""
        with self.frame.lock:
            return [(p.path, p.message) for _, p in self._problems()]

    @property
    def blocked(self) -> bool:
        """Whether the form has no value to send, because some typed text cannot be read."""
        with self.frame.lock:
            return next(self._drafts(), None) is not None

    def reveal_errors(self, *, focus: bool = False) -> None:
        """Show the errors of every field, including those that the user has not edited.

        Args:
            focus: Whether to put the cursor in the first field with an error.
        """
        with self.frame.edit():
            self.frame.revealed = True
            if focus:
                self.frame.focus(self._first_wrong)

    def _first_wrong(self) -> tuple[Widget, ...]:
        if self._json_text.trouble:
            return (self._json_text.widget,)
        for slot in self.slot.walk():
            if slot.display.errors:
                return slot.display.body
        return ()

    def focus(self) -> None:
        """Put the cursor in the first field, if there is one."""
        self._focus(self.slot)

    def to_fix(self, count: int) -> str:
        """Return what the user must do before a run, such as "Fix 3 fields" if *count* is 3.

        If the text in `json_widget` cannot be read, return "Fix the JSON".
        """
        if self._json_text.trouble:
            return "Fix the JSON"
        return notes.to_fix(count)

    def wrong_fields(self) -> list[WrongField]:
        """Return the fields that show an error, in the order of the form."""
        fields = []
        with self.frame.lock:
            for slot in self.slot.walk():
                if slot.display.errors and slot.title:
                    fields.append(WrongField(_name_of(slot), partial(self._focus, slot)))
        return fields

    def _focus(self, slot: Slot) -> None:
        with self.frame.edit():
            slot.unfold()
            self.frame.focus(lambda: slot.display.body)

    def refuse(self, problems: list[Problem]) -> None:
        """Show *problems*, the reasons why a call was refused, until the user edits the form.

        Until then, the problems that the form itself finds are not shown.
        """
        with self.frame.edit():
            self.frame.revealed = True
            self._refusal = list(problems)

    def show_problems(self, problems: list[Problem]) -> None:
        """Show *problems* that other code has found. Each disappears when its field is edited."""
        with self.frame.edit():
            self.frame.outside = list(problems)

    def _drafts(self) -> Iterator[Problem]:
        """Yield a problem for each typed text that cannot be read, so that the value lacks it."""
        if self._json_text.trouble:
            yield Problem((), self._json_text.trouble)
        yield from self.slot.troubles()
        value = self.slot.read()
        if value is not UNSET and not isinstance(value, dict):
            yield Problem((), "the arguments must be an object: { … }")

    def _problems(self) -> list[tuple[Slot, Problem]]:
        """Return all problems of the value, each with the field at which it is shown."""
        # The fields hold the value that the text had before
        if self._json_text.trouble:
            return self._concealed([(self.slot, Problem((), self._json_text.trouble))])
        faults, unread = [], set()
        for draft in self._drafts():
            faults.append((locate(self.slot, draft.path).slot, draft))
            unread.add(draft.path)
        wrong = self._check(_dict(self.slot.read()))
        for slot, problem in placed(self.slot, wrong, self.frame.view.problems):
            if problem.path not in unread:
                faults.append((slot, problem))
        return self._concealed(faults)

    def _concealed(self, faults: list[tuple[Slot, Problem]]) -> list[tuple[Slot, Problem]]:
        """Return *faults* with secrets hidden in their messages, since messages quote values."""
        if not faults:
            return []
        hide = Redactor(self.slot.secrets()).sentence
        return [(slot, Problem(p.path, hide(p.message))) for slot, p in faults]

    def _check(self, value: dict[str, Any]) -> list[Problem]:
        """Return the problems of *value*. The caller handles typed text that cannot be read."""
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
                line = self.slot.display.entry()
                self._head = make(HTML, "tb-top", value=self._top(line.note))
                self._widget = make(VBox, "tb-form", children=(self._head, *line.cells))
        return self._widget

    @property
    def json_widget(self) -> Widget:
        """The widget with the value as JSON text and the errors of that text."""
        with self.frame.lock:
            return self._json_text.widget

    def _top(self, note: Html) -> Html:
        """Return the top of the form: notes on the whole form, and the number of wrong fields."""
        parts: list[str] = [FORM]
        if self._notice:
            parts.append(f'<div class="tb-notice">{escape(self._notice)}</div>')
        parts.append(note)
        fields = self.wrong_fields()
        if fields or self.slot.display.errors:
            text = self.to_fix(len(fields))
            if fields:
                text += f": {', '.join(field.name for field in fields[:_MAX_NAMES])}"
            parts.append(f'<div class="tb-sr" role="alert">{escape(text)}.</div>')
        return Html("".join(parts))

    def close(self) -> None:
        """Close every widget of the form; its value can still be read."""
        with self.frame.lock:
            self._observers.clear()
            # Nothing is drawn from now on
            self._head = None
            self.slot.close()
            self.frame.close()

    def _settle(self) -> list[Callable[[], None]]:
        """Update errors and widgets after an edit, and return functions that call the observers."""
        changed, self.frame.changed = self.frame.changed, False
        if changed:
            self.is_blank = False
            self._refusal = None
            self._json_text.follow()
        self._show_faults()
        self.frame.draw()
        self._draw()
        self._json_text.draw()
        if not changed or not self._observers:
            return []
        value, before = self.value, self._last_value
        change = Bunch(name="value", old=before, new=value, owner=self, type="change")
        self._last_value = value
        return [partial(fn, change) for fn in self._observers]

    def _show_faults(self) -> None:
        """Show the errors of edited fields, or of all if they were revealed, and unfold them."""
        slots = list(self.slot.walk())
        outside, revealed = self.frame.outside, self.frame.revealed
        messages: dict[Slot, list[str]] = {slot: [] for slot in slots}
        faults: list[tuple[Slot, Problem]] = []
        if revealed or outside or any(slot.touched for slot in slots):
            faults = [(s, p) for s, p in self._problems() if revealed or s.touched]
            faults += self._concealed(placed(self.slot, outside))
        for slot, problem in faults:
            messages.setdefault(slot, []).append(problem.message)
        for slot, texts in messages.items():
            slot.display.show_errors(texts)
            if texts:
                slot.unfold()

    def _draw(self) -> None:
        """Update the widget, if there is one; only changes are sent to the page."""
        if self._head is not None:
            line = self.slot.display.entry()
            children = (self._head, *line.cells)
            if self._widget.children != children:
                self._widget.children = children
            put(self._head, self._top(line.note))


def _name_of(slot: Slot) -> str:
    """Return the name of *slot* for a list of fields, in which a title alone may be ambiguous."""
    if len(slot.path) > 1:
        return notes.line(Problem(slot.path, "").where)
    return notes.line(slot.title)


def _unsendable(value: dict[str, Any]) -> list[Problem]:
    """Return the reason why *value* cannot be sent as JSON; empty if there is none.

    A schema does not always check this.
    """
    try:
        to_text(value)
    except (TypeError, ValueError, RecursionError) as error:
        return [Problem((), f"cannot be sent as JSON: {error}")]
    return []


def _dict(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {}


class JsonText:
    """The value of a form as JSON text, which changes with the fields and vice versa.

    If the user types text that is not a JSON object, the text stays as it is, and `trouble` has the
    error. Secrets are hidden in the text, but not in the value.
    """

    def __init__(self, form: SchemaForm) -> None:
        self._form = form
        self._typed: str | None = None
        # Whether the present edit is one of the text
        self._leads = False
        self.trouble = ""
        self._area: Any = None
        self._message: Any = None
        self._widget: Widget | None = None

    @property
    def text(self) -> str:
        """The typed text, until a field is edited; after that, the value as JSON."""
        if self._typed is not None:
            return self._typed
        try:
            return to_text(self._form.masked)
        except (TypeError, ValueError, RecursionError):
            # Not JSON, or too deep
            return "…"

    def put(self, text: str) -> None:
        """Take *text* as if the user had typed it. If it is a JSON object, fill the form with it.

        Blank text counts as an empty object.
        """
        self._typed, self._leads, self.trouble = text, True, ""
        self._form.frame.changed = True
        value: Any = {}
        if text.strip():
            try:
                value = from_text(text)
            except UnreadableError as reason:
                self.trouble = str(reason)
                return
        if not isinstance(value, dict):
            self.trouble = "The arguments must be an object: { … }."
            return
        secrets = hidden_in(self._form.value, self._form.masked)
        self._form.write(put_back(value, secrets))

    def follow(self) -> None:
        """After an edit of a field, replace the typed text; after an edit of the text, keep it."""
        if not self._leads:
            self._typed, self.trouble = None, ""
        self._leads = False

    def draw(self) -> None:
        """Update the widget, if there is one."""
        if self._area is not None:
            if self._area.value != self.text:
                self._area.value = self.text
            sentences = self._sentences()
            mark(self._area, INVALID, is_marked=bool(sentences))
            lines = [f'<div class="tb-error">{escape(each)}</div>' for each in sentences]
            put(self._message, Html(f'<div role="alert">{"".join(lines)}</div>'))

    def _sentences(self) -> list[str]:
        """Return the errors of the typed text."""
        if self._typed is None:
            return []
        if self.trouble:
            return [self.trouble]
        return [str(Problem(*error)) for error in self._form.errors[:_MAX_ERRORS]]

    @property
    def widget(self) -> Widget:
        """The text box, with its errors below it. It is built on first use."""
        if self._widget is None:
            frame = self._form.frame
            make = frame.pool.make
            self._area = make(
                Textarea,
                "tb-field",
                "tb-area",
                "tb-json",
                description="Arguments as JSON",
                value=self.text,
                # It grows with its text
                rows=8,
            )
            self._message = make(HTML, "tb-note")
            head = make(HTML, value=FORM)
            children = (head, frame.pool.editor_of(self._area), self._message)
            self._widget = make(VBox, "tb-form", children=children)
            frame.hear(self._area, "value", lambda: self.put(self._area.value))
        return self._widget


# --- the field that an error of JSON Schema or pydantic belongs to ----------------------

_CHOSEN, _OTHER = "chosen", "other"
# Ends pydantic's path of an error about a key, not about its value
_KEY = "[key]"

Explain = Callable[[Any, Any], list[Problem]]


class Place(NamedTuple):
    """The place in a form where an error is shown, found by following the path of the error.

    Attributes:
        slot: The deepest field on the path.
        path: The path to show to the user: only keys and indexes, without names of alternatives.
        rest: The remaining steps of the path, for which the form has no field.
        other: If the path leads into an alternative of a union that is not chosen, the field of the
            union; otherwise None.
    """

    slot: Slot
    path: Path
    rest: Path
    other: Slot | None = None


def locate(root: Slot, path: Path) -> Place:
    """Find the deepest form field on *path*, starting at *root*.

    The path in an error of pydantic may contain the name of an alternative of a union, such as
    `int` or the name of a class. Such a name is skipped. But a key can have the same name.
    Therefore, all steps of the path are first tried as keys.
    """
    place = _followed(root, path, has_names=False)
    if place.rest:
        place = _followed(root, path, has_names=True)
    return place


def _followed(root: Slot, path: Path, *, has_names: bool) -> Place:
    """Find the deepest field on *path*. If *has_names*, skip the names of unions' alternatives."""
    slot, steps = root, list(path)
    clear: list[str | int] = []
    # A path names the branch of a union once
    is_branch_named = not has_names
    while steps:
        if not is_branch_named and (branch := _branch_named(slot, steps)):
            steps.pop(0)
            if branch is _OTHER:
                return Place(slot, tuple(clear), tuple(steps), slot)
            is_branch_named = True
            continue
        inner = None
        if slot.is_open:
            inner = slot.child(steps[0])
        if inner is None:
            break
        slot, is_branch_named = inner, not has_names
        clear.append(steps.pop(0))
    if steps and _is_of_other(slot, steps[0]):
        return Place(slot, tuple(clear), tuple(steps), slot)
    return Place(slot, (*clear, *steps), tuple(steps))


def _is_of_other(slot: Slot, step: Any) -> bool:
    """Return whether *step* is a key of an alternative of *slot*, but not of the chosen one.

    pydantic lists the problems of every alternative if a union has no discriminator.
    """
    chosen = _chosen(slot)
    if chosen is None or step in chosen.node.properties:
        return False
    return any(step in branch.properties for branch in slot.node.branches)


def _branch_named(slot: Slot, steps: Sequence[Any]) -> str:
    """Return which alternative of *slot* the first of *steps* names: "chosen" or "other".

    Return "" if the step is a key. A key may equal the name of its alternative, as in
    `{"type": "text", "text": ...}`. Then pydantic's path to the key contains the word twice.
    """
    branches = slot.node.branches
    if not branches:
        return ""
    chosen = _chosen(slot)
    if chosen is not None:
        is_key = chosen.child(steps[0]) is not None
        if is_key and (len(steps) == 1 or chosen.child(steps[1]) is None):
            return ""
        if steps[0] in tags_of(chosen.node):
            return _CHOSEN
    if any(steps[0] in tags_of(branch) for branch in branches):
        return _OTHER
    return ""


def _chosen(slot: Slot) -> Slot | None:
    """Return the chosen alternative of *slot*; None if *slot* is no union, or none is chosen."""
    if isinstance(slot.editor, Union):
        return slot.editor.chosen
    return None


def placed(
    root: Slot, problems: Iterable[Problem], explain: Explain | None = None
) -> list[tuple[Slot, Problem]]:
    """Find the field of each problem, and rewrite the problem's path and message for the user.

    For a union, problems with alternatives that are not chosen are left out if there are other
    problems.

    Args:
        root: The form as a whole.
        problems: The problems that a validator has found.
        explain: A function that takes a schema and a value, and returns the problems of the value.
            If a value fits no alternative of a union, the function finds its problems with the
            chosen alternative.
    """
    return _placed([(locate(root, problem.path), problem) for problem in problems], root, explain)


def _placed(
    located: list[tuple[Place, Problem]], root: Slot, explain: Explain | None
) -> list[tuple[Slot, Problem]]:
    direct = [place.path for place, _ in located if place.other is None]
    faults = []
    for place, problem in located:
        if place.other is not None and _about(direct, place.other):
            continue
        narrow = []
        if explain is not None:
            narrow = list(_narrowed(place, explain))
        if not narrow:
            faults.append(_plain(place, problem))
        inner = []
        for exact in narrow:
            if exact.path == place.path:
                faults.append((place.slot, exact))
            else:
                # Taking a key for the name of an alternative would lead back here endlessly
                inner.append((_followed(root, exact.path, has_names=False), exact))
        faults += _placed(inner, root, explain)
    return list(dict.fromkeys(faults))


def _about(paths: list[Path], union: Slot) -> bool:
    above = union.path
    return any(path[: len(above)] == above for path in paths)


def _plain(place: Place, problem: Problem) -> tuple[Slot, Problem]:
    path, message = place.path, problem.message
    if place.rest == (_KEY,):
        path, message = path[:-1], f"the key {message}"
    elif place.rest and place.other is None:
        message = f"{Problem(place.rest, '').place}: {message}"
    return place.slot, Problem(path, message)


def _narrowed(place: Place, explain: Explain) -> Iterator[Problem]:
    """Yield more precise problems in place of one problem at *place*.

    If no alternative of a union fits, yield the problems of the chosen alternative. If a required
    object is missing, yield a problem for each of its required fields, which the user can fill in.
    """
    chosen = _chosen(place.slot)
    if place.rest and (place.other is None or chosen is None):
        return
    if chosen is not None:
        for problem in explain(chosen.node.raw, chosen.read()):
            if problem.path or not isinstance(chosen.editor, Union):
                yield Problem((*place.path, *problem.path), problem.message)
    elif isinstance(place.slot.editor, ObjectEditor) and _is_missing(place.slot):
        for problem in explain(place.slot.node.raw, {}):
            if problem.path:
                yield Problem((*place.path, *problem.path), problem.message)


def _is_missing(slot: Slot) -> bool:
    """Return whether *slot* is an object inside the form that is shown but has no value."""
    return slot.key is not None and slot.is_open and slot.read() is UNSET
