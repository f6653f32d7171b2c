"""The editor of a file as base64 text. A person chooses a file or types; an image is shown."""

from ipywidgets import HTML, FileUpload, VBox, Widget

from toolbench.display.escape import escape
from toolbench.plain import base64_of, bytes_in
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.text.text_box import Line

# Characters; a longer text is described, not shown
_MAX_TEXT = 2_000
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


class File(Line):
    """A box for base64 text, a button to choose a file, and a preview of an image."""

    nothing = "base64 text, or choose a file"
    _box: Widget | None = None
    _upload: Widget | None = None
    _preview: Widget | None = None

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
                FileUpload,
                "tb-side",
                description="Choose file",
                tooltip=f"Choose file for {notes.line(self.slot.label)}",
                accept=self.node.text("contentMediaType"),
            )
            self.hear(self._upload, "value", self._chosen)
            self._preview = self.make(HTML, "tb-preview")
            self._stack = self.make(VBox, "tb-stack", children=(self.widget, self._preview))
            self._look()
        return (self._stack, self._upload)

    def _chosen(self) -> None:
        upload = self._upload
        if upload is not None and upload.value:
            content = bytes(upload.value[0]["content"])
            # The text holds the content now
            upload.value = ()
            self.write(base64_of(content))

    def put(self, text: str) -> None:
        """Replace the typed text by *text*; show a preview if *text* is an image in base64."""
        super().put(text)
        self._look()

    def display(self, text: str) -> str:
        """Return the text that the box shows: *text*, or nothing if *text* is too long."""
        return text if len(text) <= _MAX_TEXT else ""

    @property
    def ghost(self) -> str:
        """The placeholder. If the text is too long to show, the placeholder describes the file."""
        if len(self.text) <= _MAX_TEXT:
            return super().ghost
        return f"{self.described()} (choose another, or type base64)"

    def described(self) -> str:
        """Return the kind and the size of the file in the text."""
        content = bytes_in(self.text)
        if content is None:
            return f"{len(self.text):,} characters that are not base64"
        kind = image_kind(content) or self.node.text("contentMediaType") or "file"
        return f"{len(content):,} bytes, {kind}"

    @property
    def hint(self) -> str:
        """The kind and the size of the file in the text; empty if there is no text."""
        return self.described() if self.text else ""

    def _typed(self) -> None:
        if self.widget.value or len(self.text) <= _MAX_TEXT:
            super()._typed()
            self._look()

    def _look(self) -> None:
        if self._preview is None:
            return
        content = bytes_in(self.text) or b""
        kind = image_kind(content)
        data = base64_of(content)
        name = escape(f"{self.slot.label}: preview")
        self._preview.value = f'<img src="data:{kind};base64,{data}" alt="{name}">' if kind else ""


def image_kind(content: bytes) -> str:
    """Return the media type of *content*; empty unless it is an image that every browser shows."""
    return next((kind for mark, kind in _IMAGES if content.startswith(mark)), "")
