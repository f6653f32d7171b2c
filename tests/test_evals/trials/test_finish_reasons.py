"""Why an answer ended is kept as a short text."""

import pytest

from tests.test_evals.sample_tools import message
from toolbench.evals import Case, evaluate
from toolbench.llm.models import Answer


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
