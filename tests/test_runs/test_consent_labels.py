"""The labels of a consent question name the call, for any tool and any arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_runs import tools
from toolbench import tool
from toolbench.display.escape import visible
from toolbench.runs.consent_question import call_phrase, consent_labels


@tool(destructive=True)
def delete_volume(volume: int, reason: str = "") -> str:
    """Delete a volume."""
    return f"{volume} {reason}"


@tool(title="Send a letter")
def send(to: list[str]) -> str:
    """Send it."""
    return str(to)


@tool(title="Lend a book")
def lend(title: str = "", days: int = 14) -> str:
    """Lend it."""
    return f"{title} {days}"


@tool(destructive=True)
def delete_jobs(before: str = "", except_name: str = "", job_id: int = 0) -> str:
    """Delete jobs."""
    return f"{before} {except_name} {job_id}"


@pytest.mark.parametrize(
    ("called", "arguments", "words"),
    [
        (delete_volume, {"volume": 3, "reason": "old"}, "Delete volume 3"),
        (send, {"to": ["a", "b"]}, "Send a letter"),
        (lend, {"title": "Typee"}, "Lend book Typee"),
        (lend, {}, "Lend a book"),
        (lend, {"days": 3}, "Lend a book (days: 3)"),
        (delete_jobs, {"before": "2026-02-28"}, "Delete jobs (before: 2026-02-28)"),
        (delete_jobs, {"except_name": "frame"}, "Delete jobs (except_name: frame)"),
        (delete_jobs, {"before": "2026-02-28", "job_id": 7}, "Delete jobs 7"),
        (delete_jobs, {"before": "", "except_name": "x" * 500}, "Delete jobs"),
        (tools.erase, {"path": "x" * 500}, "Erase"),
        (tools.erase, {"path": "a\nb"}, "Erase"),
        (tools.erase, {}, "Erase"),
    ],
)
def test_the_act_is_named(called, arguments, words):
    """By the tool's title, and what it is done to, where that is short.

    A value that says something else stands with the name of its argument.
    """
    assert call_phrase(called, arguments) == words


def test_what_destroys_is_dangerous_and_can_be_kept():
    """The answer that does nothing says what becomes of the thing."""
    consent = consent_labels(delete_volume, {"volume": 3}, can_be_remembered=False)
    assert (consent.is_dangerous, consent.refusal) == (True, "Keep it")
    consent = consent_labels(send, {"to": []}, can_be_remembered=True)
    assert (consent.is_dangerous, consent.refusal) == (False, "Do not run")


@given(st.text())
def test_a_label_is_one_short_line_that_hides_nothing(text):
    """Whatever the argument holds."""
    label = call_phrase(tools.erase, {"path": text})
    assert label.startswith("Erase")
    assert len(label) <= 60
    assert label == visible(label)
    assert "\n" not in label
