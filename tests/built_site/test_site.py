"""The pages of the site as their readers find them: complete, small, and nothing comes from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
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


OWN_PAGES = ("docs/concepts", "docs/comparison", "bench/charts")
WIDE_PAGES = ("README", "docs/how-to/connect-a-server", "docs/reference/toolbench.llm")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", OWN_PAGES)
def test_page_reads_in_both_schemes(page, origin, name, scheme):
    """axe-core finds nothing wrong, contrast neither, with the colours of the day and of the night."""
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{origin}/{name}.html", wait_until="load")
    assert violations(page, "article") == []


@pytest.mark.parametrize("name", [*WIDE_PAGES, *OWN_PAGES])
def test_wide_parts_scroll_by_keyboard(page, origin, name):
    """At 500 pixels what is wider than the page can have the focus, so that the arrow keys scroll it."""
    page.set_viewport_size({"width": 500, "height": 900})
    page.goto(f"{origin}/{name}.html", wait_until="load")
    rule = "scrollable-region-focusable"
    assert [v for v in violations(page, "article") if v.startswith(rule)] == []


def test_wide_block_scrolls(page, origin):
    """The right arrow moves a block of code that has the focus."""
    page.set_viewport_size({"width": 500, "height": 900})
    page.goto(f"{origin}/README.html", wait_until="load")
    block = page.locator("pre[tabindex='0']").first
    block.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("pre => pre.scrollLeft > 0", arg=block.element_handle())


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
