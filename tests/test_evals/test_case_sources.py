"""Where cases come from: files of pydantic-evals, and schemas that are hard to fill."""

import warnings
from typing import Annotated

import pytest
from pydantic import Field, SecretStr

from toolbench import tool
from toolbench.evals import Cases


@tool(read_only=True)
def find_part(number: Annotated[str, Field(pattern=r"^[A-Z]{3}-[0-9]{7}$")]) -> str:
    """Find a part by its number."""
    return number


@tool(read_only=True)
def open_safe(code: SecretStr) -> str:
    """Open the safe."""
    return "open"


@tool(read_only=True)
def double(n: int, words: list[str]) -> int:
    """Double a number."""
    return 2 * n


@pytest.mark.parametrize(("one", "words"), [(find_part, "number"), (open_safe, "a secret")])
def test_a_tool_that_no_case_can_be_proposed_for_is_named(one, words):
    """The other tools have their cases."""
    with pytest.warns(UserWarning, match=f"{one.name}.*{words}") as caught:
        cases = Cases.propose([one, double], each=2)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    calls = [call for case in cases for call in case.calls]
    assert [call.name for call in calls] == ["double"] * 2
    assert [len(call.arguments["words"]) for call in calls] == [2, 2]


def test_tools_that_have_proposals_bring_no_warning():
    """One call is enough of a tool that has only one."""

    @tool(read_only=True)
    def now() -> str:
        """Tell the time."""
        return "noon"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cases = Cases.propose([now, double], each=3)
    assert len(cases) == 1 + 3 + 1


@pytest.mark.parametrize(
    "text",
    [
        "cases:\n- name: a\n  inputs: Hello\n",
        "cases:\n- {name: a, inputs: Hello, metadata: null, expected_output: null}\n",
        "name: d\ncases:\n- {name: a, inputs: Hello, evaluators: [{IsInstance: str}]}\n"
        "evaluators: []\nreport_evaluators: []\n",
    ],
)
def test_a_case_without_an_expected_output_is_read(text, tmp_path):
    """It expects no call."""
    path = tmp_path / "cases.yaml"
    path.write_text(text)
    [case] = Cases.read(path)
    assert (case.prompt, case.name, case.calls) == ("Hello", "a", ())
