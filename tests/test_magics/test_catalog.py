import pytest

from toolbench.core.registry import ToolRegistry
from toolbench.errors import ToolNotFoundError
from toolbench.magics.catalog import Catalog


@pytest.fixture
def empty():
    """The catalogue of a notebook without tools."""
    return Catalog({}, lambda: None, ToolRegistry())


class TestFind:
    def test_says_what_registers_a_runtime_tool(self, empty):
        """The runtime tools are one call away."""
        with pytest.raises(ToolNotFoundError, match="register_default_tools"):
            empty.find("web_read")

    def test_says_where_to_look_for_any_other(self, empty):
        """A name nobody knows leads to the list."""
        with pytest.raises(ToolNotFoundError, match="%tools lists them all"):
            empty.find("nope")
