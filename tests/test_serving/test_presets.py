"""What is answered in advance is for the notebook's own runs: an agent outside gets none of it."""

from contextlib import nullcontext

import pytest
from patience import PATIENCE

from test_serving.calling import Caller
from test_serving.test_calls import bake, erase, look, waiting
from toolbench import answering
from toolbench.serving import serve

# The tool, `require`, and whether the calls are paused
STRICT = {
    "policy": (erase, "policy", False),
    "always": (look, "always", False),
    "paused": (look, "never", True),
}


@pytest.mark.parametrize("starts", [nullcontext, answering], ids=["before", "within"])
@pytest.mark.parametrize("case", STRICT)
def test_a_call_from_outside_waits_for_a_person(case, starts):
    """Also if a block has started the server, and while a block is open."""
    tool, require, is_paused = STRICT[case]
    with starts(True):
        served = serve([tool], name="presets", require=require, answer_within=PATIENCE)
    with served, answering(True, True):
        if is_paused:
            served.pause()
        caller = Caller(served, tool.name, {"what": "disk"})
        waiting(served).refuse("Not now.")
        assert "Not now." in caller.result().content[0].text


def test_a_question_of_a_call_from_outside_waits_for_a_person():
    """A tool that asks during such a call asks whoever is there for that call."""
    served = serve([bake], name="presets", answer_within=PATIENCE)
    with served, answering({"size": 30}):
        caller = Caller(served, "bake", {})
        waiting(served).accept({"size": 12})
        assert caller.result().content[0].text == "accept: 12"
