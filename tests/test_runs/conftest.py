"""Every test starts and ends without runs, records, presets and verdicts."""

import pytest

from toolbench import history
from toolbench.runs.active import active
from toolbench.runs.policy import policy


@pytest.fixture(autouse=True)
def _clean():
    history().clear()
    policy.reset()
    yield
    for run in active:
        active.stop(run)
    history().clear()
    policy.reset()


@pytest.fixture
def impatient(monkeypatch):
    """Insist soon: a test of what happens then has no second to wait."""
    monkeypatch.setattr("toolbench.runs.cancel.GRACE", 0.05)
    monkeypatch.setattr("toolbench.runs.cancel.HEARD", 0.05)
