"""Beside the OpenHands SDK: both in one process, or both in a fresh one, of a Python it takes."""

import os

import pytest
from fresh import Program
from measuring import CPU, WALL
from probe import Probe
from trees import large_file, many_files

from toolbench.tools.search.search_executor import find_ripgrep

OURS, PEER = "toolbench", "openhands"
OFFLINE = {
    # Or it fetches prices when it is imported
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENHANDS_SUPPRESS_BANNER": "1",
}
# Seconds, for work of milliseconds
WAITED = 10
NAMES = "import Action, Observation, ToolDefinition, ToolExecutor"


class Pair:
    """Two timed works of one probe, and the ledger they go to."""

    def __init__(self, ledger, probe: Probe) -> None:
        self.ledger, self.probe = ledger, probe

    def faster(self, work, do, clock=CPU, rounds=5, peer=PEER, note="", **options):
        """Enter what ours costs beside theirs; ours takes no longer."""
        ours, theirs = (self.probe.timed(do, clock, by=by, **options) for by in (OURS, peer))
        name = "OpenHands SDK" if peer == PEER else f"OpenHands SDK, {peer}"
        self.ledger.compare(
            work,
            ours=ours,
            peer=theirs,
            peer_name=name,
            goal=1,
            rounds=rounds,
            clock=clock,
            note=note,
        )

    def faster_unless_it_waits(self, work, do, clock, peer, **options):
        """Enter the row, unless theirs runs into its own limit of 30 s: that compares nothing."""
        waited = self.probe.timed(do, clock, by=peer, **options).seconds()
        if waited < WAITED:
            self.faster(work, do, clock, peer=peer, **options)
        else:
            why = f"theirs took {waited:.0f} s: it waits for a prompt that it does not see here"
            self.ledger.absent(work, why)


@pytest.fixture(scope="module", name="both")
def _both(probe):
    return probe("openhands", "openhands_sdk", **OFFLINE)


@pytest.fixture(name="pair")
def _pair(ledger, both):
    return Pair(ledger, both)


@pytest.fixture(scope="module", name="large")
def _large(tmp_path_factory):
    return large_file(tmp_path_factory.mktemp("large") / "large.txt")


@pytest.fixture(scope="module", name="tree")
def _tree(tmp_path_factory):
    return many_files(tmp_path_factory.mktemp("tree"))


def test_a_tool(pair):
    """A call, its arguments, its exports."""
    unchecked = "theirs checks neither the action nor its type"
    pair.faster("a call, beside the SDK", "call", note=unchecked, rounds=15)
    pair.faster("arguments to action, beside the SDK", "arguments")
    for how in ("openai", "responses", "mcp"):
        pair.faster(f"export of a known tool to {how}", "export", how=how)
    pair.faster("1,000 new tools exported with the risk", "thousand", rounds=3)


@pytest.mark.parametrize("backend", ["subprocess", "tmux"])
def test_terminal(pair, tmp_path, backend):
    """Its start, a small command, a lot of output."""
    (tmp_path / "big").write_bytes((b"x" * 99 + b"\n") * 10_000)
    options = {"folder": str(tmp_path), "peer": backend, "clock": WALL}
    start = f"terminal, {backend}: start to first answer"
    # Theirs closes slowly
    pair.faster(start, "start", rounds=5, **options)
    for work, command in {"echo": "echo hi", "1 MB of output": "cat big"}.items():
        pair.faster_unless_it_waits(
            f"terminal, {backend}: {work}", "command", command=command, **options
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
def test_file_editor(pair, large, what):
    """A file of 9.3 MB."""
    pair.faster(
        f"file editor, 9.3 MB: {what}",
        "edit",
        WALL,
        path=str(large),
        **EDITS[what],
    )


SEARCHES = {
    "glob of 12,000 hits": {"kind": "glob", "pattern": "**/*.py"},
    "grep of 10 hits": {"kind": "grep", "pattern": "needle_here"},
    "grep of 4,000 hits": {"kind": "grep", "pattern": "common_token"},
}


@pytest.mark.parametrize("what", SEARCHES)
def test_search(pair, tree, what):
    """In 20,000 files."""
    note = "both with ripgrep" if find_ripgrep() else "both without ripgrep"
    pair.faster(
        f"search in 20,000 files: {what}",
        "search",
        WALL,
        note=note,
        folder=str(tree),
        **SEARCHES[what],
    )


IMPORTS = {
    "the tool classes": (f"from toolbench {NAMES}", f"from openhands.sdk.tool {NAMES}"),
    "four tools": (
        "from toolbench.tools import FileEditorTool, GlobTool, GrepTool, TerminalTool",
        "from openhands.tools import file_editor, glob, grep, terminal",
    ),
}


@pytest.mark.parametrize("what", IMPORTS)
def test_import(ledger, both, request, what):
    """What a tool needs, imported in a fresh process."""
    python, here = (
        str(both.python),
        {"PYTHONPATH": os.environ.get("PYTHONPATH", str(request.config.rootpath))},
    )
    our_line, their_line = IMPORTS[what]
    ours = Program([python, "-c", our_line], env=here)
    theirs = Program([python, "-c", their_line], env=OFFLINE)
    # The probe of the tests before has read all files; with `-k import` the peer reads them first
    taken, theirs_taken = ours.seconds(), theirs.seconds()
    name = "OpenHands SDK"
    ledger.beside(f"import of {what}", taken, "s CPU", peer=theirs_taken, peer_name=name, goal=1)
    ledger.beside(
        f"memory after the import of {what}",
        ours.memory,
        "B",
        peer=theirs.memory,
        peer_name=name,
        goal=1,
    )
