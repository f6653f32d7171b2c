"""The blocks of an observation, for a person and as a model reads them."""

import pandas as pd
import pytest

from test_display.inert import problems, text_of
from toolbench.core.content import ImageContent, TextContent
from toolbench.display import blocks_html, blocks_text, estimate_tokens, human_size

_PIXEL = "data:image/png;base64,AAEC"


class TestText:
    def test_every_block_under_a_line_that_says_what_it_is(self):
        """Golden: kind, characters, estimated tokens; one section a block."""
        blocks = [
            TextContent(text="\x1b[31mred\x1b[0m\n10%\r20%"),
            TextContent(text='{"b": [1, 2]}'),
            ImageContent(image_urls=[_PIXEL, "https://e.org/a.png"]),
            pd.DataFrame({"a": [1]}),
            {"c": None},
            ValueError("what else"),
        ]
        assert blocks_text(blocks) == (
            "── text · 20 characters · ≈ 5 tokens\nred\n20%\n\n"
            '── JSON · 13 characters · ≈ 4 tokens\n{\n  "b": [\n    1,\n    2\n  ]\n}\n\n'
            "── image/png, 3 bytes · image, not fetched\n"
            "[image/png, 3 bytes]\n[image, not fetched] https://e.org/a.png\n\n"
            "── table · 1 row · 1 column\n    a\n─────\n0   1\n\n"
            '── JSON\n{\n  "c": null\n}\n\n'
            "── text · 9 characters · ≈ 3 tokens\nwhat else"
        )
        [title, _] = blocks_text(["word " * 8_000]).split("\n", 1)
        assert title.endswith("≈ 10,000 tokens: many for a model")

    def test_verbatim_interprets_nothing(self):
        """Golden: what a model reads, character by character."""
        blocks = [
            TextContent(text="\x1b[31mred"),
            '{"b": [1]}',
            ImageContent(image_urls=[_PIXEL]),
        ]
        assert blocks_text(blocks, verbatim=True) == (
            "── text · 8 characters · ≈ 2 tokens\n^[[31mred\n\n"
            '── text · 10 characters · ≈ 3 tokens\n{"b": [1]}\n\n'
            "── image/png, 3 bytes\n[image/png, 3 bytes]"
        )

    def test_no_blocks(self):
        """An empty answer is an answer."""
        assert blocks_text([]) == "── no content"
        assert text_of(blocks_html([])) == "no content"


class TestHtml:
    def test_each_kind_has_its_view(self):
        """Colours, a tree, an image, a table."""
        html = blocks_html(
            [
                TextContent(text="\x1b[31mred"),
                '["json"]',
                ImageContent(image_urls=[_PIXEL]),
                pd.DataFrame({"a": [1]}),
            ]
        )
        assert problems(html) == []
        for part in ("color-mix", "<details", '<img src="data:image/png', "<table"):
            assert part in html

    def test_verbatim_has_no_view_but_text_and_images(self):
        """The same blocks, as the model reads them."""
        blocks = [
            TextContent(text="\x1b[31mred"),
            '["json"]',
            ImageContent(image_urls=[_PIXEL]),
        ]
        html = blocks_html(blocks, verbatim=True)
        assert problems(html) == []
        assert "<details" not in html
        assert "^[[31mred" in html
        assert "[&quot;json&quot;]" in html
        assert "<img" in html

    def test_html_and_text_have_the_same_titles(self):
        """Whoever reads either knows the sizes."""
        blocks = ["a", "[1]", ImageContent(image_urls=[_PIXEL])]
        html = text_of(blocks_html(blocks))
        for line in blocks_text(blocks).splitlines():
            if line.startswith("── "):
                assert line.removeprefix("── ") in html

    def test_twice_the_same_bytes(self):
        """Nothing in it depends on when or where."""
        blocks = ["\x1b[31ma", '{"b": 1}', ImageContent(image_urls=[_PIXEL])]
        assert blocks_html(blocks) == blocks_html(blocks)


class TestCaps:
    def test_the_blocks_share_the_limit(self):
        """Ten megabytes in ten blocks stay within what one may have."""
        html = blocks_html(["x" * 1_000_000] * 10)
        assert len(html) <= 300_000
        assert html.count("characters left out …") == 10

    @pytest.mark.parametrize("verbatim", [False, True])
    def test_a_thousand_blocks(self, verbatim):
        """Fifty are shown, the rest is counted."""
        assert "… 950 blocks left out …" in blocks_text(["x"] * 1_000, verbatim=verbatim)
        assert blocks_html(["x"] * 1_000, verbatim=verbatim).count("<pre") == 50

    def test_a_thousand_images(self):
        """So it is with the images of one block."""
        html = blocks_html([ImageContent(image_urls=[_PIXEL] * 1_000)])
        assert html.count("<img") == 50
        text = blocks_text([ImageContent(image_urls=[_PIXEL] * 1_000)])
        assert "… 950 images left out …" in text


class TestSizes:
    @pytest.mark.parametrize(
        ("count", "expected"),
        [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (12_345, "12.3 kB"),
            (999_999, "1.0 MB"),
            (5_000_000, "5.0 MB"),
            (2 * 10**12, "2,000.0 GB"),
        ],
    )
    def test_bytes_for_a_person(self, count, expected):
        """Decimal units, one digit after the point."""
        assert human_size(count) == expected

    @pytest.mark.parametrize(
        ("text", "tokens"),
        [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("漢字", 2), ("\ud800", 1)],
    )
    def test_tokens_are_a_quarter_of_the_bytes(self, text, tokens):
        """Rounded up; any text can be counted."""
        assert estimate_tokens(text) == tokens
