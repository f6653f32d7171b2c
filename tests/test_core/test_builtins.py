from io import StringIO

from rich.console import Console

from toolbench.core.builtins import FinishAction, FinishTool, ThinkAction, ThinkTool


def shown(renderable):
    console = Console(width=60, file=StringIO())
    console.print(renderable)
    return console.file.getvalue()


def test_finish_hands_the_message_back():
    """The end of a task is its message."""
    assert FinishTool(FinishAction(message="All done.")).text == "All done."
    assert FinishTool.name == "finish"


def test_think_notes_and_changes_nothing():
    """The words are the reference's."""
    assert ThinkTool({"thought": "Hm."}).text == "Your thought has been logged."
    assert ThinkTool.name == "think"


def test_both_are_harmless():
    """Neither reads, writes or reaches anything: their hints say so."""
    for tool in (FinishTool, ThinkTool):
        hints = tool.hints
        assert (hints.readOnlyHint, hints.destructiveHint) == (True, False)
        assert (hints.idempotentHint, hints.openWorldHint) == (True, False)
        assert "security_risk" not in tool.parameters(security_risk=True)["properties"]


def test_both_show_themselves():
    """A person sees what was said or thought, not a list of fields."""
    assert shown(FinishAction(message="[b]Done").visualize) == "Finish: [b]Done\n"
    assert shown(ThinkAction(thought="Hm").visualize) == "🤔 Hm\n"
