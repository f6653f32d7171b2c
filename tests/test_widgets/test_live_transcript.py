"""What a cell that talks with a model shows while it runs, and in the end."""

from types import SimpleNamespace

from IPython.core.displaypub import CapturingDisplayPublisher
from patience import eventually
from test_agent.scripts import call, calls, talk

from toolbench.llm.models.model import Chunk
from toolbench.widgets.transcript.live import LiveTranscript


def shown(outputs):
    """The text of what was drawn last."""
    return outputs.outputs[-1]["data"]["text/plain"]


def test_only_the_last_events_are_drawn_until_the_end():
    """Of twenty events, however long the conversation is."""
    steps = [calls(call("add", {"a": 100 + step}, id=f"c{step}")) for step in range(12)]
    conversation = talk([*steps, "Done."])
    outputs = CapturingDisplayPublisher()
    transcript = LiveTranscript(conversation, SimpleNamespace(display_pub=outputs, kernel=None))
    with transcript.drawn():
        conversation.run()
        eventually(lambda: "Done." in shown(outputs))
        assert shown(outputs).startswith("add: Action: AddAction\n  a: 103\n")
    assert shown(outputs).startswith("add: Action: AddAction\n  a: 100\n")


def test_words_are_drawn_as_they_come():
    """They are no message yet: at the end, only whole messages stand there."""
    conversation = talk(["Done."])
    outputs = CapturingDisplayPublisher()
    transcript = LiveTranscript(conversation, SimpleNamespace(display_pub=outputs, kernel=None))
    with transcript.drawn():
        conversation.run()
        conversation.sender.on_chunk(Chunk("text", "Half an ans"))
        eventually(lambda: "Half an ans" in shown(outputs))
    assert "Done." in shown(outputs)
    assert "Half an ans" not in shown(outputs)
