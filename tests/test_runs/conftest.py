"""Every test starts and ends without runs, records, presets and verdicts."""

import pytest
from kernels import KERNELS, python_of

from test_runs.kernel import Kernel
from toolbench.runs.background import active
from toolbench.runs.output.redirect import forget_secrets


@pytest.fixture(autouse=True)
def _clean(no_records):
    forget_secrets()
    yield
    for run in active:
        active.stop(run)


@pytest.fixture(scope="module", params=KERNELS)
def kernel(request):
    """A real kernel, of each version, in which the module's `IN_A_KERNEL` ran."""
    with Kernel(python_of(request.param)) as kernel:
        kernel.run(request.module.IN_A_KERNEL)
        yield kernel


@pytest.fixture
def impatient(monkeypatch):
    """Insist soon: a test of what happens then has no second to wait."""
    monkeypatch.setattr("toolbench.runs.cancellation.cancellation.GRACE", 0.05)
    monkeypatch.setattr("toolbench.runs.cancellation.cancellation.CALLBACK_SECONDS", 0.05)
