"""Every test starts and ends without runs, records, presets and verdicts."""

import pytest
from kernels import FORGET, OLDEST, OURS


@pytest.fixture(autouse=True)
def _clean(no_records):
    pass


@pytest.fixture(scope="module", params=[OURS, pytest.param(OLDEST, marks=pytest.mark.long)])
def kernel(request, started_kernel):
    """A real kernel, of each version, in which the module's `IN_A_KERNEL` ran.

    In `make test` the oldest serves test_kernel.py alone.

    What that changes of toolbench itself, the module's `AFTERWARDS` undoes.
    """
    kernel = started_kernel(request.param)
    kernel.run(FORGET)
    kernel.run(request.module.IN_A_KERNEL)
    yield kernel
    kernel.run(getattr(request.module, "AFTERWARDS", ""))
    kernel.states.clear()


@pytest.fixture
def impatient(monkeypatch):
    """Insist soon: a test of what happens then has no second to wait."""
    monkeypatch.setattr("toolbench.runs.control.GRACE", 0.05)
    monkeypatch.setattr("toolbench.runs.control.CALLBACK_SECONDS", 0.05)
