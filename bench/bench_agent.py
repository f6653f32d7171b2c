"""A model in the loop: what a step costs beside the model, and what other libraries take.

The OpenHands SDK is not beside it: its loop needs a litellm model and a Python environment where ours cannot be.
"""

import pytest

STEPS = 100
_STEP = 0.001  # seconds of CPU that a step with one call may cost


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
    )
