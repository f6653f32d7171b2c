"""`%config Toolbench`: limits, consent and width, of one notebook."""

import pytest
from patience import PATIENCE

from test_magics.test_tool_magics import line
from toolbench import bench
from toolbench.mcp.servers import connected
from toolbench.runs.policy import policy
from toolbench.testing import FakeMCPServer

WAIT = """
from time import sleep
from toolbench import current_run, tool
@tool
def wait() -> str:
    'Wait.'
    while not current_run().cancelled:
        sleep(0.01)
"""


@pytest.fixture
def config(shell):
    """Runs a line of %config; what it set is forgotten."""
    yield lambda text: shell.run_line_magic("config", text)
    policy.reset()


def test_limits_the_runs_that_say_nothing_else(shell, mcp, config):
    """By a line, again, in a bench and in the panel of a model's call; an option counts first."""
    shell.run_cell(WAIT).raise_error()
    config("Toolbench.timeout = 0.1")
    assert "timed out after 0.1 s" in line(shell, "%tool wait {}").text
    assert "timed out after 0.1 s" in line(shell, "%tools history --rerun 1").text
    calls = shell.run_cell_magic("tool_call", "", '{"name": "wait", "arguments": {}}')
    for panel in (bench("wait"), bench("wait", "add").panel, *calls.panels):
        run = panel.run()
        assert run.done.wait(PATIENCE)
        assert "timed out after 0.1 s" in run.observation.text
    assert line(shell, "%tool add a=1 --timeout 300").text == "2"
    config("Toolbench.connect_timeout = 61")
    shell.user_ns["server"] = FakeMCPServer("x")
    mcp("connect x server")
    assert connected.session("x").connection.seconds == 61


@pytest.mark.parametrize("value", ["0", "-1", "float('nan')", "float('inf')"])
def test_refuses_what_is_no_time(shell, config, caplog, value):
    """As --timeout does; the time before stays."""
    config(f"Toolbench.timeout = {value}")
    assert "Toolbench.timeout takes seconds above 0, as in 300, or None, not" in caplog.text
    assert config("Toolbench.timeout") is None


def test_sets_and_shows_the_rules_of_the_policy(shell, config, capsys):
    """There is one value, whoever set it last."""
    config("Toolbench.destructive = 'allow'")
    assert policy.destructive == "allow"
    assert line(shell, "%tool erase path=x").text == "erased x"
    policy.undeclared = "deny"
    config("Toolbench")
    assert "Current: 'deny'" in capsys.readouterr().out
    policy.reset()
    assert config("Toolbench.destructive") == "ask"


def test_refuses_what_is_no_verdict(config, caplog):
    """The sentence has what there is; nothing is set."""
    config("Toolbench.destructive = 'never'")
    assert "any of ['allow', 'ask', 'deny']" in caplog.text
    assert policy.destructive == "ask"


def test_sets_the_width_until_toolbench_is_unloaded(shell, config):
    """Of tables, in text and in saved files."""
    shell.run_cell(
        "@tool\ndef long() -> str:\n    'Tell " + "a long story " * 9 + ".'"
    ).raise_error()

    listing = line(shell, "%tools long")
    config("Toolbench.width = 60")
    assert widest(listing) <= 60
    shell.run_line_magic("unload_ext", "toolbench")
    assert 60 < widest(listing) <= 100


def widest(listing):
    """The length of the longest line of *listing*."""
    return max(map(len, repr(listing).splitlines()))
