"""Which recorded calls become tests: those that the package answers as the notebook did."""

import json

import nbformat
import pytest

from test_export.notebook import run_tests_of
from toolbench import answering, history, run_tool
from toolbench.export import export_package
from toolbench.runs.history import Journal

TOOL = "from toolbench import tool\n@tool(read_only=True)\ndef price(n: int) -> int:\n    '''Price.'''\n    return n * rate()"


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
    assert "`note` does not declare `read_only`" in readme(folder)


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
    assert "2 passed" in run_tests_of(folder)


OWN_CONTENT = """
from toolbench import Action, Observation, TextContent, ToolDefinition, ToolExecutor, ToolAnnotations
READING = ToolAnnotations(readOnlyHint=True)
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
        return [cls(description="Add.", action_type=Number, observation_type=Sum, executor=Adding(), annotations=READING)]
[add] = SumTool.create()
"""


@pytest.mark.parametrize("openhands", [False, True])
def test_the_notebook_shows_what_a_model_reads(notebook, tmp_path, capsys, openhands):
    """A result may have no text at all: its class writes the content for a model."""
    notebook.run(OWN_CONTENT, "from toolbench import run_tool\nrun_tool(add, n=21)")
    folder = export_package(notebook["add"], tmp_path / "p", openhands=openhands)
    [file] = folder.glob("*.ipynb")
    written = json.loads(file.read_text("utf-8"))
    nbformat.validate(written)
    cell = "".join(written["cells"][-1]["source"])
    capsys.readouterr()
    notebook.run("tools = {'sum': add}", cell)
    assert "The sum is 42." in capsys.readouterr().out


ASKING = """
from toolbench import current_run, tool
@tool(read_only=True)
def lend(title: str) -> str:
    '''Lend a book.'''
    answer = current_run().ask("To whom?", {"type": "string"})
    sure = answer and current_run().ask("Sure?")
    return f"{title} for {answer.value}" if sure else "kept"
"""
ASKING_AGAIN = """
from toolbench import current_run, run_tool, tool
from toolbench.errors import ToolbenchError
@tool(read_only=True)
def guest() -> str:
    '''Ask until there is a name.'''
    while True:
        try:
            return current_run().ask("Who?", {"type": "string"}).value
        except ToolbenchError:
            continue
@tool(read_only=True)
def greet() -> str:
    '''Greet.'''
    return f"Hi {run_tool(guest).text}"
"""
LEAVING = """
import asyncio
from toolbench import current_run, tool
@tool(read_only=True)
async def leave() -> str:
    '''Ask, and do not wait for the answer.'''
    question = asyncio.ensure_future(current_run().ask_async("Who?", {"type": "string"}))
    await asyncio.sleep(0)
    question.cancel()
    return "nobody"
"""


class TestCallsThatAsked:
    def test_are_repeated_with_their_answers(self, notebook, tmp_path):
        """A test answers as the person did, also no; the same call may have had other answers."""
        notebook.run(ASKING)
        for answers in (["Ann", True], ["Bob", True], ["Ann", False], []):
            with answering(*answers):
                run_tool(notebook["lend"], title="Emma")
        folder = export_package(notebook["lend"], tmp_path / "p")
        texts = [text for _, text in recorded(folder)]
        assert texts == ["Emma for Ann", "Emma for Bob", "kept", "kept"]
        assert "5 passed" in run_tests_of(folder)

    def test_say_why_nobody_answered_only_where_nobody_did(self, notebook, tmp_path):
        """An answer of a person has no such reason."""
        notebook.run(ASKING)
        for answers in (["Ann", True], []):
            with answering(*answers):
                run_tool(notebook["lend"], title="Emma")
        folder = export_package(notebook["lend"], tmp_path / "p")
        text = (folder / "tests/recorded.json").read_text("utf-8")
        accepted, declined = (call["answers"] for call in json.loads(text)["calls"])
        assert all("absence" not in answer for answer in accepted)
        assert declined[0]["absence"] == "no preset answer was left"

    def test_are_kept_on_disk_with_their_answers(self, notebook, tmp_path):
        """A record that was read from a file gives the same test."""
        notebook.run(ASKING)
        with answering("Ann", True):
            run_tool(notebook["lend"], title="Emma")
        journal = Journal(tmp_path / "history.jsonl")
        journal.write(history()[-1])
        [record] = journal.read(1)
        assert record.answers == history()[-1].answers
        folder = export_package(notebook["lend"], tmp_path / "p", tests=[record])
        assert "2 passed" in run_tests_of(folder)

    def test_of_a_tool_inside_are_answered_too(self, notebook):
        """A test of the outer tool meets the questions of the inner one."""
        notebook.run(
            ASKING,
            "from toolbench import run_tool\n@tool\ndef lend_all() -> str:\n    '''Lend.'''\n"
            "    return run_tool(lend, title='Typee').text",
        )
        with answering("Ann", True):
            run_tool(notebook["lend_all"], {})
        [outer] = [record for record in history() if record.tool == "lend_all"]
        assert [answer.value for answer in outer.answers] == ["Ann", True]

    def test_with_a_secret_answer_are_left_out_and_counted(self, notebook, tmp_path):
        """The record does not have the answer, nor does the package."""
        kind = '{"type": "string", "format": "password"}'
        notebook.run(ASKING.replace('{"type": "string"}', kind))
        with answering("hunter2-correct-horse", True):
            run_tool(notebook["lend"], title="Emma")
        folder = export_package(notebook["lend"], tmp_path / "p")
        assert recorded(folder) == []
        assert "Not tested: 1 call of `lend`. A question was asked" in readme(folder)
        assert "hunter2" not in repr(history()[-1].to_dict())

    @pytest.mark.parametrize("from_file", [False, True])
    def test_with_a_refused_answer_are_left_out_and_counted(self, notebook, tmp_path, from_file):
        """A preset answer that does not fit is no answer: a test could not give it again."""
        notebook.run(ASKING)
        for answers in ([5], ["Ann", "perhaps"], ["Ann", True]):
            with answering(*answers):
                run_tool(notebook["lend"], title="Emma")
        records = list(history())
        if from_file:
            journal = Journal(tmp_path / "history.jsonl")
            for record in records:
                journal.write(record)
            records = journal.read(3)
        folder = export_package(notebook["lend"], tmp_path / "p", tests=records)
        assert recorded(folder) == [(["Emma"], "Emma for Ann")]
        sentence = "Not tested: 2 calls of `lend`. A question had no answer:"
        assert sentence in readme(folder)
        assert "2 passed" in run_tests_of(folder)

    def test_whose_tool_asks_again_after_a_refused_answer_are_left_out(self, notebook, tmp_path):
        """A test would give the next answer to the wrong question, also inside of another tool."""
        notebook.run(ASKING_AGAIN)
        with answering(5, "Ann"):
            assert run_tool(notebook["greet"]).text == "Hi Ann"
        for name in ("guest", "greet"):
            folder = export_package(notebook[name], tmp_path / name)
            assert recorded(folder) == []
            sentence = f"Not tested: 1 call of `{name}`. A question had no answer:"
            assert sentence in readme(folder)

    def test_that_did_not_wait_for_the_answer_are_left_out(self, notebook, tmp_path):
        """What the tool did then is not what it does with an answer."""
        notebook.run(LEAVING)
        with answering("Ann"):
            assert run_tool(notebook["leave"]).text == "nobody"
        folder = export_package(notebook["leave"], tmp_path / "p")
        assert recorded(folder) == []
        sentence = "Not tested: 1 call of `leave`. A question had no answer:"
        assert sentence in readme(folder)


@pytest.mark.parametrize("change", ["", "The sum would be"])
def test_what_a_model_reads_is_tested(notebook, tmp_path, change):
    """Also where the class of the result writes it: a package with another text fails."""
    notebook.run(OWN_CONTENT, "from toolbench import run_tool\nrun_tool(add, n=21)")
    folder = export_package(notebook["add"], tmp_path / "p")
    for path in folder.glob("*/definition.py"):
        code = path.read_text("utf-8")
        assert "The sum is" in code
        path.write_text(code.replace("The sum is", change or "The sum is"), "utf-8")
    assert ("1 failed" if change else "2 passed") in run_tests_of(folder)
