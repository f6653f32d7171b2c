"""The pages of the site as their readers find them: complete, small, and nothing comes from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser.axe import violations

SITE = Path(__file__).parents[2] / "build" / "site"
SIZE = 100_000_000  # bytes


def test_first_page_has_a_notebook(page, origin):
    """The first page holds the live notebook, and axe-core finds nothing wrong with the page."""
    page.goto(origin)
    frame = page.frame_locator("iframe[title*='live panel']")
    page.locator("iframe[title*='live panel']").scroll_into_view_if_needed()
    frame.locator(".jp-Notebook .jp-Cell").first.wait_for()
    assert violations(page, "main, .main, article") == []


def test_size(origin):
    """The folder is small enough for any host of pages."""
    assert sum(p.stat().st_size for p in SITE.rglob("*") if p.is_file()) < SIZE


class Links(HTMLParser):
    """The addresses of a page."""

    def __init__(self):
        super().__init__()
        self.links = []

    def handle_starttag(self, tag, attrs):
        """Note where a link, a picture or a script leads."""
        attributes = dict(attrs)
        names = {
            "a": "href",
            "img": "src",
            "script": "src",
            "iframe": "src",
            "link": "href",
        }
        if (link := attributes.get(names.get(tag, ""))) is not None:
            self.links.append((tag, link))


def test_links(origin):
    """Every link inside the site leads to a file, and nothing but a link leaves it."""
    broken = []
    for file in [
        p for p in SITE.rglob("*.html") if "lite" not in p.relative_to(SITE).parts[:1]
    ]:
        parser = Links()
        parser.feed(file.read_text(encoding="utf-8"))
        for tag, link in parser.links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                is_loaded = (
                    tag in ("img", "script", "iframe") and parts.scheme != "data"
                )
                broken += [(file.name, link)] if is_loaded else []
            elif parts.path and not (file.parent / unquote(parts.path)).exists():
                broken.append(
                    (file.relative_to(SITE).as_posix(), re.sub(r"\?.*", "", link))
                )
    assert broken == []
