"""What a user gives to an evaluation or a sweep is checked first, and not changed."""

import pytest

from tests.test_evals.sample_tools import split_bill
from toolbench.errors import CaseError
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import ScriptedModel

SHARED = [
    {"repeats": 1.5}, {"repeats": "3"}, {"repeats": True}, {"repeats": 0},
    {"workers": 0}, {"workers": 2.0}, {"executor": 4},
]  # fmt: skip


def evaluated(**options):
    return evaluate(ScriptedModel([]), [], [Case("Hi")], **options)


def swept(**options):
    return sweep(split_bill, {"total": [1], "people": [1]}, **options)


@pytest.mark.parametrize("options", SHARED, ids=str)
@pytest.mark.parametrize("work", [evaluated, swept])
def test_an_option_that_cannot_be_used_is_one_sentence(work, options):
    """It names the option and what was given."""
    [(name, value)] = options.items()
    with pytest.raises(CaseError, match=f"^{name} must be .* not {value!r}\\.$"):
        work(**options)


@pytest.mark.parametrize("limit", ["x", True, [1]])
def test_a_limit_that_is_no_number_is_one_sentence(limit):
    """It is refused before any request."""
    with pytest.raises(CaseError, match="max_cost is more than 0 dollars"):
        evaluated(max_cost=limit)


def test_a_model_that_changes_the_tools_changes_them_for_itself_alone():
    """Each request offers the tools anew, as they are."""
    descriptions = []

    def model(messages, tools):
        descriptions.append(tools[0]["function"]["description"])
        tools[0]["function"]["description"] = "Changed."
        tools.clear()
        return "Hi"

    evaluate(model, [split_bill], [Case("Hi")], repeats=3, workers=1)
    assert len(descriptions) == 3
    assert len(set(descriptions)) == 1
    assert descriptions[0] != "Changed."
