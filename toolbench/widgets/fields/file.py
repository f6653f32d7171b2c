"""The editor of a file as base64 text: the user drops a file, chooses one, or types the text."""

from codecs import getincrementaldecoder
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
from toolbench.widgets.fields.text_box import Line, TextBox, is_showable
from toolbench.widgets.kit.parts import show_if
from toolbench.wording import human_size

# Characters; a longer text is described, not shown
_MAX_TEXT = 2_000
# Bytes and lines of a text file that are shown
_MAX_HEAD, _MAX_LINES = 600, 5
# Bytes, unless the field has its own limit
_MOST = 50_000_000
# Bytes of one message; a Jupyter server accepts 10 MB, and a hub in front of it perhaps less
_PIECE = 500_000


# Not compared by value: choosing the same file again is a new choice
@dataclass(frozen=True, eq=False)
class ChosenFile:
    """A file that the user has chosen in the page."""

    name: str
    size: int
    content: bytes | None = None
    """The content; None until all of it has arrived. A file that is too large is never sent."""
    failed: str = ""
    """The page's explanation of why the file will not arrive; empty if nothing has failed."""


class FilePicker(FileUpload):
    """A button to choose a file. The page sends the file to the kernel in pieces.

    A single large message would end the connection. Therefore, the page (`frontend/src/uploads.ts`)
    first sends the name and the size of the file, and then each piece that the kernel requests. If
    the page has not loaded our JavaScript module, ipywidgets sends the file in one message.
    """

    chosen = AnyTrait(None)
    """The chosen file, a `ChosenFile`."""
    most = Int(_MOST).tag(sync=True)
    """The maximum number of bytes of a file. The page does not send a larger one."""

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
            chosen = ChosenFile(str(file["name"]), len(file["content"]))
            if chosen.size <= self.most:
                chosen = replace(chosen, content=bytes(file["content"]))
            self.chosen = chosen

    def _hear(self, content: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Handle the page's message about a file: ask for the next piece, or for no more pieces."""
        match content:
            case {"file": str(upload), "name": str(name), "size": int(size), "failed": str(why)}:
                if self._upload in ("", upload):
                    self.stop()
                    self.chosen = ChosenFile(name, size, failed=why)
            case {"file": str(upload), "name": str(name), "size": int(size)}:
                # First, because the field stops the transfer of the earlier file
                self.chosen = ChosenFile(name, size)
                self._upload, self._came = upload, bytearray()
            case {"file": str(upload), "begin": int(begin)}:
                # Otherwise the piece was sent twice, or is no longer expected
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
        """Ignore further pieces of the current file."""
        self._upload, self._came = "", bytearray()


class File(Line):
    """A box for base64 text, with a button to choose a file and a preview of the content.

    The page (`frontend/src/uploads.ts`) also accepts a file that is dropped on the field.
    """

    nothing = "drop a file here, choose one, or type base64"
    is_short = False
    takes_others = False

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        # The box with the button to choose a file beside it, and the facts and preview below
        self._stack: Any = None
        self._upload: Any = None
        self._preview: Any = None
        self._clear_button: Any = None
        # The name of the file in the text
        self._name = ""
        # A chosen file that has not arrived: neither the default nor an earlier file is sent
        # instead
        self._missing: ChosenFile | None = None
        self._decoded: tuple[str, bytes | None] = ("", b"")
        # Bytes, by `json_schema_extra={"toolbench": {"max_bytes": ...}}`
        self._most = _MOST
        if isinstance(slot.extra.get("max_bytes"), int):
            self._most = slot.extra["max_bytes"]

    @property
    def cells(self) -> tuple[Widget, ...]:
        """One stack: the box, the buttons to choose and to remove a file, and the preview."""
        if self._stack is None:
            name = notes.line(self.slot.label)
            self._upload = self.make(
                FilePicker,
                "tb-side",
                description="Choose file",
                tooltip=f"Choose file for {name}",
                accept=self.node.text("contentMediaType"),
                most=self._most,
            )
            self.hear(self._upload, "chosen", self._chosen)
            self._preview = self.make(HTML, "tb-preview")
            self._clear_button = self.make(
                Button, "tb-add", description="Remove", tooltip=f"Remove {name}"
            )
            self.hear(self._clear_button, "", self._cleared)
            self._show_clear()
            children = (self.widget, self._upload, self._preview, self._clear_button)
            self._stack = self.make(VBox, "tb-file", children=children)
            self._look()
        return (self._stack,)

    def _chosen(self) -> None:
        file = self._upload.chosen
        if file.content is not None:
            # One message, because it may contain a large image
            with self._preview.hold_sync():
                self.write(base64_of(file.content))
                self._call_it(file.name)
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
        """Why a chosen file has not arrived; empty if no file is missing."""
        file = self._missing
        if file is None:
            return ""
        if file.size > self._most:
            limit = f"a form takes {self._most:,} at most: pass a larger file in Python"
            return f"The file {file.name} has {file.size:,} bytes, and {limit}."
        if file.failed:
            return file.failed
        return (
            f"The file {file.name}, {file.size:,} bytes, is being sent: wait, or choose it again."
        )

    def put(self, text: str) -> None:
        """Replace the typed text with *text*, and show a preview of the file that it encodes."""
        self._forget_file()
        super().put(text)
        self._look()

    def _forget_file(self) -> None:
        self._name, self._missing = "", None
        if self._upload is not None:
            self._upload.stop()

    def _call_it(self, name: str) -> None:
        """Show the file name *name* instead of the text that encodes the file."""
        self._name = name
        if self._widget is not None:
            self._widget.value = self.display(self.text)
        self.refresh()
        self._look()

    def typed(self) -> Any:
        """Return this box if it has text, or if a chosen file has not arrived yet."""
        if self._missing:
            return self
        return super().typed()

    def take(self, other: TextBox) -> None:
        """Take over the file and its name from *other*, a box of an earlier form.

        If the page is still sending the file to *other*, the file is not taken over. The user must
        choose it again.
        """
        super().take(other)
        if isinstance(other, File):
            file = other._missing
            self._call_it(other._name)
            if file is not None:
                words = f"The file {file.name} did not reach this form. Choose it again."
                self._missing = replace(file, failed=file.failed or words)

    def refresh(self) -> None:
        """Update the placeholder, the error mark and the button that removes the file."""
        super().refresh()
        self._show_clear()

    def _show_clear(self) -> None:
        """Show the button if there is a file."""
        if self._clear_button is not None:
            is_shown = self._missing is not None or bool(self.text)
            show_if(self._clear_button, is_shown=is_shown)

    def display(self, text: str) -> str:
        """Return what the box shows: *text*, or nothing if it encodes a chosen file or is long."""
        if self._name or len(text) > _MAX_TEXT:
            return ""
        return text

    @property
    def ghost(self) -> str:
        """The placeholder. It does not show the default while a file is chosen."""
        if self._missing is not None:
            return self.nothing
        if self.display(self.text) == self.text:
            return super().ghost
        return "drop or choose another file, or type base64"

    @property
    def _content(self) -> bytes | None:
        """The bytes that the text encodes; None if the text is not base64."""
        if self._decoded[0] is not self.text:
            self._decoded = (self.text, bytes_in(self.text))
        return self._decoded[1]

    @property
    def hint(self) -> str:
        """The maximum size of a file."""
        return f"at most {human_size(self._most).replace('.0 ', ' ')}"

    @property
    def _facts(self) -> str:
        """The name, the size and the type of the file in the text; empty if there is no text."""
        if not self.text:
            return ""
        content = self._content
        if content is None:
            return f"{len(self.text):,} characters that are not base64"
        kind = image_type(content) or self.node.text("contentMediaType")
        facts = (self._name, human_size(len(content)), kind)
        return " · ".join(filter(None, facts))

    def _typed(self) -> None:
        if self.widget.value or self.display(self.text) == self.text:
            self._forget_file()
            super()._typed()
            self._look()

    def _look(self) -> None:
        if self._preview is None:
            return
        content = self._content or b""
        kind, head = image_type(content), _head_of(content)
        shown = ""
        if kind is not None and len(content) <= LARGEST:
            name = escape(f"{self.slot.label}: preview")
            shown = f'<img src="data:{kind};base64,{base64_of(content)}" alt="{name}">'
        elif head:
            shown = f"<pre>{escape(head)}</pre>"
        if self._facts:
            shown = f'<div class="tb-facts" role="status">{escape(self._facts)}</div>{shown}'
        self._preview.value = shown


def _head_of(content: bytes) -> str:
    """Return the first lines of *content*; empty if *content* is not plain text."""
    decoder = getincrementaldecoder("utf-8")()
    try:
        # Drops a last character that is cut off
        text = decoder.decode(content[:_MAX_HEAD])
    except UnicodeDecodeError:
        return ""
    if not is_showable(text.replace("\r\n", "\n")):
        return ""
    return "\n".join(text.splitlines()[:_MAX_LINES])
