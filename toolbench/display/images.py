"""The display of images and icons: the image itself if its URL contains the data, or a link."""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from toolbench.display.css import REMARK
from toolbench.display.escape import NO_MATHS, Html, escape, link, safe_address, visible
from toolbench.values import clip
from toolbench.wording import human_size

LARGEST = 5_000_000
"""The maximum number of bytes of an image that is shown itself."""
LARGEST_PREVIEWED = 50_000_000
"""The maximum number of bytes of an image of which a preview is made."""

# Bytes of an image above which a page, and so a saved notebook, has a preview
_LARGE = 700_000
# Pixels of a side of a preview, and the most that an image may have to be read
_PREVIEW, _MOST_PIXELS = 800, 50_000_000
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")

# Characters of a URL that are not data
_HEAD = 1_000
_DATA = re.compile(
    r"data:(image/(?:png|jpe?g|gif|webp|bmp|svg\+xml))"
    r"(?:;[\w.-]+=[\w.-]*|;utf-?8)*(;base64)?,(.*)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Image:
    """An image, read from its URL.

    For a valid `data:` URL, `data` has the bytes. Otherwise `problem` says why there are no bytes.
    """

    url: str
    kind: str = "image"
    data: bytes = b""
    problem: str = ""

    @property
    def label(self) -> str:
        """The kind and size of the image, and its problem if it has one: `image/png, 12.3 kB`."""
        parts = [self.kind]
        if self.data:
            parts.append(human_size(len(self.data)))
        if self.problem:
            parts.append(self.problem)
        return ", ".join(parts)

    @property
    def text(self) -> str:
        """A line of text that replaces the image if images cannot be shown."""
        if safe_address(self.url):
            return visible(f"[{self.label}] {self.url}")
        return visible(f"[{self.label}]")

    @property
    def source(self) -> str:
        """The `data:` URL of the image, made from its data."""
        return f"data:{self.kind};base64,{b64encode(self.data).decode('ascii')}"

    @cached_property
    def html(self) -> Html:
        """The image as HTML, or a preview if it is large; a line that links to one not shown.

        Images on the web are never loaded. An SVG is shown with `<img>`, in which it cannot run
        scripts or load anything. Without Pillow, an image of up to `LARGEST` bytes is shown whole.
        """
        if self.problem:
            return self._remark(self.text)
        note, preview = "", b""
        if len(self.data) > _LARGE:
            preview = _preview(self.data)
        if preview:
            source = f"data:image/webp;base64,{b64encode(preview).decode()}"
            words = f"A preview: the result has the whole image, {human_size(len(self.data))}."
            note = f'<div data-toolbench-part style="{REMARK}">{words}</div>'
        elif len(self.data) > LARGEST:
            return self._remark(f"[{self.label}, {_too_large(LARGEST)}]")
        else:
            source = self.source
        return Html(
            f'<img src="{escape(source)}" alt="{escape(self.label)}"'
            f' style="display:block;max-width:100%;height:auto">{note}'
        )

    def _remark(self, text: str) -> Html:
        remark = link(self.url, escape(text))
        return Html(f'<div {NO_MATHS} data-toolbench-part style="{REMARK}">{remark}</div>')


# The same image is read for the user, for the model, and as text, and again when a panel is redrawn
@lru_cache(maxsize=2)
def read_image(url: str, *, most: int = LARGEST) -> Image:
    """Decode the image that the `data:` URL *url* contains.

    If the image cannot be shown, the attribute `problem` of the result says why. An image on the
    web is not loaded, and an image of more than *most* bytes is too large.
    """
    # Each byte may be written as %XX
    if len(url) > 3 * most + _HEAD:
        return Image("", problem=_too_large(most))
    match = _DATA.fullmatch(url)
    if not match:
        if safe_address(url) and not url.lower().startswith("mailto:"):
            return Image(url, problem="not fetched")
        return Image(url, problem=f"no image at {clip(url, 80)}")
    kind = match[1].lower().replace("jpg", "jpeg")
    try:
        data = _decode(match[3], base64=bool(match[2]))
    except ValueError:
        # Wrong base64, or a character not allowed in a URL
        return Image("", kind, problem="not valid base64")
    problem = ""
    if not data:
        problem = "empty"
    if len(data) > most:
        problem = _too_large(most)
    return Image("", kind, data, problem)


def _too_large(most: int) -> str:
    return f"more than {human_size(most)}, not shown: the result has it"


def _preview(data: bytes) -> bytes:
    """Return a small copy of the image in *data*; empty if Pillow is missing or cannot read it."""
    written = BytesIO()
    try:
        with import_module("PIL.Image").open(BytesIO(data), formats=_FORMATS) as image:
            if image.width * image.height > _MOST_PIXELS:
                return b""
            # Averaged first: three times as fast, and of a photo no difference is seen
            gap: float | None = 1.0
            if image.mode.startswith("I"):
                # Pillow cannot average greys of 16 bits
                gap = None
            image.thumbnail((_PREVIEW, _PREVIEW), reducing_gap=gap)
            # A browser turns a photo as its metadata says, which the copy does not have
            upright = import_module("PIL.ImageOps").exif_transpose(image)
            if upright.mode.startswith("I"):
                # Greys of 16 bits: all above 255 would be white
                upright = upright.convert("I").point(lambda grey: grey / 256).convert("L")
            # The least effort but one: half of the time for some bytes more
            upright.convert("RGBA").save(written, "WEBP", method=1)
    except Exception:  # noqa: BLE001 - any image may come, and then it is shown whole
        return b""
    return written.getvalue()


def _decode(payload: str, *, base64: bool) -> bytes:
    raw = unquote_to_bytes(payload)
    if not base64:
        return raw
    packed = b"".join(raw.split())
    return b64decode(packed + b"=" * (-len(packed) % 4), validate=True)


# --- icons --------------------------------------------------------------------------

# Bytes: an icon is small, and is saved in each notebook
_LARGEST = 100_000
# Pixels
_SIDE = 20


def icon_html(icons: Any) -> Html:
    """Return the first of *icons* that can be shown, as HTML; empty if there is none.

    Args:
        icons: The field `icons` of a server, tool, resource or prompt, as MCP defines it: a list of
            objects with the address `src`. Only icons with a `data:` address are shown.
    """
    image = _image_in(icons)
    if image is None:
        return Html("")
    style = f"display:inline-block;width:{_SIDE}px;height:{_SIDE}px;object-fit:contain;margin-right:6px;vertical-align:-4px"
    return Html(f'<span aria-hidden="true" style="{style}">{image.html}</span>')


def icon_source(icons: Any) -> str:
    """Return the `data:` URL of the icon that `icon_html` shows; empty if it shows none."""
    image = _image_in(icons)
    if image is None:
        return ""
    return image.source


def _image_in(icons: Any) -> Image | None:
    if not isinstance(icons, list | tuple):
        return None
    for icon in icons:
        if not isinstance(icon, Mapping):
            continue
        source = icon.get("src")
        if not isinstance(source, str) or len(source) > 4 * _LARGEST:
            continue
        image = read_image(source)
        if not image.problem and len(image.data) <= _LARGEST:
            return image
    return None
