"""What checks cost: many of them from a terminal, answered by a recording."""

import sys
from pathlib import Path

from fresh import Program
from measuring import WALL

from toolbench.checks import Check, Checks
from toolbench.mcp import MCPClient

# Its servers
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_mcp.peers import good

CHECKS = 100
ROUNDS = 5


def test_many_checks(ledger, tmp_path):
    """A hundred take at most 3 s, from the start of Python to its end; pytest is beside it."""
    file, recording, checks = tmp_path / "good.checks.yaml", tmp_path / "good.jsonl", []
    with MCPClient(timeout=60) as client:
        tool = client.connect("good", good(), record=recording).tool("add")
        for n in range(CHECKS):
            arguments = {"a": n, "b": 1}
            checks.append(Check.of_result(f"adds {n}", "good.add", arguments, tool(arguments)))
    Checks(checks).write(file)
    shell = [Path(sys.executable).with_name("toolbench"), "check", file, "--replay", recording]
    python = [sys.executable, "-m", "pytest", "-q", file, "--toolbench-replay", recording]
    for command, words in ((shell, "toolbench check"), (python, "pytest")):
        ledger.time(
            f"{CHECKS} checks by replay: `{words}`",
            Program(command, WALL),
            limit=3.0,
            rounds=ROUNDS,
            clock=WALL,
        )
