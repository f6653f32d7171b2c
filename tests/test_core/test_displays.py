"""Tools, calls and results in a notebook where the extension is not loaded."""

import inspect

import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.oinspect import getdoc

from toolbench import Observation, ToolDefinition, tool
from toolbench.core.definition.hooks import displays
from toolbench.core.schema import Schema
from toolbench.display.objects import bundle_of


@tool
def add(a: int) -> int:
    """Add one.

    To whatever you like.
    """
    return a + 1


THINGS = (add, add.action_type(a=1), Observation.from_text("two"))


@pytest.fixture
def formatter():
    return DisplayFormatter()


class TestDisplayed:
    @pytest.mark.parametrize("thing", THINGS, ids=["tool", "call", "result"])
    def test_shows_its_static_view(self, thing, formatter):
        """Once there is a layer of displays: as text, and as HTML that needs no kernel."""
        data, _ = formatter.format(thing)
        assert data == bundle_of(thing)
        assert list(data) == ["text/plain", "text/html"]

    @pytest.mark.parametrize("thing", THINGS, ids=["tool", "call", "result"])
    def test_shows_its_repr_without_that_layer(self, thing, formatter, monkeypatch):
        """The core alone imports nothing to show a thing."""
        monkeypatch.setattr(displays, "bundle_of", None)
        data, _ = formatter.format(thing)
        assert list(data) == ["text/plain"]
        assert type(thing).__name__ in data["text/plain"]

    def test_says_of_a_tool_what_it_is(self, monkeypatch):
        """`?` and Shift+Tab tell what this tool does and takes, not what tools are."""
        text = getdoc(add)
        assert "Add one." in text
        assert "To whatever you like." in text
        assert "a: integer" in text
        monkeypatch.setattr(displays, "text_of", None)
        assert getdoc(add) == inspect.getdoc(ToolDefinition)

    def test_leaves_other_schemas_their_repr(self, formatter):
        """Only what goes into a tool and comes out of it has a view."""
        assert list(formatter.format(Schema())[0]) == ["text/plain"]
