"""Take from HTML what only formats text, and leave the rest behind: scripts, styles, addresses.

Nothing of the input is passed through. What comes out is written anew: known tags without
attributes, properly nested and closed, with escaped text between them.
"""

from html.parser import HTMLParser

from toolbench.display.css import CELL, CODE_FONT, LINE, TABLE
from toolbench.display.escape import NO_MATHS, Html, escape, link
from toolbench.display.images import read_image

LIMIT = 100_000
"""Characters of text taken, unless a caller says otherwise."""

_LARGEST = 1_000_000  # characters of HTML that are looked at
_DEEPEST = 50
_BLOCK = "margin:0 0 .6em 0"
_BOLD = f"{_BLOCK};font-weight:600"
_TAGS = {
    **{name: (name, "") for name in ("div", "span", "em", "strong", "s", "li", "tr")},
    **{name: (name, "") for name in ("thead", "tbody", "details", "summary")},
    **{name: (name, _BLOCK) for name in ("p", "ul", "ol", "blockquote")},
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), ("p", _BOLD)),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), ("code", CODE_FONT)),
    **dict.fromkeys(("u", "small", "sub", "sup"), ("span", "")),
    **dict.fromkeys(("dl", "dt", "dd", "figure", "figcaption"), ("div", "")),
    "b": ("strong", ""),
    "i": ("em", ""),
    "tfoot": ("tbody", ""),
    "pre": ("pre", f"{CODE_FONT};white-space:pre-wrap;{_BLOCK}"),
    "table": ("table", TABLE),
    "th": ("th", f"{CELL};font-weight:600;border-bottom:{LINE}"),
    "td": ("td", CELL),
}
"""How a tag is written: as which, and in what style. Headings are the notebook's own."""

_EMPTY = ("br", "hr")
_SILENT = {
    *("script", "style", "template", "iframe", "object", "noscript", "svg", "math"),
    *("head", "title", "select", "textarea", "canvas", "audio", "video"),
}


def inert_html(source: str, *, limit: int = LIMIT) -> Html:
    """Return what *source*, HTML from anywhere, formats; empty if it holds no text or image.

    Tables, lists, emphasis, code, links to http, https and mailto, and images whose data is
    in the page are kept.

    Args:
        source: The HTML.
        limit: Characters of text to take; what comes after is left out.
    """
    if len(source) > _LARGEST:
        return Html("")
    writer = _Writer(limit)
    writer.feed(source)
    writer.close()
    return writer.result()


class _Writer(HTMLParser):
    """Writes the harmless part of what it is fed."""

    def __init__(self, room: int) -> None:
        super().__init__(convert_charrefs=True)
        self._room = room
        self._parts: list[str] = []
        self._open: list[tuple[str, str]] = []  # tag as read, markup that closes it
        self._silent: list[str] = []
        self._says_something = False

    def result(self) -> Html:
        if not self._says_something:
            return Html("")
        closing = (end for _, end in reversed(self._open))
        body = "".join((*self._parts, *closing))
        return Html(f'<div {NO_MATHS} style="overflow:auto">{body}</div>')

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self._silent or tag in _SILENT:
            if tag in _SILENT:
                self._silent.append(tag)
        elif tag in _EMPTY:
            self._parts.append(f"<{tag}>")
        elif tag == "img":
            self._image(given.get("src") or "")
        elif tag == "a":
            self._link(given.get("href") or "")
        elif tag in _TAGS:
            name, css = _TAGS[tag]
            style = f' style="{css}"' if css else ""
            self._enter(tag, f"<{name}{style}{_spans(given)}>", f"</{name}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SILENT:  # `<svg/>` opens nothing that would hide the rest
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag in self._silent:
                del self._silent[self._silent.index(tag) :]
            return
        if tag in (name for name, _ in self._open):
            name = ""
            while name != tag:
                name, end = self._open.pop()
                self._parts.append(end)

    def handle_data(self, data: str) -> None:
        if not self._silent and self._room > 0:
            text = data[: self._room]
            self._room -= len(text)
            self._parts.append(escape(text))
            self._says_something |= not text.isspace()

    def _enter(self, tag: str, begin: str, end: str) -> None:
        if len(self._open) < _DEEPEST and self._room > 0:
            self._room -= len(tag)  # markup alone must come to an end too
            self._open.append((tag, end))
            self._parts.append(begin)

    def _link(self, address: str) -> None:
        opened = link(address, Html("")).removesuffix("</a>")
        inside = any(tag == "a" for tag, _ in self._open)
        if opened and not inside:  # a link in a link is no HTML
            self._enter("a", opened, "</a>")

    def _image(self, address: str) -> None:
        image = read_image(address)
        if not image.problem:
            self._parts.append(image.html)
            self._says_something = True


def _spans(attributes: dict[str, str | None]) -> str:
    """Keep how far a cell reaches, if that is a number."""
    kept = ""
    for name in ("colspan", "rowspan"):
        reach = attributes.get(name) or ""
        if reach.isascii() and reach.isdigit() and len(reach) < 4:
            kept += f' {name}="{reach}"'
    return kept
