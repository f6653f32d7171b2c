"""Cases typed in a form: what is typed is the case, and nothing that is typed is lost."""

import pytest
from patience import PATIENCE, eventually
from payloads import some_payloads
from test_display.inert import problems

from test_widgets.front import click, named, page, pick, picker_of, receive, type_into, walk
from test_widgets.tooling import buttons
from toolbench import tool
from toolbench.evals import Case, Cases
from toolbench.widgets import CaseForm
from toolbench.widgets.evaluation_views.call_fields import NO_CALL
from toolbench.widgets.kit.ticker import ticker


@tool(read_only=True)
def split_bill(total: float, people: int, tip: float = 0.0) -> float:
    """Split a restaurant bill."""
    return (total + tip) / people


@tool(read_only=True)
def get_weather(city: str) -> str:
    """Tell the weather."""
    return city


TOOLS = (split_bill, get_weather)
SPLIT = Case(
    "Split 84 by 4",
    {"name": "split_bill", "arguments": {"total": 84, "people": 4}},
    match={"total": {"approx": 0.01}},
    forbid=["get_weather"],
    name="split",
    tags=["money"],
)
TWO = Case(
    "Both, please",
    [
        {"name": "split_bill", "arguments": {"total": 1, "people": 1}},
        {"name": "elsewhere", "arguments": {"where": {"far": [1, None]}}},
    ],
    match={"*": "any", "where.far[]": "any", "people": {"regex": "^1"}},
)


def press(form, label):
    """Click a button, and wait until what it asked for is done."""
    click(buttons(form)[label])
    assert ticker.wait_idle(PATIENCE)


def opened(form, place):
    """Open the case at *place*, as a click in the list does."""
    form.show_case(place)
    return form


def typed(form, prompt):
    type_into(named(form, "What the person says"), prompt)


def test_a_case_is_typed():
    """Prompt, tool, arguments in the tool's own form, how each is compared, and what is forbidden."""
    form = CaseForm(TOOLS)
    typed(form, "Split 84 by 4")
    pick(named(form, "Expected tool"), "split_bill")
    type_into(named(form, "total"), "84")
    type_into(named(form, "people"), "4")
    pick(named(form, "Compare total"), "approx")
    type_into(named(form, "Tolerance of total"), "0.01")
    press(form, "Add case")
    [case] = form.cases
    call = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
    assert case == Case("Split 84 by 4", call, match={"total": {"approx": 0.01}})
    # The fields are empty again
    assert buttons(form).keys() >= {"Add case"}
    assert named(form, "What the person says").value == ""


def test_a_case_without_a_call_is_typed():
    """None is expected unless a tool is chosen."""
    form = CaseForm(TOOLS)
    typed(form, "Good morning")
    assert named(form, "Expected tool").value == NO_CALL
    press(form, "Add case")
    assert list(form.cases) == [Case("Good morning")]


KEPT = Case("Hi", kept={"evaluators": ["EqualsExpected"], "metadata": {"owner": "ann"}})


@pytest.mark.parametrize("case", [SPLIT, TWO, Case("Hello", forbid=["gone"]), KEPT])
def test_a_case_that_is_opened_and_saved_is_the_same(case):
    """All parts of it stand in the form; a tool that is not there keeps its call."""
    cases = Cases([Case("before"), case])
    form = opened(CaseForm(TOOLS, cases), 1)
    press(form, "Save changes")
    assert list(cases) == [Case("before"), case]


def test_a_case_is_changed_in_its_place_and_removed():
    """The list that was given is the one that changes."""
    cases = Cases([SPLIT, Case("Hello")])
    form = opened(CaseForm(TOOLS, cases), 0)
    type_into(named(form, "people"), "5")
    press(form, "Save changes")
    assert cases[0].calls[0].arguments == {"total": 84, "people": 5}
    assert cases[0].match == SPLIT.match
    press(form, "Remove")
    assert list(cases) == [Case("Hello")]


def test_the_last_keys_count():
    """A quick person's click overtakes the end of what they typed."""
    form = CaseForm(TOOLS)
    receive(named(form, "What the person says"), value="Good morn")
    click(buttons(form)["Add case"], settled=False)
    receive(named(form, "What the person says"), value="Good morning")
    eventually(lambda: len(form.cases) == 1)
    assert form.cases[0].prompt == "Good morning"


class TestWhatIsWrong:
    """It is said beside the field, and no case is made of it."""

    def test_no_prompt(self):
        """A case says something."""
        form = CaseForm(TOOLS)
        press(form, "Add case")
        assert not form.cases
        assert "Enter a value." in page(form)

    def test_arguments_that_do_not_fit(self):
        """What the tool would refuse cannot be expected."""
        form = CaseForm(TOOLS)
        typed(form, "Split it")
        pick(named(form, "Expected tool"), "split_bill")
        type_into(named(form, "total"), "84")
        press(form, "Add case")
        assert not form.cases
        assert "Enter a value." in page(form)

    @pytest.mark.parametrize("rule", ["any", "regex"])
    def test_an_argument_that_is_compared_with_nothing_may_be_missing(self, rule):
        """A pattern, or the rule "any", needs no expected value."""
        form = CaseForm(TOOLS)
        typed(form, "Split it")
        pick(named(form, "Expected tool"), "split_bill")
        type_into(named(form, "total"), "84")
        pick(named(form, "Compare people"), rule)
        if rule == "regex":
            type_into(named(form, "Pattern of people"), "^[45]$")
        press(form, "Add case")
        [case] = form.cases
        assert case.calls[0].arguments == {"total": 84}
        assert case.match == {"people": {"regex": "^[45]$"} if rule == "regex" else rule}

    @pytest.mark.parametrize(
        ("rule", "field", "text", "words"),
        [
            ("approx", "Tolerance of total", "much", "tolerance"),
            ("regex", "Pattern of total", "(", "regular expression"),
        ],
    )
    def test_a_rule_that_cannot_be_used(self, rule, field, text, words):
        """The sentence of the case is shown, and goes with the next change."""
        form = opened(CaseForm(TOOLS, [SPLIT]), 0)
        pick(named(form, "Compare total"), rule)
        type_into(named(form, field), text)
        press(form, "Save changes")
        assert words in page(form)
        assert form.cases[0] == SPLIT
        type_into(named(form, field), "0.1" if rule == "approx" else "8")
        assert words not in page(form)

    def test_a_tool_that_is_expected_and_forbidden(self):
        """One case cannot say both."""
        both = Case("x", forbid=["split_bill"])
        form = opened(CaseForm(TOOLS, [both]), 0)
        pick(named(form, "Expected tool"), "split_bill")
        type_into(named(form, "total"), "84")
        type_into(named(form, "people"), "4")
        press(form, "Save changes")
        assert "expected and forbidden" in page(form)
        assert form.cases[0] == both


def test_a_part_of_an_argument_has_a_rule():
    """Its path is typed; without one the row says nothing."""
    form = opened(CaseForm(TOOLS, [SPLIT]), 0)
    press(form, "Compare a part")
    press(form, "Compare a part")
    paths = [x for x in walk(form) if getattr(x, "description", "") == "Path of the part"]
    type_into(paths[0], "people.more")
    press(form, "Save changes")
    assert form.cases[0].match == {**SPLIT.match, "people.more": "approx"}


def test_what_is_typed_is_kept_while_another_case_is_opened():
    """The list says which are not saved."""
    form = opened(CaseForm(TOOLS, [SPLIT, Case("Hello")]), 0)
    type_into(named(form, "people"), "7")
    opened(form, 1)
    assert "changed, not saved" in str(picker_of(form).items)
    opened(form, 0)
    assert named(form, "people").value == "7"
    press(form, "Save changes")
    assert form.cases[0].calls[0].arguments["people"] == 7
    assert "changed, not saved" not in page(form)


def test_a_proposal_is_confirmed():
    """Until a person has read it, it is marked."""
    form = CaseForm(TOOLS, Cases.propose(TOOLS, each=1))
    assert "Confirm" not in buttons(form)
    for place in range(3):
        assert "no person has confirmed" in page(form)
        opened(form, place)
        press(form, "Confirm")
    assert not form.cases.proposals
    assert "no person has confirmed" not in page(form)


def test_the_list_may_change_around_the_form():
    """Cases that another cell adds are shown with the next click; the opened one stays itself."""
    cases = Cases([SPLIT])
    form = opened(CaseForm(TOOLS, cases), 0)
    cases.insert(0, Case("Hello"))
    type_into(named(form, "people"), "6")
    press(form, "Save changes")
    assert cases[0] == Case("Hello")
    assert cases[1].calls[0].arguments["people"] == 6


@some_payloads
def test_hostile_texts_stay_texts(payloads):
    """A file of cases is anybody's."""
    cases = [Case(p, {"name": p, "arguments": {p: p}}, name=p, tags=[p]) for p in payloads]
    form = CaseForm(TOOLS, cases)
    assert problems(form.still) == []
    for place, payload in enumerate(payloads):
        html = page(opened(form, place))
        assert "<" not in payload or payload not in html


def test_secrets_are_not_in_the_saved_notebook():
    """Nor in the list: only the form, where they are typed, has them."""
    call = {"name": "login", "arguments": {"user": "ada", "password": "hunter2-x9"}}
    form = CaseForm(TOOLS, [Case("Log in", call)])
    bundle = form.cases._repr_mimebundle_()
    assert "hunter2-x9" not in bundle["text/html"] + bundle["text/plain"] + page(form)
    assert "ada" in bundle["text/html"]


def test_closing_leaves_no_widget(wire):
    """Drafts too; twice does no harm."""
    form = opened(CaseForm(TOOLS, [SPLIT, TWO]), 0)
    type_into(named(form, "people"), "7")
    opened(form, 1)
    form.close()
    form.close()
    assert wire.live == set()
