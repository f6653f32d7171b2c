"""Text that is still coming: its end is shown, and no part of a secret."""

import pytest
from test_agent.scripts import add

from toolbench import Conversation
from toolbench.agent import Agent
from toolbench.llm.models import ScriptedModel
from toolbench.llm.models.model import Chunk
from toolbench.redaction.known import remembered
from toolbench.widgets.transcript.live import ComingText

SECRET = "k3y-of-the-house-4711-abcdef"


@pytest.fixture
def loop():
    secrets = {"KEY": SECRET}
    return Conversation(agent=Agent(ScriptedModel([]), [add]), secrets=secrets)


@pytest.mark.every_case
@pytest.mark.parametrize("after", range(1_980, 2_010, 5))
def test_is_cut_after_secrets_are_hidden(loop, after):
    """Wherever the cut falls, no piece of a secret is left."""
    coming = ComingText()
    coming.add(Chunk("text", f"x{SECRET}" + "." * after))
    text = coming.visible_text(loop)
    assert text.endswith("." * 1_900)
    assert not any(SECRET[n : n + 5] in text for n in range(len(SECRET) - 4))


def test_hides_what_the_session_knows(loop):
    """Also an argument of an earlier run, which this conversation never saw."""
    remembered.add(["another-secret-of-mine"])
    coming = ComingText()
    coming.add(Chunk("text", "It is another-secret-of-mine."))
    assert "another" not in coming.visible_text(loop)


def test_a_retry_begins_anew(loop):
    """What came of an answer that broke off is not part of the next."""
    coming = ComingText()
    coming.add(Chunk("text", "Half an ans"))
    coming.add(Chunk("retry", "Once more in 2 s."))
    coming.add(Chunk("text", "Whole."))
    assert coming.visible_text(loop) == "Whole."
    coming.clear()
    assert coming.visible_text(loop) == ""
