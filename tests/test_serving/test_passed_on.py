"""Tools of another MCP server, served on: nothing of them is lost on the way."""

import asyncio
from threading import Event

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.types import Audio, Image
from mcp.server.mcpserver import Context as ServerContext
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    Icon,
    InputRequiredResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from patience import PATIENCE, eventually

from test_serving.clients import ERAS, client_of, talk
from toolbench import history, policy
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)
RICH = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "properties": {
        "node": {"$ref": "#/$defs/node"},
        "size": {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "any"}]},
        "x-odd name": {"type": "string", "x-vendor": {"deep": [1, None]}},
    },
    "required": ["size"],
    "if": {"properties": {"size": {"const": "any"}}},
    "then": {"required": ["node"]},
    "additionalProperties": {"type": "number"},
}
OUTPUT = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
    "required": ["rows"],
    "$defs": {"row": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
SIZE = {
    "type": "object",
    "properties": {"size": {"type": "integer", "title": "Size", "minimum": 1}},
    "required": ["size"],
}
begun, cancelled = Event(), Event()


class Rich(Tool):
    """A tool with schemas that its server wrote by hand."""

    async def run(self, arguments):
        """Return rows, and some metadata."""
        structured = {"rows": [{"n": 1}, {"n": 2, "extra": None}]}
        text = TextContent(type="text", text="two rows", _meta={"shop/kind": "text"})
        return ToolResult(content=[text], structured_content=structured, meta={"shop/page": 1})


def other_server():
    """A server with a tool for each thing that could be lost."""
    server = FastMCP("other", dereference_schemas=False)
    server.add_tool(
        Rich(
            name="rich.tool-1",
            title="A rich tool",
            description="Find rows.\n\n  Indented *text*.",
            parameters=RICH,
            output_schema=OUTPUT,
            annotations=ToolAnnotations(
                title="Annotated",
                read_only_hint=True,
                idempotent_hint=False,
                open_world_hint=False,
            ),
            icons=[Icon(src="data:image/png;base64,AAAA", mime_type="image/png")],
            meta={"shop/version": "1.2"},
        )
    )

    @server.tool
    def contents() -> ToolResult:
        """Return a block of each kind."""
        resource = TextResourceContents(uri="test://one", mime_type="text/plain", text="1")
        return ToolResult(
            content=[
                TextContent(type="text", text="one"),
                Image(data=PIXEL, format="png").to_image_content(),
                Audio(data=b"RIFF", format="wav").to_audio_content(),
                EmbeddedResource(type="resource", resource=resource),
                ResourceLink(type="resource_link", uri="test://two", name="two"),
            ]
        )

    @server.tool
    def number() -> int:
        """Return a number: its schema wraps it."""
        return 7

    @server.tool
    def fails() -> str:
        """Fail."""
        msg = "out of stock"
        raise ValueError(msg)

    @server.tool
    async def steps(ctx: Context) -> str:
        """Tell of progress, and log."""
        for n in range(3):
            await ctx.report_progress(n, 3, f"step {n}")
        await ctx.info("all done")
        return "done"

    @server.tool
    async def slow() -> str:
        """Take long."""
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "late"

    return server


def baker():
    """A server that asks, in the way of the era that it is spoken to in."""
    server = MCPServer("baker", log_level="ERROR")

    @server.tool()
    async def bake(ctx: ServerContext) -> str | InputRequiredResult:
        """Ask how large."""
        if ctx.request_context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            answer = await ctx.session.elicit_form("How large?", SIZE, ctx.request_id)
        else:
            answer = (ctx.input_responses or {}).get("size")
        if answer is None:
            params = ElicitRequestFormParams(message="How large?", requested_schema=SIZE)
            return InputRequiredResult(input_requests={"size": ElicitRequest(params=params)})
        return f"{answer.action}: {(answer.content or {}).get('size')}"

    return server


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


@pytest.fixture(scope="module")
def other():
    return other_server()


@pytest.fixture
def served(other, no_records):
    begun.clear()
    cancelled.clear()
    with create_mcp_tools(other) as client:
        policy.allow(*client)
        with serve(list(client), name="on", answer_within=30) as served:
            yield served


def directly(other, conversation, mode, **options):
    """What the raw client gets from the server itself."""

    async def go():
        async with Client(other, mode=mode, **options) as client:
            return await conversation(client)

    return asyncio.run(go())


def both(other, served, conversation, mode, **options):
    """What the raw client gets from the server itself, and from what is served."""
    return (
        directly(other, conversation, mode, **options),
        talk(served, conversation, mode, **options),
    )


def dumped(thing):
    return thing.model_dump(mode="json", by_alias=True, exclude_none=True)


async def list_all(client):
    return {tool.name: dumped(tool) for tool in await client.list_tools()}


def calling(name, arguments=None):
    async def conversation(client):
        return dumped(await client.call_tool_mcp(name, arguments or {}))

    return conversation


def without(result, *keys):
    meta = {
        key: value
        for key, value in result.get("_meta", {}).items()
        if not key.startswith(("io.modelcontextprotocol/", *keys))
    }
    rest = {key: value for key, value in result.items() if key != "_meta"}
    return {**rest, **({"_meta": meta} if meta else {})}


class TestDescription:
    def test_of_each_tool_is_the_same(self, other, served, mode):
        """Name, title, description, schemas, annotations, icons, metadata."""
        straight, passed_on = both(other, served, list_all, mode)
        assert passed_on == straight

    def test_our_own_client_reads_the_same(self, other, served, mode):
        """As from the server itself."""
        headers = {"Authorization": f"Bearer {served.token}"}
        entry = {"url": served.url, "headers": headers, "mode": mode}
        with (
            create_mcp_tools({"mcpServers": {"own": entry}}) as own,
            create_mcp_tools(other) as straight,
        ):
            for tool in straight:
                assert own[tool.name].to_mcp_tool() == tool.to_mcp_tool()
                assert own[tool.name].hints == tool.hints
            observation = own["rich.tool-1"](size=1)
            assert observation.structured == {"rows": [{"n": 1}, {"n": 2, "extra": None}]}
            assert not observation.warnings


class TestResult:
    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("contents", {}),
            ("number", {}),
            ("fails", {}),
            ("rich.tool-1", {"size": "any", "node": {"next": {}}, "more": 1.5}),
        ],
    )
    def test_is_the_same(self, other, served, mode, name, arguments):
        """Each block, the structure, the metadata, the failure."""
        straight, passed_on = both(other, served, calling(name, arguments), mode)
        assert without(passed_on) == without(straight)

    def test_of_wrong_arguments_is_a_failure(self, served, mode):
        """That the model can mend."""
        result = talk(served, calling("rich.tool-1", {"size": 0}), mode)
        assert result["isError"]
        assert "size" in result["content"][0]["text"]


class TestWhileItRuns:
    def test_progress_is_passed_on(self, other, served, mode):
        """Each step, with its words."""
        steps = []

        async def note(value, total, message):
            steps.append((value, total, message))

        async def conversation(client):
            return await client.call_tool_mcp("steps", {}, progress_handler=note)

        straight = directly(other, conversation, mode)
        expected, steps[:] = list(steps), []
        passed_on = talk(served, conversation, mode)
        assert dumped(passed_on)["content"] == dumped(straight)["content"]
        assert steps == expected == [(n, 3, f"step {n}") for n in range(3)]

    def test_cancelling_reaches_the_server(self, served, mode):
        """Through both."""

        async def give_up():
            async with client_of(served, mode) as client:
                task = asyncio.create_task(client.call_tool("slow", {}))
                await asyncio.to_thread(begun.wait, PATIENCE)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        asyncio.run(give_up())
        assert cancelled.wait(PATIENCE)
        eventually(lambda: [r.state for r in history()][-1:] == ["cancelled"])

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            (ElicitResult(action="accept", content={"size": 5}), "accept: 5"),
            (ElicitResult(action="decline"), "decline: None"),
            (ElicitResult(action="cancel"), "cancel: None"),
        ],
    )
    def test_its_question_reaches_the_agents_person(self, no_records, mode, reply, expected):
        """The words, the form, and what was answered."""
        questions = []

        async def answer(message, response_type, params, context):
            questions.append(dumped(params))
            return reply

        server = baker()
        with create_mcp_tools(server) as client:
            policy.allow(*client)
            with serve(list(client), name="baker") as served:
                straight, passed_on = both(
                    server, served, calling("bake"), mode, elicitation_handler=answer
                )
        assert passed_on["content"][0]["text"] == expected
        assert passed_on["content"] == straight["content"]
        # Whom they trust
        assert questions[1]["message"] == "Server 'baker' asks: How large?"
        assert without(questions[0]) == {
            **without(questions[1]),
            "message": "How large?",
        }
