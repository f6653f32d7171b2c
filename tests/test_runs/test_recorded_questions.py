"""What a run asked, and what was answered, is in its record: on the page, as text and on disk."""

import re
from html import unescape

import pytest

from toolbench import current_run, history, run_tool, tool
from toolbench.runs.history import Journal
from toolbench.runs.questions import answering

SECRET = "hunter2-the-secret"
FORM = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "pin": {"type": "string", "format": "password"},
    },
}


@tool
def lend(title: str) -> str:
    """Lend a book."""
    run = current_run()
    run.ask(f"Lend <b>{title}</b>?")
    form = run.ask("To whom?", FORM)
    run.ask(f"Is {form.content['pin']} right?" if form else "Why?", {"type": "integer"})
    return "lent"


def words(html):
    """Return what can be read of *html*."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.fixture
def record():
    """The record of a run that asked three questions."""
    with answering(True, {"to": "Ann", "pin": SECRET}, 3):
        run_tool(lend, {"title": "Emma"})
    return history()[-1]


def test_is_in_the_card(record):
    """In turn, escaped, and with a mark in place of each secret."""
    text = words(record.to_html())
    assert "Asked during the run: 3 questions" in text
    first = text.index("Lend <b>Emma</b>? \u2192 yes")
    second = text.index("To whom? \u2192 to: Ann, pin: ")
    assert first < second < text.index("right? \u2192 3")
    assert SECRET not in record.to_html()


def test_is_in_the_text(record):
    assert "asked: Lend <b>Emma</b>? -> yes\n" in record.to_text()
    assert SECRET not in record.to_text()


def test_is_read_from_the_file_again(record, tmp_path):
    journal = Journal(tmp_path / "runs.jsonl")
    journal.write(record)
    [again] = journal.read(1)
    assert again.dialogue == record.dialogue
    assert SECRET not in journal.path.read_text("utf-8")


def test_answers_again(record):
    """The answers of a record still answer the same questions."""
    with answering(*record.answers):
        assert run_tool(lend, {"title": "Emma"}).text == "lent"


def test_no_question_no_heading():
    @tool
    def quiet() -> str:
        """Ask nothing."""
        return "done"

    run_tool(quiet, {})
    assert "Asked" not in history()[-1].to_html()
    assert "asked" not in history()[-1].to_text()


@pytest.mark.parametrize(
    ("kind", "value"), [("integer", 4711), ("number", 47.11), ("string", "w0rd")]
)
def test_hides_a_secret_by_its_place(kind, value):
    """Numbers and short texts are secrets too, though no text can be searched for them."""
    schema = {
        "type": "object",
        "properties": {"otp": {"type": kind, "writeOnly": True}},
    }

    @tool
    def ask() -> str:
        """Ask."""
        return "known" if current_run().ask("Which?", schema)["otp"] == value else "?"

    with answering({"otp": value}):
        assert run_tool(ask).text == "known"
    record = history()[-1]
    for text in (record.to_html(), record.to_text(), repr(record.answers)):
        assert str(value) not in text


def test_a_preset_answer_that_does_not_fit_shows_no_secret():
    """The error goes to the model, and names what is wrong all the same."""
    with answering(True, {"to": 7, "pin": SECRET}):
        observation = run_tool(lend, {"title": "Emma"})
    assert "to: should be a string, not 7" in observation.text
    assert SECRET not in observation.text
    assert SECRET not in history()[-1].to_html()
