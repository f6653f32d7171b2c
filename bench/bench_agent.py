"""A model in the loop: what a step costs beside the model, and what other libraries take."""

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

STEPS = 100
# Steps, of two events each
LONG = 5_000
CROWD = 50
# Seconds of CPU that a step with one call may cost
_STEP = 0.001
STREAM = """
%load_ext toolbench
import time
from toolbench import Conversation
from toolbench.agent import Agent
from toolbench.llm.models import Answer
from toolbench.llm.models.model import Chunk

class Streaming:
    name, provider = "streaming", "openai"

    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        for _ in range(1_000):
            on_chunk(Chunk("text", "word " * 200))
            time.sleep(0.002)
        return Answer({"role": "assistant", "content": "word " * 200_000}, "stop")

streams = Streaming()
asked = Conversation(agent=Agent(streams))
asked.send_message("word " * 200_000)
asked.run()
"""
_OFFLINE = {
    # Or it fetches prices when it is imported
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENHANDS_SUPPRESS_BANNER": "1",
}


@pytest.fixture(scope="module", name="both")
def _both(probe):
    return probe("agents", "agents")


def test_steps(ledger, both):
    """A scripted model, so that all that is timed is the loop: at most 1 ms a step."""
    ledger.time(
        f"conversation of {STEPS} steps, a call each",
        both.timed("talk", by="toolbench", steps=STEPS),
        limit=STEPS * _STEP,
        note="at most 1 ms a step",
    )


def test_steps_beside_pydantic_ai(ledger, both):
    """The same script and tool, from the agent to its last answer."""
    ledger.compare(
        f"conversation of {STEPS} steps, a call each, beside pydantic-ai",
        ours=both.timed("talk", by="toolbench", steps=STEPS),
        peer=both.timed("talk", by="pydantic-ai", steps=STEPS),
        peer_name="pydantic-ai, FunctionModel",
        goal=1,
        rounds=7,
    )


def test_steps_beside_the_openhands_sdk(ledger, probe):
    """The same script and tool, in the environment of the SDK; its log and its files are off."""
    sdk = probe("openhands", "agents", **_OFFLINE, LOG_LEVEL="ERROR")
    ledger.compare(
        f"conversation of {STEPS} steps, a call each, beside the OpenHands SDK",
        ours=sdk.timed("talk", by="toolbench", steps=STEPS),
        peer=sdk.timed("talk", by="openhands", steps=STEPS),
        peer_name="OpenHands SDK, TestLLM",
        goal=1,
        rounds=5,
    )


def test_a_long_conversation(ledger, both):
    """The last of 5,000 steps, 10,000 events, costs what the first does."""
    ledger.time(
        f"conversation of {LONG} steps, more than 10,000 events",
        both.timed("talk", by="toolbench", steps=LONG),
        limit=LONG * _STEP,
        # After one to warm up: each takes four seconds
        rounds=1,
        note="at most 1 ms a step",
    )


def test_conversations_at_once(ledger, both):
    """Each in a thread of its own."""
    ledger.time(
        f"{CROWD} conversations at once, of 20 steps each",
        both.timed("crowd", conversations=CROWD, steps=20),
        limit=CROWD * 20 * _STEP,
        rounds=5,
        note="at most 1 ms a step",
    )


def test_messages_of_a_long_text(ledger):
    """What a kernel sends of 1 MB that streams into a cell of %%chat."""
    shell = InteractiveShell()
    shell.run_cell(STREAM.partition("asked =")[0]).raise_error()
    shell.display_pub, shell.kernel = CapturingDisplayPublisher(), None
    shell.run_cell_magic("chat", "talk --model streams", "Write.")
    outputs = shell.display_pub.outputs
    size = sum(len(text) for output in outputs for text in output["data"].values())
    ledger.limit("1 MB of text streams into a cell of %%chat: messages", size / 1e6, "MB", 0.3)
