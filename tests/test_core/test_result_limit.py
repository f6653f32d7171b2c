"""What a model reads of a long result, where its tool has `max_result_tokens`."""

import json

import pandas as pd
import pytest

from toolbench import Action, Observation, ToolDefinition, history, run_tool, tool
from toolbench.core.content import ImageContent, TextContent
from toolbench.errors import RegistrationError
from toolbench.llm import estimate_tokens
from toolbench.serving.call_results import output_schema_of, result_of

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="


def limited(result):
    """A tool that returns *result*, of which a model reads 200 tokens."""

    @tool(max_result_tokens=200)
    def give() -> object:
        """Give it."""
        return result

    return give


def read(observation):
    """All text that a model reads."""
    return "".join(block.text for block in observation.to_llm_content if block.type == "text")


ISSUES = [{"id": number, "title": "Größe"} for number in range(1_000)]


@pytest.mark.parametrize(
    ("result", "noun", "whole"),
    [
        (ISSUES, "items", "1,000"),
        ({"total": 1_000, "items": ISSUES}, "items", "1,000"),
        (json.dumps(ISSUES), "items", "1,000"),
        (pd.DataFrame(ISSUES), "rows", "1,000"),
        ("a line\n" * 10_000, "characters", "70,000"),
        ({"a": ["x"] * 500, "b": ["y"] * 500}, "characters", "9,028"),
        (["x" * 5_000], "characters", "5,008"),
        ("ß" * 5_000, "characters", "5,000"),
        ("\ud800" * 5_000, "characters", "5,000"),
    ],
)
def test_is_cut_between_its_parts_and_says_so(result, noun, whole):
    """In one sentence: how many of how many, and what to do; the user and the history have all."""
    observation = run_tool(limited(result))
    text = read(observation)
    assert 150 < estimate_tokens(text) <= 200
    shown, _, note = text.rpartition("\n")
    assert note.startswith("[The first ")
    assert f" of {whole} {noun}. Call again with arguments that return less" in note
    if noun == "items":
        items = json.loads(shown)
        if isinstance(items, dict):
            items = items["items"]
        assert items == ISSUES[: len(items)]
        assert note.startswith(f"[The first {len(items)} of")
        # As it was written, such as 1.10
        assert not isinstance(result, str) or result.startswith(shown.removesuffix("]"))
    assert observation.result is result
    if noun != "rows":
        assert estimate_tokens(observation.text) > 200
    assert read(history()[-1].observation) == text


def test_is_whole_where_it_fits():
    """Then nothing is said either, and the content is the same object."""
    for result in (ISSUES[:3], "short", pd.DataFrame(ISSUES[:3])):
        observation = run_tool(limited(result))
        assert observation.to_llm_content is observation.content


def test_keeps_images_and_counts_the_texts_left_out():
    """An image is not counted; what an earlier text costs is; a text after the cut is left out."""
    image = ImageContent(image_urls=[PIXEL])
    texts = [TextContent(text=word * 500) for word in ("a", "b ", "c ")]
    content = run_tool(limited([texts[0], image, *texts[1:]])).to_llm_content
    assert [block.type for block in content] == ["text", "image", "text", "text"]
    assert content[0] == texts[0]
    assert estimate_tokens(content[0].text + content[2].text) <= 200
    assert content[3].text.startswith("[The first 2 of 3 texts.")


class Lines(Observation):
    """A result with a view of its own for models."""

    lines: tuple[str, ...] = ()

    @property
    def to_llm_content(self):
        """The lines, after a head that is said by the base class too."""
        return [*super().to_llm_content, TextContent(text="\n".join(self.lines))]


class LinesTool(ToolDefinition[Action, Lines]):
    """A tool class with the limit as an attribute."""

    max_result_tokens = 200


def test_is_an_attribute_of_a_tool_class():
    """It cuts what the class gives a model once; `.text` is whole, and so is the view of the user."""
    made = LinesTool(
        action_type=Action,
        observation_type=Lines,
        executor=lambda action: Lines(lines=("a line",) * 1_000),
    )
    observation = run_tool(made)
    assert 150 < estimate_tokens(read(observation)) <= 200
    assert read(observation).count("[The first ") == 1
    assert observation.text.count("a line") == 1_000
    copy = made.model_copy(update={"max_result_tokens": 1_000})
    assert 900 < estimate_tokens(read(run_tool(copy))) <= 1_000
    again = LinesTool.from_dict({**copy.to_dict(), "kind": "LinesTool"})
    assert again.max_result_tokens == 1_000


@pytest.mark.parametrize("most", [0, 99, -1, "200", 200.0, True])
def test_is_a_whole_number_of_some_size(most):
    """The sentence about the cut has to fit too."""
    with pytest.raises(RegistrationError, match="max_result_tokens is a whole number from 100 up"):
        tool(max_result_tokens=most)(lambda_named)


def lambda_named() -> str:
    """Say something."""
    return ""


def test_is_kept_where_the_tool_is_served():
    """A client may give its model the structured result: there is none, and no schema for it."""

    @tool(max_result_tokens=200)
    def issues() -> list[dict[str, object]]:
        """List."""
        return ISSUES

    result = result_of(issues, run_tool(issues))
    assert result["content"][0]["text"] == read(run_tool(issues))
    assert result.keys() == {"content", "isError"}
    assert output_schema_of(issues) is None
