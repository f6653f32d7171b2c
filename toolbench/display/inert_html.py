"""HTML reduced to its formatting, without scripts, styles or unsafe addresses.

No markup of the input is copied. The output is newly written: known tags without attributes,
properly nested and closed, with escaped text between them. So a mistake in parsing changes the
look, but is never dangerous. The tests check the output with a browser's parser (html5ever).

No library reads the input, because all are too slow for hostile HTML. html5ever (nh3) takes 50 s
for 480 kB of nested `<div>`, and 58 s for 180 kB of `<b>` with attributes. Python's html.parser
takes 80 s for 180 kB of open quotes. This module takes 0.2 s or less.
"""

import re
from html import unescape

from toolbench.display.css import CELL, CODE_FONT, LINE, TABLE
from toolbench.display.escape import NO_MATHS, Html, escape, link
from toolbench.display.images import read_image

LIMIT = 100_000
"""The default number of characters of text to keep."""

# Characters of HTML to read at most
_LARGEST = 500_000
_DEEPEST = 50
_BLOCK = "margin:0 0 .6em 0"
_BOLD = f"{_BLOCK};font-weight:600"
_TAGS = {
    **{name: (name, "") for name in ("div", "span", "em", "strong", "s", "li", "tr")},
    **{name: (name, "") for name in ("tbody", "details", "summary")},
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
    "thead": ("thead", f"border-bottom:{LINE}"),
    "th": ("th", f"{CELL};font-weight:600"),
    "td": ("td", CELL),
}
"""For each tag of the input: the tag and the style to write. A heading becomes a bold paragraph.

Real headings would be listed among the headings of the notebook.
"""

_EMPTY = ("br", "hr")
_SILENT = {
    *("script", "style", "template", "iframe", "object", "noscript", "svg", "math"),
    *("head", "title", "select", "textarea", "canvas", "audio", "video"),
}
# Each piece ends at the latest at the end of the text, so no part is read twice.
_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<[!?][^>]*+(?:>|\Z)"
    r"|<(?P<end>/)?(?P<tag>[a-zA-Z][a-zA-Z0-9]*+)"
    r"""(?P<rest>(?:[^>"']|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+)(?:>|\Z)""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""(?P<name>[^\s=/"'>]++)(?:\s*+=\s*+"""
    r"""(?:"(?P<quoted>[^"]*+)"?|'(?P<single>[^']*+)'?|(?P<bare>[^\s"'>]++)))?+"""
)

# In the output
_UNNAMED = re.compile(r"<th( [^>]*)>(\s*)</th>")


def inert_html(source: str, *, limit: int = LIMIT) -> Html:
    """Return *source*, which may be any HTML, without the parts that could do harm.

    Tables, lists, emphasis, code, and links to http, https and mailto addresses are kept. Images
    are kept if they have a `data:` URL. The result is empty if *source* has neither text nor
    images, or if it is too large.

    Args:
        source: The HTML.
        limit: The number of characters of text to keep. The rest is left out.
    """
    if len(source) > _LARGEST:
        return Html("")
    writer = _Writer(limit)
    writer.feed(source)
    return writer.result()


class _Writer:
    """Writes the harmless part of HTML."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._parts: list[str] = []
        # Tag as read, markup that closes it
        self._open: list[tuple[str, str]] = []
        self._has_content = False

    def result(self) -> Html:
        if not self._has_content:
            return Html("")
        while self._open:
            self._parts.append(self._open.pop()[1])
        # An empty head becomes a cell
        body = _UNNAMED.sub(r"<td\1>\2</td>", "".join(self._parts))
        return Html(f'<div {NO_MATHS} style="overflow:auto">{body}</div>')

    def feed(self, source: str) -> None:
        place = 0
        while self._room > 0 and (piece := _PIECE.search(source, place)):
            self._text(source[place : piece.start()])
            place = piece.end()
            tag = (piece["tag"] or "").lower()
            if not tag:
                # A comment or similar
                continue
            if piece["end"]:
                self._leave(tag)
            elif tag in _SILENT:
                place = _after(source, tag, place)
            else:
                self._begin(tag, piece["rest"])
        self._text(source[place:])

    def _begin(self, tag: str, rest: str) -> None:
        if tag in _EMPTY:
            self._parts.append(f"<{tag}>")
        elif tag == "img":
            self._image(_attribute(rest, "src"))
        elif tag == "a":
            self._link(_attribute(rest, "href"))
        elif tag in _TAGS:
            name, css = _TAGS[tag]
            attributes = ""
            if css:
                attributes = f' style="{css}"'
            if tag in ("td", "th"):
                attributes += _spans(rest)
            self._enter(tag, f"<{name}{attributes}>", f"</{name}>")

    def _leave(self, tag: str) -> None:
        if tag in dict(self._open):
            name = ""
            while name != tag:
                name, end = self._open.pop()
                self._parts.append(end)

    def _text(self, raw: str) -> None:
        if raw and self._room > 0:
            text = unescape(raw)[: self._room]
            self._room -= len(text)
            self._parts.append(escape(text))
            self._has_content |= not text.isspace()

    def _enter(self, tag: str, begin: str, end: str) -> None:
        if len(self._open) < _DEEPEST and self._room > 0:
            # Limits markup without text too
            self._room -= len(tag)
            self._open.append((tag, end))
            self._parts.append(begin)

    def _link(self, address: str) -> None:
        opened = link(address, Html("")).removesuffix("</a>")
        # HTML allows no link in a link
        if opened and "a" not in dict(self._open):
            self._enter("a", opened, "</a>")

    def _image(self, address: str) -> None:
        image = read_image(address)
        if not image.problem:
            self._parts.append(image.html)
            self._has_content = True


def _after(source: str, tag: str, place: int) -> int:
    """Return the position after the element *tag* whose start tag ends at *place*."""
    end = re.compile(rf"</{tag}\b[^>]*>?", re.IGNORECASE).search(source, place)
    if end:
        return end.end()
    return len(source)


def _attribute(rest: str, name: str) -> str:
    for match in _ATTRIBUTE.finditer(rest):
        if match["name"].lower() == name:
            return unescape(match["quoted"] or match["single"] or match["bare"] or "")
    return ""


def _spans(rest: str) -> str:
    """Return the attributes `colspan` and `rowspan` in *rest*, a cell's attributes.

    Values that are not numbers are left out.
    """
    styles = ""
    for name in ("colspan", "rowspan"):
        reach = _attribute(rest, name)
        if reach.isascii() and reach.isdigit() and len(reach) < 4:
            styles += f' {name}="{reach}"'
    return styles
