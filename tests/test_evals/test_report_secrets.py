"""Secrets of calls are in no report, also those of tools that do not exist."""

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
    sent = message(
        ("ghost", {"options": {"password": "ghostpass77"}}), text="With ghostpass77."
    )
    case = Case("Log in", {"name": "phantom", "arguments": {"password": "phantom-55"}})
    report = evaluate(ScriptedModel([sent]), [log_in], [case], save=path)
    assert report[0].calls[0]["name"] == "ghost"
    for text in texts_of(report, path):
        assert "ghostpass77" not in text
        assert "phantom-55" not in text
    assert "phantom-55" not in Cases([case])._repr_mimebundle_()["text/html"]
