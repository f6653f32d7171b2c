from io import StringIO

from rich.console import Console

from toolbench import ConversationState, ToolRegistry
from toolbench.core.builtins import FinishAction, FinishTool, ThinkAction, ThinkTool

[FINISH], [THINK] = FinishTool.create(), ThinkTool.create()


def plain_text(renderable):
    console = Console(width=60, file=StringIO())
    console.print(renderable)
    return console.file.getvalue()


def test_finish_hands_the_message_back():
    """The end of a task is its message."""
    assert FINISH(FinishAction(message="All done.")).text == "All done."
    assert FINISH.name == FinishTool.name == "finish"


def test_think_notes_and_changes_nothing():
    """The words are the reference's."""
    assert THINK({"thought": "Hm."}).text == "Your thought has been logged."
    assert THINK.name == ThinkTool.name == "think"


def test_both_are_harmless():
    """Neither reads, writes or reaches anything: their hints say so."""
    for tool in (FINISH, THINK):
        hints = tool.hints
        assert (hints.readOnlyHint, hints.destructiveHint) == (True, False)
        assert (hints.idempotentHint, hints.openWorldHint) == (True, False)
        assert "security_risk" not in tool.parameters(security_risk=True)["properties"]


def test_both_show_themselves():
    """A person sees what was said or thought, not a list of fields."""
    assert plain_text(FinishAction(message="[b]Done").visualize) == "Finish: [b]Done\n"
    assert plain_text(ThinkAction(thought="Hm").visualize) == "🤔 Hm\n"


def test_both_are_created_as_every_other_tool():
    """They are classes with `create`: registered by class, made for a conversation, found by kind."""
    registry, state = ToolRegistry(), ConversationState()
    for kind in (FinishTool, ThinkTool):
        registry.register(kind.name, kind)
        [tool] = registry.resolve(kind.name, state)
        assert type(tool) is kind
        again = kind.from_dict(tool.to_dict())
        assert again.to_mcp_tool() == tool.to_mcp_tool()
