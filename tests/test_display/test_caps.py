"""A long text shows its two ends, and how much lies between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from toolbench.display.caps import Capped, cap, cap_text, shorten
from toolbench.display.escape import SEQUENCE

_TEXT = st.text("ab \n\x1b[]0;31mK\x07e\u0301\u200d\ud83d\ude00\r", max_size=600)


class TestCap:
    def test_a_short_text_is_whole(self):
        """Nothing is left out of what fits."""
        assert cap("a\nb", 3) == Capped("a\nb")
        assert str(cap("a\nb", 3)) == "a\nb"
        assert cap("a\nb", 3).notice == ""

    def test_a_long_text_shows_head_and_tail(self):
        """Half of the room for each end, and a line that says what is missing."""
        cut = cap("x" * 10_000 + "y" * 10_000, 200)
        assert (cut.head, cut.omitted, cut.tail) == ("x" * 68, 19_864, "y" * 68)
        assert str(cut) == f"{'x' * 68}\n… 19,864 characters left out …\n{'y' * 68}"

    def test_cuts_fall_on_the_ends_of_lines(self):
        """Where a line ends near the cut, no line is torn."""
        lines = [f"line {number}\n" for number in range(1_000)]
        cut = cap("".join(lines), 1_000)
        assert cut.head.endswith("\n")
        assert cut.tail.startswith("line ")
        assert str(cut).splitlines()[0] == "line 0"
        assert str(cut).splitlines()[-1] == "line 999"
        assert "\n\n" not in str(cut)

    @given(text=_TEXT, limit=st.integers(0, 700))
    def test_the_parts_are_the_ends_of_the_text(self, text, limit):
        """Head, what is left out and tail make up the text; the whole keeps to the limit."""
        cut = cap(text, limit)
        middle = len(text) - len(cut.tail)
        assert text.startswith(cut.head)
        assert text.endswith(cut.tail)
        assert len(cut.head) + cut.omitted == middle
        assert len(str(cut)) <= max(limit, 64)

    @given(text=_TEXT, limit=st.integers(64, 700))
    def test_nothing_is_torn(self, text, limit):
        """No cut inside a control sequence, a surrogate pair, or before an accent."""
        capped = cap(text, limit)
        if not capped.omitted or not capped.head or not capped.tail:
            return
        for cut in (len(capped.head), len(text) - len(capped.tail)):
            inside = [m for m in SEQUENCE.finditer(text) if m.start() < cut < m.end()]
            assert inside == []
            assert not ("\ud800" <= text[cut - 1] <= "\udbff" and "\udc00" <= text[cut] <= "\udfff")
            assert text[cut] != "\u0301"

    def test_a_sequence_longer_than_the_limit_goes_whole(self):
        """A cut inside a hyperlink of a megabyte moves to both of its ends."""
        text = "a" + "\x1b]8;;" + "x" * 1_000_000 + "\x07" + "b"
        assert cap(text, 200) == Capped("a", 1_000_006, "b")


class TestCapText:
    def test_styles_stay_where_they_were(self):
        """Both ends keep their colours; the notice has its own."""
        text = Text("x" * 500, style="red") + Text("y" * 500, style="blue")
        cut = cap_text(text, 200)
        assert cut.plain == str(cap(text.plain, 200))
        styles = {cut.plain[s.start]: str(s.style) for s in cut.spans if s.end - s.start > 40}
        assert (styles["x"], styles["y"]) == ("red", "blue")

    def test_a_short_text_is_the_same_object(self):
        """Nothing is copied that fits."""
        text = Text("short")
        assert cap_text(text, 5) is text


class TestShorten:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("name", "name"),
            ("a name", "a na…"),
            ("abce\u0301f", "abc…"),
            ("abc…, d", "abc…"),
        ],
    )
    def test_a_name_is_cut_at_its_end(self, text, expected):
        """One ellipsis stands for the rest; accents go with their letter."""
        assert shorten(text, 5) == expected
