"""Which recorded calls become tests: those that the package answers as the notebook did."""

import json
import subprocess
import sys

import pytest

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


OWN_CONTENT = """
from toolbench import Action, Observation, TextContent, ToolDefinition, ToolExecutor
class Number(Action):
    n: int
class Sum(Observation):
    total: int
    @property
    def to_llm_content(self): return [TextContent(text=f"The sum is {self.total}.")]
class Adding(ToolExecutor):
    def __call__(self, action, conversation=None): return Sum(total=2 * action.n)
class SumTool(ToolDefinition):
    @classmethod
    def create(cls, conv_state=None, **params):
        return [cls(description="Add.", action_type=Number, observation_type=Sum, executor=Adding())]
[add] = SumTool.create()
"""


@pytest.mark.parametrize("openhands", [False, True])
def test_the_notebook_shows_what_a_model_reads(notebook, tmp_path, capsys, openhands):
    """A result may have no text at all: its class writes the content for a model."""
    notebook.run(OWN_CONTENT, "from toolbench import run_tool\nrun_tool(add, n=21)")
    folder = export_package(notebook["add"], tmp_path / "p", openhands=openhands)
    [file] = folder.glob("*.ipynb")
    cell = "".join(json.loads(file.read_text("utf-8"))["cells"][-1]["source"])
    capsys.readouterr()
    notebook.run("tools = {'sum': add}", cell)
    assert "The sum is 42." in capsys.readouterr().out
