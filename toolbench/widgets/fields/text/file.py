"""The editor of a file as base64 text. A person chooses a file or types; an image is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ipywidgets import HTML, Button, FileUpload, VBox, Widget
from traitlets import Any as AnyTrait
from traitlets import Int

from toolbench.core.content import image_type
from toolbench.display.escape import escape
from toolbench.display.images import LARGEST
from toolbench.values import base64_of, bytes_in
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.text.text_box import Line, TextBox
from toolbench.widgets.kit.parts import show_if

# Characters; a longer text is described, not shown
_MAX_TEXT = 2_000
# Bytes, unless the field has its own limit
_MOST = 50_000_000
# Bytes of one message; a Jupyter server takes 10 MB, and a hub before it perhaps less
_PIECE = 500_000


# Not compared by value: to choose the same file again is another choice
@dataclass(frozen=True, eq=False)
class ChosenFile:
    """A file that a person has chosen in the page."""

    name: str
    size: int
    content: bytes | None = None
    """None until all of it has come; a file that is too large does not come."""
    failed: str = ""
    """Why it will not come, in a sentence of the page; empty if nothing has failed."""


class FilePicker(FileUpload):
    """A button to choose a file, which comes in pieces: a message that is too large ends the connection.

    The page (`frontend/src/uploads.ts`) sends the name and the size, and then each piece that it is
    asked for. Without our JavaScript module ipywidgets sends the file in one message.
    """

    chosen = AnyTrait(None)
    """The chosen file, a `ChosenFile`."""
    most = Int(_MOST)
    """The most bytes of a file."""

    def __init__(self, **traits: Any) -> None:
        """Make the button."""
        super().__init__(**traits)
        self._came = bytearray()
        self._upload = ""
        self.on_msg(lambda _, content, buffers: self._hear(content, buffers))
        self.observe(self._take_value, "value")

    def _take_value(self, change: Any) -> None:
        if change["new"]:
            [file] = change["new"]
            # The field holds the content now
            self.set_trait("value", ())
            content = bytes(file["content"])
            fits = len(content) <= self.most
            self.chosen = ChosenFile(str(file["name"]), len(content), content if fits else None)

    def _hear(self, content: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Take a message of the page about a file, and ask for the next piece, or for no more."""
        match content:
            case {"file": str(upload), "name": str(name), "size": int(size), "failed": str(why)}:
                if self._upload in ("", upload):
                    self.stop()
                    self.chosen = ChosenFile(name, size, failed=why)
            case {"file": str(upload), "name": str(name), "size": int(size)}:
                # First, because the field stops what came before
                self.chosen = ChosenFile(name, size)
                self._upload, self._came = upload, bytearray()
            case {"file": str(upload), "begin": int(begin)}:
                # Else a piece that came before and was sent again, or is not waited for any more
                if upload == self._upload and begin == len(self._came):
                    self._came += buffers[0]
            case _:
                return
        came = len(self._came)
        if upload == self._upload and came < self.chosen.size <= self.most:
            self.send({"file": upload, "piece": [came, min(came + _PIECE, self.chosen.size)]})
            return
        self.send({"file": upload})
        if upload == self._upload and came == self.chosen.size:
            whole = bytes(self._came)
            self.stop()
            self.chosen = replace(self.chosen, content=whole)

    def stop(self) -> None:
        """Wait for no more pieces."""
        self._upload, self._came = "", bytearray()


class File(Line):
    """A box for base64 text, a button to choose a file, and a preview of an image."""

    nothing = "base64 text, or choose a file"
    _box: Widget | None = None
    _upload: Any = None
    _preview: Widget | None = None
    _clear_button: Any = None
    # Of the file in the text
    _name = ""
    # Chosen, but not here: nothing is sent in its place, neither the default nor an earlier file
    _missing: ChosenFile | None = None
    _decoded: tuple[str, bytes | None] = ("", b"")

    def build(self) -> Widget:
        """Make the box, without the preview."""
        self._box = super().build()
        self._widget = self._box
        return self._box

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The box with its preview, and the button to choose a file."""
        if self._upload is None:
            self._upload = self.make(
                FilePicker,
                "tb-side",
                description="Choose file",
                tooltip=f"Choose file for {notes.line(self.slot.label)}",
                accept=self.node.text("contentMediaType"),
                most=self._most,
            )
            self.hear(self._upload, "chosen", self._chosen)
            self._preview = self.make(HTML, "tb-preview")
            self._clear_button = self.make(
                Button,
                "tb-add",
                description="Clear",
                tooltip=f"Clear {notes.line(self.slot.label)}",
            )
            self.hear(self._clear_button, "", self._cleared)
            self._show_clear()
            children = (self.widget, self._preview, self._clear_button)
            self._stack = self.make(VBox, "tb-stack", children=children)
            self._look()
        return (self._stack, self._upload)

    @property
    def _most(self) -> int:
        """The most bytes of a file: by `json_schema_extra={"toolbench": {"max_bytes": ...}}`, else 50 MB."""
        most = self.slot.extra.get("max_bytes")
        return most if isinstance(most, int) else _MOST

    def _chosen(self) -> None:
        file = self._upload.chosen
        if file.content is not None:
            self.write(base64_of(file.content))
            self._name = file.name
        else:
            self.clear()
            self._missing = file
            self.refresh()

    def _cleared(self) -> None:
        self.clear()
        # The button is hidden now
        self.frame.focus(lambda: (self.widget,))

    @property
    def trouble(self) -> str:
        """Why a chosen file is not here; empty if none is missing."""
        file = self._missing
        if file is None:
            return ""
        if file.size > self._most:
            limit = f"a form takes {self._most:,} at most: pass a larger file in Python"
            return f"The file {file.name} has {file.size:,} bytes, and {limit}."
        if file.failed:
            return file.failed
        return (
            f"The file {file.name}, {file.size:,} bytes, is on its way: wait, or choose it again."
        )

    def put(self, text: str) -> None:
        """Replace the typed text by *text*; show a preview if *text* is an image in base64."""
        self._forget_file()
        super().put(text)
        self._look()

    def _forget_file(self) -> None:
        self._name, self._missing = "", None
        if self._upload is not None:
            self._upload.stop()

    def typed(self) -> Any:
        """Return this box also while a chosen file is not here."""
        return self if self._missing else super().typed()

    def take(self, other: TextBox) -> None:
        """Take the file of *other*, with its name. One that is on its way does not come here."""
        super().take(other)
        if isinstance(other, File):
            self._name, file = other._name, other._missing
            if file is not None:
                words = f"The file {file.name} did not reach this form. Choose it again."
                self._missing = replace(file, failed=file.failed or words)

    def refresh(self) -> None:
        """Update the placeholder, the error mark and the button that clears the field."""
        super().refresh()
        self._show_clear()

    def _show_clear(self) -> None:
        """Show the button if the box does not show what there is to clear."""
        if self._clear_button is not None:
            is_shown = self._missing is not None or self.display(self.text) != self.text
            show_if(self._clear_button, is_shown=is_shown)

    def display(self, text: str) -> str:
        """Return the text that the box shows: *text*, or nothing if *text* is too long."""
        return text if len(text) <= _MAX_TEXT else ""

    @property
    def ghost(self) -> str:
        """The placeholder: not the default while a file is missing; a file too long to show in words."""
        if self._missing is not None:
            return self.nothing
        if len(self.text) <= _MAX_TEXT:
            return super().ghost
        return f"{self.described()} (choose another, or type base64)"

    @property
    def _content(self) -> bytes | None:
        """The bytes of which the text is the base64; None if it is not base64."""
        if self._decoded[0] is not self.text:
            self._decoded = (self.text, bytes_in(self.text))
        return self._decoded[1]

    def described(self) -> str:
        """Return the name, the size and the kind of the file in the text."""
        content = self._content
        if content is None:
            return f"{len(self.text):,} characters that are not base64"
        kind = image_type(content) or self.node.text("contentMediaType") or "file"
        return f"{len(content):,} bytes, {kind} {self._name}".rstrip()

    @property
    def hint(self) -> str:
        """The name, the kind and the size of the file in the text."""
        return self.described() if self.text else ""

    def _typed(self) -> None:
        if self.widget.value or len(self.text) <= _MAX_TEXT:
            self._forget_file()
            super()._typed()
            self._look()

    def _look(self) -> None:
        if self._preview is None:
            return
        content = self._content or b""
        kind = image_type(content)
        if kind is None or len(content) > LARGEST:
            self._preview.value = ""
            return
        data = base64_of(content)
        name = escape(f"{self.slot.label}: preview")
        self._preview.value = f'<img src="data:{kind};base64,{data}" alt="{name}">'
