"""A check: what it expects of a result, and how it says what differs."""

import re

import pytest

from toolbench import ImageContent, Observation, TextContent, run_tool, tool
from toolbench.checks import Check, Checks
from toolbench.errors import CaseError, Problem
from toolbench.mcp.results import MCPToolObservation, failed_observation


@tool(read_only=True)
def orders(count: int = 2) -> dict:
    """List orders."""
    items = [{"id": f"{n:08d}-0000-4000-8000-000000000000", "price": n + 0.5} for n in range(count)]
    return {"at": f"2026-11-30T10:00:0{count}Z", "items": items, "total": 10.0 / 3}


WHOLE = {
    "at": "2026-11-30T10:00:02Z",
    "items": [
        {"id": "00000000-0000-4000-8000-000000000000", "price": 0.5},
        {"id": "00000001-0000-4000-8000-000000000000", "price": 1.5},
    ],
    "total": 10 / 3,
}
CASES = {
    "equal": ({"result": WHOLE}, {}),
    "one place": ({"result": {**WHOLE, "total": 3}}, {"total": "3 was expected"}),
    "approx": ({"result": {**WHOLE, "total": 3.33}, "match": {"total": {"approx": 0.01}}}, {}),
    "subset": (
        {"result": {"items": [{"price": 1.5}]}, "match": "subset"},
        {},
    ),
    "a rule below the subset": (
        {
            "result": {"total": 0},
            "match": {"*": "subset", "total": {"type": "number"}, "at": "any"},
        },
        {},
    ),
    "rules without a result": (
        {"match": {"items[].price": {"type": "string"}, "at": {"regex": "^2026"}}},
        {"items[0].price": '"string" was expected', "items[1].price": '"string" was expected'},
    ),
    "a place that is not there": (
        {"match": {"totl": {"type": "number"}}},
        {"totl": "was not returned"},
    ),
    "loosened": (
        {
            "result": {
                "at": "2030-01-01T00:00:00Z",
                "items": [
                    {"id": "ffffffff-0000-4000-8000-000000000000", "price": 0.5},
                    {"id": "00000001-0000-4000-8000-000000000000", "price": 9},
                ],
                "total": 10 / 3,
            },
            "loosen": ["times", "ids"],
        },
        {"items[1].price": "9 was expected"},
    ),
    "shape": ({"result": {"at": "", "items": [], "total": 1}, "match": "type"}, {"total": "type"}),
    "schema": (
        {"schema": {"required": ["items"], "properties": {"total": {"maximum": 1}}}},
        {"total": "at most 1"},
    ),
    "an error": ({"error": True}, {"": "should have failed"}),
    "time": ({"seconds": 0.5}, {"": "at most 0.5 s"}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_expected(name):
    """Each kind of expectation, and the places where a result differs from it."""
    expect, differences = CASES[name]
    check = Check("c", "orders", expect=expect)
    problems = check.problems(run_tool(orders), seconds=0.75 if "seconds" in expect else None)
    assert [problem.where for problem in problems] == [*differences]
    for problem, words in zip(problems, differences.values(), strict=True):
        assert words in problem.message


def test_a_failure_fails_unless_it_is_expected():
    """The text of the error may be a pattern."""
    failed = run_tool(orders, count="x")
    assert "it failed" in Check("c", "orders").problems(failed)[0].message
    assert Check("c", "orders", expect={"error": True}).problems(failed) == []
    assert Check("c", "orders", expect={"error": "count: .* integer"}).problems(failed) == []
    [problem] = Check("c", "orders", expect={"error": "no such"}).problems(failed)
    assert "should match" in problem.message
    # What the server wrote to stderr explains it
    failed = failed_observation("t", "closed", ["Traceback ..."])
    assert Check("c", "t", expect={"error": "closed"}).problems(failed) == []
    assert len(Check("c", "t").problems(failed)) == 2


def test_of_a_long_text_the_first_line_that_differs_is_shown():
    """Two texts of many lines cannot be compared by looking at their beginnings."""
    lines = [f"line {n}" for n in range(50)]
    check = Check("c", "t", expect={"text": "\n".join(lines)})
    lines[30] = "other"
    problems = check.problems(Observation.from_text("\n".join(lines)))
    assert problems == [Problem((), 'line 31: "line 30" was expected, and "other" was returned')]
    [problem] = Check("c", "t", expect={"text": f"{'x' * 99}1"}).problems(
        Observation.from_text(f"{'x' * 99}2")
    )
    assert 'xx1" was expected, and "…xxx' in problem.message


def test_what_was_seen_is_expected():
    """A check that was made of a result passes for it, and for one that differs as each run does."""
    picture = Observation(content=[ImageContent(image_urls=["data:image/png;base64,AAAA"])])
    for seen, other in (
        (run_tool(orders), None),
        (Observation.from_text("one\ntwo"), Observation.from_text("one\nTWO")),
        (run_tool(orders, count="x"), run_tool(orders)),
        (picture, Observation(content=[TextContent(text="no picture")])),
    ):
        check = Check.of_result("c", "t", {}, seen)
        assert check.problems(seen) == []
        if other is not None:
            assert check.problems(other) != []
    check = Check.of_result("c", "orders", {}, run_tool(orders))
    assert check.expect["loosen"] == ["times", "ids"]


def test_what_is_accepted_passes():
    """The limits of the user stay, and the rules that the new result fits."""
    expect = {
        "match": {"total": {"type": "string"}, "at": "times"},
        "result": {"at": "2020-01-01T00:00:00Z"},
        "schema": {"required": ["items"]},
        "seconds": 1,
    }
    accepted = Check("c", "orders", expect=expect).accepting(run_tool(orders))
    assert accepted.problems(run_tool(orders), 0.5) == []
    assert [*accepted.expect] == ["result", "schema", "seconds", "loosen"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"expect": {"reslt": 1}}, "expect.reslt"),
        ({"expect": {"match": {"a": "equals"}, "result": 1}}, "is not a rule"),
        ({"expect": {"match": {"a": "approx"}}}, "compares with a `result`"),
        ({"expect": {"error": "("}}, "not a regular expression"),
        ({"expect": {"schema": {"type": "txt"}}}, "schema"),
        ({"expect": {"seconds": 0}}, "expect.seconds"),
        ({"expect": {"loosen": ["dates"]}}, "expect.loosen"),
        ({"name": " "}, "name of a check"),
    ],
)
def test_a_wrong_check_is_refused(parts, words):
    """In one sentence, before anything is called."""
    with pytest.raises(CaseError, match=re.escape(words)) as caught:
        Check(**{"name": "c", "tool": "t", **parts})
    assert "\n" not in str(caught.value)


def test_a_secret_is_not_written():
    """Of the arguments, which a file would keep."""
    with pytest.raises(CaseError, match="secret"):
        Check.of_result("c", "t", {"password": "hunter22"}, Observation.from_text("ok"))


def test_checks_run_where_their_tools_are(tmp_path, monkeypatch):
    """In a list, or in a module that is imported; a tool that is missing is a row."""
    (tmp_path / "billing.py").write_text(
        "from toolbench import tool\n@tool\ndef half(a: float) -> float:\n    'Halve.'\n    return a / 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    checks = [
        Check("listed", "orders", arguments={"count": 0}, expect={"match": {"items": "any"}}),
        Check("by module", "billing:half", arguments={"a": 3}, expect={"result": 1.5}),
        Check("by file", f"{tmp_path / 'billing.py'}:half", arguments={"a": 1}),
        Check("gone", "ordrs"),
    ]
    seen = []
    report = Checks(checks).run([orders], on_result=seen.append)
    assert [result.state for result in report] == ["passed", "passed", "passed", "missing"]
    assert seen == [*report] and not report.passed
    assert "Did you mean" in report.failures[0].error
    assert "3 of 4 checks passed" in report.to_text()


def test_a_server_that_was_started_again_is_no_warning_about_its_answer():
    """The note about it comes with the next answer of the server, whatever that is."""
    note = "lib.py changed 2 s ago: lib was started again."
    content = [TextContent(text="Emma")]
    seen = MCPToolObservation(tool_name="find", content=content, warnings=[note], lost=[note])
    check = Check("finds", "lib.find", expect={"text": "Emma"})
    assert check.problems(seen) == []
    assert "warnings" not in check.accepting(seen).expect
    other = seen.model_copy(update={"warnings": [note, "The result has no content list."]})
    assert [str(problem) for problem in check.problems(other)] == [
        "a warning: The result has no content list."
    ]


def test_a_result_of_any_depth_is_a_row():
    """It cannot be compared; the other checks run."""

    @tool
    def deep() -> list:
        """Nest lists."""
        value: list = []
        for _ in range(700):
            value = [value]
        return value

    report = Checks([Check("deep", "deep", expect={"result": [], "loosen": ["ids"]})]).run([deep])
    assert report.failures[0].error is not None
