"""Text that arrives in pieces: its end is shown, and no part of a secret."""

import pytest
from test_agent.scripts import add

from toolbench import Conversation
from toolbench.agent import Agent
from toolbench.llm.models import ScriptedModel
from toolbench.llm.models.model import Chunk
from toolbench.redaction.known import remembered
from toolbench.widgets.transcript.live import StreamedText

SECRET = "k3y-of-the-house-4711-abcdef"


@pytest.fixture
def loop():
    secrets = {"KEY": SECRET}
    return Conversation(agent=Agent(ScriptedModel([]), [add]), secrets=secrets)


@pytest.mark.every_case
@pytest.mark.parametrize("after", range(1_980, 2_010, 5))
def test_is_cut_after_secrets_are_hidden(loop, after):
    """Wherever the cut falls, no piece of a secret is left."""
    streamed = StreamedText()
    streamed.add(Chunk("text", f"x{SECRET}" + "." * after))
    text = streamed.visible_text(loop)
    assert text.endswith("." * 1_900)
    assert not any(SECRET[n : n + 5] in text for n in range(len(SECRET) - 4))


def test_hides_what_the_session_knows(loop):
    """Also an argument of an earlier run, which this conversation never saw."""
    remembered.add(["another-secret-of-mine"])
    streamed = StreamedText()
    streamed.add(Chunk("text", "It is another-secret-of-mine."))
    assert "another" not in streamed.visible_text(loop)


def test_a_retry_begins_anew(loop):
    """What came of an answer that broke off is not part of the next."""
    streamed = StreamedText()
    streamed.add(Chunk("text", "Half an ans"))
    streamed.add(Chunk("retry", "Once more in 2 s."))
    streamed.add(Chunk("text", "Whole."))
    assert streamed.visible_text(loop) == "Whole."
    streamed.clear()
    assert streamed.visible_text(loop) == ""
