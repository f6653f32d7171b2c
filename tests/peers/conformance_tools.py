"""The tools that the conformance suite for servers calls, served as a notebook serves its own.

    python conformance_tools.py        # says where, and serves until its stdin ends

Sound and embedded resources are kinds of content that only tools of other MCP servers have:
those come from one that is connected, and are passed on.
"""

import json
import sys
import time

from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.types import Audio
from mcp_types import EmbeddedResource, ImageContent, TextContent, TextResourceContents

from toolbench import ToolDefinition, current_run, policy, register_tool, tool
from toolbench.core.content import ImageContent as Image
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SILENCE = b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00@\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"
other = FastMCP("other", dereference_schemas=False)


def object_of(**properties):
    """An object with these properties, all of them needed."""
    return {"type": "object", "properties": properties, "required": [*properties]}


@other.tool
def test_audio_content() -> Audio:
    """Return a sound."""
    return Audio(data=SILENCE, format="wav")


def resource(uri, kind, text):
    """A resource in a result."""
    content = TextResourceContents(uri=uri, mime_type=kind, text=text)
    return EmbeddedResource(type="resource", resource=content)


@other.tool
def test_embedded_resource() -> ToolResult:
    """Return a resource."""
    text = "This is an embedded resource content."
    return ToolResult(content=[resource("test://embedded-resource", "text/plain", text)])


@other.tool
def test_multiple_content_types() -> ToolResult:
    """Return a text, an image and a resource."""
    text = json.dumps({"test": "data", "value": 123})
    return ToolResult(
        content=[
            TextContent(type="text", text="Multiple content types test:"),
            ImageContent(type="image", data=PIXEL, mime_type="image/png"),
            resource("test://mixed-content-resource", "application/json", text),
        ]
    )


RICH = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {
        "properties": {"contactMethod": {"const": "phone"}},
        "required": ["contactMethod"],
    },
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
REGION = {"type": "string", "x-mcp-header": "Region"}
HEADERS = {"type": "object", "properties": {"region": REGION}, "required": ["region"]}


class Described(Tool):
    """A tool with the schema that a server writes, whatever that is."""

    async def run(self, arguments):
        """Say what came."""
        return ToolResult(content=[TextContent(type="text", text=json.dumps(arguments))])


SCHEMAS = {"json_schema_2020_12_tool": RICH, "test_headers": HEADERS}
for name, schema in SCHEMAS.items():
    other.add_tool(Described(name=name, description="Say what came.", parameters=schema))


@tool(read_only=True)
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool(read_only=True)
def test_image_content() -> Image:
    """Return an image."""
    return Image(image_urls=[f"data:image/png;base64,{PIXEL}"])


@tool(read_only=True)
def test_error_handling() -> str:
    """Fail."""
    msg = "This tool intentionally returns an error for testing"
    raise RuntimeError(msg)


@tool(read_only=True)
def test_tool_with_logging() -> str:
    """Log three lines."""
    for line in ("execution started", "processing data", "execution completed"):
        current_run().log(f"Tool {line}")
        time.sleep(0.05)
    return "logged"


@tool(read_only=True)
def test_tool_with_progress() -> str:
    """Tell of progress."""
    for value in (0, 50, 100):
        current_run().progress(value, 100)
        time.sleep(0.05)
    return "done"


def answered(message, schema, words):
    """Ask, and say what came."""
    answer = current_run().ask(message, schema)
    content = json.dumps(dict(answer.content or {}))
    return f"{words}: action={answer.action}, content={content}"


@tool(read_only=True)
def test_elicitation(message: str) -> str:
    """Ask for a name and an address."""
    schema = object_of(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return answered(message, schema, "User response")


@tool(read_only=True)
def test_elicitation_sep1034_defaults() -> str:
    """Ask with defaults."""
    schema = object_of(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        verified={"type": "boolean", "default": True},
    )
    return answered("Is this right?", {**schema, "required": []}, "Elicitation completed")


def titled(*pairs):
    """Values with titles."""
    return [{"const": value, "title": title} for value, title in pairs]


@tool(read_only=True)
def test_elicitation_sep1330_enums() -> str:
    """Ask with all kinds of choices."""
    options = ["option1", "option2", "option3"]
    firsts = (
        ("value1", "First Option"),
        ("value2", "Second Option"),
        ("value3", "Third"),
    )
    schema = object_of(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled(*firsts)},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled(*firsts)}},
    )
    return answered("Choose.", {**schema, "required": []}, "Elicitation completed")


@tool(read_only=True)
def test_trigger_tool_change() -> str:
    """Define a tool anew."""
    register_tool("changing", now_at(time.time()))
    return "changed"


def now_at(moment):
    """A tool that is another one each time."""

    @tool(name="changing", read_only=True, description=f"Made at {moment}.")
    def changing() -> str:
        return str(moment)

    return changing


def asking(name, *questions):
    """A tool that asks, one after another, in whichever way the era has."""

    @tool(name=name, read_only=True)
    def ask() -> str:
        """Ask."""
        words = []
        for message, field, kind in questions:
            answer = current_run().ask(message, object_of(**{field: {"type": kind}}))
            words.append(str(answer[field]) if answer else answer.action)
        return f"state-ok: {', '.join(words)}"

    return ask


NAME = "What is your name?", "name", "string"
QUESTIONS = {
    "elicitation": [NAME],
    "request_state": [("Please confirm", "ok", "boolean")],
    "tampered_state": [("Please confirm", "ok", "boolean")],
    "capabilities": [NAME],
    "multi_round": [
        ("Step 1: What is your name?", "name", "string"),
        ("Step 2: What is your favorite color?", "color", "string"),
    ],
}
ASKING = [asking(f"test_input_required_result_{k}", *q) for k, q in QUESTIONS.items()]
STATELESS = [
    asking("test_streaming_elicitation", NAME),
    test_tool_with_logging.model_copy(update={"name": "test_logging_tool"}),
]
OWN = [value for value in list(vars().values()) if isinstance(value, ToolDefinition)]


def main():
    """Serve them until stdin ends."""
    with create_mcp_tools(other) as client:
        policy.allow(*client)
        register_tool("changing", now_at(0))
        tools = [*OWN, *ASKING, *STATELESS, *client, "changing"]
        with serve(tools, name="conformance", answer_within=1) as served:
            print(served.url, str(served.token), flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
