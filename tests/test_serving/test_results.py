"""What an agent is told of a tool and gets from it: all of it, in both eras."""

import base64

import pytest
from pydantic import Field

from test_serving.clients import ERAS, call, talk
from toolbench import (
    Action,
    ImageContent,
    Observation,
    TextContent,
    ToolAnnotations,
    ToolDefinition,
    current_run,
    history,
    tool,
)
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


class Weigh(Action):
    """Weigh something."""

    what: str = Field(description="The thing.", min_length=1)
    unit: str = Field("kg", json_schema_extra={"enum": ["kg", "lb"]})
    tags: list[str] | None = Field(None, description="Anything.")


class Weight(Observation):
    """A weight."""

    value: float = Field(0, ge=0, description="How heavy.")


@tool(read_only=True)
def items() -> dict[str, list[int]]:
    """List things."""
    return {"items": [1, 2]}


@tool(read_only=True)
def picture() -> bytes:
    """Draw one pixel."""
    return PIXEL


@tool(read_only=True)
def elsewhere() -> Observation:
    """Show a picture that is elsewhere."""
    return Observation(
        content=[
            TextContent(text="See:"),
            ImageContent(image_urls=["https://example.org/a/cat.png"]),
        ]
    )


@tool(read_only=True)
def broken() -> str:
    """Fail."""
    msg = "the disk is full"
    raise OSError(msg)


@tool(read_only=True)
async def steps() -> str:
    """Work in steps."""
    for step in range(3):
        current_run().progress(step + 1, 3, f"step {step + 1}")
    current_run().log("all done")
    return "done"


@tool(read_only=True)
def chatty() -> str:
    """Print."""
    print("for the person")
    return "for the agent"


WEIGH = ToolDefinition(
    name="weigh",
    description="Weigh it.",
    action_type=Weigh,
    observation_type=Weight,
    annotations=ToolAnnotations(
        title="Scales", readOnlyHint=True, idempotentHint=True, openWorldHint=False
    ),
    meta={"example.org/colour": "red"},
    executor=lambda action: Weight.from_text(f"{action.what}: 2.5", value=2.5),
)
TOOLS = [WEIGH, items, picture, elsewhere, broken, steps, chatty]


@pytest.fixture(scope="module")
def served():
    with serve(TOOLS, name="results") as served:
        yield served


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


class TestDescription:
    def test_is_what_the_tool_says(self, served, mode):
        """Name, title, description, hints, both schemas and `_meta`: nothing is lost."""
        tools = talk(served, lambda client: client.list_tools(), mode)
        by_name = {one.name: one for one in tools}
        assert list(by_name) == [one.name for one in TOOLS]
        one = by_name["weigh"]
        exported = WEIGH.to_mcp_tool()
        assert one.title == "Scales"
        assert one.description == exported["description"]
        assert one.input_schema == exported["inputSchema"]
        assert one.output_schema == exported["outputSchema"]
        assert one.meta == exported["_meta"]
        hints = one.annotations.model_dump(by_alias=True, exclude_unset=True)
        assert hints == exported["annotations"]

    def test_without_hints_declares_none(self, served, mode):
        """MCP's defaults are no declarations of the tool."""
        with serve(
            [ToolDefinition(name="bare", action_type=Weigh, executor=print)],
            name="bare",
        ) as bare:
            [one] = talk(bare, lambda client: client.list_tools(), mode)
        assert one.annotations is None
        assert one.title is None


class TestResult:
    def test_has_structure(self, served, mode):
        """The fields of an observation, which fit the output schema."""
        result = call(served, "weigh", {"what": "cat"}, mode)
        assert result.structured_content["value"] == 2.5
        assert result.content[0].text == "cat: 2.5"
        assert not result.is_error

    def test_a_dict_has_structure_without_a_schema(self, served, mode):
        """As a function returned it."""
        assert call(served, "items", {}, mode).structured_content == {"items": [1, 2]}

    def test_an_image_is_an_image(self, served, mode):
        """Byte for byte, with its type."""
        [block] = call(served, "picture", {}, mode).content
        assert (block.type, block.mime_type) == ("image", "image/png")
        assert base64.b64decode(block.data) == PIXEL

    def test_an_image_elsewhere_is_a_link(self, served, mode):
        """Nothing is fetched."""
        text, link = call(served, "elsewhere", {}, mode).content
        assert text.text == "See:"
        assert (link.type, link.name) == ("resource_link", "cat.png")
        assert str(link.uri) == "https://example.org/a/cat.png"

    def test_an_error_is_an_error(self, served, mode):
        """What failed is told, and the agent goes on."""
        result = call(served, "broken", {}, mode)
        assert result.is_error
        assert "the disk is full" in result.content[0].text

    def test_wrong_arguments_are_told(self, served, mode):
        """One line a field, as a model needs it to do better."""
        result = call(served, "weigh", {"what": "", "size": 3}, mode)
        assert result.is_error
        assert "what" in result.content[0].text
        assert "size" in result.content[0].text

    def test_an_unknown_tool_is_refused(self, served, mode):
        """And what was meant is guessed."""
        with pytest.raises(Exception, match=r"no tool called 'wiegh'.*'weigh'"):
            call(served, "wiegh", {}, mode)

    def test_of_our_own_client_is_the_same(self, served, mode):
        """What toolbench serves, toolbench reads without a warning."""
        headers = {"Authorization": f"Bearer {served.token}"}
        entry = {"url": served.url, "headers": headers, "mode": mode}
        with create_mcp_tools({"mcpServers": {"own": entry}}) as client:
            observation = client["weigh"](what="cat")
            assert observation.structured["value"] == 2.5
            assert not observation.warnings
            assert client["picture"]({}).content[0].image_urls[0].startswith("data:image")
            assert client["broken"]({}).is_error
            assert client["weigh"].title == "Scales"


class TestProgress:
    def test_reaches_the_agent(self, served, mode):
        """Each step, in order, with its words."""
        steps = []

        async def note(value, total, message):
            steps.append((value, total, message))

        result = call(served, "steps", {}, mode, progress_handler=note)
        assert result.content[0].text == "done"
        assert steps == [(n, 3, f"step {n}") for n in (1, 2, 3)]

    def test_a_log_line_reaches_the_agent(self, served):
        """In the older era, where each client gets them."""
        lines = []

        async def note(message):
            lines.append((message.level, message.data))

        call(served, "steps", {}, "legacy", log_handler=note)
        assert lines == [("info", "all done")]


class TestRecord:
    def test_each_call_is_a_run(self, served, mode):
        """With the arguments, the result, and who asked."""
        call(served, "weigh", {"what": "cat"}, mode)
        record = history()[-1]
        assert (record.tool, record.source, record.state) == ("weigh", "agent", "ok")
        assert record.arguments == {"what": "cat"}
        assert served.calls[-1].id == record.id
        assert served.calls[-1].observation.text == "cat: 2.5"

    def test_what_is_printed_stays_here(self, served, mode, capsys):
        """It is part of the run, and of no cell that is long gone."""
        result = call(served, "chatty", {}, mode)
        assert result.content[0].text == "for the agent"
        assert "for the person" in str(served.calls[-1].run.output.text)
        assert capsys.readouterr().out == ""
