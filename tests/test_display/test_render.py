"""Rich renderables as mime bundles: golden text, inert HTML, bounded and always the same."""

import random
import re
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.control import Control
from rich.layout import Layout
from rich.panel import Panel
from rich.protocol import rich_cast
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from test_display.inert import problems, text_of
from toolbench.display import bundle, cap, from_ansi, to_html, to_text, visible
from toolbench.display.ansi import style_css


def _files() -> Table:
    table = Table(title="Files")
    table.add_column("name", style="cyan")
    table.add_column("size", justify="right")
    table.add_row("a.py", "1,234")
    table.add_row("b.py", "5")
    return table


def _body(html: str) -> str:
    match = re.fullmatch(r'<pre style="[^"<>]*">(.*)</pre>', html, re.DOTALL)
    assert match, html
    return match[1]


class TestText:
    def test_a_table(self):
        """Golden: the same characters in a notebook, a terminal, on GitHub and in nbval."""
        assert to_text(_files()) == (
            "     Files\n"
            "┏━━━━━━┳━━━━━━━┓\n"
            "┃ name ┃  size ┃\n"
            "┡━━━━━━╇━━━━━━━┩\n"
            "│ a.py │ 1,234 │\n"
            "│ b.py │     5 │\n"
            "└──────┴───────┘"
        )

    def test_a_panel_has_the_width_it_is_given(self):
        """Golden: a panel of 20 columns."""
        assert to_text(Panel("hello", title="t"), width=20) == (
            "╭─────── t ────────╮\n│ hello            │\n╰──────────────────╯"
        )

    def test_text_wraps_at_words(self):
        """Golden: long lines break where words end, short ones stay."""
        text = Text("short\n\none two three four five\tsix\n")
        assert to_text(text, width=12) == "short\n\none two\nthree four\nfive six"

    @given(st.text("ab \n\tü漢", max_size=300), st.integers(4, 40))
    def test_text_is_laid_out_as_rich_would(self, text, width):
        """The short way for text gives what the long way gives."""
        assert to_text(Text(text), width=width) == to_text(Group(Text(text)), width=width)

    def test_a_string_is_text_and_not_markup(self):
        """Square brackets stay."""
        assert to_text("[bold]x[/bold]") == "[bold]x[/bold]"

    def test_no_escape_codes_and_no_trailing_blanks(self):
        """Colours, links and control segments leave no trace."""
        parts = Group(Text("x  ", style="red on blue link https://a.b"), Control.clear(), "y ")
        assert to_text(parts) == "x\ny"

    def test_escape_codes_inside_a_text_are_spelled_out(self):
        """A hostile string in somebody's renderable cannot drive the terminal."""
        assert to_text(Panel(Text("\x1b[2J")), width=12) == (
            "╭──────────╮\n│ ^[[2J      │\n╰──────────╯"
        )
        assert to_text(Text("a\x1b[2J\u202eb")) == "a^[[2J⟨U+202E⟩b"


class TestHtml:
    def test_styles_are_inline(self):
        """Golden: bold, dim, underline, strike, colour and background."""
        assert _body(to_html(Text("a<b", style="bold italic underline strike"))) == (
            '<span style="font-weight:bold;font-style:italic;'
            'text-decoration:underline line-through">a&lt;b</span>'
        )
        assert _body(to_html(Text("x", style="white on rgb(0,0,255)"))) == (
            '<span style="color:#bebebe;background-color:#0000ff">x</span>'
        )
        assert _body(to_html(Text("x", style="dim"))) == (
            '<span style="color:color-mix(in srgb,currentColor 72%,transparent)">x</span>'
        )

    def test_dim_colours_are_greyer(self):
        """Golden: halfway to grey, where opacity would fall below the contrast."""
        assert "#c85050 75%" in to_html(Text("x", style="rgb(200,80,80)"))
        assert "#a46868 75%" in to_html(Text("x", style="dim rgb(200,80,80)"))

    def test_stay_where_a_hidden_character_is_spelled_out(self):
        """The text around it looks as before."""
        assert "font-weight:bold" in to_html(Text("a\u202eb", style="bold"))

    def test_the_base_style_of_a_text_counts(self):
        """With spans and without."""
        text = Text("ab", style="bold")
        text.stylize("italic", 1)
        assert _body(to_html(text)) == (
            '<span style="font-weight:bold">a</span>'
            '<span style="font-weight:bold;font-style:italic">b</span>'
        )

    def test_a_link_goes_to_the_web_or_nowhere(self):
        """A link of Rich is kept when it is plain, its label always."""
        good = to_html(Text("docs", style=Style(link="https://e.org/?a=1&b=2")))
        assert 'href="https://e.org/?a=1&amp;b=2"' in good
        bad = _body(to_html(Text("docs", style=Style(link="javascript:alert(1)"))))
        assert bad == "docs"

    def test_text_flows_and_a_tree_does_not(self):
        """The page wraps text; lines that are drawn stay aligned and scroll."""
        assert "white-space:pre-wrap" in to_html("text")
        assert 'white-space:pre"' in to_html(Tree("text"))

    @pytest.mark.parametrize("text", ["[/nothing]", "[bold", "[link=x]y[/z]"])
    def test_broken_markup_never_hides_a_result(self, text):
        """In a body it is shown as typed; in a title, where Rich insists, it is explained."""
        assert text in text_of(to_html(Panel(text)))
        page_text = text_of(to_html(Panel("body", title=text)))
        assert "body" in page_text or "cannot be laid out" in page_text

    def test_html_and_text_say_the_same(self):
        """Nothing is in one and not in the other."""
        tree = Tree("text")
        tree.add("branch")
        both = bundle(tree)
        lines = [line.rstrip() for line in text_of(both["text/html"]).rstrip().split("\n")]
        assert "\n".join(lines) == both["text/plain"]

    @pytest.mark.parametrize("wrap", [rich_cast, Group, Panel])
    def test_a_table_is_a_table_of_the_page(self, wrap):
        """Its parts are there with their styles and sides, in a group or a panel too."""
        table = _files()
        table.caption = "of [bold]today[/]"
        table.add_row("<b>\u202e", Text("7\n8", style="red"))
        table.add_row(Panel("inside"), Table("nested"))
        html = to_html(wrap(table))
        assert problems(html) == []
        assert html.count("<table ") == 2
        assert [html.count(f"<{tag} ") for tag in ("th", "td")] == [3, 8]
        parts = (
            "Files",
            "name",
            "size",
            "a.py",
            "1,234",
            "<b>⟨U+202E⟩",
            "7\n8",
            "inside",
            "nested",
        )
        text = text_of(html)
        assert all(part in text for part in (*parts, "of today"))
        assert "text-align:right;font-weight:bold" in html
        assert "text-align:right;white-space:pre-wrap" in html
        assert style_css(Style(color="cyan")) in html

    def test_markup_in_a_cell_is_read_or_shown(self):
        """As in a terminal; what is no markup is text, and a link goes to the web or nowhere."""
        table = Table("[bold]a[/]", "[/b]", "[link=javascript:x]c[/]")
        assert text_of(to_html(table)) == "a[/b]c"
        assert "font-weight:bold" in to_html(table)
        assert problems(to_html(table)) == []


class TestDeterminism:
    def test_twice_the_same_bytes(self, monkeypatch):
        """Neither the environment nor an earlier call has a say."""
        parts = Group(_files(), Panel("x"), Text("y", style="link https://a.b red"))
        first = bundle(parts)
        for name in ("COLUMNS", "LINES", "JUPYTER_COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.setenv(name, "40")
        monkeypatch.setenv("TERM", "dumb")
        again = Group(_files(), Panel("x"), Text("y", style="link https://a.b red"))
        assert bundle(again) == first

    def test_what_fills_a_screen_fills_fifty_lines(self):
        """However many lines the terminal has that the kernel was started from."""
        assert len(to_html(Layout(Text("x"))).split("\n")) == 51


def _any_colour() -> Iterator[str]:
    """Letters, each of another colour."""
    dice = random.Random(5)
    while True:
        colour = ";".join(str(dice.randrange(256)) for _ in range(3))
        yield f"\x1b[38;2;{colour}mx"


# Made by the test: each worker collects all of them
HOSTILE = {
    "coloured log": lambda: "\x1b[32mINFO\x1b[0m took <12> ms & more\n" * 28_000,
    "a colour a letter": lambda: "\x1b[31ma\x1b[32mb" * 84_000,
    "any colour a letter": lambda: "".join(islice(_any_colour(), 60_000)),
    "ampersands": lambda: "&" * 1_000_000,
    "short lines": lambda: "x\n" * 500_000,
    "bidi": lambda: "\u202e" * 1_000_000,
    "one long word": lambda: "x" * 1_000_000,
    "progress": lambda: "\r\x1b[2K 10% \x1b[32m####\x1b[0m" * 40_000,
}


class TestCaps:
    @pytest.mark.parametrize("kind", HOSTILE)
    def test_a_megabyte_makes_less_than_300_kb(self, kind):
        """HTML and text together, whatever the megabyte is made of."""
        text = HOSTILE[kind]()
        assert len(text) >= 900_000
        both = bundle(from_ansi(text, limit=100_000))
        assert len(both["text/html"].encode()) <= 300_000
        assert len(both["text/html"] + both["text/plain"]) <= 300_000
        assert problems(both["text/html"]) == []

    def test_what_is_left_out_is_counted_once(self):
        """Capped as text, and again because of its colours: the notice tells the sum."""
        text = "\x1b[31ma\x1b[32mb" * 100_000
        html = to_html(from_ansi(text, limit=100_000), limit=20_000)
        (notice,) = re.findall(r"… ([\d,]+) characters left out …", text_of(html))
        length = len(text_of(html).replace(f"… {notice} characters left out …", "").strip())
        assert int(notice.replace(",", "")) + length >= 200_000

    def test_a_very_long_text_is_cut_as_any_other(self):
        """What is left out before it is looked at is counted all the same."""
        text = "".join(f"line {n} is here\n" for n in range(20_000))
        looked_at = str(cap(text, 2_000))
        assert to_text(text, limit=2_000) == looked_at.rstrip("\n")
        assert to_text(Text(text), limit=2_000) == looked_at.rstrip("\n")
        hidden = "a\n" * 1_000 + "\x00" * 1_000_000 + "b\n" * 1_000
        capped = to_text(hidden, limit=1_000)
        assert capped.startswith("a\na")
        assert capped.endswith("b\nb")
        assert len(capped) <= 1_000
        # Of 1,004,000
        assert "1,00" in capped

    def test_a_big_table_is_capped_at_both_ends(self):
        """The first and the last rows are there."""
        table = Table()
        for number in range(1_000):
            table.add_row(f"<row {number}>")
        both = bundle(table, limit=5_000)
        for text, noun in (
            (text_of(both["text/html"]), "rows"),
            (both["text/plain"], "characters"),
        ):
            assert "<row 0>" in text
            assert "<row 999>" in text
            assert f"{noun} left out" in text
        assert len(both["text/plain"]) <= 5_000
        assert len(both["text/html"]) <= 10_000
        many = Group(*(Table(*("x" * 5_000 for _ in range(300))) for _ in range(50)))
        assert len(to_html(many, limit=5_000)) <= 25_000

    def test_strings_in_a_group_are_capped_before_they_are_laid_out(self):
        """A group is looked into; its strings are text as well."""
        html = to_html(Group("[b]" + "x" * 1_000_000, Text("end")), limit=2_000)
        assert text_of(html).startswith("[b]x")
        assert len(html) < 5_000


@given(st.text(max_size=200))
def test_text_and_html_agree_on_any_text(text):
    """Both show the same visible characters."""
    both = bundle(Text(text))
    squeezed = "".join(both["text/plain"].split())
    assert "".join(text_of(both["text/html"]).split()) == squeezed
    assert visible(both["text/plain"]) == both["text/plain"]
