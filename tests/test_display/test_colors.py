"""Whatever colour goes in, the text that comes out can be read on every page."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from test_display.contrast import faint
from toolbench.core.content import TextContent
from toolbench.display import (
    Card,
    badge,
    blocks_html,
    cards_html,
    from_ansi,
    key_values,
    markdown_html,
    notice,
    section,
    to_html,
)
from toolbench.display.ansi import contrast, on_color, on_page

_EFFECTS = ["", "1;", "2;", "7;", "1;2;7;", "2;7;"]
_GRID = [0, 95, 135, 175, 215, 255]
_RGB = st.tuples(*[st.integers(0, 255)] * 3)


def _ansi(codes: str) -> str:
    return to_html(from_ansi(f"\x1b[{codes}mtext\x1b[0m"))


class TestContrast:
    @pytest.mark.parametrize("effect", _EFFECTS)
    def test_the_sixteen_colours(self, effect):
        """Every terminal colour, on the page and on every background, plain, dim or reversed."""
        inks = ["39", *(str(base + i) for base in (30, 90) for i in range(8))]
        papers = ["49", *(str(base + i) for base in (40, 100) for i in range(8))]
        bad = [
            problem
            for ink, paper in product(inks, papers)
            for problem in faint(_ansi(f"{effect}{ink};{paper}"))
        ]
        assert bad == []

    @pytest.mark.parametrize("effect", _EFFECTS)
    def test_the_palette_of_256(self, effect):
        """Every colour of the palette, as text and as background."""
        bad = [
            problem
            for number in range(256)
            for kind in (38, 48)
            for problem in faint(_ansi(f"{effect}{kind};5;{number}"))
        ]
        assert bad == []

    def test_true_colours(self):
        """A grid through all colours a terminal can name, as text and as background."""
        bad = [
            problem
            for rgb in product(_GRID, repeat=3)
            for kind in (38, 48)
            for problem in faint(_ansi(f"{kind};2;{';'.join(map(str, rgb))}"))
        ]
        assert bad == []

    @settings(max_examples=100)
    @given(ink=_RGB, paper=_RGB, effect=st.sampled_from(_EFFECTS))
    def test_any_two_colours(self, ink, paper, effect):
        """Any text on any background, and without one."""
        text = f"38;2;{ink[0]};{ink[1]};{ink[2]}"
        back = f"48;2;{paper[0]};{paper[1]};{paper[2]}"
        assert faint(_ansi(f"{effect}{text}")) == []
        assert faint(_ansi(f"{effect}{text};{back}")) == []

    @pytest.mark.parametrize("tone", ["neutral", "info", "success", "warning", "danger"])
    def test_the_tones(self, tone):
        """Badges and notices of every tone."""
        assert faint(badge("read-only", tone) + notice("Reload.", tone)) == []

    def test_everything_on_one_page(self):
        """Remarks, keys, links, code and syntax colours, each inside the other."""
        parts = [
            (
                "A",
                blocks_html([TextContent(text='{"a": [1, {"b": null}]}'), "x" * 5_000]),
            ),
            ("B", markdown_html("# A\n[b](https://c.d) `e`\n> f\n\n|g|\n|-|\n|h|")),
            (
                "C",
                to_html(Panel(Text("t", style="link https://a.b dim"), style="blue")),
            ),
            ("D", to_html(Syntax("def f(x): return 'y'  # z", "python"))),
            ("E", section("F", key_values({"path": "/a"}))),
        ]
        assert faint(cards_html(Card(*part) for part in parts)) == []


class TestChoice:
    @given(_RGB)
    def test_a_readable_colour_on_a_background_is_kept(self, color):
        """Nothing is changed that reads already."""
        for background in ((0, 0, 0), (255, 255, 255)):
            if contrast(color, background) >= 4.5:
                assert on_color(color, background) == color

    def test_a_colour_keeps_its_hue(self):
        """Colours are moved, not replaced: red stays red, yellow becomes olive."""
        assert on_page((200, 80, 80)) == "color-mix(in srgb,#c85050 75%,currentColor)"
        assert on_page((255, 255, 0)) == "color-mix(in srgb,#878700 75%,currentColor)"

    def test_without_a_colour_the_stronger_of_black_and_white(self):
        """Plain text on a background stands out as far as it can."""
        assert on_color(None, (255, 255, 0)) == (0, 0, 0)
        assert on_color(None, (0, 0, 128)) == (255, 255, 255)

    def test_the_reference_points_of_wcag(self):
        """Black on white has 21, a colour on itself 1, #767676 on white just 4.54."""
        assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
        assert contrast((9, 9, 9), (9, 9, 9)) == 1
        assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)
