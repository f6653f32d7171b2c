"""The limit of the cost: what is reserved, what counts, and what the report says."""

from threading import Barrier

import pytest
from patience import PATIENCE

from toolbench.evals import Case, evaluate
from toolbench.llm.models import Answer, Price, ScriptedModel, Usage

CASES = [Case(str(n)) for n in range(40)]


def priced(costs):
    """A model whose answers cost what *costs* says of the prompt."""

    def model(messages, tools):
        cost = costs(int(messages[-1]["content"]))
        return Answer({"role": "assistant", "content": "Hi"}, usage=Usage(1, 1, cost))

    return model


def test_later_answers_that_are_dearer_stop_it():
    """Of 40 answers, 20 cost a dollar: no more are paid for than were under way at the first."""
    model = priced(lambda n: 0.001 if n < 20 else 1.0)
    report = evaluate(model, [], CASES, max_cost=1, workers=4)
    assert report.stopped == "max_cost"
    assert report.summary.cost <= 0.02 + 4
    assert len(report) <= 24


def test_the_dearest_answer_so_far_is_reserved_not_the_mean():
    """After 0.3 and 0.1 dollars, 0.2 are left: the next may cost 0.3, and is not made."""
    model = priced(lambda n: 0.1 if n else 0.3)
    report = evaluate(model, [], CASES, max_cost=0.6, workers=1)
    assert (len(report), report.stopped) == (2, "max_cost")


def test_requests_under_way_have_their_money_reserved():
    """Three can be paid for: of the eight that could be under way, two begin with the first paid."""
    both = Barrier(2, timeout=PATIENCE)

    def costs(n):
        if n:
            both.wait()
        return 1.0

    report = evaluate(priced(costs), [], CASES, max_cost=3, workers=8)
    assert (len(report), report.summary.cost) == (3, 3.0)


def test_a_first_request_that_is_estimated_above_the_limit_is_not_made():
    """The price of the model is known, so nothing is spent to learn it."""
    model = ScriptedModel(["Hi"])
    model.price = Price(1e6, 1e6)
    report = evaluate(model, [], CASES[:1], max_cost=0.5)
    assert not model.requests
    assert (len(report), report.stopped) == (0, "max_cost")
    assert "0 of 1" in report.to_text()


def test_answers_of_the_file_count(tmp_path):
    """Whoever starts it again spends no more than the limit in all."""
    options = {"max_cost": 0.5, "save": tmp_path / "trials.jsonl", "workers": 1}
    first, again = (evaluate({"m": priced(lambda n: 0.1)}, [], CASES, **options) for _ in range(2))
    assert (len(first), len(again)) == (5, 5)
    assert first.stopped == again.stopped == "max_cost"
    assert "The same `save=` file continues from here." in first.notices[0]


def test_without_a_file_none_is_spoken_of():
    """The notice says what keeps the answers the next time."""
    report = evaluate({"m": priced(lambda n: 0.1)}, [], CASES, max_cost=0.5, workers=1)
    assert "The same" not in report.notices[0]
    assert "with `save=FILE` the next one can continue" in report.notices[0]


def test_a_last_answer_that_exceeds_it_is_told():
    """Its cost was not known before."""
    report = evaluate(priced(lambda n: 10.0), [], CASES[:1], max_cost=0.5)
    assert (len(report), report.stopped) == (1, "max_cost")
    assert report.summary.cost == pytest.approx(10)
