"""Descriptions are formatted, and do nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_display.inert import problems, text_of
from toolbench.display import markdown_html


def _body(text: str) -> str:
    html = markdown_html(text)
    head, _, rest = html.partition(">")
    assert head.startswith('<div class="tex2jax_ignore mathjax_ignore" style="')
    assert problems(html) == []
    return rest.removesuffix("</div>").strip()


class TestFormatting:
    def test_one_div_that_no_maths_engine_enters(self):
        """Dollars stay dollars: the classes of MathJax 2 and 3 keep both away."""
        html = markdown_html("costs $5 and $6")
        assert html.startswith('<div class="tex2jax_ignore mathjax_ignore"')
        assert html.endswith("</div>")
        assert html.count("<div") == 1
        assert "$5 and $6" in html

    def test_the_usual_elements(self):
        """Emphasis, code, lists, quotes, tables, rules."""
        html = _body("*a* **b** `c` ~~d~~\n\n- e\n\n1. f\n\n> g\n\n|h|\n|-:|\n|i|\n\n---\n")
        for element in (
            "em",
            "strong",
            "code",
            "s",
            "ul",
            "ol",
            "blockquote",
            "table",
            "hr",
        ):
            assert f"<{element}" in html

    def test_headings_are_bold_paragraphs(self):
        """A description adds nothing to the notebook's table of contents."""
        assert _body("# Title") == '<p style="margin:0 0 .6em 0;font-weight:600">Title</p>'
        assert "<h" not in _body("Title\n=====\n###### more")

    def test_columns_keep_their_alignment(self):
        """The last of two rules for one property wins."""
        assert _body("|a|\n|-:|\n|b|").count("text-align:right") == 2

    def test_code_keeps_no_class(self):
        """The language of a fence is no way to choose a class name."""
        html = _body("```jp-Button lm-Widget\n<x>\n```")
        assert "jp-Button" not in html
        assert "&lt;x&gt;</pre>" in html


class TestLinks:
    def test_a_plain_link_opens_apart(self):
        """With its address as tooltip, whatever title it came with."""
        assert 'href="https://e.org/a" title="https://e.org/a" target="_blank"' in _body(
            '[label](https://e.org/a "another title")'
        )

    @pytest.mark.parametrize(
        "text",
        [
            "[a](javascript:x)",
            "[a](/relative)",
            "[a](ftp://e.org)",
            "<javascript:x>",
            "[a](data:text/html,x)",
            "[a][r]\n\n[r]: vbscript:x",
        ],
    )
    def test_others_are_shown_as_typed(self, text):
        """A link nobody may follow is text."""
        html = _body(text)
        assert "<a" not in html
        assert text_of(html).split() == text.split()

    def test_images_are_links(self):
        """Nothing is loaded: the reader decides."""
        html = _body("![a **chart**](https://e.org/c.png) ![](https://e.org/d.png)")
        assert "<img" not in html
        assert ">[image: a chart]</a>" in html
        assert ">[image]</a>" in html

    def test_an_image_in_a_link_is_its_label(self):
        """As badges are: one link, the outer one."""
        html = _body("[![build](https://e.org/b.svg)](https://e.org/ci)")
        assert html.count("<a ") == 1
        assert 'href="https://e.org/ci"' in html
        assert text_of(html).strip() == "[image: build]"


class TestHostileText:
    def test_html_is_text(self):
        """Elements, comments and entities that spell elements."""
        text = "<b>x</b> <!-- y --> &lt;script&gt;"
        assert text_of(_body(text)).strip() == "<b>x</b> <!-- y --> <script>"

    def test_hidden_characters_show_even_when_written_as_entities(self):
        """The parser decodes &#x202e;: the result is looked at, not only the source."""
        assert "⟨U+202E⟩" in _body("&#x202e;exe.txt")
        assert "^[[31m" in _body("\x1b[31m")

    @given(st.text("[]()!*_`<>|~#-=:/ \n\\&;a1.+", max_size=300))
    def test_any_markup_stays_inert(self, text):
        """However it is nested."""
        assert problems(markdown_html(text)) == []


class TestCaps:
    def test_head_and_tail(self):
        """A long description shows both ends."""
        html = markdown_html("first\n\n" + "x\n" * 50_000 + "\nlast")
        text = text_of(html)
        assert "first" in text
        assert "last" in text
        assert "characters left out …" in text

    def test_few_characters_cannot_ask_for_millions(self):
        """A table of a thousand columns whose rows are empty is shown as text."""
        bomb = "|a" * 200 + "|\n" + "|-" * 200 + "|\n" + "|\n" * 100
        html = markdown_html(bomb)
        assert len(html) <= 200_000
        assert "<table" not in html
