"""Notebooks whose tools are exported."""

import pytest

from test_export.notebook import new_notebook


@pytest.fixture
def notebook():
    """One notebook."""
    with new_notebook() as notebook:
        yield notebook
