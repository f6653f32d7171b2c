"""Secrets of calls are in no report, also those of tools that do not exist."""

import pytest
from pydantic import SecretStr

from tests.test_evals.sample_tools import message
from toolbench import tool
from toolbench.evals import Case, Cases, evaluate
from toolbench.llm.models import ScriptedModel


@tool(read_only=True)
def log_in(user: str, password: str) -> str:
    """Log in."""
    return user


def texts_of(report, path):
    """Return all that is shown or written of *report*."""
    return [
        *(report.to_html(), report.to_junit(), report.to_text(), repr(list(report))),
        *(report.to_dataframe().to_json(), path.read_text()),
    ]


def test_a_tool_that_does_not_exist_shows_no_secret(tmp_path):
    """Names alone tell what is secret, in the call and in the message around it."""
    path = tmp_path / "trials.jsonl"
    sent = message(("ghost", {"options": {"password": "ghostpass77"}}), text="With ghostpass77.")
    case = Case("Log in", {"name": "phantom", "arguments": {"password": "phantom-55"}})
    with pytest.warns(UserWarning, match="phantom"):
        report = evaluate(ScriptedModel([sent]), [log_in], [case], save=path)
    assert report[0].calls[0]["name"] == "ghost"
    for text in texts_of(report, path):
        assert "ghostpass77" not in text
        assert "phantom-55" not in text
    assert "phantom-55" not in Cases([case])._repr_mimebundle_()["text/html"]


def test_a_call_in_the_format_of_another_provider_shows_no_secret(tmp_path):
    """A server may answer as another provider does, with a call that cannot be read."""
    path = tmp_path / "trials.jsonl"
    broken = {"functionCall": {"name": "log_in", "args": '{"password": "hunter2-arg-55'}}
    case = Case("Log in", {"name": "log_in", "arguments": {"user": "me"}})
    report = evaluate(ScriptedModel([{"parts": [broken]}]), [log_in], [case], save=path)
    for text in texts_of(report, path):
        assert "hunter2" not in text


@tool(read_only=True)
def unlock(door: str, code: SecretStr) -> str:
    """Unlock a door."""
    return door


def prompted(secret, name="log_in", field="password"):
    """A case whose prompt has the secret of its expected call."""
    call = {"name": name, "arguments": {field: secret}}
    return Case(f"Use {secret} for it", call, name=f"With {secret}")


@pytest.mark.parametrize(
    ("case", "secret"),
    [
        (prompted("hunter-22222"), "hunter-22222"),
        (prompted("door-code-77", "unlock", "code"), "door-code-77"),
    ],
    ids=["by its name", "by its type"],
)
@pytest.mark.parametrize("answer", ["Hi, is it {}?", ConnectionError("no {}")])
def test_a_secret_of_an_expected_call_is_hidden_in_the_prompt(answer, case, secret, tmp_path):
    """The model gets the prompt as it is; nothing that is shown or written has the secret."""
    prompts, path = [], tmp_path / "trials.jsonl"

    def model(messages, tools):
        prompts.append(messages[-1]["content"])
        if isinstance(answer, Exception):
            raise ConnectionError(str(answer).format(secret))
        return answer.format(secret)

    tools = [log_in, unlock]
    # Made, and taken from the file
    for _ in range(2):
        report = evaluate(model, tools, [case], save=path)
        for text in texts_of(report, path):
            assert secret not in text
        assert report[0].case is case
    assert set(prompts) == {f"Use {secret} for it"}


def test_the_title_of_what_got_worse_has_no_secret_of_its_call():
    """Also where only the type of the argument tells that it is one, or only one answer."""
    typed = {"name": "unlock", "arguments": {"door": "a", "code": "door-code-77"}}
    case = Case("Use door-code-77", typed, name="With door-code-77")
    sent = ("log_in", {"user": "ann", "password": "open-sesame-1"})
    other = Case("Log in by open-sesame-1", match={"*": "any"}, expect={"name": "log_in"})
    answers = [message(("unlock", typed["arguments"])), message(sent), "No.", "No."]
    before, after = (
        evaluate(ScriptedModel(part), [log_in, unlock], [case, other])
        for part in (answers[:2], answers[2:])
    )
    comparison = after.compare(before)
    worse = comparison[0].worse
    assert [change.case[:5] for change in worse] == ["With ", "Log i"]
    texts = [*comparison._repr_mimebundle_().values(), repr(tuple(comparison))]
    for text in [*texts, *map(str, worse)]:
        assert "door-code-77" not in text
        assert "open-sesame-1" not in text


def test_a_secret_that_a_model_sent_is_hidden_in_the_prompt_also_from_a_file(tmp_path):
    """The case does not say that it is one; the call does."""
    path = tmp_path / "trials.jsonl"
    sent = message(("log_in", {"user": "ann", "password": "open-sesame-1"}))
    case = Case("Log ann in with open-sesame-1", {"name": "log_in", "arguments": {}})
    for _ in range(2):
        report = evaluate(ScriptedModel([sent]), [log_in], [case], save=path)
        assert report[0].prompt.startswith("Log ann in with ")
        for text in texts_of(report, path):
            assert "open-sesame-1" not in text


def test_a_case_shows_no_secret_of_its_call():
    """Neither its repr nor the list of cases."""
    case = prompted("hunter-22222")
    assert case.prompt == "Use hunter-22222 for it"
    for text in (repr(case), *Cases([case])._repr_mimebundle_().values()):
        assert "hunter-22222" not in text
        assert "Use " in text or "With " in text
