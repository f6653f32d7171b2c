"""What in a server's words is pointed out to a person, and what is not."""

import pytest

from toolbench.mcp.trust.trust import warnings_of


def warned(description):
    tool = {"name": "t", "description": description, "inputSchema": {"type": "object"}}
    return [str(w) for w in warnings_of({"tools": {"t": tool}})]


@pytest.mark.parametrize(
    "text",
    [
        "Add.\u200b\u200bmore",
        "Add.\U000e0049\U000e0067",
        "Add \u202enumbers\u202c.",
        "Add.\x1b[8m hidden \x1b[0m",
    ],
)
def test_hidden_characters_are_spelled_out(text):
    """Characters that nobody sees are told with what stands there."""
    [warning] = warned(text)
    assert "hidden characters" in warning
    assert "'Add" in warning
    assert all(ch not in warning for ch in "\u200b\u202e\x1b\U000e0049")


def test_the_quote_is_around_what_is_hidden():
    """A ^ or ⟨ of the text itself, far before, does not draw the eye away."""
    [warning] = warned(f"Add a^b or ⟨a⟩{' and so on' * 20} \u202enumbers.")
    assert "⟨U+202E⟩numbers" in warning


def test_descriptions_of_arguments_count():
    """A model reads every text of a schema."""
    argument = {"type": "string", "description": "A\u200bnumber."}
    schema = {"type": "object", "properties": {"a": argument}}
    [warning] = warnings_of({"tools": {"t": {"inputSchema": schema}}})
    assert warning.where == "tools/t/inputSchema/properties/a/description"


def test_no_real_tool_is_pointed_out(published):
    """What real servers publish reads like orders to a model, and is none."""
    assert [t["name"] for t in published if list(warnings_of({"tools": {"t": t}}))] == []
