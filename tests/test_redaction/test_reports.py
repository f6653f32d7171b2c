"""No secret of a tool's calls is in a report, in its file, in the output, or in anybody's log."""

import json
import logging

import pytest
from IPython.utils.capture import capture_output

from test_redaction.kinds import KINDS, KNOWN, received
from test_redaction.writings import leaks
from toolbench import run_tool, tool
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import ScriptedModel
from toolbench.redaction import MARK

SECRET = "hunter2-tHe_sEcret"


@pytest.fixture(params=KINDS)
def leaky(request):
    """A tool that tells its secret everywhere, and what gives it one."""
    function, arguments = KINDS[request.param]
    KNOWN["secret"] = SECRET
    received.clear()
    return tool(function, name="leaky", description="Tell."), arguments(SECRET)


def report_text(report) -> str:
    return f"{report!r} {report.to_html()} {report.to_dataframe().to_csv()}"


def of_sweep(tool, arguments, path) -> str:
    return report_text(sweep(tool, [arguments], save=path))


def of_evaluation(tool, arguments, path) -> str:
    sent = {"name": "leaky", "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": sent}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    case = Case("Go.", expect={"name": "leaky", "arguments": {"other": 1}})
    model = ScriptedModel([message])
    report = evaluate(model, [tool], [case], execute=True, save=path)
    return f"{report_text(report)} {report.to_junit()} {report.failures!r}"


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("report", [of_sweep, of_evaluation])
def test_a_report_tells_no_secret(report, leaky, fails, tmp_path, caplog):
    """Nor do its file, what is printed meanwhile, and the log of whoever listens."""
    definition, arguments = leaky
    arguments = arguments | ({"fails": True} if fails else {})
    path = tmp_path / "saved"
    with capture_output() as captured:
        text = report(definition, arguments, path)
    assert SECRET in received
    texts = {
        "report": text,
        "file": path.read_text(),
        "output": f"{captured.stdout} {captured.stderr} {captured.outputs!r}",
        "log": caplog.text,
    }
    pieces = {place: leaks(shown_text, SECRET) for place, shown_text in texts.items()}
    assert [place for place, piece in pieces.items() if piece] == []
    assert MARK in texts["file"]


@pytest.mark.every_case
def test_a_log_file_of_the_user_tells_no_secret(leaky, tmp_path):
    """What a tool logs goes to the handlers there are without its secrets, a traceback too."""
    definition, arguments = leaky
    path = tmp_path / "log"
    handler = logging.FileHandler(path)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with capture_output():
            run_tool(definition, arguments)
    finally:
        root.removeHandler(handler)
        handler.close()
    text = path.read_text()
    assert leaks(text, SECRET) == set()
    assert MARK in text


def test_a_traceback_that_is_logged_tells_no_secret(caplog):
    """Nor does the line above it; other records keep their arguments."""

    @tool
    def pay(password: str) -> str:
        """Fail, and log that."""
        try:
            raise ValueError(password)
        except ValueError:
            logging.getLogger("pay").exception("no %s", password)
        logging.getLogger("pay").warning("harmless %d", 1)
        return "done"

    run_tool(pay, password=SECRET)
    assert leaks(caplog.text, SECRET) == set()
    assert "ValueError" in caplog.text
    assert caplog.records[-1].args == (1,)
