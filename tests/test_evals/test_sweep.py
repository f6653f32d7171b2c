"""Sweeps: a tool called with many arguments, a row for each call."""

import re
import signal
import threading
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import pytest
from patience import PATIENCE
from PIL import Image

from tests.test_evals.sample_tools import split_bill, wipe
from toolbench import Action, Observation, ToolDefinition, answering, history, tool
from toolbench.core.executor import ToolExecutor
from toolbench.errors import CaseError, ConsentError
from toolbench.evals import sweep
from toolbench.runs.policy import policy
from toolbench.wording import duration


@tool(read_only=True)
def divide(a: int, b: int = 1) -> dict:
    """Divide a by b; returns quotient and rest."""
    return {"quotient": a // b, "rest": a % b}


def test_a_grid_is_every_combination_with_a_column_each():
    """One column an argument, one a field of the result, in the order of the grid."""
    report = sweep(divide, {"a": range(6, 8), "b": [1, 2, 4]})
    frame = report.to_dataframe()
    assert [*frame.columns] == [
        "a",
        "b",
        "quotient",
        "rest",
        "state",
        "error",
        "seconds",
    ]
    assert frame[["a", "b"]].to_numpy().tolist() == [[a, b] for a in (6, 7) for b in (1, 2, 4)]
    assert (frame["quotient"] * frame["b"] + frame["rest"] == frame["a"]).all()
    assert report.axes == ("a", "b")


def test_a_text_and_an_object_are_one_value():
    """Only what is a collection is an axis."""

    @tool(read_only=True)
    def say(text: str, options: dict, times: int) -> str:
        """Say it."""
        return text * times

    report = sweep(say, {"text": "ab", "options": {"x": 1}, "times": (1, 2)})
    assert [row.fields["result"] for row in report] == ["ab", "abab"]


def test_a_list_and_a_table_are_calls():
    """Rows may name different arguments; an empty cell is not sent."""
    rows = [{"b": 1, "a": 6}, {"a": 7, "b": 2}]
    frame = pd.DataFrame([{"a": 6, "b": None}, {"a": 7, "b": 2}]).astype({"b": "Int64"})
    for inputs in (rows, frame):
        report = sweep(divide, inputs)
        assert [row.fields for row in report] == [
            {"quotient": 6, "rest": 0},
            {"quotient": 3, "rest": 1},
        ]
        assert [*report.argument_columns] == ["a", "b"]


def test_errors_are_rows():
    """What the tool raises, and arguments that do not fit, stop nothing."""
    report = sweep(divide, {"a": [1, "x"], "b": [0, 1]})
    assert [row.state for row in report] == ["error", "ok", "invalid", "invalid"]
    assert "zero" in report.errors[0].error
    assert len(report.to_dataframe()) == 4


def test_the_page_tells_the_times_and_the_errors_and_rounds_what_it_shows():
    """A share of all calls, and times as words; the data keeps every digit."""

    @tool(read_only=True)
    def third(a: int) -> dict:
        """Divide by three."""
        return {"third": 1_000 / (3 * a), "items": [a]}

    report = sweep(third, {"a": [0, 1, 10_000]})
    html = report.to_html()
    for words in ("p50", "p90", "p99", "33.3%", ">333<", ">0.0333<"):
        assert words in html
    _, middle, most = sorted(report.columns["seconds"])
    facts = f"p50 {duration(middle)}, p90 {duration(most)}, p99 {duration(most)}, errors 33.3%"
    assert facts in report.to_text()
    assert report.columns["third"][2] == 1_000 / 30_000
    times = [cell for cell in re.findall(r">([^<]+)</td>", html) if cell.endswith(" ms")]
    assert len(times) == 3


def test_repeats_and_functions():
    """A plain function is a tool, and each call is made as often as wanted."""
    counter = iter(range(100))

    def number(a: int) -> int:
        """Count."""
        return next(counter)

    report = sweep(number, {"a": [1, 2]}, repeats=3, workers=1)
    assert [(row.arguments["a"], row.repeat, row.fields["result"]) for row in report] == [
        (a, repeat, 3 * (a - 1) + repeat - 1) for a in (1, 2) for repeat in (1, 2, 3)
    ]


def test_a_field_that_is_called_like_an_argument():
    """Neither column hides the other."""

    @tool(read_only=True)
    def double(a: int) -> dict:
        """Double."""
        return {"a": 2 * a, "state": "fine"}

    frame = sweep(double, {"a": [3]}).to_dataframe()
    assert frame.loc[0, ["a", "result.a", "result.state", "state"]].tolist() == [
        3,
        6,
        "fine",
        "ok",
    ]


def test_the_fields_of_an_observation_are_columns():
    """A tool written as a class has its observation's own fields."""

    class CountAction(Action):
        word: str

    class CountObservation(Observation):
        letters: int = 0

    class Count(ToolExecutor):
        def __call__(self, action, conversation=None):
            return CountObservation(letters=len(action.word))

    counter = ToolDefinition(
        name="count", description="Count letters.", action_type=CountAction,
        observation_type=CountObservation, executor=Count(),
    )  # fmt: skip
    assert [r.fields for r in sweep(counter, {"word": ["a", "abc"]})] == [
        {"letters": 1},
        {"letters": 3},
    ]


def test_a_tool_with_something_of_its_own_is_called_by_one_thread():
    """An executor that is neither a plain function nor read-only is never called twice at once."""
    inside, most = [], []

    class WordAction(Action):
        word: str

    class Shell(ToolExecutor):
        def __call__(self, action, conversation=None):
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(0.002)
            inside.pop()
            return Observation.from_text(action.word)

    shell = ToolDefinition(name="shell", description="x", action_type=WordAction, executor=Shell())
    sweep(shell, {"word": map(str, range(20))})
    assert max(most) == 1


def test_an_async_tool():
    """A coroutine function is called like any other."""

    @tool(read_only=True)
    async def later(a: int) -> int:
        """Return it later."""
        return a

    assert [row.fields["result"] for row in sweep(later, {"a": range(5)})] == [*range(5)]


class TestConsent:
    """The policy is asked once, with the number of calls."""

    def test_one_question(self):
        """A yes runs them all; no call is a record."""
        # A second question would be declined
        with answering(True):
            report = sweep(wipe, {"path": ["a", "b", "c"]}, repeats=2)
        assert [row.fields["result"] for row in report][:2] == ["a is gone"] * 2
        assert len(report) == 6
        assert not history()

    def test_a_no(self):
        """After a no nothing ran, and the sentence says how many it would have been."""
        with answering(False), pytest.raises(ConsentError, match="3 calls of wipe"):
            sweep(wipe, {"path": ["a", "b", "c"]})
        with pytest.raises(ConsentError, match="nobody"):
            sweep(wipe, {"path": ["a"]})

    def test_a_tool_that_asks_before_some_of_its_calls(self):
        """Nobody is asked when such a call comes, so all are asked about, unless a rule allows it."""

        class Post(ToolDefinition):
            """Asks before letters, not before cards."""

            def asks_because(self, action: Action) -> str:
                """Return why."""
                return f"{self.name} sends a letter"

        post = Post(
            name="post",
            description="Post.",
            action_type=split_bill.action_type,
            executor=split_bill.executor,
            annotations=split_bill.annotations,
        )
        values = {"total": [84], "people": [4]}
        with pytest.raises(ConsentError, match="post asks before some of its calls"):
            sweep(post, values)
        policy.allow(post)
        assert len(sweep(post, values)) == 1

    def test_a_tool_that_is_denied(self):
        """What the policy denies is not called."""
        policy.deny(split_bill)
        with pytest.raises(CaseError, match="denied"):
            sweep(split_bill, {"total": [1], "people": [1]})


class TestSaving:
    """What is in the file is not called again."""

    def test_resume_by_what_was_sent(self, tmp_path):
        """Only new arguments and repeats are called."""
        path, called = tmp_path / "sweep.jsonl", []

        @tool(read_only=True)
        def note(a: int) -> int:
            """Note it."""
            called.append(a)
            return a

        sweep(note, {"a": [1, 2]}, save=path)
        report = sweep(note, {"a": [1, 2, 3]}, save=path, repeats=2)
        assert sorted(called) == [1, 1, 2, 2, 3, 3]
        assert [row.fields["result"] for row in report] == [1, 1, 2, 2, 3, 3]
        sweep(note, {"a": [1]}, save=path, resume=False)
        assert len(called) == 7

    def test_a_changed_tool_is_called_again(self, tmp_path):
        """Another source, or another schema, is another tool."""
        path = tmp_path / "sweep.jsonl"

        def first():
            @tool(name="t", read_only=True)
            def f(a: int) -> int:
                """Do it."""
                return a

            return f

        def second():
            @tool(name="t", read_only=True)
            def f(a: int) -> int:
                """Do it."""
                return a + 1

            return f

        assert sweep(first(), {"a": [1]}, save=path)[0].fields == {"result": 1}
        assert sweep(second(), {"a": [1]}, save=path)[0].fields == {"result": 2}
        assert len(path.read_text().splitlines()) == 1 + 2

    def test_a_row_from_the_file_is_the_row(self, tmp_path):
        """Errors, fields and repeats come back as they were."""
        path = tmp_path / "sweep.jsonl"
        first = sweep(divide, {"a": [1, 2], "b": [0, 1]}, save=path)
        again = sweep(divide, {"a": [1, 2], "b": [0, 1]}, save=path)
        assert [*again] == [*first]
        retried = sweep(divide, {"a": [1, 2], "b": [0, 1]}, save=path, retry_errors=True)
        assert [row.state for row in retried] == ["error", "ok"] * 2
        assert len(path.read_text().splitlines()) == 1 + 6

    def test_no_secret_is_in_the_file_or_the_report(self, tmp_path):
        """A secret argument is a mark, also in what comes out, and no key is made of it."""
        path = tmp_path / "sweep.jsonl"

        @tool(read_only=True)
        def log_in(user: str, password: str) -> str:
            """Log in."""
            return f"{user} has {password}"

        report = sweep(
            log_in,
            {"user": ["ann"], "password": ["hunter-one", "hunter-two"]},
            save=path,
        )
        again = sweep(
            log_in,
            {"user": ["ann"], "password": ["hunter-one", "hunter-two"]},
            save=path,
        )
        assert len(again) == 2
        texts = [path.read_text(), report.to_html(), report.to_text(), repr(again[0])]
        assert not any("hunter" in text for text in texts)

    def test_a_value_that_contains_itself_hides_no_other(self):
        """Beside a secret too, each argument keeps its name."""
        circle = {"a": 1}
        circle["again"] = circle

        @tool(read_only=True)
        def count(password: str, tree: Any) -> int:
            """Count."""
            return len(tree)

        [row] = sweep(count, {"password": ["hunter-one"], "tree": [circle]})
        assert row.arguments.keys() == {"password", "tree"}


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    ("file", "way_on"),
    [
        ("sweep.jsonl", "The same `save=` file continues from here."),
        (None, "It was not saved: with `save=FILE` the next one can continue"),
    ],
)
def test_an_interrupt_keeps_what_is_done(tmp_path, file, way_on):
    """The rows that are done are returned; a file goes on from there, and only a file can."""
    path = None if file is None else tmp_path / file
    begun, release = threading.Event(), threading.Event()

    @tool(read_only=True)
    def slow(a: int) -> int:
        """Wait from the fourth on."""
        if a >= 3 and not release.is_set():
            begun.set()
            assert release.wait(PATIENCE)
        return a

    def interrupt():
        assert begun.wait(PATIENCE)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    report = sweep(slow, {"a": range(10)}, workers=1, save=path)
    release.set()
    assert [row.fields["result"] for row in report] == [0, 1, 2][: len(report)]
    assert 1 <= len(report) <= 3
    assert "interrupted" in report.notices[0]
    assert way_on in report.notices[0]
    assert len(sweep(slow, {"a": range(10)}, save=path)) == 10


def test_more_calls_than_the_history_keeps():
    """Every row is there, in order."""
    report = sweep(divide, {"a": range(3_000), "b": 7})
    assert [row.fields["quotient"] for row in report] == [a // 7 for a in range(3_000)]


def test_images_and_tables_are_shown(tmp_path):
    """What a person would see of a result is in the report, also when it comes from the file."""
    path = tmp_path / "sweep.jsonl"

    @tool(read_only=True)
    def paint(n: int):
        """Paint."""
        return Image.new("RGB", (4, 4), (n, 0, 0))

    @tool(read_only=True)
    def table(n: int):
        """Make a table."""
        return pd.DataFrame({"<b>": range(n)})

    assert sweep(paint, {"n": [1, 2]}, save=path).to_html().count("<img") == 2
    assert sweep(paint, {"n": [1, 2]}, save=path).to_html().count("<img") == 2
    page = sweep(table, {"n": [3]}).to_html()
    assert "&lt;b&gt;" in page
    assert "3 rows" in page
    assert "more" not in page
    assert b64encode(b"x")


def test_a_table_keeps_its_index(tmp_path):
    """What a table is grouped by says what its rows are, also when it comes from the file."""

    @tool(read_only=True)
    def groups(by: str):
        """Group."""
        return pd.DataFrame({"v": [1.5, 2.5]}, index=pd.Index(["<x>", "y"], name=by))

    path = tmp_path / "sweep.jsonl"
    for _ in range(2):
        (row,) = sweep(groups, {"by": ["station"]}, save=path)
        assert row.table["columns"] == ["station", "v"]
        assert row.table["rows"] == [["<x>", "1.5"], ["y", "2.5"]]
    page = sweep(groups, {"by": ["station"]}, save=path).to_html()
    assert "station" in page
    assert "&lt;x&gt;" in page


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (3, "DataFrame"),
        ("abc", "DataFrame"),
        ([3], "object of arguments"),
        ({"aa": [1]}, "Did you mean 'a'"),
        ([{"c": 1}, {"c": 2}], "no argument 'c'"),
    ],
)
def test_wrong_inputs_are_one_sentence(inputs, words):
    """They are refused before any call."""
    with pytest.raises(CaseError) as caught:
        sweep(divide, inputs)
    assert words in str(caught.value)


def test_hostile_results_are_shown_as_text():
    """No markup of a result becomes markup."""

    @tool(read_only=True)
    def evil(a: int) -> dict:
        """Return markup."""
        if a:
            raise ValueError("<script>alert(1)</script>")
        return {"<script>": "<script>alert(1)</script>"}

    report = sweep(evil, {"a": [0, 1]})
    for text in (report.to_html(), report._repr_mimebundle_()["text/html"]):
        assert "<script" not in text
        assert "&lt;script" in text


def test_a_pool_of_threads_that_is_the_users():
    """Any executor of threads does."""
    with ThreadPoolExecutor(2) as pool:
        report = sweep(divide, {"a": range(50)}, executor=pool)
    assert len(report) == 50


def test_a_column_of_numbers_stands_right_though_its_first_call_failed():
    """The page sorts by it as by numbers, then; what is not there shows nothing."""
    report = sweep(divide, {"a": 8, "b": [0, 4]})
    html = report.to_html()
    assert 'text-align:right">2<' in html
    assert 'text-align:left"></td>' in html


def test_a_number_of_numpy_is_a_number():
    """Also in a grid and in a list, not only in a table."""
    numbers = pd.Series(range(2)).to_numpy()
    rows = [*sweep(divide, {"a": numbers}), *sweep(divide, [{"a": numbers[1]}])]
    assert [row.arguments["a"] for row in rows] == [0, 1, 1]
