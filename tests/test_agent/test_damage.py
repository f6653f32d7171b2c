import json

import pytest

from test_agent.checks import of, sent
from test_agent.scripts import add, call, calls, talk
from toolbench import Conversation, tool
from toolbench.agent import Agent, MessageEvent, NoticeEvent
from toolbench.agent.tools import EditFileTool
from toolbench.errors import RegistrationError, ToolbenchError
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.runs.questions import answering
from toolbench.tools import FileEditorTool

SECRET = "TOPSECRET99"


@pytest.fixture
def saved(tmp_path):
    c = talk([calls(call("add", {"a": 1})), "Done."])
    c.run()
    c.save(tmp_path / "c.jsonl")
    return tmp_path / "c.jsonl"


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        (1, {"unread": 3}),
        (2, {"at": "x"}),
        (2, {"content": [{"zz": 1}]}),
        (2, {"id": "x"}),
        (3, {"tool_call": 7}),
        (3, {"metadata": {"zz": 1}}),
        (4, {"observation": []}),
        (2, {"source": "evil"}),
        (2, {"id": float("inf")}),
        (3, {"thought": {}}),
        (3, {"message": 5}),
        (4, {"tool_name": 5}),
        (4, {"seconds": "long"}),
        (6, {"reason": {}}),
        (6, {"reason": "evil"}),
        (6, {"kind": "NoticeEvent", "text": 5}),
    ],
)
def test_a_damaged_line_is_one_sentence_that_says_which(saved, line, changes):
    """No error of a library comes out; what to do is said."""
    lines = saved.read_text().splitlines()
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | changes)
    saved.write_text("\n".join(lines) + "\n")
    with pytest.raises(ToolbenchError, match=f"Line {line} of .*damaged"):
        Conversation.load(saved, Agent(ScriptedModel(["x"]), [add]))


@pytest.mark.parametrize("depth", [900, 100_000])
def test_lines_nested_too_deep_are_one_sentence(saved, depth):
    """Whether JSON cannot read them, or nothing else can."""
    lines = saved.read_text().splitlines()
    deep = "[" * depth + "]" * depth
    lines[2] = lines[2].replace('"arguments": {', f'"arguments": {{"x": {deep}, ', 1)
    assert deep in lines[2]
    saved.write_text("\n".join(lines) + "\n")
    try:
        c = Conversation.load(saved, Agent(ScriptedModel(["x"]), [add]))
    except ToolbenchError as error:
        assert "Line 3" in str(error)
    else:
        assert c.to_html()


def test_tools_are_closed_if_a_file_cannot_be_loaded(saved):
    """Nobody has the conversation that could close them."""
    closed = []

    class Closing(FileEditorTool):
        @classmethod
        def create(cls, conv_state=None):
            [definition] = FileEditorTool.create(conv_state)
            definition.executor.close = lambda: closed.append(True)
            return [definition]

    saved.write_text(saved.read_text() + "no JSON\n")
    with pytest.raises(ToolbenchError, match="Line 7"):
        Conversation.load(saved, Agent(ScriptedModel(["x"]), [Closing]))
    assert closed == [True]


def test_a_damaged_event_of_a_delegated_task_is_shown_as_that(tmp_path):
    """The rest of the transcript is shown."""
    task = calls(call("delegate", {"task": "t"}))
    inner = Agent(ScriptedModel(["Inner."]), [])
    c = Conversation(agent=Agent(ScriptedModel([task, "ok"]), [inner]))
    c.send_message("Do it.")
    c.run()
    c.save(tmp_path / "c.jsonl")
    text = (tmp_path / "c.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in text]
    for line in lines:
        if "transcript" in line.get("observation", {}):
            line["observation"]["transcript"][0]["at"] = "x"
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    again = Conversation.load(tmp_path / "d.jsonl", Agent(ScriptedModel([]), [inner]))
    page = again.to_html()
    assert page.count("A damaged event was left out") == 1 and "Inner." in page


def test_a_saved_file_is_json(tmp_path):
    """A number that JSON does not have is null there."""
    answer = Answer(calls(call("add", '{"a": NaN}')), None, Usage(1, 1, float("nan")))
    c = talk([answer, "Done."])
    c.run()
    c.save(tmp_path / "c.jsonl")

    def refuse(word):
        raise AssertionError(word)

    for line in (tmp_path / "c.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=refuse)


def test_undo_tells_only_what_was_taken_back(tmp_path):
    """An edit that cannot be taken back is a notice, and not told to the model as done."""
    path = tmp_path / "a.txt"
    path.write_text("a\n")
    edit = {"command": "str_replace", "path": str(path), "old_str": "a", "new_str": "b"}
    c = talk([calls(call("file_editor", edit)), "ok"], [FileEditorTool])
    with answering(True):
        c.run()
    path.unlink()
    path.mkdir()
    c.undo()
    assert not [e for e in of(c, MessageEvent) if e.source == "environment"]
    assert "could not be taken back" in of(c, NoticeEvent)[-1].text


@pytest.mark.every_case
@pytest.mark.parametrize("length", range(100, 180, 7))
def test_a_transcript_is_cut_after_secrets_are_hidden(length):
    """Half a secret at the end of a line is a secret that shows."""

    @tool(read_only=True)
    def echo(text: str) -> str:
        """Say it."""
        return text

    model = ScriptedModel([calls(call("echo", {"text": "x" * length + SECRET})), "ok"])
    c = Conversation(agent=Agent(model, [echo]), secrets={"S": SECRET})
    c.send_message("Do it.")
    c.run()
    assert "TOPS" not in c.to_html()


class TestEditFileWithSecrets:
    def edit(self, path, answer, secrets, draft="a=2"):
        editor = ScriptedModel([f"<updated>\n{answer}\n</updated>"])
        message = calls(call("edit_file", {"path": str(path), "content": draft}))
        agent = Agent(ScriptedModel([message, "ok"]), [EditFileTool.create(llm=editor)])
        c = Conversation(agent=agent, secrets=secrets)
        c.send_message("Do it.")
        with answering(True):
            c.run()
        assert not any(s in json.dumps(editor.requests) for s in secrets.values())
        assert not any(s in json.dumps(sent(c)) for s in secrets.values())
        return path.read_text()

    def test_the_model_edits_around_a_mark(self, tmp_path):
        """The file has its secret afterwards; the model never saw it."""
        path = tmp_path / "a.txt"
        path.write_text(f"a=1\nkey={SECRET}\n")
        text = self.edit(path, "a=2\nkey=<secret-hidden>", {"K": SECRET})
        assert text == f"a=2\nkey={SECRET}\n"

    def test_two_secrets_have_two_marks(self, tmp_path):
        """They can change places."""
        path = tmp_path / "a.txt"
        path.write_text(f"one={SECRET}\ntwo=HIDDENVALUE\n")
        answer = "one=<secret-hidden-2>\ntwo=<secret-hidden-1>"
        text = self.edit(path, answer, {"K": SECRET, "L": "HIDDENVALUE"})
        assert text == f"one=HIDDENVALUE\ntwo={SECRET}\n"

    @pytest.mark.parametrize("mark", ["<secret-hidden>", "<secret-hidden-3>"])
    def test_a_mark_of_nothing_edits_nothing(self, tmp_path, mark):
        """Better no edit than a mark in the place of a secret."""
        path = tmp_path / "a.txt"
        before = f"one={SECRET}\ntwo=HIDDENVALUE\n"
        path.write_text(before)
        secrets = {"K": SECRET, "L": "HIDDENVALUE"}
        assert self.edit(path, f"one={mark}", secrets) == before


@pytest.mark.parametrize("message", ["", "  \n", None, []])
def test_a_message_says_something(message):
    """Providers refuse empty messages."""
    c = talk(["Done."])
    with pytest.raises(ToolbenchError, match="nothing in the message"):
        c.send_message(message)
    assert len(of(c, MessageEvent)) == 1


def test_a_tool_that_searches_tools_keeps_its_name_to_itself():
    """Two tools of one name are told of where they meet."""
    many = [add.model_copy(update={"name": f"add{n}"}) for n in range(101)]
    own = add.model_copy(update={"name": "search_tools"})
    with pytest.raises(RegistrationError, match="search_tools"):
        talk(["x"], [*many, own])
