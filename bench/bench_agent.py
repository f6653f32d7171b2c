"""A model in the loop: what a step costs beside the model, and what other libraries take."""

import pytest

STEPS = 100
_STEP = 0.001  # seconds of CPU that a step with one call may cost
_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or it fetches prices when it is imported
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
