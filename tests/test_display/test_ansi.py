"""What a program wrote to a terminal becomes text with colours, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.display import from_ansi, visible


def _spans(text: str) -> list[tuple[str, str]]:
    rich = from_ansi(text)
    return [(rich.plain[s.start : s.end], str(s.style)) for s in rich.spans]


class TestSequences:
    @pytest.mark.parametrize(
        "sequence",
        [
            "\x1b]8;;https://example.org\x1b\\",
            "\x1b]8;id=1;javascript:x\x07",
            "\x1b]0;a title\x07",
            "\x1b]0;a title\x9c",
            "\x1b]0;cancelled\x18",
            "\x1bPdevice control\x1b\\",
            "\x1b_application\x1b\\",
            "\x1b^privacy\x1b\\",
            "\x1b[2J",
            "\x1b[?25l",
            "\x1b[10;20H",
            "\x1b[38:2::1:2:3m",
            "\x1b[>4;1m",
            "\x1b[" + "1;" * 5_000 + "m",
            "\x1b(B",
            "\x1b=",
            "\x1bM",
        ],
    )
    def test_all_but_colours_are_removed(self, sequence):
        """Titles, links, images, cursor and modes leave no trace."""
        rich = from_ansi(f"be{sequence}fore")
        assert rich.plain == "before"
        assert rich.spans == []

    @pytest.mark.parametrize(
        "begun", ["\x1b", "\x1b[", "\x1b[31", "\x1b[38;5;", "\x1b(", "\x1b[0 "]
    )
    def test_a_sequence_broken_off_at_the_end_is_removed(self, begun):
        """Output may be cut anywhere."""
        assert from_ansi(f"text{begun}").plain == "text"

    def test_an_unterminated_string_ends_with_its_line(self):
        """What follows on the next line is not swallowed."""
        assert from_ansi("a\x1b]8;;https://x never ended\nb").plain == "a\nb"

    def test_removing_one_sequence_makes_no_other(self):
        """The parts around a sequence never join into a new one."""
        assert _spans("\x1b[3\x1b[K1mred") == []
        assert from_ansi("\x1b\x1b[K[31mred").plain == "[31mred"

    @given(st.text(st.sampled_from("\x1b[]()0;18mKGP\\\x07\x9c\r\b\nab\u202e"), max_size=60))
    def test_nothing_hidden_is_left(self, text):
        """Whatever the bytes: no control character, no link, and the same twice."""
        rich = from_ansi(text)
        assert visible(rich.plain) == rich.plain
        assert all(not getattr(span.style, "link", None) for span in rich.spans)
        assert from_ansi(text) == rich


class TestColours:
    def test_colours_and_effects_stay(self):
        """Sixteen colours, the palette, true colours; bold, dim, italic, underline, reverse."""
        assert _spans("\x1b[1;31ma\x1b[0m \x1b[38;5;200mb\x1b[0m\x1b[48;2;1;2;3mc") == [
            ("a", "bold color(1)"),
            ("b", "color(200)"),
            ("c", "on #010203"),
        ]

    def test_a_colour_lasts_over_lines(self):
        """Until it is reset, as in a terminal."""
        assert _spans("\x1b[32ma\nb\x1b[0mc") == [("a\nb", "color(2)")]


class TestLinesDrawnOverThemselves:
    @pytest.mark.parametrize(
        ("drawn", "last"),
        [
            (" 10%\r 50%\r100%\nnext", "100%\nnext"),
            ("100%\r", "100%"),
            ("100%\r\n", "100%\n"),
            ("a\r\r\r\nb", "a\nb"),
            ("old\r\x1b[2Knew", "new"),
            ("old\x1b[2K\x1b[1Gnew", "new"),
            ("old\x1b[0Gnew", "new"),
            ("|\b/\b-\b\\", "\\"),
            ("100%\b\b\b\b101%", "101%"),
            ("N\bNA\bAM\bME\bE", "NAME"),
            ("\b\bx", "x"),
        ],
    )
    def test_only_the_last_state_is_shown(self, drawn, last):
        """Progress bars, spinners and overstruck words."""
        assert from_ansi(drawn).plain == last

    def test_colours_set_before_the_return_hold(self):
        """What is drawn over is gone, the colour it switched on is not."""
        assert _spans("\x1b[32m10%\r20%") == [("20%", "color(2)")]


class TestLimit:
    def test_head_and_tail_are_shown(self):
        """The colour of the head does not run into the tail."""
        rich = from_ansi("\x1b[31m" + "line\n" * 10_000, limit=200)
        head, notice, tail = rich.plain.partition("… 49,875 characters left out …")
        assert head == "line\n" * 12
        assert notice
        assert tail == "\n" + "line\n" * 13
        assert [str(s.style) for s in rich.spans if s.start == 0] == ["color(1)"]
        assert all(s.end <= len(head) + len(notice) + 1 for s in rich.spans)

    @given(st.text(st.sampled_from("\x1b[31m\u202e\x00\rab\n"), max_size=400))
    def test_the_limit_holds_after_spelling_out(self, text):
        """Eight characters for each hidden one are counted as eight."""
        assert len(from_ansi(text, limit=100)) <= 101
