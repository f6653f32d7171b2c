"""The named examples of a tool: a row of buttons under the panel's form, stored in a file."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.core.tool_names import ToolAddress
from toolbench.display.caps import shorten
from toolbench.display.escape import escape, visible
from toolbench.display.page import Tone, notice
from toolbench.errors import CaseError
from toolbench.runs.kernel import notebook_folder
from toolbench.runs.record import RunRecord
from toolbench.values import clip
from toolbench.widgets.kit.clicks import on_enter
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

# A panel makes its row
if TYPE_CHECKING:
    from toolbench.evals.examples import Example, ExampleFile
    from toolbench.widgets.panel.panel import ToolPanel

# Buttons in the row, characters of a name, and of the arguments in a tip
_MOST, _NAME, _TIP = 40, 40, 300


class ExamplesRow:
    """A row with the examples of the tool. A click on an example fills the form.

    Attributes:
        widget: The row. It contains the examples, the buttons *Save as example* and *Save as
            check*, the switch *Run again on change*, the field for a name, and the last message.
            The examples are shown only while the tab Form or JSON is open.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the row for *panel*."""
        self._panel, self._parts = panel, parts
        self._seen = self._stamp
        # What asks for a name, and what was said
        self._below: list[Any] = []
        self._said: Any = None
        # Whether a user knows that the first file is about to be written
        self._is_warned = False
        # What is to be saved, and a copy of it without secrets
        self._values: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
        tip = "Give these values a name, and keep them beside the notebook"
        self._offer = parts.button(
            "Save as example", self._offer_form, tip=tip, kind="toolbench-quiet"
        )
        self._chips = self._made()
        self.widget = parts.row(*self._shown, kind="toolbench-examples")

    @property
    def _file(self) -> "ExampleFile":
        # Heavy, and seldom needed: PyYAML
        from toolbench.evals.examples import ExampleFile  # noqa: PLC0415

        return ExampleFile.of(self._panel.tool)

    @property
    def _stamp(self) -> tuple[Path, int, int] | None:
        """The path, modification time and size of the examples file; None if there is no file."""
        path = notebook_folder() / f"{ToolAddress.of(self._panel.tool).file_name}.examples.yaml"
        try:
            info = path.stat()
        except OSError:
            return None
        return path, info.st_mtime_ns, info.st_size

    def refresh(self) -> None:
        """If the examples file has changed, show its examples, or the error if it is not valid."""
        stamp = self._stamp
        if stamp == self._seen:
            return
        with self._panel.lock:
            self._seen, earlier = stamp, self._chips
            self._chips = self._made()
            self.arrange()
            self._parts.drop(earlier)

    def arrange(self) -> None:
        """Show the existing parts in their order."""
        self.widget.children = self._shown

    @property
    def _shown(self) -> list[Any]:
        if not self._panel.tabs.is_at_call:
            return self._below
        shown = [*self._chips]
        arguments = self._panel.tool.input_node
        if arguments.names or arguments.is_open:
            shown.append(self._offer)
        if self._panel.tool.executor is not None:
            shown.append(self._panel.checks.button)
        return [*shown, *self._panel.on_change.widgets, *self._below]

    def _made(self) -> list[Any]:
        """Make a button for each example in the file."""
        if self._seen is None:
            return []
        try:
            examples = self._file.read()
        except CaseError as error:
            return [self._parts.html(notice(str(error), "warning"))]
        chips = []
        for example in examples[:_MOST]:
            label = shorten(visible(example.name), _NAME)
            tip = shorten(visible(clip(dict(example.arguments), _TIP)), _TIP)
            fill = partial(self._fill, example)
            chips.append(self._parts.button(label, fill, tip=tip, kind="toolbench-chip"))
        if chips:
            chips.insert(0, self._parts.html(escape("Examples:")))
        if len(examples) > _MOST:
            rest = f"and {counted(len(examples) - _MOST, 'more example')} in the file"
            chips.append(self._parts.html(escape(rest)))
        return chips

    def _fill(self, example: "Example") -> None:
        """Fill the form with *example*.

        Fields that the example leaves out, such as secrets, stay unchanged.
        """
        present = self._panel.form.value
        stays = {name: present[name] for name in example.left_out if name in present}
        self._panel.put_back({**example.arguments, **stays})

    # --- a new one --------------------------------------------------------------------------

    def _offer_form(self) -> None:
        form = self._panel.form
        if form.blocked:
            form.reveal_errors(focus=True)
            return
        self.offer(form.value, form.masked)

    def offer_run(self, record: RunRecord) -> None:
        """Ask for the name of an example with the arguments of the run *record*.

        Arguments that the record does not contain, such as secrets, are left out of the example.
        """
        arguments = dict(record.arguments)
        masked, _ = self._panel.tool.secrecy.hide(arguments)
        self.offer(arguments, {**masked, **dict.fromkeys(record.lost)})

    def offer(self, arguments: Mapping[str, Any], masked: Mapping[str, Any]) -> None:
        """Ask for the name of an example with these *arguments*.

        *masked* is a copy of the arguments with secrets hidden. Arguments that are hidden in the
        copy are not saved.
        """
        self._values, self._is_warned = (arguments, masked), False
        name = self._parts.make(w.Text, "toolbench-field", description="Name of the example")
        self.ask(partial(self._save, name), name)

    def ask(self, save: Callable[[], object], *fields: Any) -> None:
        """Show *fields* below the row. Enter and the button *Save* call *save*."""
        for field in fields:
            on_enter(field, save)
        parts = self._parts
        buttons = (
            parts.button("Save", save, look="primary"),
            parts.button("Close", self._show_below),
        )
        self._said = parts.html(kind="toolbench-told")
        self._show_below(*fields, *buttons, self._said)
        fields[0].focus()

    def refuse(self, words: str, tone: Tone = "danger") -> None:
        """Show below the row why nothing was saved."""
        put(self._said, notice(words, tone))

    def tell(self, words: str) -> None:
        """Replace the fields below the row with *words*, which say what was saved."""
        self._show_below(self._parts.html(notice(words, "success"), kind="toolbench-told"))

    def _show_below(self, *widgets: Any) -> None:
        earlier, self._below = self._below, [*widgets]
        self.arrange()
        self._parts.drop(earlier)

    def _save(self, name: Any) -> None:
        from toolbench.evals.examples import Example  # noqa: PLC0415 - as above

        file = self._file
        try:
            example = Example.of(name.value, *self._values)
            if file.is_first and not self._is_warned:
                self._is_warned = True
                words = f"Save again, to write {file.path.name} beside the notebook: it keeps examples, never secrets."
                self.refuse(words, "info")
                return
            file.put(example)
        except CaseError as error:
            self.refuse(str(error))
            return
        words = f"Saved {example.name!r} in {file.path.name}, beside the notebook."
        if example.left_out:
            words += f" Left out, as a secret or too long: {', '.join(example.left_out)}."
        self.tell(words)
        self._panel.renew_examples()
