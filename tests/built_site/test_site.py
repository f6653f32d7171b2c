"""The pages of the site as their readers find them: complete, small, and nothing comes from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic
from urllib.parse import unquote, urlencode, urlsplit

import pytest
from browser.axe import violations

from built_site.lite_page import PICTURES

SITE = Path(__file__).parents[2] / "build" / "site"
# Bytes
SIZE = 100_000_000


# Seconds from the press to the first form; `make site-test` prints what it took
GOAL = 20


def test_first_page_runs_a_notebook(page, origin):
    """A press of the first page's button runs the notebook in the page, and its form runs the tool."""
    page.goto(origin)
    assert violations(page, "article") == []
    begin = monotonic()
    page.get_by_role("button", name="Run it in this page").click()
    notebook = page.frame_locator("iframe[title*='live panel']")
    notebook.locator(".toolbench-panel").wait_for()
    print(f"First form after {monotonic() - begin:.1f} s (goal: {GOAL} s)")
    page.get_by_role("status").get_by_text("It runs").wait_for()
    notebook.get_by_label("total").fill("84")
    notebook.get_by_role("button", name="Run", exact=True).click()
    notebook.get_by_text("Everybody pays 42.00 euros.").locator("visible=true").first.wait_for()
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / "first-page.png")


def test_pages_work_without_scripts(chromium, origin):
    """Without scripts the first page has a link to the notebook instead of the button's work."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin)
    link = page.get_by_role("link", name="Open the notebook that makes this panel")
    assert link.get_attribute("href").startswith("lite/notebooks/")
    context.close()


def test_diagram_is_drawn(page, origin):
    """The picture of a run is an image with words, not the text it is made of."""
    page.goto(f"{origin}/docs/architecture.html")
    page.locator("article svg").get_by_text("ToolExecutor").first.wait_for()


def test_search_finds_a_class(page, origin):
    """The search works without a server."""
    page.goto(f"{origin}/search.html?q=MCPClient")
    page.locator("#search-results a", has_text="toolbench.mcp").first.wait_for()


# What newcomers search for, with a page that answers it
SEARCHED = {
    "quickstart": "index",
    "students": "docs/how-to/teach-on-binder",
    "uninstall": "install",
    "file upload": "docs/cookbook",
    "font": "docs/how-to/troubleshoot",
    "password": "docs/cookbook",
    "timeout": "docs/cookbook",
    "DataFrame": "docs/cookbook",
    "cancel": "docs/cookbook",
    "Claude Desktop": "docs/how-to/serve-your-tools",
}

SEARCH_ENDED = re.compile("Search finished|did not match")


def test_search_finds_a_page_for_what_newcomers_ask(page, origin):
    """The page with the answer is among the first five that the search lists."""
    for words, answer in SEARCHED.items():
        page.goto(f"{origin}/search.html?{urlencode({'q': words})}")
        page.locator(".search-summary", has_text=SEARCH_ENDED).wait_for()
        links = page.locator("#search-results li > a").all()
        found = [urlsplit(link.get_attribute("href")).path for link in links]
        pages = list(dict.fromkeys(found))
        assert f"{answer}.html" in pages[:5], (words, pages)


OWN_PAGES = (
    "index",
    "install",
    "notebooks/index",
    "notebooks/01_your_first_tool",
    "docs/how-to/index",
    "docs/cookbook",
    "docs/concepts",
    "docs/comparison",
    "docs/reference/README",
    "docs/reference/toolbench.llm",
    "bench/charts",
)
WIDE_PAGES = ("docs/how-to/connect-a-server",)


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
    page.goto(f"{origin}/docs/how-to/connect-a-server.html", wait_until="load")
    block = page.locator("pre[tabindex='0']").first
    block.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("pre => pre.scrollLeft > 0", arg=block.element_handle())


def test_pictures_have_the_colours_of_the_page(page, origin):
    """The page's own switch of light and dark changes its pictures too, whatever the system has."""
    page.emulate_media(color_scheme="light")
    page.goto(f"{origin}/docs/cookbook.html")
    shown = "img => img.currentSrc.endsWith('-{}.png')"
    picture = page.locator("article picture img").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function(shown.format("light"), arg=picture.element_handle())
    while page.locator("body").get_attribute("data-theme") != "dark":
        page.locator(".theme-toggle").locator("visible=true").first.click()
    page.wait_for_function(shown.format("dark"), arg=picture.element_handle())


def test_size(origin):
    """The folder is small enough for any host of pages."""
    assert sum(p.stat().st_size for p in SITE.rglob("*") if p.is_file()) < SIZE


class Addresses(HTMLParser):
    """The addresses of a page, and the places in it that an address can name."""

    def __init__(self, file):
        super().__init__()
        self.links = []
        self.places = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note where a link, a picture or a script leads."""
        attributes = dict(attrs)
        self.places |= {attributes.get("id"), attributes.get("name")}
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
    """Every link inside the site leads to a file and to a place in it, and only links leave the site."""
    files = [p for p in SITE.rglob("*.html") if "lite" not in p.relative_to(SITE).parts]
    pages = {file: Addresses(file) for file in files}
    broken, count = [], 0
    for file, addresses in pages.items():
        for tag, link in addresses.links:
            count += 1
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                is_fetched = tag in ("img", "script", "iframe")
                if is_fetched and parts.scheme != "data":
                    broken.append((file.name, link))
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            place = unquote(parts.fragment)
            is_there = target.exists()
            if is_there and place and target in pages:
                is_there = place in pages[target].places
            if not is_there:
                broken.append((file.relative_to(SITE).as_posix(), link))
    print(f"{count} links of {len(pages)} pages")
    assert broken == []
