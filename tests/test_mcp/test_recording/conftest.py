"""Where the tests record to."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.jsonl"
