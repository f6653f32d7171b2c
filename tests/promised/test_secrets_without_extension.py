"""The same without `%load_ext toolbench`, as in a script: only a plain call shows what it wants to."""

import pytest

from promised.test_secrets import check, each_writing, tell_all
from promised.test_secrets import test_of_a_conversation as test_of_a_conversation
from promised.test_secrets import test_of_a_servers_argument as test_of_a_servers_argument
from promised.test_secrets import test_of_a_servers_environment as test_of_a_servers_environment
from promised.writings import WRITINGS
from toolbench import history, run_tool
from toolbench.core.tool import hooks

pytestmark = pytest.mark.usefixtures("no_records", "no_extension")


@pytest.fixture
def no_extension():
    """Nothing that `%load_ext` puts in is there, before the test and after it."""
    assert hooks.around is None
    yield
    assert hooks.around is None


def said(capsys, caplog):
    """What was printed and logged, by place."""
    captured = capsys.readouterr()
    return {"stdout": captured.out, "stderr": captured.err, "logs": "".join(caplog.messages)}


@pytest.mark.every_case
@each_writing
def test_of_a_runs_argument(writing, secret, tmp_path, capsys, caplog):
    """`run_tool` hides it in what is printed, logged, recorded, written and shown."""
    history().persist(tmp_path / "runs.jsonl")
    result = run_tool(tell_all, token=secret, writing=writing)
    failure = run_tool(tell_all, token=secret, writing=writing, fails=True)
    texts = said(capsys, caplog) | {
        "record": repr(history()[0]) + str(history()[0]._repr_mimebundle_()),
        "history": history().to_json(),
        "file": (tmp_path / "runs.jsonl").read_text("utf-8"),
        "traceback": history()[1].traceback,
        "result": repr(result) + str(result._repr_mimebundle_()),
        "failure": repr(failure) + str(failure._repr_mimebundle_()),
    }
    check(texts, writing, secret)


@pytest.mark.every_case
@each_writing
def test_of_a_plain_calls_argument(writing, secret, capsys, caplog):
    """What `tool(...)` prints, logs and raises is as it is; its result is shown without it."""
    result = tell_all(token=secret, writing=writing)
    with pytest.raises(ValueError) as caught:
        tell_all(token=secret, writing=writing, fails=True)
    written = "".join(WRITINGS[writing](secret))
    for text in (*said(capsys, caplog).values(), str(caught.value)):
        assert written in text
    assert result.text == written
    check({"result": repr(result) + str(result._repr_mimebundle_())}, writing, secret)
    assert not history()
