"""Reading a list of tools, item by item."""

from copy import deepcopy

import pytest
from hostile_schemas import DOUBLING
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolbench.mcp.lists.listing import read_tools

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def tool(**fields):
    return {**GOOD, "name": "odd", **fields}


class TestGoodTools:
    @pytest.mark.slow
    # A busy machine is no defect
    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(json_values))
    def test_are_never_hidden_by_bad_ones(self, items):
        """Whatever else a server lists, a good tool is there, and nothing disappears."""
        good, bad = read_tools([*items, GOOD])
        assert [t.name for t in good] == ["good"]
        assert len(good) + len(bad) == len(items) + 1

    @pytest.mark.parametrize(
        "schema",
        [
            {},
            {"properties": {"a": True}},
            {"type": "object", "required": ["b"]},
            {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}},
        ],
    )
    def test_may_have_any_usable_schema(self, schema):
        """What JSON Schema allows is allowed, also where a protocol revision is narrower."""
        good, _ = read_tools([tool(inputSchema=schema)])
        assert good[0].schema == schema

    @pytest.mark.parametrize(
        ("fields", "note"),
        [
            (
                {"annotations": {"readOnlyHint": "yes", "destructiveHint": False}},
                "readOnlyHint",
            ),
            ({"annotations": []}, "annotations are not an object"),
            ({"icons": "icon.png"}, "icons are not a list"),
            ({"title": 42}, "title is not a string"),
            ({"_meta": ["x"]}, "_meta is not an object"),
            ({"description": 3}, "description is not a string"),
            ({"outputSchema": {"type": "objekt"}}, "outputSchema cannot be used"),
        ],
    )
    def test_lose_only_what_is_wrong_about_them(self, fields, note):
        """A wrong annotation is left out and noted; the tool stays."""
        (listed_tool,), bad = read_tools([tool(**fields)])
        assert not bad
        assert any(note in line for line in listed_tool.notes)

    def test_keep_the_hints_that_are_right(self):
        """Of two hints only the wrong one goes; null is as good as absent."""
        hints = {"readOnlyHint": True, "destructiveHint": "no", "idempotentHint": None}
        (listed_tool,), _ = read_tools([tool(annotations=hints, title="Title")])
        assert listed_tool.annotations.readOnlyHint is True
        assert listed_tool.annotations.destructiveHint is True
        assert listed_tool.annotations.title == "Title"

    def test_are_read_again_only_if_their_description_has_changed(self):
        """The others stay the same objects; a header is checked in each list, as eras differ."""
        schema = {"properties": {"a": {"type": "array", "x-mcp-header": "A"}}}
        items = [tool(name="same"), tool(name="changed"), tool(name="header", inputSchema=schema)]
        known = {each.name: each for each in read_tools(deepcopy(items))[0]}
        items[1]["description"] = "new"
        good, [disabled] = read_tools(items, is_modern=True, before=known)
        assert [each is known[each.name] for each in good] == [True, False]
        assert good[1].description == "new"
        assert disabled.name == "header"


def test_a_schema_that_is_too_large_disables_its_tool():
    """Nothing reads it: no form, no lint, no check. As an output schema it is only left out."""
    large = DOUBLING["allOf of 34 levels"]
    items = [tool(inputSchema=large), {**GOOD, "outputSchema": large}]
    [good], [bad] = read_tools(items)
    assert bad.reason == (
        "its inputSchema cannot be used: The schema has more than 1,000 schemas for the same value "
        "if its references are followed: values cannot be checked with it."
    )
    assert good.output_schema is None
    assert "the outputSchema cannot be used: The schema has more than" in good.notes[0]


def nested(levels):
    """A schema with that many schemas in it, each in the one before."""
    schema = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


class TestDisabledTools:
    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"inputSchema": None}, "inputSchema is null"),
            ({"inputSchema": True}, "inputSchema is true"),
            ({"inputSchema": []}, "inputSchema is []"),
            ({"inputSchema": {"type": "string"}}, 'of type "string", not object'),
            ({"inputSchema": {"required": "a"}}, "cannot be used"),
            ({"inputSchema": {"$ref": "https://x/y.json"}}, "cannot be used"),
            ({"inputSchema": {"description": "x\ud800"}}, "hex escape"),
            ({"inputSchema": {"title": "\\ud800 \udc00"}}, "hex escape"),
            ({"inputSchema": nested(300)}, "recursion limit"),
            ({"name": ""}, "not blank"),
            ({"name": None}, "not blank"),
        ],
    )
    def test_say_why(self, fields, reason):
        """Each has its reason, in words."""
        good, (disabled,) = read_tools([tool(**fields)])
        assert not good
        assert reason in disabled.reason

    def test_are_the_later_ones_of_a_name(self):
        """A call reaches one tool of a name: the first is kept."""
        good, bad = read_tools([tool(description="first"), tool(description="second")])
        assert [t.description for t in good] == ["first"]
        assert "same name" in bad[0].reason

    def test_are_those_whose_headers_are_invalid_in_the_newer_protocol(self):
        """`x-mcp-header` on what cannot be a header forbids the call, as the protocol says."""
        schema = {
            "type": "object",
            "properties": {"a": {"type": "array", "x-mcp-header": "A"}},
        }
        assert read_tools([tool(inputSchema=schema)])[0]
        _, (disabled,) = read_tools([tool(inputSchema=schema)], is_modern=True)
        assert "x-mcp-header" in disabled.reason
