"""Every test starts and ends without records and verdicts."""

import pytest


@pytest.fixture(autouse=True)
def _clean(no_records):
    """As that says, for every test of this folder."""
