"""Evaluate: models answer cases, and every answer is scored and kept."""

import json
import signal
import threading

import pytest
from patience import PATIENCE

from tests.test_evals.sample_tools import TOOLS, PlantedModel, bill, message, wipe
from toolbench import answering, history, register_tool
from toolbench.errors import CaseError, ConsentError
from toolbench.evals import Case, evaluate
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.runs.policy import policy

CALL = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
SPLIT = Case("Split 84 by 4", CALL, name="split")
HELLO = Case("Hello", name="hello")


def scripted(*answers, cases=None, **options):
    """The report of one model that gives *answers* in turn."""
    cases = [SPLIT] * len(answers) if cases is None else cases
    return evaluate(ScriptedModel([*answers]), TOOLS, cases, **options)


class TestScores:
    """An answer is scored by its calls alone."""

    def test_a_right_call(self):
        """The right tool with the right arguments passes."""
        [trial] = scripted(message(bill()))
        assert (trial.passed, trial.picked, trial.filled) == (True, True, True)
        assert trial.repaired is False
        assert trial.called_when_none is None is trial.forbidden
        # Only a failure is read again
        assert trial.message is None

    def test_a_wrong_argument(self):
        """The field that is wrong is named; the tool was right."""
        [trial] = scripted(message(bill(people=5)))
        assert (trial.passed, trial.picked, trial.filled) == (False, True, False)
        assert trial.problems == ("people: 4 was expected, and 5 was sent",)
        assert trial.message["tool_calls"]

    def test_another_tool(self):
        """Whether it filled right is no question where it picked wrong."""
        [trial] = scripted(message(("get_weather", {"city": "Rome"})))
        assert (trial.passed, trial.picked, trial.filled) == (False, False, None)
        assert trial.problems == ("get_weather was called, and split_bill was expected",)

    def test_no_call_where_one_was_expected(self):
        """Words are no call."""
        [trial] = scripted("21 each.")
        assert (trial.passed, trial.picked) == (False, False)

    def test_no_call_expected(self):
        """Words are right where no call is expected, and a call is not."""
        words, call = scripted("Hello!", message(bill()), cases=[HELLO, HELLO])
        assert (words.passed, words.called_when_none) == (True, False)
        assert (call.passed, call.called_when_none) == (False, True)
        assert words.picked is None is call.picked

    def test_a_forbidden_call(self):
        """A forbidden call beside the right one fails."""
        case = Case("Split it", CALL, forbid=["wipe"])
        answers = message(bill()), message(bill(), ("wipe", {"path": "/"}))
        right, wrong = scripted(*answers, cases=[case, case])
        assert (right.passed, right.forbidden) == (True, False)
        assert (wrong.passed, wrong.forbidden) == (False, True)

    def test_a_call_that_had_to_be_repaired(self):
        """It counts as filled, and the report tells that it was repaired."""
        [trial] = scripted(message(("split_bill", "{'total': 84, 'people': '4',}")))
        assert (trial.passed, trial.repaired) == (True, True)
        assert trial.calls[0]["repairs"]

    def test_arguments_that_do_not_fit(self):
        """A call that cannot run is not filled right."""
        case = Case("Split it", CALL, match={"people": "any"})
        [trial] = scripted(message(bill(people="few")), cases=[case])
        assert (trial.picked, trial.filled, trial.passed) == (True, False, False)

    def test_two_calls_in_any_order(self):
        """Calls of one answer run side by side: their order says nothing."""
        weather = ("get_weather", {"city": "Rome"})
        case = Case("Both", [CALL, {"name": weather[0], "arguments": weather[1]}])
        both = message(weather, bill())
        one, other = scripted(both, message(weather), cases=[case, case])
        assert one.passed
        assert other.problems[0] == "split_bill was expected, and was not called"


def test_an_error_is_a_row_and_no_wrong_answer():
    """A network that fails is neither lost nor counted."""
    report = scripted(ConnectionError("no route"), message(bill()))
    assert [trial.passed for trial in report] == [None, True]
    assert "no route" in report.errors[0].error
    assert (report.summary.errors, report.summary.passed.total) == (1, 1)
    assert not report.failures


def test_many_models_cases_and_repeats_in_their_order():
    """The rows are in the order of the cases, whichever answer came first."""
    models = {"a": PlantedModel(), "b": lambda messages, tools: "Hello!"}
    report = evaluate(models, TOOLS, [SPLIT, HELLO], repeats=3)
    assert [(t.case.name, t.repeat, t.model) for t in report] == [
        (case, repeat, model)
        for case in ("split", "hello")
        for repeat in (1, 2, 3)
        for model in ("a", "b")
    ]
    assert report.summary["a"].passed == report.summary["b"].passed == 0.5
    assert report.confusion_of("b")["split_bill"] == {"(no call)": 3}


def test_a_script_is_said_in_its_order():
    """A scripted model is asked one request at a time."""
    answers = [message(bill(people=n)) for n in range(40)]
    cases = [Case("x", {"name": "split_bill", "arguments": bill(people=n)[1]}) for n in range(40)]
    assert all(trial.passed for trial in scripted(*answers, cases=cases))


def test_what_is_offered_is_what_the_agent_would_offer():
    """The model is sent the prompt, the system prompt and the tools, once a trial."""
    model = ScriptedModel([message(bill())])
    evaluate(model, TOOLS, [SPLIT], system_prompt="Be brief.")
    [(messages, tools)] = model.requests
    assert messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Split 84 by 4"},
    ]
    assert [tool["function"]["name"] for tool in tools] == [t.name for t in TOOLS]
    # One name is one tool
    register_tool(TOOLS[1].name, TOOLS[1])
    assert [*evaluate(ScriptedModel(["Hi."]), "get_weather", [HELLO]).tools] == ["get_weather"]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "responses"])
def test_every_dialect(provider):
    """A call is read in the dialect of each provider."""
    from toolbench.llm.compose import model_message
    from toolbench.llm.message import ToolCallPart

    sent = model_message("", [ToolCallPart(*bill())], provider)
    report = evaluate(ScriptedModel([sent], provider=provider), TOOLS, [SPLIT])
    assert report[0].passed


class TestExecution:
    """Nothing runs unless it is asked for, and then after one question."""

    CASE = Case("Delete a", {"name": "wipe", "arguments": {"path": "a"}})
    ANSWER = message(("wipe", {"path": "a"}))

    def test_nothing_runs_by_itself(self):
        """An evaluation only reads the calls."""
        scripted(self.ANSWER, cases=[self.CASE])
        assert not history()

    def test_one_question_for_all_with_the_number_of_calls(self, monkeypatch):
        """A person is asked once, and reads how many calls there will be."""
        prompts = []

        def answer(prompt):
            prompts.append(prompt)
            return "y"

        monkeypatch.setattr("builtins.input", answer)
        report = scripted(
            *[self.ANSWER] * 6,
            cases=[self.CASE, self.CASE],
            repeats=3,
            execute=True,
        )
        assert len(prompts) == 1
        assert "6 calls" in prompts[0]
        assert "wipe" in prompts[0]
        assert [trial.results[0]["text"] for trial in report] == ["a is gone"] * 6
        assert [record.source for record in history()] == ["model"] * 6

    def test_a_no_runs_nothing_and_asks_no_model(self):
        """After a no there is neither a run nor a request."""
        model = ScriptedModel([self.ANSWER])
        with answering(False), pytest.raises(ConsentError, match="1 call of wipe"):
            evaluate(model, TOOLS, [self.CASE], execute=True)
        assert not history()
        assert not model.requests

    def test_nobody_to_ask_is_a_no(self):
        """A destructive tool does not run because nobody was there."""
        with pytest.raises(ConsentError, match="nobody could be asked"):
            scripted(self.ANSWER, cases=[self.CASE], execute=True)

    def test_the_policy_holds_after_a_yes(self):
        """What the policy denies stays denied."""
        policy.deny(wipe)
        report = scripted(self.ANSWER, cases=[self.CASE], execute=True)
        assert report[0].results[0]["state"] == "denied"


class TestCost:
    """What it costs is told before and watched on the way."""

    def test_the_estimate_is_told_before_the_first_request(self):
        """Requests, tokens and cost come before any answer."""
        lines, model = [], ScriptedModel(["a", "b"])
        model.price = __import__("toolbench.llm.models").llm.models.Price(1.0, 2.0)

        def watch(text):
            lines.append((text, len(model.requests)))

        report = evaluate(model, TOOLS, [HELLO], repeats=2, on_progress=watch)
        first, requests = lines[0]
        assert requests == 0
        assert "2 requests" in first
        assert "tokens" in first
        assert "dollars" in first
        assert report.estimate.requests == 2
        assert report.estimate.cost == pytest.approx((report.estimate.input_tokens + 2 * 200) / 1e6)

    def test_max_cost_stops_before_it_is_exceeded(self):
        """Answers of 0.01 dollars and 0.035 to spend: three are asked for."""
        requests = []

        def model(messages, tools):
            requests.append(1)
            return Answer(message(bill()), usage=Usage(10, 1, 0.01))

        report = evaluate(model, TOOLS, [SPLIT], repeats=50, max_cost=0.035)
        assert (len(requests), len(report), report.planned) == (3, 3, 50)
        assert report.stopped == "max_cost"
        assert not report.has_passed

    def test_a_cost_that_is_not_known_is_told(self):
        """A limit that cannot be kept is said in the report."""
        report = scripted(message(bill()), max_cost=1)
        assert any("max_cost" in notice for notice in report.notices)

    @pytest.mark.parametrize("limit", [0, -1, float("nan")])
    def test_a_limit_is_a_sum_of_money(self, limit):
        """What is none is refused before any request."""
        with pytest.raises(CaseError, match="max_cost"):
            scripted("x", max_cost=limit)


class TestSaving:
    """What is in the file is not asked for again."""

    def test_a_second_run_asks_nothing(self, tmp_path):
        """Every answer comes from the file, with all its scores."""
        path = tmp_path / "trials.jsonl"
        answers = [message(bill(people=n)) for n in (4, 5)]
        first = scripted(*answers, save=path)
        again = scripted(save=path, cases=[SPLIT, SPLIT])
        assert [t.to_dict() for t in again] == [t.to_dict() for t in first]

    def test_what_is_missing_is_asked_for(self, tmp_path):
        """Only the new case, the new repeat and the new model are asked."""
        path = tmp_path / "trials.jsonl"
        scripted(message(bill()), save=path)
        model = ScriptedModel([message(bill()), "Hello!", "Hi!"])
        report = evaluate(model, TOOLS, [SPLIT, HELLO], repeats=2, save=path)
        assert len(model.requests) == 3
        assert all(trial.passed for trial in report)
        # And the line that says what the file is
        assert len(path.read_text().splitlines()) == 1 + 4

    def test_other_tools_are_another_trial(self, tmp_path):
        """A changed description is a changed request: it is asked again."""
        path = tmp_path / "trials.jsonl"
        scripted(message(bill()), save=path)
        changed = [TOOLS[0].model_copy(update={"description": "Split."}), *TOOLS[1:]]
        model = ScriptedModel([message(bill())])
        evaluate(model, changed, [SPLIT], save=path)
        assert len(model.requests) == 1

    def test_errors_are_asked_again_if_wanted(self, tmp_path):
        """An error in the file stays one, unless it is to be tried again."""
        path = tmp_path / "trials.jsonl"
        scripted(ConnectionError("down"), save=path)
        assert scripted(save=path, cases=[SPLIT]).errors
        report = evaluate(
            ScriptedModel([message(bill())]),
            TOOLS,
            [SPLIT],
            save=path,
            retry_errors=True,
        )
        assert report[0].passed
        assert not scripted(save=path, cases=[SPLIT]).errors

    def test_a_torn_line_is_passed_over(self, tmp_path):
        """A crash in the middle of a line costs that line."""
        path = tmp_path / "trials.jsonl"
        scripted(message(bill()), message(bill()), save=path, cases=[SPLIT], repeats=2)
        path.write_bytes(path.read_bytes()[:-20])
        report = scripted(message(bill()), save=path, cases=[SPLIT], repeats=2)
        assert [trial.passed for trial in report] == [True, True]
        lines = path.read_text().splitlines()
        assert sum('"key"' in line and line.endswith("}") for line in lines) == 2
        json.loads(lines[-1])


@pytest.mark.usefixtures("no_collector")
def test_an_interrupt_keeps_what_is_done(tmp_path):
    """The report of what came is returned, the file goes on from there, requests are closed."""
    begun, closed = threading.Event(), threading.Event()
    requests = []

    class Slow:
        name, provider = "slow", "openai"

        def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
            requests.append(1)
            if len(requests) <= 2:
                return Answer(message(bill()))
            cancel.on_cancel(closed.set)
            begun.set()
            assert closed.wait(PATIENCE)
            raise ConnectionError("closed")

    def interrupt():
        assert begun.wait(PATIENCE)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    path = tmp_path / "trials.jsonl"
    threading.Thread(target=interrupt, daemon=True).start()
    report = evaluate(Slow(), TOOLS, [SPLIT], repeats=9, workers=1, save=path)
    assert report.stopped == "interrupted"
    assert [trial.passed for trial in report][:2] == [True, True]
    assert not any(trial.passed for trial in report[2:])
    assert closed.is_set()
    assert f"{len(report)} of 9" in report.notices[0]
    again = evaluate(Slow(), TOOLS, [SPLIT], repeats=9, save=path)
    assert len(again) == 9
    # An interrupt between a line and the next step may have it written twice, never lost.
    keys = {json.loads(line)["key"] for line in path.read_text().splitlines()[1:]}
    assert len(keys) == 9


def test_a_secret_appears_in_no_part_of_a_report(tmp_path):
    """Neither the row, the page, the file nor JUnit holds what the schema calls secret, or a model's key."""
    from toolbench import tool
    from toolbench.redaction.known import Secrets

    key = "key-of-the-model"

    @tool(read_only=True)
    def log_in(user: str, password: str) -> str:
        """Log in."""
        return f"welcome {user} {password} {key} expected-hunter"

    case = Case(
        "Log in",
        {"name": "log_in", "arguments": {"user": "ann", "password": "expected-hunter"}},
    )
    sent = message(("log_in", {"user": "bob", "password": "sent-hunter"}), text="sent-hunter it is")
    path = tmp_path / "trials.jsonl"
    model = ScriptedModel([sent])
    model.secrets = Secrets({"api_key": key})
    report = evaluate(model, [log_in], [case], save=path, execute=True)
    assert report[0].passed is False
    assert "welcome bob" in report[0].results[0]["text"]
    texts = [
        repr(report[0]), report.to_html(), report.to_junit(), report.to_text(),
        path.read_text(), report.to_dataframe().to_json(),
    ]  # fmt: skip
    for text in texts:
        assert "sent-hunter" not in text
        assert key not in text
        assert "expected-hunter" not in text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: evaluate(ScriptedModel([]), TOOLS, []), "no cases"),
        (lambda: evaluate({}, TOOLS, [SPLIT]), "no model"),
        (lambda: evaluate(ScriptedModel([]), TOOLS, [SPLIT], repeats=0), "repeat"),
    ],
)
def test_wrong_use_is_one_sentence(make, words):
    """It is refused before any model is asked."""
    with pytest.raises(CaseError, match=words):
        make()


@pytest.mark.slow
def test_a_process_pool_makes_the_requests():
    """Any executor does: model and messages travel, the score is made here."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        report = evaluate(PlantedModel(), TOOLS, [SPLIT], repeats=3, executor=pool)
    assert [trial.passed for trial in report] == [True] * 3
