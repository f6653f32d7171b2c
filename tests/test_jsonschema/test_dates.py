"""A text that is a date in another notation is refused; any other text is the server's own matter."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.jsonschema.checks import date_problems
from toolbench.jsonschema.node import read

DAY = {"type": "string", "format": "date"}
SCHEMA = {
    "type": "object",
    "properties": {
        "since": DAY,
        "until": {"anyOf": [DAY, {"type": "null"}]},
        "days": {"type": "array", "items": DAY},
        "word": {"type": "string"},
        "either": {"anyOf": [DAY, {"type": "string", "maxLength": 20}]},
        "never": {**DAY, "default": "0000-00-00"},
    },
}


def problems(value):
    return list(map(str, date_problems(read(SCHEMA), value)))


@pytest.mark.parametrize("text", ["1.12.2026", "12/31/2026", "2026-02-30", "1850-1-1"])
def test_another_notation_is_refused(text):
    """Wherever the date stands, with its path, in the words of own tools."""
    message = f'should be a date such as 2024-01-31, not "{text}"'
    value = {"since": text, "until": text, "days": ["2026-01-01", text]}
    assert problems(value) == [
        f"since: {message}",
        f"until: {message}",
        f"days[1]: {message}",
    ]


@given(st.dates())
def test_dates_pass(day: date):
    """Each date of the calendar, as JSON Schema writes it."""
    assert problems({"since": day.isoformat()}) == []


@pytest.mark.parametrize("text", ["", "today", "2026", "2026-12", "20261201", "now-7d"])
def test_what_a_server_may_know_passes(text):
    """`format` is an annotation: what is not certainly wrong is sent."""
    assert problems({"since": text, "until": text, "days": [text]}) == []


def test_what_the_schema_allows_passes():
    """A default, a text that need be no date, and what is no text."""
    value = {"never": "0000-00-00", "word": "1.12.2026", "either": "1.12.2026"}
    assert problems(value) == []
    assert problems({"since": 5, "until": None, "other": "1.12.2026"}) == []


@pytest.mark.parametrize(
    ("asking", "text"),
    [
        ({"pattern": r"^\d{2}/\d{2}/\d{4}$"}, "12/30/2026"),
        ({"examples": ["31.12.2026"]}, "30.12.2026"),
        ({"default": "1.1.2026"}, "30.12.2026"),
    ],
)
def test_a_notation_that_the_schema_asks_for_passes(asking, text):
    """The server's author writes dates in this notation, whatever `format` says."""
    schema = {"type": "object", "properties": {"day": {**DAY, **asking}}}
    assert list(date_problems(read(schema), {"day": text})) == []
