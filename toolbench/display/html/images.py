"""Show an image from a tool: the image itself if its URL contains the data, else a link."""

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from toolbench.display.escape import NO_MATHS, Html, escape, link, safe_address, visible
from toolbench.display.html.css import REMARK
from toolbench.display.sizes import human_size
from toolbench.values import clip

LARGEST = 5_000_000
"""The most bytes of an image that is put into a page, and so into a saved notebook."""

# Characters of a URL that are no data
_HEAD = 1_000
_DATA = re.compile(
    r"data:(image/(?:png|jpe?g|gif|webp|bmp|svg\+xml))"
    r"(?:;[\w.-]+=[\w.-]*|;utf-?8)*(;base64)?,(.*)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Image:
    """An image that a URL describes: the `data` of a `data:` URL, or the `problem`, why there is none."""

    url: str
    kind: str = "image"
    data: bytes = b""
    problem: str = ""

    @property
    def label(self) -> str:
        """The kind and the size of the image, and what is wrong with it if anything is: `image/png, 12.3 kB`."""
        size = human_size(len(self.data)) if self.data else ""
        return ", ".join(part for part in (self.kind, size, self.problem) if part)

    @property
    def text(self) -> str:
        """The line of text in place of the image, where images cannot be shown."""
        where = f" {safe_address(self.url)}" if safe_address(self.url) else ""
        return visible(f"[{self.label}]{where}")

    @property
    def source(self) -> str:
        """The `data:` URL of the image, made from its data."""
        return f"data:{self.kind};base64,{b64encode(self.data).decode('ascii')}"

    @property
    def html(self) -> Html:
        """The image itself, or its text with a link; images on the web are never loaded.

        An SVG is shown with `<img>`: there it cannot run a script or load anything.
        """
        if self.problem:
            remark = link(self.url, escape(self.text))
            return Html(f'<div {NO_MATHS} data-toolbench-part style="{REMARK}">{remark}</div>')
        return Html(
            f'<img src="{escape(self.source)}" alt="{escape(self.label)}"'
            ' style="display:block;max-width:100%;height:auto">'
        )


def read_image(url: str, *, most: int = LARGEST) -> Image:
    """Return the image in *url*; if there is none, the result has the reason in `problem`.

    An image of more than *most* bytes is too large.
    """
    # Every byte may be written as %XX
    if len(url) > 3 * most + _HEAD:
        return Image("", problem=f"more than {human_size(most)}, not shown")
    match = _DATA.fullmatch(url)
    if not match:
        known = safe_address(url) and not url.lower().startswith("mailto:")
        problem = "not fetched" if known else f"no image at {clip(url, 80)}"
        return Image(url, problem=problem)
    kind = match[1].lower().replace("jpg", "jpeg")
    try:
        data = _decode(match[3], base64=bool(match[2]))
    except ValueError:
        # Wrong base64, or a character not allowed in a URL
        return Image("", kind, problem="not valid base64")
    problem = "" if data else "empty"
    if len(data) > most:
        problem = f"more than {human_size(most)}, not shown"
    return Image("", kind, data, problem)


def _decode(payload: str, *, base64: bool) -> bytes:
    raw = unquote_to_bytes(payload)
    if not base64:
        return raw
    packed = b"".join(raw.split())
    return b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
