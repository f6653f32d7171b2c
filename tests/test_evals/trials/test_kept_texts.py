"""A report keeps the texts of 1,000 failures, and says so where there are more."""

import json

import pytest

from tests.test_evals.sample_tools import message
from toolbench.evals import Case, evaluate
from toolbench.llm.models import Answer

MOST = 1_000


def chatty(messages, tools):
    """A model that talks in place of calling."""
    return "I would rather talk."


def failing(count, path=None):
    """The report of *count* failures."""
    case = Case("Act", {"name": "act", "arguments": {}})
    with pytest.warns(UserWarning, match="act"):
        return evaluate(chatty, [], [case], repeats=count, save=path)


def test_as_many_failures_as_are_kept_need_no_note():
    """Each has its text."""
    report = failing(MOST)
    assert all(trial.message for trial in report.failures)
    assert "texts" not in report.to_text()


@pytest.mark.slow
def test_more_failures_than_are_kept_are_told(tmp_path):
    """The report names the number and the place; the file has the text of each, also on resume."""
    path = tmp_path / "trials.jsonl"
    for report in (failing(MOST + 5, path), failing(MOST + 5, path)):
        assert sum(trial.message is not None for trial in report) == MOST
        note = f"texts of the first 1,000 of 1,005 failures; all of them are in {path}."
        assert note in report.to_text()
        assert "1,000 of 1,005 failures" in report.to_html()
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert [line["message"]["content"] for line in lines] == ["I would rather talk."] * (MOST + 5)
    assert "`save=` keeps all of them" in failing(MOST + 1).to_text()


@pytest.mark.parametrize(
    ("reason", "text"),
    [(3, "3"), (["a"], "['a']"), ("sk-planted-77", "<secret-hidden>")],
)
def test_any_finish_reason_is_kept_as_a_text(reason, text, tmp_path):
    """So the line is used the next time, and no answer is paid for twice."""
    requests = []

    class Odd:
        """A model that ends its answers in its own way."""

        name, provider = "odd", "openai"

        def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
            requests.append(messages)
            return Answer(message(text="Hi"), reason)

    arguments = {"password": "sk-planted-77"}
    case = Case("Act", {"name": "act", "arguments": arguments}, forbid=["wipe"])
    for _ in range(2):
        report = evaluate(Odd(), [], [case], save=tmp_path / "f.jsonl", on_progress=str)
        assert report[0].finish_reason == text
    assert len(requests) == 1


def test_a_finish_reason_without_end_is_cut_off():
    """A word is enough."""

    class Endless:
        """A model that ends its answers with a very long word."""

        name, provider = "endless", "openai"

        def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
            return Answer(message(text="Hi"), "z" * 100_000)

    assert len(evaluate(Endless(), [], [Case("Hello")])[0].finish_reason) <= 200
