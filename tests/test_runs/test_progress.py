"""How far a run is, in numbers: from whatever an executor or a server says."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench import current_run, tool
from toolbench.runs.perform import perform
from toolbench.runs.progress import Progress
from toolbench.runs.run import run_here

NUMBERS = st.one_of(st.floats(), st.integers().map(float))


class TestShare:
    @given(value=NUMBERS, total=st.none() | NUMBERS)
    def test_is_between_nothing_and_all(self, value, total):
        """Or there is none: no bar is fuller than full, and none shows a nan."""
        share = Progress(value, total).share
        assert share is None or 0 <= share <= 1

    @pytest.mark.parametrize(
        ("value", "total", "share"),
        [
            (0, 4, 0),
            (1, 4, 0.25),
            (4, 4, 1),
            (9, 4, 1),
            (-1, 4, 0),
            (1, -4, 0),
            (-1, -4, 0.25),
            (1e308, 1e-308, 1),
        ],
    )
    def test_is_the_part_that_is_done(self, value, total, share):
        """More than all is all, less than nothing is nothing."""
        assert Progress(value, total).share == share

    @pytest.mark.parametrize(
        ("value", "total"),
        [
            (1, None),
            (1, 0),
            (nan, 4),
            (1, nan),
            (inf, 4),
            (1, inf),
            (inf, inf),
        ],
    )
    def test_is_none_where_it_cannot_be_told(self, value, total):
        """Of nothing, and of anything that is no number."""
        assert Progress(value, total).share is None


class TestNumbers:
    @pytest.mark.parametrize("value", ["much", None, [1], 10**400])
    def test_that_no_float_holds_are_refused(self, value):
        """The executor that reports one gets the error there."""

        @tool
        def copy() -> str:
            with pytest.raises((TypeError, ValueError, OverflowError)):
                current_run().progress(value)
            current_run().progress(3, 10, "half")
            return "copied"

        run = run_here(copy, {})
        assert perform(run).text == "copied"
        assert run.progress_view.state == Progress(3.0, 10.0, "half")

    @pytest.mark.parametrize(
        ("value", "total", "text"),
        [
            (1234567, 10000000, "1,234,567 of 10,000,000"),
            (3, 10, "3 of 10"),
            (0, 10, "0 of 10"),
            (0.5, 2, "0.5 of 2"),
            (1 / 3, None, "0.3333"),
            (-2, None, "-2"),
            (7, 0, "7"),
            (0, None, ""),
            (0, 0, ""),
            (1e15, None, "1e+15"),
            (1e15 - 1, None, "999,999,999,999,999"),
            (-1e15, None, "-1e+15"),
            (inf, 4, "inf of 4"),
        ],
    )
    def test_read_as_a_person_writes_them(self, value, total, text):
        """Whole ones in full and in groups, others rounded, none where there is nothing."""
        assert Progress(value, total).counted == text

    @given(value=NUMBERS, total=st.none() | NUMBERS)
    def test_are_short(self, value, total):
        """Whatever they are, they fit beside a button."""
        assert len(Progress(value, total).counted) <= 44


class TestSaid:
    @pytest.mark.parametrize(
        ("message", "value", "text"),
        [
            ("reading", 3, "reading · 3 of 10"),
            ("", 3, "3 of 10"),
            ("reading", 0, "reading · 0 of 10"),
        ],
    )
    def test_is_the_message_and_the_numbers(self, message, value, text):
        """What there is of both."""
        assert Progress(value, 10, message).text == text

    def test_is_nothing_where_nothing_was_told(self):
        """Then nothing is shown."""
        assert Progress().text == ""
        assert Progress(message="reading").text == "reading"
