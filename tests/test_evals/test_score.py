"""The score of a report: a number for the teacher, and a line that a sheet takes as it is."""

import csv

import pytest

from tests.test_evals.sample_tools import TOOLS, PlantedModel, bill, message
from toolbench.evals import Case, evaluate
from toolbench.llm.models import ScriptedModel

CALL = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
CASES = [Case("Split 84 by 4", CALL), Case("84 euros, four people", CALL), Case("Good morning!")]


def report(cases=CASES):
    """Two of the three answers are right."""
    script = [message(bill()), message(bill(people=5)), "Good morning!"]
    return evaluate(ScriptedModel(script[: len(cases)]), TOOLS, cases)


def cells(score):
    """The line, as a sheet reads it."""
    [row] = csv.reader([score.line], delimiter="\t")
    return row


def test_score_is_right_of_planned():
    """The number has its interval, and the line has a cell for each fact."""
    score = report().score("Ada")
    assert (score.rate.hits, score.rate.total) == (2, 3)
    assert cells(score) == ["Ada", "2", "3", "scripted", score.code]
    assert repr(score).splitlines() == [str(score.rate), score.line]


def test_answer_that_did_not_come_is_not_right():
    """A request that failed is in the number of planned answers."""
    score = evaluate(PlantedModel(failing=1.0), TOOLS, CASES).score("Ada")
    assert (score.rate.hits, score.rate.total) == (0, 3)


def test_code_is_that_of_the_cases():
    """It does not depend on their names and order, and differs where a prompt or an expectation does."""
    code = report().score("Ada").code
    renamed = [Case(CASES[0].prompt, CALL, name="first"), *CASES[1:]]
    assert report(renamed).score("Zoë").code == code
    assert evaluate(PlantedModel(), TOOLS, CASES[::-1]).score().code == code
    assert report([Case("Split 85 by 4", CALL), *CASES[1:]]).score("Ada").code != code
    assert report(CASES[:2]).score("Ada").code != code


@pytest.mark.parametrize("name", ["Jürgen Groß", "王小明", ""])
def test_name_stays_as_it_is(name):
    """In any script."""
    assert cells(report().score(name))[0] == name


@pytest.mark.parametrize("name", ['=HYPERLINK("http://evil","Ada")', "@SUM(A1)", "+1", "\t=1"])
def test_name_is_no_formula_and_one_cell(name):
    """What a student types runs nothing in the teacher's sheet, and moves no other cell."""
    line = report().score(f"{name}\t99\n99").line
    assert line.startswith("'")
    assert line.count("\t") == 4
    assert "\n" not in line
