import json

import pytest

from test_agent.checks import sent
from test_agent.scripts import add, call, calls, talk
from toolbench import Conversation
from toolbench.agent.tools import EditFileTool
from toolbench.errors import ModelError
from toolbench.llm.models import Answer, ScriptedModel
from toolbench.runs.questions import answering
from toolbench.tools import FileEditorTool

TEXT = "".join(f"line {n}\n" for n in range(1, 8))


def updated(text):
    return f"<updated>\n{text}\n</updated>"


class TestEditFile:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_text(TEXT)
        return path

    def edit(self, path, answer, **arguments):
        [tool] = EditFileTool.create(llm=ScriptedModel([answer]))
        return tool, tool({"path": str(path), "content": "draft", **arguments})

    def test_replaces_the_part_and_nothing_else(self, path):
        """Lines outside of the part stay to the byte."""
        _, observation = self.edit(path, updated("line two\nline three"), start=2, end=3)
        assert not observation.is_error
        assert path.read_text() == TEXT.replace("line 2\nline 3", "line two\nline three")

    def test_can_be_taken_back(self, path):
        """The edit is remembered as the file editor's are."""
        tool, _ = self.edit(path, updated("x"))
        assert path.read_text() == "x\n"
        tool.executor.undo(tool.action_type(path=str(path), content="draft"))
        assert path.read_text() == TEXT

    def test_keeps_line_ends(self, path):
        """A file of Windows stays one."""
        path.write_bytes(TEXT.replace("\n", "\r\n").encode())
        self.edit(path, updated("two"), start=2, end=2)
        assert path.read_bytes() == TEXT.replace("line 2", "two").replace("\n", "\r\n").encode()

    def test_appends_and_creates_without_a_model(self, path, tmp_path):
        """There is nothing to put together."""
        _, observation = self.edit(path, ModelError("never"), start=-1)
        assert path.read_text() == TEXT + "draft\n" and not observation.is_error
        self.edit(tmp_path / "new.txt", ModelError("never"))
        assert (tmp_path / "new.txt").read_text() == "draft"

    @pytest.mark.parametrize(
        "answer",
        [
            "I would change line 2.",
            "",
            ModelError("The host is gone."),
            Answer({"role": "assistant", "content": updated("x")}, "length"),
        ],
        ids=["no part", "nothing", "no answer", "cut off"],
    )
    def test_that_fails_changes_nothing(self, answer, path):
        """An answer that is not the whole part is no edit."""
        _, observation = self.edit(path, answer)
        assert observation.is_error and path.read_text() == TEXT

    @pytest.mark.parametrize(("start", "end"), [(9, -1), (5, 2), (0, 0)])
    def test_of_no_part_is_a_sentence(self, start, end, path):
        """It says how many lines there are."""
        _, observation = self.edit(path, updated("x"), start=start, end=end)
        assert observation.is_error and "7 lines" in observation.text and path.read_text() == TEXT

    def test_sees_a_file_that_changes_meanwhile(self, path):
        """What somebody else wrote is not lost."""

        def model(messages, tools):
            path.write_text("new\n")
            return updated("x")

        [tool] = EditFileTool.create(llm=model)
        observation = tool({"path": str(path), "content": "draft"})
        assert "meanwhile" in observation.text and path.read_text() == "new\n"

    def test_gets_its_model_from_the_agent(self, path):
        """As a class among the tools it needs none of its own."""
        script = [
            calls(call("edit_file", {"path": str(path), "content": "d"})),
            updated("x"),
            "Done.",
        ]
        c = talk(script, [EditFileTool])
        with answering(True):
            assert c.run() == "answered"
        assert path.read_text() == "x\n"


class TestUndo:
    def test_takes_the_last_step_back_and_then_the_one_before(self, tmp_path):
        """Files are as they were, step by step, and the model is told."""
        path = tmp_path / "a.txt"
        other = tmp_path / "b.txt"

        def new(path, text):
            return {"command": "create", "path": str(path), "file_text": text}

        edit = {
            "command": "str_replace",
            "path": str(path),
            "old_str": "a",
            "new_str": "b",
        }
        script = [
            calls(call("file_editor", new(path, "a"))),
            calls(call("file_editor", edit), call("file_editor", new(other, "x"), id="c2")),
            "Done.",
            "I see.",
        ]
        c = talk(script, [FileEditorTool])
        with answering(True, True, True):
            assert c.run() == "answered"
        assert (path.read_text(), other.read_text()) == ("b", "x")
        c.undo()
        assert path.read_text() == "a" and not other.exists()
        c.undo()
        assert not path.exists()
        assert "no tool" in c.undo()[-1].text.lower()
        c.send_message("See?")
        assert c.run() == "answered"
        assert json.dumps(sent(c)).count("takes back what you did") == 2
        assert c.to_html().count("from the workbench</div>[The user takes back") == 2

    def test_takes_back_only_what_the_call_did(self, tmp_path):
        """An edit that the model took back itself is gone: the one before it stays."""
        path = tmp_path / "a.txt"
        path.write_text("a\n")
        [editor] = FileEditorTool.create(None)

        def edit(old, new):
            return {
                "command": "str_replace",
                "path": str(path),
                "old_str": old,
                "new_str": new,
            }

        # By hand, with the same tool
        editor(edit("a", "mine"))
        script = [
            calls(call("file_editor", edit("mine", "its"))),
            calls(call("file_editor", {"command": "undo_edit", "path": str(path)})),
            "Done.",
        ]
        c = talk(script, [editor])
        with answering(*[True] * 3):
            assert c.run() == "answered"
        c.undo()
        assert path.read_text() == "mine\n"
        assert "could not be taken back" in c.events[-1].text

    def test_takes_back_what_a_person_changed_of_a_call(self, tmp_path):
        """The file that was edited is the one of the arguments that ran; the model reads it after its calls."""
        created, edited = tmp_path / "asked.txt", tmp_path / "edited.txt"
        create = {"command": "create", "path": str(created), "file_text": "x"}
        script = [
            calls(call("file_editor", create)),
            calls(call("add", {"a": 1}, id="c2")),
            "Done.",
        ]
        c = talk(script, [FileEditorTool, add])
        c.ask()
        c.edit_pending(None, {**create, "path": str(edited)})
        with answering(True):
            c.run_pending()
        assert edited.exists() and not created.exists()
        c.ask()
        c.undo()
        assert not edited.exists()
        assert c.run() == "answered"
        assert [message["role"] for message in sent(c)[-3:]] == ["assistant", "tool", "user"]
        assert "takes back what you did" in sent(c)[-1]["content"]

    @pytest.mark.parametrize("is_loaded", [True, False], ids=["loaded", "forked"])
    def test_takes_back_nothing_of_an_earlier_session(self, tmp_path, is_loaded):
        """The editor says so in a sentence and asks nothing; what the later session edited is taken back."""
        path, draft = tmp_path / "a.txt", tmp_path / "draft.txt"
        draft.write_text("old\n")
        create = {"command": "create", "path": str(path), "file_text": "a"}
        replace = {"command": "str_replace", "path": str(path), "old_str": "a", "new_str": "b"}
        script = [
            calls(
                call("file_editor", create),
                call("edit_file", {"path": str(draft), "content": "d"}, id="c2"),
            ),
            updated("new"),
            "Done.",
            calls(call("file_editor", replace)),
            "Done.",
        ]
        c = talk(script, [FileEditorTool, EditFileTool])
        with answering(True, True):
            assert c.run() == "answered"
        if is_loaded:
            c.save(tmp_path / "c.jsonl")
            other = Conversation.load(tmp_path / "c.jsonl", c.agent)
        else:
            other = c.fork()
        other.send_message("Go on.")
        with answering(True):
            assert other.run() == "answered"
        other.undo()
        with answering(None):
            other.undo()
        assert (path.read_text(), draft.read_text()) == ("a", "new\n")
        assert other.events[-1].text.count("made in an earlier session") == 2
