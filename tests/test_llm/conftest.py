"""The tools of the corpus, as ours."""

import pytest

from test_llm.samples import published_by


@pytest.fixture(scope="session")
def real_tools(published):
    """The tools of `published`, in the same order."""
    return [published_by(entry) for entry in published]
