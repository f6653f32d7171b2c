"""The editor of a file as base64 text. A person chooses a file or types; an image is shown."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ipywidgets import HTML, FileUpload, VBox, Widget
from traitlets import Any as AnyTrait
from traitlets import Int

from toolbench.display.escape import escape
from toolbench.display.html.images import LARGEST
from toolbench.plain import base64_of, bytes_in
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.text.text_box import Line, TextBox
from toolbench.widgets.fields.unset import UNSET

# Characters; a longer text is described, not shown
_MAX_TEXT = 2_000
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


# Bytes, unless the field has its own limit
_MOST = 50_000_000
# Bytes of one message; a Jupyter server takes 10 MB, and a hub before it perhaps less
_PIECE = 500_000


class ChosenFile(NamedTuple):
    """A file that a person has chosen in the page."""

    name: str
    size: int
    content: bytes | None = None
    """None until all of it has come; a file that is too large does not come."""


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
        """Take a message of the page, the beginning of a file or a piece of it, and ask for the next."""
        match content:
            case {"file": str(upload), "name": str(name), "size": int(size)}:
                self._upload, self._came = upload, bytearray()
                self.chosen = ChosenFile(name, size)
            case {"file": self._upload, "begin": int(begin)} if begin == len(self._came):
                self._came += buffers[0]
            case {"file": self._upload}:
                # A piece that came before, and was sent again
                pass
            case _:
                return
        came, size = len(self._came), self.chosen.size
        if size > self.most or self.chosen.content is not None:
            self.send({"file": self._upload})
        elif came < size:
            self.send({"file": self._upload, "piece": [came, min(came + _PIECE, size)]})
        else:
            self.send({"file": self._upload})
            whole, self._came = bytes(self._came), bytearray()
            self.chosen = self.chosen._replace(content=whole)


class File(Line):
    """A box for base64 text, a button to choose a file, and a preview of an image."""

    nothing = "base64 text, or choose a file"
    _box: Widget | None = None
    _upload: Any = None
    _preview: Widget | None = None
    # Of the file in the text; about a file that is too large
    _name = _news = ""
    # About a file that is on its way: until it is here, nothing is sent in its place
    _wait = ""
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
            self._stack = self.make(VBox, "tb-stack", children=(self.widget, self._preview))
            self._look()
        return (self._stack, self._upload)

    @property
    def _most(self) -> int:
        """The most bytes of a file: by `json_schema_extra={"toolbench": {"max_bytes": ...}}`, else 50 MB."""
        most = self.slot.extra.get("max_bytes")
        return most if isinstance(most, int) else _MOST

    def _chosen(self) -> None:
        name, size, content = self._upload.chosen
        if content is not None:
            self.write(base64_of(content))
            self._name = name
        elif size > self._most:
            limit = f"a form takes {self._most:,} at most: pass a larger file in Python"
            self._news, self._wait = f"the file {name} has {size:,} bytes, and {limit}", ""
            self.refresh()
        else:
            self._wait = (
                f"The file {name}, {size:,} bytes, is on its way: wait, or choose it again."
            )
            self.refresh()

    def read(self) -> Any:
        """Return the text; `UNSET` while a chosen file is on its way."""
        return UNSET if self._wait else super().read()

    @property
    def trouble(self) -> str:
        """What to wait for while a chosen file is on its way; empty otherwise."""
        return self._wait

    def put(self, text: str) -> None:
        """Replace the typed text by *text*; show a preview if *text* is an image in base64."""
        self._name = self._news = self._wait = ""
        super().put(text)
        self._look()

    def take(self, other: TextBox) -> None:
        """Take the file of *other*, with its name."""
        super().take(other)
        if isinstance(other, File):
            self._name = other._name

    def display(self, text: str) -> str:
        """Return the text that the box shows: *text*, or nothing if *text* is too long."""
        return text if len(text) <= _MAX_TEXT else ""

    @property
    def ghost(self) -> str:
        """The placeholder. If the text is too long to show, the placeholder describes the file."""
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
        kind = image_kind(content) or self.node.text("contentMediaType") or "file"
        return f"{len(content):,} bytes, {kind} {self._name}".rstrip()

    @property
    def hint(self) -> str:
        """The name, the kind and the size of the file in the text, or of a file that is not there yet."""
        return self._news or (self.described() if self.text else "")

    def _typed(self) -> None:
        if self.widget.value or len(self.text) <= _MAX_TEXT:
            self._name = self._news = self._wait = ""
            super()._typed()
            self._look()

    def _look(self) -> None:
        if self._preview is None:
            return
        content = self._content or b""
        kind = image_kind(content) if len(content) <= LARGEST else ""
        data = base64_of(content)
        name = escape(f"{self.slot.label}: preview")
        self._preview.value = f'<img src="data:{kind};base64,{data}" alt="{name}">' if kind else ""


def image_kind(content: bytes) -> str:
    """Return the media type of *content*; empty unless it is an image that every browser shows."""
    return next((kind for mark, kind in _IMAGES if content.startswith(mark)), "")
