"""Files of checks as tests of pytest, in the process of these tests and in one of their own."""

import json
import subprocess
import sys

import pytest

# What a pytest in this process imports, it forgets: the next one would import it again
from toolbench.checks import checks  # noqa: F401
from toolbench.core.declarations import ToolAnnotations
from toolbench.mcp import MCPClient
from toolbench.mcp.wire import transports  # noqa: F401
from toolbench.testing import FakeMCPServer

pytest_plugins = ["pytester"]
PLUGIN = ("-p", "toolbench.checks.pytest_plugin")

LIBRARY = '''
from toolbench import tool
from toolbench.core.declarations import ToolAnnotations
from toolbench.testing import FakeMCPServer

server = FakeMCPServer("library")
server.answer("find", {"title": "Emma", "year": 1815}, annotations=ToolAnnotations(readOnlyHint=True))
server.answer("burn", "ashes", annotations=ToolAnnotations(destructiveHint=True))


@tool
def half(total: float) -> float:
    """Halve a total."""
    return total / 2
'''
FINDS = "- {name: finds, tool: library.find, expect: {result: {title: Emma, year: 1815}}}\n"
BEFORE = "- {name: of before, tool: library.find, expect: {result: {title: Emma, year: 1816}}}\n"
BURNS = "- {name: burns, tool: library.burn}\n"
HALVES = "- {name: halves, tool: 'library.py:half', arguments: {total: 84}, expect: {result: 42}}\n"
ALONE = FINDS.replace("finds", "alone").replace("library.find", "find")
ELSEWHERE = "- {name: elsewhere, tool: gone.find}\n"


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest on checks, beside the configuration of two servers, of which one cannot be started."""
    monkeypatch.setenv("XDG_STATE_HOME", str(pytester.path / "state"))
    # Those of others take longer than all of this
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.path.joinpath("library.py").write_text(LIBRARY)
    servers = {"library": {"module": "library.py:server"}, "gone": {"command": "no-such-program"}}
    pytester.path.joinpath("mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def run(*entries, words=("--toolbench-approve",)):
        file = pytester.path / "library.checks.yaml"
        file.write_text("checks:\n" + "".join(entries))
        # As strict as a project may be: nothing of ours warns, or is left open
        return pytester.runpytest_inprocess("-W", "error", *PLUGIN, *words)

    return run


def test_each_check_is_a_test(run, pytester):
    """Beside other tests, and without anything that a project has to set."""
    pytester.makepyfile("def test_other(): pass")
    ended = run(FINDS, HALVES, words=["--toolbench-approve", "-v"])
    ended.assert_outcomes(passed=3)
    ended.stdout.fnmatch_lines(["library.checks.yaml::finds PASSED*"])
    run(FINDS, HALVES, words=["-k", "halves"]).assert_outcomes(passed=1, deselected=2)


def test_a_failure_says_what_differs(run):
    """No traceback: that would only show toolbench."""
    ended = run(FINDS, BEFORE)
    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(["library.find: year: 1816 was expected, and 1815 was returned"])
    ended.stdout.no_fnmatch_line("*Traceback*")
    ended.stdout.no_fnmatch_line("*.py:*")


def test_what_cannot_run_is_an_error_or_a_failure(run):
    """A server that is away is one for its own checks; a destructive call needs the option."""
    ended = run(ALONE, BURNS, ELSEWHERE)
    ended.assert_outcomes(passed=1, failed=2)
    text = ended.stdout.str()
    assert "command not found: 'no-such-program'" in text
    assert "burn can delete or overwrite data. --toolbench-yes approves in advance" in text
    run(BURNS, words=["--toolbench-approve", "--toolbench-yes"]).assert_outcomes(passed=1)


def test_nothing_is_started_without_approval(run):
    """What would start is shown, with the option of pytest; an approval counts from then on."""
    ended = run(FINDS, words=())
    ended.assert_outcomes(errors=1)
    text = ended.stdout.str()
    assert "runs the Python code library.py:server" in text
    assert "--toolbench-approve" in text
    run(FINDS).assert_outcomes(passed=1)
    run(FINDS, words=()).assert_outcomes(passed=1)


def test_a_recording_answers_in_place_of_the_servers(run, pytester):
    """By an option, or a setting of the project; the option counts more."""
    server = FakeMCPServer("library")
    reads = ToolAnnotations(readOnlyHint=True)
    server.answer("find", {"title": "Emma", "year": 1816}, annotations=reads)
    with MCPClient() as client:
        client.connect("library", server, record=pytester.path / "r.jsonl").tool("find")({})
    run(BEFORE, words=["--toolbench-replay", "r.jsonl"]).assert_outcomes(passed=1)
    pytester.makeini("[pytest]\ntoolbench_replay = r.jsonl\nstrict = true\n")
    run(BEFORE, words=()).assert_outcomes(passed=1)
    words = ["--toolbench-config", "mcp.json", "--toolbench-approve"]
    run(BEFORE, words=words).assert_outcomes(failed=1)
    ended = run(BEFORE, words=[*words, "--toolbench-replay", "r.jsonl"])
    ended.stderr.fnmatch_lines(["*Give --toolbench-config or --toolbench-replay, not both."])


def test_a_source_that_is_missing_is_named(run, pytester):
    """As a file that cannot be used is."""
    pytester.path.joinpath("mcp.json").unlink()
    run(FINDS, HALVES).stdout.fnmatch_lines(["Where is its server? There is no mcp.json*"])
    ended = run("- {name: x, tool: y, expect: {resul: 1}}\n")
    ended.stdout.fnmatch_lines(["library.checks.yaml cannot be used: *"])


@pytest.mark.slow
def test_pytest_without_checks_imports_nothing(tmp_path):
    """It is loaded by each pytest that runs where toolbench is installed."""
    code = (
        "import sys, pytest; pytest.main(['-q']);"
        "print(*sorted(name for name in sys.modules if name.startswith('toolbench')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = "toolbench toolbench.checks toolbench.checks.pytest_plugin toolbench.lazy"
    assert done.stdout.splitlines()[-1] == expected
