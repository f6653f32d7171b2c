"""Secrets in a traceback are hidden, however it is coloured and wherever a value is cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.redaction import MARK
from toolbench.redaction.known import LIMIT, ROOM, RememberedSecrets
from toolbench.redaction.redactor import Redactor
from toolbench.runs.redirect import hidden_in_traceback

SECRET = "hunter2-tHe_sEcret"
_COLOURS = st.sampled_from(["\x1b[31m", "\x1b[39;00m", "\x1b[38;5;28;01m"])


class TestTracebacks:
    @given(st.lists(st.tuples(st.integers(0, 40), _COLOURS), max_size=6))
    def test_hide_a_secret_in_which_colours_change(self, changes):
        """Whatever the colours, the rest of the text and all of the colours stay."""
        plain = text = f"key = '{SECRET}' # {SECRET}"
        for place, colour in sorted(changes, reverse=True):
            text = text[:place] + colour + text[place:]
        hidden = hidden_in_traceback(Redactor([SECRET]), text)
        colours = re.compile(r"\x1b\[[0-9;]*m")
        assert colours.sub("", hidden) == plain.replace(SECRET, MARK)
        assert colours.findall(hidden) == colours.findall(text)

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            (f"x = '{SECRET[:9]}...'", f"x = '{MARK}...'"),
            (f"x = '...{SECRET[9:]}'", f"x = '...{MARK}'"),
            (f"'{SECRET[:9]}...{SECRET[12:]}'", f"'{MARK}...{MARK}'"),
            ("call(...)", "call(...)"),
            ("hun...ret", "hun...ret"),
        ],
    )
    def test_hide_what_is_left_of_a_value_that_was_cut(self, text, hidden):
        """But not a few letters that may be of anything."""
        assert hidden_in_traceback(Redactor([SECRET]), text) == hidden


class TestRemembered:
    def test_are_the_newest_of_very_many(self):
        """Neither their number nor their length grows without end."""
        remembered = RememberedSecrets()
        remembered.add(f"secret-{n}" for n in range(LIMIT + 1))
        assert len(remembered.redactor.secrets) == LIMIT
        assert "secret-0" not in remembered.redactor.secrets
        remembered.add(["x" * (ROOM - 20)])
        assert sum(map(len, remembered.redactor.secrets)) <= ROOM
        assert "x" * (ROOM - 20) in remembered.redactor.secrets

    def test_have_no_very_short_ones(self):
        """Two letters stand in everything."""
        remembered = RememberedSecrets()
        remembered.add(["ab"])
        assert not remembered.redactor
        remembered.add(["abcd"])
        remembered.forget()
        assert not remembered.redactor
