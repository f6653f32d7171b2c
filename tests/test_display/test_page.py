"""The pieces of a static page: readable anywhere, complete without a script."""

import pytest

from test_display.inert import problems, text_of
from toolbench.display import (
    Card,
    badge,
    cards_html,
    escape,
    key_values,
    notice,
    section,
)

_NO_MATHS = ' class="tex2jax_ignore mathjax_ignore"'


class TestPieces:
    @pytest.mark.parametrize(
        "html",
        [
            cards_html([Card("a", escape("b"))]),
            section("a", escape("b")),
            key_values({"a": "b"}),
            badge("a"),
            notice("a"),
        ],
    )
    def test_each_is_one_element_that_no_maths_engine_enters(self, html):
        """Inline styles only; nothing leaks into the page around it."""
        assert problems(html) == []
        assert html.partition(">")[0].count(_NO_MATHS) == 1
        assert "<style" not in html
        assert "id=" not in html

    def test_cards_keep_titles_and_contents_apart(self):
        """Titles and remarks are any text, contents are markup."""
        html = cards_html([Card("<a>", escape("<b>"), "<i>"), Card("c", escape("d"))])
        assert text_of(html) == "<a><i><b>cd"
        assert "flex-wrap:wrap" in html

    def test_key_values_show_values_as_json_does(self):
        """The text "5" and the number 5 look different."""
        html = key_values({"a": "5", "b": 5, "c": None, "d": {"e": [True]}})
        assert text_of(html) == 'a"5"b5cnulld{1}e: [1]0: true'

    def test_tones_differ(self):
        """Five tones, five colours, one text."""
        pages = {badge("x", tone) for tone in ("neutral", "info", "success", "warning", "danger")}
        assert len(pages) == 5
        assert {text_of(html) for html in pages} == {"x"}

    def test_no_arguments_are_an_empty_table(self):
        """A call without arguments is shown as well."""
        assert text_of(key_values({})) == ""


class TestCaps:
    def test_names_and_sentences_are_cut(self):
        """A tool with a name of a megabyte does not fill the page."""
        long = "x" * 1_000_000
        assert len(badge(long)) < 1_000
        assert len(section(long, escape(""))) < 1_000
        assert len(cards_html([Card(long, escape(""), long)])) < 2_500
        assert len(notice(long)) < 6_000
        assert len(key_values({long: long})) < 5_000

    def test_a_thousand_arguments(self):
        """A hundred are shown, the rest is counted."""
        html = key_values({f"key {number}": number for number in range(1_000)})
        assert html.count("<th") == 100
        assert text_of(html).endswith("… 900 arguments left out …")
