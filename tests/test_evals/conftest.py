"""Every test starts and ends without records and verdicts."""

import pytest

from toolbench import history
from toolbench.runs.policy import policy


@pytest.fixture(autouse=True)
def _clean():
    history().clear()
    policy.reset()
    yield
    history().clear()
    policy.reset()
