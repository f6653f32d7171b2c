"""Beside the OpenHands SDK: it runs in its own process and Python, by turns with ours."""

import sys
from typing import Literal

import pytest
from fresh import Program
from measuring import CPU, WALL, Cold
from pydantic import Field, create_model
from trees import large_file, many_files

from toolbench import (
    Action,
    Observation,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
)
from toolbench.tools.file_editor import FileEditorTool
from toolbench.tools.glob import GlobTool
from toolbench.tools.grep import GrepTool
from toolbench.tools.terminal import TerminalAction, TerminalExecutor

PEER = "OpenHands SDK"
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or it fetches prices when it is imported
    "OPENHANDS_SUPPRESS_BANNER": "1",
}
ARGUMENTS = {"path": "/etc/hosts", "limit": 3}
OURS = "from toolbench import Action, Observation, ToolDefinition, ToolExecutor"
THEIRS = (
    "from openhands.sdk.tool import Action, Observation, ToolDefinition, ToolExecutor"
)


class ReadAction(Action):
    path: str = Field(description="Where.")
    mode: Literal["r", "w"] = "r"
    limit: int | None = Field(None, ge=1)


class ReadObservation(Observation):
    size: int = 0


READY = ReadObservation(size=1)


class ReadExecutor(ToolExecutor[ReadAction, ReadObservation]):
    def __call__(self, action, conversation=None):
        return READY


TOOL = ToolDefinition(
    name="read",
    description="Reads.",
    action_type=ReadAction,
    observation_type=ReadObservation,
    annotations=ToolAnnotations(title="Read"),
    executor=ReadExecutor(),
)
ACTION = TOOL.action_from_arguments(ARGUMENTS)


@pytest.fixture(scope="module", name="theirs")
def _theirs(probe):
    return probe("openhands", "openhands", **OFFLINE)


@pytest.fixture(scope="module", name="large")
def _large(tmp_path_factory):
    return large_file(tmp_path_factory.mktemp("large") / "large.txt")


@pytest.fixture(scope="module", name="tree")
def _tree(tmp_path_factory):
    return many_files(tmp_path_factory.mktemp("tree"))


def faster(ledger, work, ours, peer, clock=CPU, rounds=7, name=PEER):
    """Ours takes no longer."""
    ledger.compare(
        work, ours=ours, peer=peer, peer_name=name, goal=1, clock=clock, rounds=rounds
    )


def test_import(ledger, theirs):
    """What a tool needs, imported in a fresh process."""
    ours = Program([sys.executable, "-c", OURS])
    peer = Program([str(theirs.python), "-c", THEIRS], env=OFFLINE)
    faster(ledger, "import of the tool classes", ours, peer, rounds=5)
    ledger.beside(
        "memory after the import",
        ours.memory,
        "B",
        peer=peer.memory,
        peer_name=PEER,
        goal=1,
    )


def test_call(ledger, theirs):
    """A call of a tool, and the way from arguments to an action."""
    faster(ledger, "call of a tool", lambda: TOOL(ACTION), theirs.timed("call"))
    faster(
        ledger,
        "arguments to action",
        lambda: TOOL.action_from_arguments(ARGUMENTS),
        theirs.timed("arguments"),
    )


@pytest.mark.parametrize("how", ["openai", "responses", "mcp"])
def test_export(ledger, theirs, how):
    """A known tool in the words of a provider."""
    method = getattr(TOOL, f"to_{how}_tool")
    faster(
        ledger,
        f"export of a known tool: {how}",
        method,
        theirs.timed("export", how=how),
    )


def test_a_thousand_tools(ledger, theirs):
    """Exported for the first time."""
    rounds = iter(range(100))

    def fresh():
        number = next(rounds)
        limit = (int | None, None)
        made = [
            create_model(
                f"M{number}x{n}Action", __base__=Action, path=(str, "x"), limit=limit
            )
            for n in range(1_000)
        ]
        return [ToolDefinition(name=each.__name__, action_type=each) for each in made]

    def export(tools):
        for tool in tools:
            tool.to_openai_tool(add_security_risk_prediction=True)

    ours = Cold(fresh, export)
    faster(
        ledger,
        "1,000 new tools exported with the risk question",
        ours,
        theirs.timed("thousand"),
        rounds=5,
    )


@pytest.mark.parametrize("backend", ["subprocess", "tmux"])
def test_terminal(ledger, theirs, tmp_path, backend):
    """Its start, a small command, a lot of output."""
    (tmp_path / "big").write_bytes((b"x" * 99 + b"\n") * 10_000)
    where = {"folder": str(tmp_path), "backend": backend}
    name = f"{PEER}, {backend}"

    def start(_):
        with TerminalExecutor(tmp_path) as terminal:
            terminal(TerminalAction(command="echo hi"))

    faster(
        ledger,
        f"terminal: start to first answer, beside {backend}",
        Cold(lambda: None, start, WALL),
        theirs.timed("start", WALL, **where),
        WALL,
        5,
        name,
    )
    with TerminalExecutor(tmp_path) as terminal:
        for work, command in (("echo", "echo hi"), ("1 MB of output", "cat big")):
            action = TerminalAction(command=command)
            faster(
                ledger,
                f"terminal: {work}, beside {backend}",
                lambda action=action: terminal(action),
                theirs.timed("terminal", WALL, command=command, **where),
                WALL,
                name=name,
            )


EDITS = {
    "view": {"command": "view"},
    "view of 100 lines": {"command": "view", "view_range": [65_000, 65_100]},
    "str_replace": {
        "command": "str_replace",
        "old_str": "line 65000 of",
        "new_str": "line 65000 OF",
    },
}


@pytest.mark.parametrize("what", EDITS)
def test_file_editor(ledger, theirs, large, what):
    """A file of 9.3 MB."""
    [tool] = FileEditorTool.create()
    arguments = {**EDITS[what], "path": str(large)}
    other = large.with_name("theirs.txt")
    if not other.exists():
        other.write_bytes(large.read_bytes())
    spellings = [arguments.get("old_str"), arguments.get("new_str")]

    def edit():
        if what == "str_replace":
            arguments["old_str"], arguments["new_str"] = spellings
            spellings.reverse()
        assert not tool(arguments).is_error

    faster(
        ledger,
        f"file editor, 9.3 MB: {what}",
        edit,
        theirs.timed("edit", WALL, **{**EDITS[what], "path": str(other)}),
        WALL,
        rounds=6,
    )


SEARCHES = {
    "glob of 12,000 hits": (GlobTool, {"tool": "glob", "pattern": "**/*.py"}),
    "grep of 10 hits": (GrepTool, {"tool": "grep", "pattern": "needle_here"}),
    "grep of 4,000 hits": (GrepTool, {"tool": "grep", "pattern": "common_token"}),
}


@pytest.mark.parametrize("what", SEARCHES)
def test_search(ledger, theirs, tree, what):
    """In 20,000 files; both have ripgrep, or both have not."""
    kind, arguments = SEARCHES[what]
    [tool] = kind.create(working_dir=tree)
    ours = {"pattern": arguments["pattern"]}
    faster(
        ledger,
        f"search in 20,000 files: {what}",
        lambda: tool(ours),
        theirs.timed("search", WALL, folder=str(tree), **arguments),
        WALL,
        rounds=5,
    )
