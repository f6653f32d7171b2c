"""A result for its two readers: a card for each, or one where they read the same."""

import json

import pandas as pd
import pytest
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from test_display.inert import problems, text_of
from toolbench import Action, ImageContent, Observation, TextContent, tool
from toolbench.core.coercion import ResultObservation
from toolbench.core.schema import hide_in_views
from toolbench.display.live_results import observation_bundle
from toolbench.display.observations import (
    BOTH,
    MODEL,
    PERSON,
    observation_text,
    result_html,
)
from toolbench.mcp.results import tool_observation
from toolbench.mcp.tool import MCPToolAction
from toolbench.redaction.redactor import Redactor
from toolbench.runs.unfinished_observation import UnfinishedObservation
from toolbench.wording import CROSS

_PIXEL = "data:image/png;base64,iVBORw0KGgo="


class Painted(Observation):
    @property
    def visualize(self):
        return Text("looks", style="red")


class Terse(Observation):
    @property
    def to_llm_content(self):
        return [TextContent(text="short")]


class Move(Action):
    place: str


class PaintedMove(Move):
    @property
    def visualize(self):
        return Text("a move")


@pytest.mark.parametrize(
    "observation",
    [
        Observation.from_text("plain"),
        Observation.from_text('{"a": [1, 2]}'),
        Observation.from_text("no", is_error=True),
        Observation(content=[TextContent(text="one"), TextContent(text="two")]),
        Observation(content=[ImageContent(image_urls=[_PIXEL])]),
        Observation(),
        Observation.from_text("It failed.", is_error=True),
        tool_observation("t", {"content": [{"type": "text", "text": "hello"}]}),
        Painted.from_text("looks"),
        UnfinishedObservation.from_text("not run"),
    ],
)
def test_what_is_the_same_for_both_is_shown_once(observation):
    """One card says that the user and the model read the same, and holds it, whatever its colour."""
    html = result_html(observation)
    assert problems(html) == []
    assert html.count("data-toolbench-card") == 1
    assert BOTH in html
    assert all(
        block.text in text_of(html)
        for block in observation.content
        if block.type == "text" and "{" not in block.text
    )


@pytest.mark.parametrize(
    "observation",
    [
        Painted.from_text("x"),
        Terse.from_text("much longer"),
        Observation.from_text("\x1b[31mred\x1b[0m"),
        ResultObservation(content=[TextContent(text="a\n1")], result=pd.DataFrame({"a": [1]})),
        tool_observation("t", {"content": "no list"}),
    ],
)
def test_what_differs_is_shown_to_each(observation):
    """A look of its own, another text for the model, colours, tables, warnings: two cards."""
    html = result_html(observation)
    assert html.count("data-toolbench-card") == 2
    assert html.index(PERSON) < html.index(MODEL)
    assert BOTH not in html


WORDS = "Unknown seeds: ['kale'], which no catalogue of this year or of the last one has."


class Listed(Painted, Terse):
    """Neither view has the text."""


class Careful(Terse):
    @property
    def visualize(self):
        table = Table("why", "what", "where")
        table.add_row(self.text, "x" * 40, "y" * 40)
        return table

    @property
    def to_llm_content(self):
        return Observation.to_llm_content.fget(self)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Careful, "This result is an error."),
        (
            Painted,
            f"This result is an error, and `visualize` of Painted does not show its text: {WORDS}",
        ),
        (
            Terse,
            "This result is an error, and `to_llm_content` of Terse does not give the model its text.",
        ),
        (
            Listed,
            "This result is an error, and neither `visualize` nor `to_llm_content` of Listed has its text: "
            f"{WORDS}",
        ),
    ],
)
def test_an_error_is_marked_whatever_the_class_shows(kind, sentence):
    """Its text is shown too where a view leaves it out; a result without an error has no mark."""
    error = kind.from_text(WORDS, is_error=True)
    html, text = result_html(error), observation_text(error)
    assert problems(html) == []
    assert sentence in text_of(html)
    assert sentence in " ".join(text.split())
    assert WORDS in text_of(html)
    good = kind.from_text(WORDS)
    assert "is an error" not in text_of(result_html(good)) + observation_text(good)


class Framed(Observation):
    @property
    def visualize(self):
        return Panel(super().visualize)


@pytest.mark.parametrize("kind", [Observation, Framed])
def test_an_error_whose_text_all_read_has_its_usual_mark_only(kind):
    """So it is with a view of its own that has the mark."""
    error = kind.from_text(WORDS, is_error=True)
    assert "This result is an error" not in result_html(error) + observation_text(error)


def test_an_error_is_said_once():
    """A cross says it to the user; where a badge says that the call failed, nothing else does."""
    html = text_of(result_html(Observation.from_text(WORDS, is_error=True)))
    user, _, model = html.partition("As text, as the model reads it")
    assert "2 blocks" not in html
    assert f"{CROSS} {WORDS}" in user
    assert "An error occurred" not in user
    assert Observation.ERROR_MESSAGE_HEADER in model
    badged = result_html(Careful.from_text(WORDS, is_error=True), is_stated=True)
    assert "is an error" not in text_of(badged)


@pytest.mark.parametrize("secrets", [[], ["not in it"], ["tomatoes"]])
def test_a_rich_table_that_a_tool_returns_is_a_table(secrets):
    """Also where the run has secrets, which stay hidden."""
    table = Table("plant")
    table.add_row(Text("tomatoes", style="red"))
    result = ResultObservation(content=[TextContent(text="tomatoes")], result=table)
    hide_in_views(result, Redactor(secrets))
    html = observation_bundle(result)["text/html"]
    assert "<th " in html
    assert ("tomatoes" in html) == (secrets != ["tomatoes"])
    assert "color-mix" in html.partition("plant")[2].partition("</table>")[0]


def test_what_only_the_model_was_written_for_is_shown_to_a_person():
    """A class with `to_llm_content` and without content has one text for both."""
    for result in (Terse(), Terse(is_error=True)):
        html = result_html(result)
        assert "no text content" not in html + observation_text(result)
        assert "short" in text_of(html)
    assert BOTH in result_html(Terse())


def test_an_image_is_described_once():
    """On the bar of its card; several blocks have a line each."""
    image = ImageContent(image_urls=[_PIXEL])
    one = result_html(Observation(content=[image]))
    assert one.replace('alt="image/png', "").count("image/png, ") == 1
    two = result_html(Observation(content=[image, TextContent(text="A dot.")]))
    assert two.count(">image/png, ") == 1 and ">text · 6 characters" in two


def test_json_is_a_tree_and_the_text_to_the_letter():
    """A model reads no tree: its text is one click away."""
    html = result_html(Observation.from_text('{"a":1e2}'))
    assert "a: 100.0" in text_of(html)
    assert '{"a":1e2}' in text_of(html)


def test_a_call_is_folded_away_unless_it_has_a_look_of_its_own():
    """The form says already what a plain call says."""
    result = Observation.from_text("x")
    actions = (
        Move(place="here"),
        MCPToolAction(data={"x": 1}),
        PaintedMove(place="here"),
    )
    *plain, painted = (result_html(result, action) for action in actions)
    for html in plain:
        assert "<details" in html.partition("The call")[0]
        assert " open " not in html
    assert " open " in painted
    assert "a move" in painted


class Counted(Observation):
    words: int


def test_fields_that_nobody_reads_are_named():
    """An observation without content shows nothing, to the model neither: its author learns why."""
    html = text_of(result_html(Counted(words=3)))
    assert "the fields of this result (words)" in html
    assert 'Return Counted.from_text("...", words=...).' in html
    assert "Neither" not in result_html(Counted.from_text("3 words", words=3))
    assert "Neither" not in result_html(Observation())


def block(text, audience=None):
    annotations = {} if audience is None else {"annotations": {"audience": audience}}
    return {"type": "text", "text": text, **annotations}


ANSWER = {
    "content": [
        block("for all"),
        block("for you", ["user"]),
        block("for it", ["assistant"]),
        block("for both", ["user", "assistant"]),
        block("unclear", "user"),
    ]
}


class TestAudience:
    """MCP's `audience`: the model and the person each get what is meant for them."""

    def test_decides_who_reads_what(self):
        """Each column holds what is for it and what is for everybody; nothing is lost."""
        observation = tool_observation("t", ANSWER)
        texts = [item.text for item in observation.to_llm_content]
        assert texts == ["for all", "for it", "for both", "unclear"]
        assert "for you" in observation.text
        person, _, model = text_of(result_html(observation)).partition(MODEL)
        assert "for you" in person
        assert "for it" not in person
        assert "for it" in model
        assert "for you" not in model

    def test_of_the_person_alone_tells_the_model_so(self):
        """A model is never answered with nothing."""
        answer = {"content": [block("secret plan", ["user"])]}
        observation = tool_observation("t", answer)
        [content] = observation.to_llm_content
        assert "user" in content.text
        assert "secret plan" not in content.text


@pytest.mark.parametrize("items", [3, 30_000])
def test_a_list_of_objects_is_a_table_at_once(items):
    """Its text is there once, behind a line to unfold; the other keys of an object stand above."""
    rows = [{"id": n, "text": "<b>", "user": {"name": "x" * 60}} for n in range(items)]
    for data in (rows, {"items": rows, "total": items, "next": None}):
        html = result_html(Observation.from_text(json.dumps(data)))
        assert problems(html) == []
        assert html.count("data-toolbench-card") == 1
        assert f'data-toolbench-table="{items}"' in html
        assert "id int" in text_of(html) and "user object" in text_of(html)
        assert html.count("As text, as the model reads it") == 1
        assert "data-toolbench-json" not in html
        assert len(html) < 200_000
    assert f"total: {items}" in text_of(html) and "next: null" in text_of(html)
    # Also where a model reads something else
    give = tool(lambda: Observation.from_text(json.dumps(rows)), name="give", max_result_tokens=100)
    cut = give.execute(give.action_type())
    assert html.count("data-toolbench-views") == result_html(cut).count("data-toolbench-views") == 1


@pytest.mark.parametrize(
    "data", [[1, {"a": 1}], [{}], {"a": [{"b": 1}], "c": [1]}, {"a": {"b": 1}}]
)
def test_other_json_is_a_tree(data):
    """Nothing is lost in a table that does not fit."""
    html = result_html(Observation.from_text(json.dumps(data)))
    assert "data-toolbench-table" not in html and "data-toolbench-json" in html
