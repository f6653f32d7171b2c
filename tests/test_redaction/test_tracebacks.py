"""Secrets in a traceback are hidden, however it is coloured."""

import re

from hypothesis import given
from hypothesis import strategies as st

from toolbench.redaction import MARK
from toolbench.redaction.known import LIMIT, ROOM, RememberedSecrets
from toolbench.redaction.redactor import Redactor

SECRET = "hunter2-tHe_sEcret"
_COLOURS = st.sampled_from(["\x1b[31m", "\x1b[39;00m", "\x1b[38;5;28;01m"])


class TestTracebacks:
    @given(st.lists(st.tuples(st.integers(0, 40), _COLOURS), max_size=6))
    def test_hide_a_secret_in_which_colours_change(self, changes):
        """Whatever the colours, the rest of the text and all of the colours stay."""
        plain = text = f"key = '{SECRET}' # {SECRET}"
        for place, colour in sorted(changes, reverse=True):
            text = text[:place] + colour + text[place:]
        hidden = Redactor([SECRET]).text(text)
        colours = re.compile(r"\x1b\[[0-9;]*m")
        assert colours.sub("", hidden) == plain.replace(SECRET, MARK)
        assert colours.findall(hidden) == colours.findall(text)


class TestRemembered:
    def test_are_the_newest_of_very_many(self):
        """Neither their number nor their length grows without end."""
        remembered = RememberedSecrets()
        remembered.add(f"secret-{n}" for n in range(2 * LIMIT + 1))
        assert len(remembered.redactor.secrets) == LIMIT
        assert "secret-0" not in remembered.redactor.secrets
        for letter in "xyz":
            remembered.add([letter * (ROOM - 20)])
        assert sum(map(len, remembered.redactor.secrets)) <= 2 * ROOM
        assert "z" * (ROOM - 20) in remembered.redactor.secrets

    def test_have_no_very_short_ones(self):
        """Two letters stand in everything."""
        remembered = RememberedSecrets()
        remembered.add(["ab"])
        assert not remembered.redactor
        remembered.add(["abcd"])
        remembered.forget()
        assert not remembered.redactor
