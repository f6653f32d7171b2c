"""Each test of what is served starts without records, and leaves nothing served."""

import pytest

from toolbench.serving.served_tools import open_servers


@pytest.fixture(autouse=True)
def nothing_stays_served(no_records):
    """What a test serves, it closes."""
    before = list(open_servers)
    yield
    left = [served for served in open_servers if served not in before]
    for served in left:
        served.close()
    assert not left
