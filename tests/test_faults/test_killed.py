"""`kill -9` in the middle of a write: what is on the disk is whole, old or new, and is gone on with."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from patience import PATIENCE

from test_faults.tool_deeds import NEW, OLD
from toolbench import history, run_tool
from toolbench.runs.history import Journal
from toolbench.tools import TaskTrackerTool

# How many were begun when the process is killed
WRITES = [1, 4, *(pytest.param(writes, marks=pytest.mark.long) for writes in (2, 3, 5))]
HEAD = """
import itertools, sys
from pathlib import Path
from test_faults.tool_deeds import NEW, OLD
from toolbench import history, run_tool
from toolbench.runs.history import Journal
from toolbench.tools import ApplyPatchTool, TaskTrackerTool
place = Path(sys.argv[1])
"""


def killed(code: str, place: Path, writes: int) -> None:
    """Run *code*, which says `again` before each write, and kill it after so many of these."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD + textwrap.dedent(code), str(place)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(writes):
        assert process.stdout.readline() == "again\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("writes", WRITES)
def test_of_a_patch_leaves_a_whole_file(tmp_path, writes):
    """The file that is patched holds all of the old text or all of the new one."""
    texts = [f"first\n{NEW}", f"second\n{NEW}"]
    (tmp_path / "file").write_text(texts[0])
    code = """
        [tool] = ApplyPatchTool.create(workspace_root=place)
        for old, new in itertools.cycle([("first", "second"), ("second", "first")]):
            print("again", flush=True)
            change = f"*** Begin Patch\\n*** Update File: file\\n@@\\n-{old}\\n+{new}\\n*** End Patch"
            assert not run_tool(tool, patch=change).is_error
    """
    killed(code, tmp_path, writes)
    assert (tmp_path / "file").read_text() in texts


@pytest.mark.parametrize("writes", WRITES)
def test_of_a_plan_leaves_a_whole_plan(tmp_path, writes):
    """The next process reads the last plan that was written, or the one before."""
    [tool] = TaskTrackerTool.create(save_dir=tmp_path)
    run_tool(tool, command="plan", task_list=[{"title": "task", "notes": OLD}])
    code = """
        [tool] = TaskTrackerTool.create(save_dir=place)
        for notes in itertools.cycle([NEW, OLD]):
            print("again", flush=True)
            tasks = [{"title": "task", "notes": notes}]
            assert not run_tool(tool, command="plan", task_list=tasks).is_error
    """
    killed(code, tmp_path, writes)
    [again] = TaskTrackerTool.create(save_dir=tmp_path)
    observation = run_tool(again, command="view")
    assert [task.notes for task in observation.task_list] in ([OLD], [NEW])


@pytest.mark.parametrize("writes", WRITES)
def test_of_a_journal_costs_the_last_record_at_most(tmp_path, writes):
    """All records before it are read, and the next one is written behind them."""
    code = """
        [tool] = TaskTrackerTool.create()
        run_tool(tool, command="plan", task_list=[{"title": NEW}])
        journal = Journal(place / "journal")
        while True:
            print("again", flush=True)
            journal.write(history()[-1])
    """
    killed(code, tmp_path, writes)
    [tool] = TaskTrackerTool.create()
    run_tool(tool, command="plan", task_list=[{"title": "later"}])
    journal = Journal(tmp_path / "journal")
    before = len(journal.read(10_000))
    assert before >= writes - 1
    journal.write(history()[-1])
    records = journal.read(10_000)
    assert len(records) == before + 1
    assert records[-1].arguments["task_list"][0]["title"] == "later"
