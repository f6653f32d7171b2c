"""%tools check: a run of the history becomes a check, and a file of checks runs."""

import pytest

from toolbench import answering, current_run, history, policy, tool
from toolbench.checks import Checks
from toolbench.errors import CaseError, ConsentError
from toolbench.magics.line import UsageError


def line(shell, text):
    name, _, rest = text.removeprefix("%").partition(" ")
    return shell.run_line_magic(name, rest)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Where the notebook is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "my.checks.yaml"


def test_a_run_becomes_a_check(shell, file, capsys):
    """With its answers; it passes until the tool answers something else."""

    @tool(read_only=True)
    def greet(name: str) -> dict:
        """Greet."""
        return {
            "text": f"{greet_word} {name}",
            "how": current_run().ask("How?", {"type": "string"}).value,
        }

    greet_word = "hello"
    shell.user_ns["greet"] = greet
    with answering("softly"):
        line(shell, "%tool greet name=Ada")
    line(shell, "%tools check my.checks.yaml --add 1 --name greets")
    assert 'the check "greets" was added' in capsys.readouterr().out
    [check] = Checks.read(file)
    assert (check.name, check.answers) == ("greets", ("softly",))
    assert line(shell, "%tools check my.checks.yaml").passed
    greet_word = "goodbye"
    report = line(shell, "%tools check my.checks.yaml")
    [failed] = report.failures
    assert failed.error == 'text: "hello Ada" was expected, and "goodbye Ada" was returned'
    assert "1 check" in repr(report) and "goodbye Ada" in report._repr_mimebundle_()["text/html"]
    assert history()[-1].tool == "greet"
    report.file.replace(failed.check.accepting(failed.observation))
    assert line(shell, "%tools check my.checks.yaml").passed


def test_consent_is_asked_once(shell, file):
    """With the number of calls that need it; without a yes nothing runs, and --yes says it in advance."""
    calls = []

    @tool(read_only=True)
    def look() -> str:
        """Look."""
        return "tidy"

    @tool(destructive=True)
    def wipe(path: str) -> str:
        """Wipe."""
        calls.append(path)
        return path

    shell.user_ns |= {"wipe": wipe, "look": look}
    rows = "".join(f"- {{name: c{n}, tool: wipe, arguments: {{path: p{n}}}}}\n" for n in range(3))
    file.write_text(f"checks:\n- {{name: looks, tool: look}}\n{rows}")
    with pytest.raises(ConsentError, match="None of 3 calls of wipe"):
        line(shell, "%tools check my.checks.yaml")
    assert calls == []
    assert line(shell, "%tools check my.checks.yaml --yes").passed
    assert calls == ["p0", "p1", "p2"]
    policy.deny(wipe)
    report = line(shell, "%tools check my.checks.yaml --yes")
    assert [result.state for result in report] == ["passed", *["refused"] * 3]
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("words", "error", "match"),
    [
        ("none.checks.yaml", CaseError, "There is no file"),
        ("my.checks.yaml --add 99", UsageError, "no run 99"),
        ("my.checks.yaml --name x", UsageError, "--add"),
    ],
)
def test_a_wrong_line_says_so(shell, file, words, error, match):
    """And writes no file."""
    with pytest.raises(error, match=match):
        line(shell, f"%tools check {words}")
    assert not file.exists()
