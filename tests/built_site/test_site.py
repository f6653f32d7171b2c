"""The site as its readers find it: Python runs in the page, and nothing comes from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser.axe import violations

SITE = Path(__file__).parents[2] / "build" / "site"
SIZE = 100_000_000  # bytes


def open_notebook(page, origin, name):
    page.goto(f"{origin}/lite/notebooks/index.html?path={name}.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_selector(".toolbench-panel")


def test_form_is_filled_and_run(page, origin):
    """The first notebook shows a live panel, whose Run runs the tool in the page."""
    open_notebook(page, origin, "start")
    panel = page.locator(".toolbench-panel").last
    panel.get_by_label("total").fill("84")
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text("Everybody pays 42.00 euros.").wait_for()
    assert violations(page, ".toolbench-panel") == []


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
