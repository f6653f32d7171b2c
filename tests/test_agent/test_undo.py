"""Taking back what calls did to files in a conversation that was loaded or forked."""

import pytest

from test_agent.scripts import call, calls, talk
from toolbench import Conversation
from toolbench.agent import Agent
from toolbench.agent.tools import EditFileTool
from toolbench.llm.models import ScriptedModel
from toolbench.runs.questions import answering
from toolbench.tools import FileEditorTool
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.file_editor.edit_history import RecordedEdit
from toolbench.tools.files.textfile import TextFile


def create(path, text):
    arguments = {"command": "create", "path": str(path), "file_text": text}
    return calls(call("file_editor", arguments))


def edit(path, old, new):
    arguments = {
        "command": "str_replace",
        "path": str(path),
        "old_str": old,
        "new_str": new,
    }
    return calls(call("file_editor", arguments))


def ran(*script, **options):
    """A conversation in which a model edited files, and is done."""
    model = ScriptedModel([*script, "Done."])
    c = Conversation(agent=Agent(model, [FileEditorTool]), **options)
    c.send_message("Edit.")
    with answering(*[True] * len(script)):
        assert c.run() == "answered"
    return c


def loaded(conversation, tmp_path, **options):
    conversation.save(tmp_path / "c.jsonl")
    agent = Agent(ScriptedModel(["Ah."]), conversation.agent.tools)
    return Conversation.load(tmp_path / "c.jsonl", agent, **options)


def forked(conversation, tmp_path):
    return conversation.fork()


def undo(conversation):
    """Take the last step back; the person agrees."""
    with answering(True):
        return conversation.undo()


@pytest.fixture(params=[loaded, forked])
def begin_again(request):
    """Goes on with a conversation in another one, whose tools were made anew."""
    return request.param


class TestGoesStepByStep:
    def test_back_to_before_the_file_was_there(self, tmp_path, begin_again):
        """As it does without the break."""
        path = tmp_path / "a.txt"
        c = ran(create(path, "a\n"), edit(path, "a", "b"), edit(path, "b", "c"))
        other = begin_again(c, tmp_path)
        undo(other)
        assert path.read_text() == "b\n"
        undo(other)
        assert path.read_text() == "a\n"
        undo(other)
        assert not path.exists()
        assert "no tool" in undo(other)[-1].text.lower()

    def test_what_was_taken_back_stays_taken_back(self, tmp_path, begin_again):
        """The next undo is of the step before."""
        path = tmp_path / "a.txt"
        c = ran(create(path, "a"), edit(path, "a", "b"))
        c.undo()
        undo(begin_again(c, tmp_path))
        assert not path.exists()

    def test_an_edit_that_is_new_is_taken_back_first(self, tmp_path):
        """And then those from before the break; nobody is asked about the new one."""
        path = tmp_path / "a.txt"
        ran(create(path, "a")).save(tmp_path / "c.jsonl")
        model = ScriptedModel([edit(path, "a", "b"), "Done."])
        other = Conversation.load(tmp_path / "c.jsonl", Agent(model, [FileEditorTool]))
        other.send_message("Go on.")
        with answering(True):
            other.run()
        assert path.read_text() == "b"
        with answering(None):
            other.undo()
        assert path.read_text() == "a"
        undo(other)
        assert not path.exists()

    def test_drafts_too(self, tmp_path, begin_again):
        """What a model wrote from a draft is an edit like any other."""
        path = tmp_path / "a.txt"
        path.write_text("old\n")
        draft = calls(call("edit_file", {"path": str(path), "content": "d"}))
        c = talk([draft, "<updated>\nnew\n</updated>", "Done."], [EditFileTool])
        with answering(True):
            c.run()
        assert path.read_text() == "new\n"
        undo(begin_again(c, tmp_path))
        assert path.read_text() == "old\n"


class TestIsRefused:
    """In one sentence, and the file stays as it is to the byte."""

    def check(self, conversation, path, reason):
        before = path.read_bytes()
        undo(conversation)
        assert path.read_bytes() == before
        assert "could not be taken back" in conversation.events[-1].text
        assert reason in conversation.events[-1].text

    def test_where_something_else_changed_the_file(self, tmp_path, begin_again):
        """What was written since would be lost."""
        path = tmp_path / "a.txt"
        c = ran(create(path, "a"))
        path.write_text("mine")
        self.check(begin_again(c, tmp_path), path, "changed")

    def test_where_a_secret_was_not_written_down(self, tmp_path):
        """The mark that stands for it is no text of the file."""
        path = tmp_path / "a.txt"
        path.write_text("key = hunter2-secret\n")
        secrets = {"KEY": "hunter2-secret"}
        c = ran(edit(path, "key = hunter2-secret", "key = 1"), secrets=secrets)
        assert path.read_text() == "key = 1\n"
        other = loaded(c, tmp_path)
        assert "hunter2" not in (tmp_path / "c.jsonl").read_text()
        self.check(other, path, "secret")

    def test_where_the_encoding_is_not_known_any_more(self, tmp_path, begin_again):
        """The only letter that told it is gone."""
        path = tmp_path / "a.txt"
        path.write_bytes("café au lait, s'il vous plaît\n".encode("cp1252"))
        other = begin_again(ran(edit(path, "café au lait, s'il vous plaît", "tea")), tmp_path)
        self.check(other, path, "encoding")

    def test_where_a_byte_is_no_text(self, tmp_path, begin_again):
        """It cannot be written down."""
        path = tmp_path / "a.txt"
        path.write_bytes(f"{'ä' * 50}\n".encode() + b"\xff x\n")
        c = ran(edit(path, "x", "z"))
        assert path.read_bytes().endswith(b"\xff z\n")
        self.check(begin_again(c, tmp_path), path, "not plain text")

    def test_where_a_byte_was_no_text(self):
        r"""It was written down as `\xff`, which is four other bytes."""
        recorded = RecordedEdit(before="\\xff a", after="b")
        with pytest.raises(RunError, match="not text"):
            recorded.data_before(TextFile("b"))

    @pytest.mark.parametrize("answers", [(), (False,), (None,)])
    def test_where_nobody_agrees(self, tmp_path, begin_again, answers):
        """A saved conversation may be of anybody: what it says of a file is not done unasked."""
        path = tmp_path / "a.txt"
        other = begin_again(ran(create(path, "a")), tmp_path)
        with answering(*answers):
            other.undo()
        assert path.read_text() == "a"
        assert "No person agreed" in other.events[-1].text

    def test_where_the_text_was_too_long_to_keep(self, tmp_path):
        """A file of a megabyte is not in the saved conversation."""
        path = tmp_path / "a.txt"
        path.write_text("word\n" * 300_000 + "end\n")
        c = ran(edit(path, "end", "new end"))
        self.check(loaded(c, tmp_path), path, "not kept")
