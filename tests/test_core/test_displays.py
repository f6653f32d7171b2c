"""Tools, calls and results in a notebook where the extension is not loaded."""

import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.oinspect import getdoc

from toolbench import Observation, tool
from toolbench.core.schema import Schema
from toolbench.display.live_results import observation_bundle
from toolbench.display.objects import action_bundle, tool_bundle


@tool
def add(a: int) -> int:
    """Add one.

    To whatever you like.
    """
    return a + 1


THINGS = [
    (add, tool_bundle),
    (add.action_type(a=1), action_bundle),
    (Observation.from_text("two"), observation_bundle),
]


@pytest.fixture
def formatter():
    return DisplayFormatter()


class TestDisplayed:
    @pytest.mark.parametrize(("thing", "bundle"), THINGS, ids=["tool", "call", "result"])
    def test_shows_its_static_view(self, thing, bundle, formatter):
        """As text, and as HTML that needs no kernel."""
        data, _ = formatter.format(thing)
        assert data == bundle(thing)
        assert list(data) == ["text/plain", "text/html"]

    def test_says_of_a_tool_what_it_is(self):
        """`?` and Shift+Tab tell what this tool does and takes, not what tools are."""
        text = getdoc(add)
        assert "Add one." in text
        assert "To whatever you like." in text
        assert "a: integer" in text

    def test_leaves_other_schemas_their_repr(self, formatter):
        """Only what goes into a tool and comes out of it has a view."""
        assert list(formatter.format(Schema())[0]) == ["text/plain"]
