"""Every test starts and ends without records and verdicts."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _clean(no_records):
    """As that says, for every test of this folder."""


@pytest.fixture
def no_collector():
    """An interrupt of this process is lost in a callback of the collector, as hypothesis has one."""
    gc.disable()
    yield
    gc.enable()
