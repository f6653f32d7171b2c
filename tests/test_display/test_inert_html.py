"""HTML of anybody's, shown: what formats text stays, and nothing that can do anything."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from payloads import PAYLOADS

from test_display.inert import problems, problems_in_a_browser
from toolbench.display.blocks import bundle_html, bundle_text
from toolbench.display.images import LARGEST
from toolbench.display.inert_html import inert_html

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

PIECES = [
    *("<b>", "</b>", "<p", ">", "<table>", "<td>", "</td>", "x", "<!--", "&lt;", '"'),
    *("<script>", "</script>", "<svg/>", "<a href='https://e.org'>", "</a>", "<a>"),
]


class TestInertHtml:
    def test_keeps_tables(self):
        """What pandas makes of a DataFrame stays a table."""
        frame = (
            "<style scoped>.x{color:red}</style><table border='1' class='dataframe'>"
            "<thead><tr><th colspan='2'>a</th></tr></thead>"
            "<tbody><tr><td>1 &lt; 2</td></tr></tbody></table>"
        )
        html = inert_html(frame)
        assert re.findall(r"</?(\w+)", html)[1:-1] == re.findall(
            r"</?(\w+)", frame.partition("</style>")[2].replace("&lt;", "")
        )
        assert "1 &lt; 2" in html
        assert 'colspan="2"' in html
        assert "color:red" not in html

    def test_heads_without_words_are_cells(self):
        """As pandas writes the corner; screen readers read heads out."""
        html = inert_html("<table><tr><th>\n</th><th><br></th><th>a</th></tr></table>")
        assert html.count("<th ") == 2
        assert html.count("<td ") == 1
        assert problems(html) == []

    def test_is_empty_where_nothing_is_left(self):
        """What only runs scripts (plots of some libraries) leaves nothing to show."""
        assert inert_html("<div><script>draw()</script></div>") == ""
        assert inert_html("<p> \n</p>") == ""

    def test_closes_what_is_open_and_nothing_else(self):
        """No input ends an element of the page, or leaves one open."""
        html = inert_html("</div></td><b>x")
        assert html.endswith("<strong>x</strong></div>")

    def test_takes_images_that_are_here(self):
        """A data URL is shown, any other address is not asked."""
        assert "<img" in inert_html(f"<img src='data:image/png;base64,{PIXEL}'>")
        assert "<img" not in inert_html("x<img src='https://example.org/x.png'>")

    def test_is_capped(self):
        """A flood of text or of markup ends."""
        assert len(inert_html("a" * 400_000, limit=1_000)) < 2_000
        assert len(inert_html("x<b>" * 100_000, limit=1_000)) < 20_000
        assert inert_html("a" * 1_000_000) == ""

    def test_is_inert(self):
        """No payload leaves anything that runs or loads: in our eyes, and in a browser's."""
        for payload in PAYLOADS:
            assert problems(inert_html(payload)) == []
            assert problems(inert_html(f"<div>{payload}</div><p>{payload}")) == []
            for source in (payload, f"<table><td>{payload}</td></table><p>{payload}"):
                assert problems_in_a_browser(inert_html(source)) == []

    @given(st.lists(st.sampled_from(PIECES)))
    def test_is_well_formed(self, parts):
        """Whatever goes in: every element that is opened is closed, in order."""
        assert problems(inert_html("".join(parts))) == []

    @given(st.lists(st.sampled_from([*PIECES, *PAYLOADS])))
    def test_stays_inert_in_a_browser(self, parts):
        """Nor does it in any mixture, however badly nested."""
        assert problems_in_a_browser(inert_html("".join(parts))) == []

    def test_the_judge_sees_what_a_browser_would_run(self):
        """Shown the payloads as they are, it finds something in every element."""
        elements = ("<svg onload=x()>", "<a href=javascript:x()>", "<style>a{}</style>")
        assert all(map(problems_in_a_browser, elements))


class TestBundles:
    def test_shows_the_richest_part(self):
        """An image goes before HTML, HTML before text."""
        data = {"text/plain": "p", "text/html": "<b>h</b>", "image/png": PIXEL}
        assert "<img" in bundle_html(data)
        del data["image/png"]
        assert "<strong>h</strong>" in bundle_html(data)
        del data["text/html"]
        assert bundle_html(data) == ""
        assert bundle_text(data) == "p"

    def test_an_image_may_be_as_long_as_its_limit(self):
        """Spaces in it count, so that no endless text is looked through."""
        padded = PIXEL.ljust(2 * LARGEST)
        assert "<img" in bundle_html({"image/png": padded})
        assert bundle_html({"image/png": padded + " "}) == ""

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("kind", "content"),
        [
            ("image/png", "not base64"),
            ("image/png", b""),
            ("image/png", None),
            ("image/svg+xml", ""),
            ("text/html", "<script>x</script>"),
            ("text/html", 3),
            ("application/json", float("nan")),
            ("text/markdown", None),
            ("application/x-unknown", object()),
        ],
    )
    def test_takes_anything(self, kind, content):
        """Nothing that is displayed ends the run that displays it."""
        assert isinstance(bundle_html({kind: content}), str)
        assert isinstance(bundle_text({kind: content}), str)

    def test_says_that_a_widget_is_one(self):
        """A widget cannot be shown inside a run; its repr would be noise."""
        view = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "HBox()"}
        assert bundle_text(view) == "[a widget, which a run cannot show]"

    @pytest.mark.parametrize("kind", ["text/html", "text/markdown", "image/svg+xml", "text/latex"])
    def test_are_inert(self, kind):
        """No payload leaves anything that runs or loads, whatever it claims to be."""
        for payload in PAYLOADS:
            assert problems(bundle_html({kind: payload})) == []
