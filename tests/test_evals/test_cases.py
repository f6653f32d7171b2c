"""Cases: what they take, where they come from, and the file they are kept in."""

from dataclasses import replace

import pandas as pd
import pytest
import yaml
from pydantic_evals import Dataset

from tests.test_evals.sample_tools import TOOLS, message, split_bill
from toolbench import history, run_tool, tool
from toolbench.errors import CaseError, FileError
from toolbench.evals import Case, Cases, ExpectedCall
from toolbench.llm.calls import parse_tool_calls

CALL = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
EVERY_PART = Case(
    "Split 84 by 4",
    [CALL, {"name": "get_weather", "arguments": {"city": "Paris: 2026-11-21"}}],
    forbid=("wipe",),
    match={"total": {"approx": 0.01}, "city": "regex"},
    name="both",
    tags=("smoke", "money"),
)


def test_a_call_may_be_a_tool_call_or_an_object():
    """What a model sent can be what a case expects."""
    [sent] = parse_tool_calls(message(("split_bill", {"total": 84, "people": 4})), TOOLS)
    assert Case("Split it", sent) == Case("Split it", CALL) == Case("Split it", [CALL])
    assert Case("Split it", CALL).calls == (ExpectedCall("split_bill", {"total": 84, "people": 4}),)
    assert Case("Hello").calls == Case("Hello", []).calls == ()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Case(""), "prompt"),
        (lambda: Case("x", "split_bill"), "expected call"),
        (lambda: Case("x", {"name": "a", "argument": {}}), "None means"),
        (lambda: Case("x", {"name": "a", "arguments": 3}), '"arguments": 3'),
        (lambda: Case("x", CALL, match={"total": "aprox"}), "approx"),
        (lambda: Case("x", CALL, match={"totl": "approx"}), "'total'"),
        (lambda: Case("x", CALL, match={"total": {"approx": -1}}), "tolerance"),
        (lambda: Case("x", CALL, match={"total": {"regex": "("}}), "regular"),
        (lambda: Case("x", CALL, match={"total": "regex"}), "string, not 84"),
        (
            lambda: Case("x", {"name": "f", "arguments": {"a": "(b"}}, match={"a": "regex"}),
            '"(b" is not a regular',
        ),
        (lambda: Case("x", CALL, match={"total": {"any": 3}}), "takes no value"),
        (lambda: Case("x", CALL, match={"*": "approx"}), '"any"'),
        (lambda: Case("x", CALL, match=["total"]), "object"),
        (lambda: Case("x", CALL, forbid=["split_bill"]), "forbidden"),
        (lambda: Case("x", CALL, tags=3), "tags"),
        (lambda: Cases([3]), "3"),
        (lambda: Cases([{"prompt": "x", "expected": None}]), "expect"),
    ],
)
def test_what_is_no_case_is_one_sentence(make, words):
    """A case that cannot be used is refused before any model is asked."""
    with pytest.raises(CaseError, match=r"\w") as caught:
        make()
    assert words in str(caught.value)


def test_a_file_gives_back_what_was_written(tmp_path):
    """No part of a case is lost in a file."""
    cases = Cases([EVERY_PART, Case("Hello, yes: no"), Case("16:30", CALL)])
    path = tmp_path / "folder" / "cases.yaml"
    cases.write(path)
    assert Cases.read(path) == cases


def test_pydantic_evals_reads_the_file(tmp_path):
    """The file is a dataset of pydantic-evals: prompts are inputs, calls are expected outputs."""
    path = tmp_path / "cases.yaml"
    Cases([EVERY_PART, Case("Hello")]).write(path)
    dataset = Dataset[str, list | None, dict | None].from_file(path)
    first, second = dataset.cases
    assert (first.name, first.inputs) == ("both", EVERY_PART.prompt)
    assert first.expected_output[0] == CALL
    assert first.metadata["forbid"] == ["wipe"]
    assert (second.inputs, second.expected_output) == ("Hello", None)


def test_a_file_of_pydantic_evals_is_read(tmp_path):
    """What pydantic-evals writes are cases, too."""
    from pydantic_evals import Case as TheirCase

    dataset = Dataset[str, list, dict](
        name="theirs",
        cases=[TheirCase(name="one", inputs="Split it", expected_output=[CALL])],
    )
    path = tmp_path / "theirs.yaml"
    dataset.to_file(path)
    assert Cases.read(path) == Cases([Case("Split it", CALL, name="one")])


THEIRS = """\
# yaml-language-server: $schema=./theirs_schema.json
name: theirs
cases:
- name: one
  inputs: Split it
  expected_output:
  - {name: split_bill, arguments: {total: 84, people: 4}}
  metadata: {owner: ann, difficulty: hard, tags: [money]}
  evaluators: [EqualsExpected]
- inputs: Hello
  expected_output: null
evaluators:
- IsInstance: list
"""


def test_a_file_of_pydantic_evals_keeps_what_it_had(tmp_path):
    """Evaluators, metadata and the name are theirs: a case is changed and added, and nothing is lost."""
    path, other = tmp_path / "theirs.yaml", tmp_path / "other.yaml"
    path.write_text(THEIRS)
    cases = Cases.read(path)
    cases[0] = replace(cases[0], tags=("smoke",))
    cases += [Case("Thanks")]
    cases.tagged()[:3].write(other)
    Cases.read(path).write(path, overwrite=True)
    head = THEIRS.partition("\n")[0]
    for written, tags in ((path, ["money"]), (other, ["smoke"])):
        text = written.read_text()
        assert text.startswith(f"{head}\nname: theirs\ncases:\n")
        data = yaml.safe_load(text)
        first = data["cases"][0]
        assert first["metadata"] == {"owner": "ann", "difficulty": "hard", "tags": tags}
        assert first["evaluators"] == ["EqualsExpected"]
        assert data["evaluators"] == [{"IsInstance": "list"}]
        assert "evaluators" not in data["cases"][1]
    dataset = Dataset[str, list | None, dict | None].from_file(other)
    assert [case.inputs for case in dataset.cases] == ["Split it", "Hello", "Thanks"]
    assert len(dataset.evaluators) == len(dataset.cases[0].evaluators) == 1


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\ufeff", "\x00", "\r\n"])
def test_a_file_gives_back_odd_characters(tmp_path, odd):
    """Also the line end that only YAML knows, in each text of a case."""
    text = f"a{odd}b"
    call = {"name": "split_bill", "arguments": {text: text}}
    cases = Cases([Case(text, call, name=text, tags=[text], forbid=[text])])
    cases.write(tmp_path / "cases.yaml")
    assert Cases.read(tmp_path / "cases.yaml") == cases


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"),
        ("cases: [", "not YAML"),
        ("hello", "list `cases`"),
        ("cases: [{input: x}]", "case 1"),
        ("cases: [{inputs: x, metadata: 3}]", "metadata"),
        (
            "cases: [{inputs: x}, {inputs: x, metadata: {match: {a: equal}}}]",
            "case 2",
        ),
    ],
)
def test_a_file_that_is_none_says_where(tmp_path, text, words):
    """The sentence names the file and the case."""
    path = tmp_path / "cases.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CaseError, match=r"cases\.yaml") as caught:
        Cases.read(path)
    assert words in str(caught.value)


def test_a_file_may_be_read_only(tmp_path):
    """A file that cannot be written is one sentence."""
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        Cases().write(tmp_path / "file" / "cases.yaml")


class TestFromHistory:
    """A run, and the prompt that should lead to it, are a case."""

    def test_the_last_run(self):
        """A prompt alone is for the last run."""
        run_tool(split_bill, total=84, people=4)
        assert Cases.from_history("Split 84 by 4") == Cases([Case("Split 84 by 4", CALL)])

    def test_runs_by_number_and_record(self):
        """A run is named by its number, or is the record itself."""
        run_tool(split_bill, total=84, people=4)
        run_tool(split_bill, total=1, people=1)
        first, last = history()
        by_number = Cases.from_history({first.id: "a", last.id: "b"})
        assert by_number == Cases.from_history([(first, "a"), (last.id, "b")])
        assert [case.calls[0].arguments["total"] for case in by_number] == [84, 1]

    def test_a_secret_matches_anything(self):
        """The history keeps no secret, and no case does."""

        @tool(read_only=True)
        def log_in(user: str, password: str) -> str:
            """Log in."""
            return "welcome"

        run_tool(log_in, user="ann", password="hunter-2-hunter")
        [case] = Cases.from_history("Log me in")
        assert case.match == {"password": "any"}
        assert "hunter" not in repr(case)

    def test_no_such_run(self):
        """A number that no run has is one sentence."""
        with pytest.raises(CaseError, match="empty"):
            Cases.from_history("x")
        with pytest.raises(CaseError, match="no run 99999"):
            Cases.from_history({99999: "x"})


class TestFromDataFrame:
    """A row is a case."""

    def test_rows(self):
        """Empty cells say nothing; rows of one name are one case."""
        frame = pd.DataFrame(
            [
                {
                    "prompt": "Hello",
                    "tool": None,
                    "arguments": None,
                    "name": None,
                    "forbid": "wipe, rm",
                },
                {
                    "prompt": "a",
                    "tool": "f",
                    "arguments": {"x": 1},
                    "name": "two",
                    "forbid": None,
                },
                {
                    "prompt": "a",
                    "tool": "g",
                    "arguments": '{"y": 2}',
                    "name": "two",
                    "forbid": None,
                },
            ]
        )
        calls = [
            {"name": "f", "arguments": {"x": 1}},
            {"name": "g", "arguments": {"y": 2}},
        ]
        assert Cases.from_dataframe(frame) == Cases(
            [Case("Hello", forbid=["wipe", "rm"]), Case("a", calls, name="two")]
        )

    def test_a_table_without_prompts(self):
        """A missing column is named."""
        with pytest.raises(CaseError, match="`prompt`"):
            Cases.from_dataframe(pd.DataFrame([{"question": "x"}]))


class TestProposals:
    """Calls that fit the schema, marked as what no person wrote."""

    def test_every_call_fits_its_tool(self):
        """A proposal is a call that the tool takes, and says that it is one."""
        cases = Cases.propose(TOOLS, each=3)
        assert {call.name for case in cases for call in case.calls} == {tool.name for tool in TOOLS}
        tools = {tool.name: tool for tool in TOOLS}
        for case in cases:
            assert case.is_proposal
            for call in case.calls:
                assert not tools[call.name].problems(call.arguments)
        assert any(not case.calls for case in cases)
        assert "proposal" in repr(cases)

    def test_every_second_one_has_all_arguments(self):
        """The first has only those that the tool requires."""

        @tool
        def greet(name: str, greeting: str = "Hello") -> str:
            """Greet somebody."""
            return f"{greeting} {name}"

        calls = [call for case in Cases.propose([greet], each=2) for call in case.calls]
        assert [sorted(call.arguments) for call in calls] == [["name"], ["greeting", "name"]]

    def test_the_mark_stays_in_a_file_until_a_person_confirms(self, tmp_path):
        """A proposal is one after it was written and read, and no more once it is confirmed."""
        path = tmp_path / "cases.yaml"
        Cases.propose([split_bill]).write(path)
        cases = Cases.read(path)
        assert len(cases.proposals) == len(cases) > 1
        confirmed = Cases(case.confirmed() for case in cases)
        assert not confirmed.proposals
        assert replace(cases[0], tags=()) == confirmed[0]


def test_a_name_that_is_no_text_is_refused(tmp_path):
    """A number is no name, in Python and in YAML: reports need a text."""
    with pytest.raises(CaseError, match="name of a case must be a string, not 3"):
        Case("Hello", name=3)
    path = tmp_path / "cases.yaml"
    path.write_text("cases: [{name: 3, inputs: Hello, expected_output: null}]")
    with pytest.raises(CaseError, match="case 1: The name of a case must be a string"):
        Cases.read(path)
