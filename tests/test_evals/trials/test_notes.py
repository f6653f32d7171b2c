"""What a person should know of the cases and the file, before anything is asked."""

import pytest

from tests.test_evals.sample_tools import TOOLS, bill, message
from toolbench.errors import ToolbenchError
from toolbench.evals import Case, evaluate
from toolbench.llm.models import ScriptedModel


def noted(cases, path=None, **options):
    """Return the report, and what was said until the first request."""
    lines, before = [], []

    def model(messages, tools):
        before.extend(lines[len(before) :])
        return message(bill())

    report = evaluate(model, TOOLS, cases, save=path, on_progress=lines.append, **options)  # fmt: skip
    return report, "\n".join(before)


def test_a_forbidden_tool_that_is_not_offered_is_told():
    """A slip of the pen would forbid nothing; the name that may be meant is there."""
    report, text = noted([Case("Hello", forbid=["wype"])] * 2)
    assert "wype" in text
    assert "forbidden in 2 cases" in text
    assert "Did you mean 'wipe'?" in text
    for view in (report.to_text(), report.to_html()):
        assert "wype" in view


def test_an_expected_tool_that_is_not_offered_is_told():
    """Without on_progress it is a warning, and it comes before the first request."""
    case = Case("Split", {"name": "split_bil", "arguments": {}})
    model = ScriptedModel(["Hi"])
    with pytest.warns(UserWarning, match="'split_bill'") as warned:
        evaluate(model, TOOLS, [case])
    assert "no answer can pass" in str(warned[0].message)
    assert warned[0].filename == __file__


def test_names_that_are_offered_need_no_note():
    """The first thing said is the estimate."""
    _, text = noted([Case("Split", {"name": "split_bill"}, forbid=["wipe"])])
    assert text.startswith("Evaluation: 1 request")


DAMAGES = [
    ('"calls": [', '"calls": [3, '),
    ('"repeat": 1', '"repeat": "one"'),
    ('"problems": [', '"problems": 7, "x": ['),
    ('"seconds": ', '"seconds": null, "x": '),
    ('"message": {', '"message": 1, "x": {'),
]


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_a_damaged_answer_is_refused(old, new, tmp_path):
    """The sentence names its line; without it, the answer is asked for again, and no other."""
    cases, path = [Case(f"Hello {n}") for n in range(3)], tmp_path / "trials.jsonl"
    noted(cases, path, workers=1)
    lines = path.read_text().splitlines()
    assert old in lines[2]
    lines[2] = lines[2].replace(old, new)
    path.write_text("\n".join(lines) + "\n" + '{"key": ' + "[" * 100_000 + "\n")
    content = path.read_bytes()
    with pytest.raises(ToolbenchError, match=r"^Line 3 of .* cannot be used \(.*\): delete it"):
        noted(cases, path, workers=1)
    assert path.read_bytes() == content
    del lines[2]
    path.write_text("\n".join(lines) + "\n")
    report, text = noted(cases, path, workers=1)
    assert len(report) == 3
    assert "Evaluation: 1 request" in text
