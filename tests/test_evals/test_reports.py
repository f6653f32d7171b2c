"""Reports: rates that know how little they were measured, and what they are shown as."""

import re
import xml.etree.ElementTree as ET
from math import comb, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_evals.sample_tools import TOOLS, PlantedModel, bill, message
from toolbench import tool
from toolbench.evals import Case, Rate, evaluate
from toolbench.evals.intervals import Stratum, p_value, wilson
from toolbench.llm.models import RecordedModel, ScriptedModel
from toolbench.wording import CROSS

CALL = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
SPLIT = Case("Split 84 by 4", CALL, name="split")


@given(st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_rate_and_narrows(counts):
    """The rate is inside, within 0 and 1; four times as much is measured better."""
    hits, total = counts
    low, high = wilson(hits, total)
    assert 0 <= low <= high <= 1
    if total:
        assert low <= hits / total <= high
        narrow = wilson(4 * hits, 4 * total)
        assert narrow[1] - narrow[0] < high - low


def test_intervals_are_wilsons():
    """Values of the textbook: Agresti, Categorical Data Analysis, 1.4."""
    assert wilson(0, 25) == pytest.approx((0.0, 0.1332), abs=5e-4)
    assert wilson(3, 4) == pytest.approx((0.3006, 0.9544), abs=5e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_three_of_four_is_not_better_than_two_of_four():
    """So few answers tell nothing."""
    assert not Rate(3, 4).differs_from(Rate(2, 4))
    assert Rate(90, 100).differs_from(Rate(60, 100))
    assert isnan(Rate(0, 0))
    assert str(Rate(3, 4)) == "3 of 4 (30% to 95%)"


@given(st.integers(0, 12), st.integers(0, 12))
def test_one_answer_a_case_is_the_exact_test_of_mcnemar(better, worse):
    """The p-value is the two-sided binomial one of the cases that differ."""
    strata = [Stratum(0, 1, 1, 1)] * better + [Stratum(1, 1, 0, 1)] * worse
    strata += [Stratum(1, 1, 1, 1)] * 3 + [Stratum(0, 1, 0, 1)] * 3
    n, k = better + worse, min(better, worse)
    tail = sum(comb(n, i) for i in range(k + 1)) / 2**n
    expected = 1.0 if better == worse else min(1.0, 2 * tail)
    assert p_value(strata) == pytest.approx(expected)


def test_one_case_is_the_exact_test_of_fisher():
    """Fisher's tea: 3 of 4 against 1 of 4 is p = 0.486."""
    assert p_value([Stratum(1, 4, 3, 4)]) == pytest.approx(0.485714, abs=1e-6)
    assert p_value([]) == 1.0


def test_many_answers_take_the_normal_distribution():
    """So much is not added up one by one, and agrees with what is."""
    exact = p_value([Stratum(40, 100, 55, 100)] * 5)
    large = p_value([Stratum(400, 1000, 550, 1000)] * 5)
    assert large < exact < 0.001
    near = p_value([Stratum(490, 1000, 500, 1000)] * 5)
    assert near == pytest.approx(0.33, abs=0.05)


@pytest.mark.slow
def test_planted_rates_are_found():
    """A model with known rates of errors: each rate is in the interval that the report gives."""
    planted = {"wrong_tool": 0.2, "wrong_value": 0.3, "failing": 0.1}
    model = PlantedModel(**planted, seed=7)
    report = evaluate(model, TOOLS, [SPLIT], repeats=2_000, workers=1)
    summary = report.summary
    assert summary.picked.low <= 0.8 <= summary.picked.high
    assert summary.filled.low <= 0.7 <= summary.filled.high
    assert summary.passed.low <= 0.8 * 0.7 <= summary.passed.high
    failing = Rate(summary.errors, summary.trials)
    assert failing.low <= 0.1 <= failing.high
    wrong = report.confusion["split_bill"]["get_weather"]
    assert wrong == summary.picked.total - summary.picked.hits
    assert report.confusion.pairs == [("split_bill", "get_weather", wrong)]
    assert summary.tokens == 110 * summary.passed.total
    assert summary.cost == pytest.approx(0.001 * summary.passed.total)


class TestComparison:
    """What got better is told with how sure that is."""

    def test_a_planted_difference_is_found(self):
        """0.5 against 0.9 in 100 answers is no chance; the same model again is."""
        cases = [SPLIT, Case("Split 84 by 4, please", CALL, name="please")]
        poor = evaluate(PlantedModel(wrong_value=0.5, seed=1), TOOLS, cases, repeats=50, workers=1)
        good = evaluate(PlantedModel(wrong_value=0.1, seed=2), TOOLS, cases, repeats=50, workers=1)
        again = evaluate(PlantedModel(wrong_value=0.5, seed=3), TOOLS, cases, repeats=50, workers=1)
        [change] = good.compare(poor)
        assert change.is_significant
        assert {c.case for c in change.better} == {"split", "please"}
        assert "better" in str(good.compare(poor))
        assert "worse" in str(poor.compare(good))
        assert not again.compare(poor)[0].is_significant

    def test_one_answer_more_is_no_difference(self):
        """3 of 4 is not called better than 2 of 4."""
        answers = [message(bill()), message(bill(people=5))]
        right, wrong = answers
        two = evaluate(ScriptedModel([right, right, wrong, wrong]), TOOLS, [SPLIT], repeats=4)
        three = evaluate(ScriptedModel([right, right, right, wrong]), TOOLS, [SPLIT], repeats=4)
        assert not three.compare(two)[0].is_significant
        assert "no difference" in repr(three.compare(two))

    def test_two_models_of_different_names_are_compared(self):
        """A report of one model is compared with another of one model, whatever they are called."""
        right, wrong = message(bill()), message(bill(people=5))
        old = evaluate({"old": ScriptedModel([wrong] * 9)}, TOOLS, [SPLIT], repeats=9)
        new = evaluate({"new": ScriptedModel([right] * 9)}, TOOLS, [SPLIT], repeats=9)
        [change] = new.compare(old)
        assert change.model == "old -> new"
        assert change.is_significant
        assert new.compare(new)[0].model == "new"

    def test_reports_without_a_common_case(self):
        """Nothing to compare is said so."""
        one = evaluate(ScriptedModel(["x"]), TOOLS, [Case("a")])
        other = evaluate(ScriptedModel(["x"]), TOOLS, [Case("b")])
        assert "no case in common" in repr(one.compare(other))

    def test_reports_without_an_answer(self, tmp_path):
        """A description that was not recorded is named, and not called another case."""
        file = tmp_path / "answers.jsonl"
        recorded = RecordedModel(file, inner=ScriptedModel(["x"]))
        before = evaluate(recorded, TOOLS, [SPLIT])
        edited = TOOLS[0].model_copy(update={"description": "Splits <b>all</b> bills."})
        after = evaluate(RecordedModel(file), [edited, *TOOLS[1:]], [SPLIT])
        shown = after.compare(before)._repr_mimebundle_()
        assert "No case has an answer in both reports." in shown["text/plain"]
        assert "Splits <b>all</b> bills." in shown["text/plain"]
        assert "Splits &lt;b&gt;all&lt;/b&gt; bills." in shown["text/html"]


def test_expected_and_sent_stand_beside_each_other_and_what_differs_is_marked():
    """In the report and its page; a call that has no partner says so, and no default secret is shown."""

    @tool
    def split_bill(
        total: float, people: int, tip: float = 0.5, password: str = "hunter2-x9"
    ) -> str:
        """Split."""

    sent = message(bill(people=5, tip=0.5), ("get_weather", {"city": "Rome"}))
    report = evaluate(ScriptedModel([sent]), [split_bill, TOOLS[1]], [SPLIT])
    for html in (report.to_html(), report._repr_mimebundle_()["text/html"]):
        marked = re.findall(r'<tr style="background[^>]*><th scope="row"[^>]*>(\w+)', html)
        assert marked == ["people"] and "differs" in html
        assert html.count("called, not expected") == 1 and "expected, not called" not in html
        assert "0.5</span> <span" in html and "the default</span></td><td" in html
        assert "hunter2-x9" not in html


def test_the_words_of_the_rates_are_explained_where_they_stand():
    """And the numbers of an interval are text beside its bar."""
    report = evaluate(
        ScriptedModel([message(bill()), message(bill(people=5))]), TOOLS, [SPLIT], repeats=2
    )
    html = report.to_html()
    assert "<strong>50%</strong> 1 of 2" in html and "9% to 91%" in html
    assert "width:40.5%" in html and "time of an answer" in html
    assert ">repaired<" in html and "could be corrected" in html
    report = evaluate(ScriptedModel(["No."]), TOOLS, [Case("Hi")])
    assert ">called, none expected<" in report.to_html()
    assert "the case expects none; less is better" in report.to_html()


def hostile_report():
    """A report with markup and control characters in all its texts."""
    evil = "<script>alert(1)</script>]]>\x00\x1b[31m"
    case = Case(f"Split {evil}", CALL, name=f"name {evil}")
    answers = [
        message(("split_bill", {"total": evil, "people": 4}), text=evil),
        ValueError(evil),
    ]
    return evaluate(ScriptedModel(answers, name=f"model {evil}"), TOOLS, [case], repeats=2)


def test_a_page_shows_hostile_text_as_text():
    """No markup of a model, a case or an error becomes markup."""
    report = hostile_report()
    for text in (report.to_html(), report._repr_mimebundle_()["text/html"]):
        assert "<script" not in text
        assert "&lt;script" in text
        assert "\x1b" not in text
        # Of the table of all answers
        assert ">error</td>" in text


def test_junit_is_xml_with_every_answer():
    """Failures and errors are told apart, and nothing breaks the XML."""
    root = ET.fromstring(hostile_report().to_junit())
    assert root.attrib["tests"] == "2"
    suite = root.find("testsuite")
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("1", "1")
    assert [child.tag for case in suite for child in case] == ["failure", "error"]


def test_a_data_frame_has_a_row_a_trial():
    """Scores, calls and costs are columns."""
    report = evaluate(PlantedModel(wrong_value=0.5), TOOLS, [SPLIT], repeats=20, workers=1)
    frame = report.to_dataframe()
    assert len(frame) == 20
    assert frame["passed"].sum() == report.summary.passed.hits
    assert frame["arguments"][0][0]["total"] == 84


def test_a_report_shows_lint_beside_failures():
    """What lint says of the tool stands with the failure that it may explain."""
    bare = TOOLS[0].model_copy(update={"description": ""})
    report = evaluate(ScriptedModel(["Hm."]), [bare], [SPLIT])
    assert any(f.rule == "description-missing" for f in report.findings["split_bill"])
    assert "description-missing" in report.to_html()


def test_a_description_is_compared_with_another():
    """The same cases with another description: the report says what it changed."""

    def reader(messages, tools):
        described = "people" in tools[0]["function"]["description"]
        return message(bill() if described else ("get_weather", {"city": "x"}))

    vague = TOOLS[0].model_copy(update={"description": "Computes."})
    cases = [Case(f"Split 84 by 4, number {n}", CALL) for n in range(8)]
    before = evaluate(reader, [vague, TOOLS[1]], cases)
    after = evaluate(reader, TOOLS[:2], cases)
    [change] = after.compare(before)
    assert (change.before, change.after) == (0.0, 1.0)
    assert change.p_value == pytest.approx(2 / 2**8)
    assert change.is_significant


def test_the_text_counts_what_it_leaves_out():
    """Of failures and of requests without an answer it has the first ten."""
    model = PlantedModel(failing=0.5, wrong_tool=1.0)
    report = evaluate(model, TOOLS, [SPLIT], repeats=60)
    failures, errors = len(report.failures), len(report.errors)
    assert min(failures, errors) > 10
    text = report.to_text()
    assert f"… {failures - 10} more failures" in text
    assert text.count(CROSS) == text.count("! planted") == 10
    assert f"… {errors - 10} more requests without an answer" in text
