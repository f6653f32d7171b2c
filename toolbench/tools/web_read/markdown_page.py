"""Turn an HTML page into Markdown, without scripts and other active parts."""

import re
from html import unescape
from typing import NamedTuple

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

_SILENT = ["svg", "math", "canvas", "iframe", "object", "embed", "audio", "video"]
_TITLE = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
# Characters at the start of a page that are searched for its title
_HEAD = 100_000
_SCRIPTED = re.compile(
    r"!?\[([^\[\]]*)\]\(<?\s*(?:javascript|vbscript|data):[^()\s]*(?:\([^()]*\)[^()\s]*)*\)",
    re.IGNORECASE,
)


class Page(NamedTuple):
    """The title and the text of a page."""

    title: str | None
    text: str


def read_page(html: str, url: str) -> Page:
    """Return *html* from *url* as Markdown with absolute links.

    Menus are left out, unless the page has no other text.
    """
    # Half a surrogate pair is not a character
    html = html.encode("utf-8", "replace").decode()
    text = _markdown(html, url, menus=False) or _markdown(html, url, menus=True)
    title = _TITLE.search(html, 0, _HEAD)
    return Page((title and " ".join(unescape(title[1]).split())) or None, text)


def _markdown(html: str, url: str, *, menus: bool) -> str:
    options = ConversionOptions(
        base_url=url,
        bullets="-",
        compact_tables=True,
        exclude_selectors=_SILENT,
        extract_metadata=False,
        preprocessing=PreprocessingOptions(remove_navigation=not menus, remove_forms=False),
    )
    return _SCRIPTED.sub(r"\1", convert(html, options).content or "").strip()
