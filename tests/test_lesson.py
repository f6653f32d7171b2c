"""The lesson: its answers are right, and before them its checks say what to look at."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
CELLS = json.loads((NOTEBOOKS / "08_choose_and_be_chosen.ipynb").read_text("utf-8"))["cells"]
TEXTS = [(cell["cell_type"], "".join(cell["source"])) for cell in CELLS]
ANSWER = re.compile(r"<details>.*?```python\n(.*?)```", re.DOTALL)
EXERCISES = 6


def name_of(code):
    """What the first line sets: a cell to fill in and its answer set the same."""
    return code.partition(" = ")[0]


ANSWERS = {}
for kind, text in TEXTS:
    if kind == "markdown" and (found := ANSWER.search(text)):
        ANSWERS[name_of(found[1])] = found[1]


def said(capsys, answers):
    """What the checks print if the cells to fill in hold *answers*."""
    names = {}
    verdicts = []
    for kind, code in TEXTS:
        if kind != "code":
            continue
        code = answers.get(name_of(code), code)
        exec(code.replace("%load_ext toolbench", ""), names)
        out = capsys.readouterr().out
        if "check(" in code and "def check" not in code:
            verdicts.append(out)
    return verdicts


@pytest.fixture(autouse=True)
def beside_the_recording(monkeypatch):
    """The answers of the model lie beside the notebook."""
    monkeypatch.chdir(NOTEBOOKS)


def test_answers_are_right(capsys):
    """Each hidden answer, put into its cell, passes its check."""
    assert len(ANSWERS) == EXERCISES
    assert said(capsys, ANSWERS) == ["Right.\n"] * EXERCISES


def test_no_exercise_is_solved_at_the_start(capsys):
    """Run All raises nothing, and each check says what to look at."""
    verdicts = said(capsys, {})
    assert len(verdicts) == EXERCISES
    for verdict in verdicts:
        assert verdict.startswith("Not yet. ")


def test_kept_questions_are_in_a_cell_of_their_own():
    """The teacher takes out one cell; no other one has the questions."""
    [teacher] = [cell for cell in CELLS if "teacher" in cell["metadata"].get("tags", ())]
    questions = re.findall(r'"(.*\?|Tell.*)"', "".join(teacher["source"]))
    assert len(questions) == 5
    others = json.dumps([cell for cell in CELLS if cell is not teacher])
    assert not [question for question in questions if question in others]
