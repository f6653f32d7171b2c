"""Which recorded calls become tests: those that the package answers as the notebook did."""

import json
import subprocess
import sys

from toolbench import run_tool
from toolbench.export import export_package

TOOL = "from toolbench import tool\n@tool\ndef price(n: int) -> int:\n    '''Price.'''\n    return n * rate()"


def recorded(folder):
    calls = json.loads((folder / "tests/recorded.json").read_text("utf-8"))["calls"]
    return [(list(call["arguments"].values()), call["text"]) for call in calls]


def readme(folder):
    return (folder / "README.md").read_text("utf-8")


def test_calls_from_before_a_helper_changed_are_left_out(notebook, tmp_path):
    """They said what an earlier cell made of them; the README says how many these were."""
    notebook.run("def rate():\n    return 2", TOOL, "price(n=1)", "price(n=2)")
    notebook.run("def rate():\n    return 3", "price(n=3)")
    folder = export_package(notebook["price"], tmp_path / "p")
    assert recorded(folder) == [([3], "9")]
    assert "Not tested: 2 calls of `price`" in readme(folder)


def test_a_cell_that_ran_again_unchanged_changes_nothing(notebook, tmp_path):
    """Nor does what the tool does not need."""
    cells = ["def rate():\n    return 2", TOOL, "price(n=1)"]
    notebook.run(*cells, cells[0], "other = 1", "other += 1")
    folder = export_package(notebook["price"], tmp_path / "p")
    assert recorded(folder) == [([1], "2")]
    assert "Not tested" not in readme(folder)


def test_a_tool_that_keeps_something_says_so(notebook, tmp_path):
    """What one call leaves for the next is no test of that one alone."""
    notebook.run(
        "from toolbench import tool\nNOTES = []\ndef keep(text):\n    NOTES.append(text)",
        "@tool\ndef note(text: str) -> int:\n    '''Note.'''\n    keep(text)\n    return len(NOTES)",
        "note(text='a')",
        "note(text='b')",
    )
    folder = export_package(notebook["note"], tmp_path / "p")
    assert recorded(folder) == []
    assert "`note` changes `NOTES`" in readme(folder)


def test_a_class_written_in_few_lines_is_made(notebook, tmp_path):
    """Its `create` gets the import of what does the work, wherever its body begins."""
    notebook.run(
        "from toolbench import Action, Observation, ToolDefinition, ToolExecutor\n"
        "class OneAction(Action): n: int = 1\n"
        "class Work(ToolExecutor):\n"
        "    def __call__(self, action, conversation=None): return Observation.from_text('é')\n"
        "class OneTool(ToolDefinition):\n    @classmethod\n"
        "    def create(cls, conv_state=None, **p): 'é'; return [cls(description='One.', "
        "action_type=OneAction,\n      executor=Work())]"
    )
    [tool] = notebook["OneTool"].create()
    run_tool(tool, {})
    folder = export_package(tool, tmp_path / "p")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout
