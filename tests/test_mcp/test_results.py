"""What a server's answer becomes."""

import base64

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from test_mcp.peers import scripted
from test_mcp.test_listing import json_values
from toolbench.core.content import ImageContent, TextContent
from toolbench.errors import ToolFailedError
from toolbench.jsonschema.validate import validator_of
from toolbench.mcp.results import tool_observation, with_way_back

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n....").decode()
NUMBER = validator_of(
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
)


def text(*texts, **fields):
    return {"content": [{"type": "text", "text": t} for t in texts], **fields}


class TestNothingIsLost:
    @pytest.mark.slow
    # A busy machine is no defect
    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.dictionaries(
            st.sampled_from(["content", "structuredContent", "isError", "_meta", "x"]),
            json_values,
        )
    )
    def test_whatever_an_answer_is_it_becomes_an_observation(self, result):
        """No answer raises, and there is always something for the model to read."""
        observation = tool_observation("t", result, NUMBER)
        assert observation.content
        assert observation.structured == result.get("structuredContent")

    def test_blocks_of_text_stay_apart(self):
        """The text of several blocks has each on lines of its own; that of one is unchanged."""
        assert tool_observation("t", text("a", "b c", "", "d\n")).text == "a\nb c\n\nd\n"
        assert tool_observation("t", text("a\n")).text == "a\n"

    def test_every_kind_of_block_is_kept_and_told(self):
        """The model reads texts and images; of the rest it reads what there is."""
        blocks = [
            {"type": "text", "text": "a text", "annotations": {"priority": 1}},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {
                "type": "resource_link",
                "uri": "file:///x",
                "name": "x",
                "mimeType": "text/plain",
            },
            {
                "type": "resource",
                "resource": {"uri": "t://a", "mimeType": "text/css", "text": "T"},
            },
            {"type": "resource", "resource": {"uri": "t://b", "blob": "UEsFBg=="}},
            {"type": "hologram", "payload": "?"},
        ]
        observation = tool_observation("t", {"content": blocks})
        assert observation.blocks == blocks
        assert [type(c) for c in observation.content].count(ImageContent) == 1
        for part in (
            "a text",
            "audio/wav, 3 bytes",
            "file:///x",
            "t://a: text/css]\nT",
            "4 bytes",
            "hologram",
        ):
            assert part in observation.text
        assert observation.warnings == ['A block of the unknown type "hologram" is in the result.']

    def test_image_data_reaches_the_model_as_a_url(self):
        """An image is a data URL of what the data is, whatever its label says."""
        block = {"type": "image", "data": PNG, "mimeType": "text/html"}
        observation = tool_observation("t", {"content": [block]})
        assert observation.content == [ImageContent(image_urls=[f"data:image/png;base64,{PNG}"])]
        assert "labelled text/html" in observation.warnings[0]

    @pytest.mark.parametrize("data", ["!!! no base64", "PGgxPg==", None, 3])
    def test_data_that_is_no_image_is_told_not_shown(self, data):
        """A browser is never given something else under the name of an image."""
        block = {"type": "image", "data": data, "mimeType": "image/png"}
        observation = tool_observation("t", {"content": [block]})
        assert isinstance(observation.content[0], TextContent)
        assert observation.warnings

    @pytest.mark.parametrize(
        ("data", "kind"),
        [
            (b"\x89PNG\r\n\x1a\n", "image/png"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\x24\0\0\0WAVEfmt ", None),
            (b"BM\x3a" + bytes(7) + b"\x36\0\0\0\x28\0\0\0" + bytes(40), "image/bmp"),
            (b"BMW dealers in Berlin\n", None),
        ],
    )
    @pytest.mark.parametrize("label", ["image/png", "application/octet-stream", None])
    def test_a_resource_is_an_image_if_its_data_says_so(self, data, kind, label):
        """A picture is one in a resource too, and nothing else is taken for one."""
        (content,) = resource(data, label).content
        urls = getattr(content, "image_urls", [])
        assert [url.partition(";")[0] for url in urls] == [f"data:{kind}"] * bool(kind)

    def test_a_resource_that_says_it_is_no_image_is_none(self):
        """What a server labels as something else is that."""
        (content,) = resource(b"GIF8 times as fast!", "text/plain").content
        assert isinstance(content, TextContent)


def resource(data, kind):
    body = {"uri": "f:x", "mimeType": kind, "blob": base64.b64encode(data).decode()}
    block = {"type": "resource", "resource": body}
    return tool_observation("t", {"content": [block]})


class TestMisfits:
    @pytest.mark.parametrize("levels", [300, 600])
    def test_nested_too_deeply_are_text(self, levels):
        """Deeper than pydantic writes: no error comes out."""
        value = []
        for _ in range(levels):
            value = [value]
        for result in ({"task": value}, {"structuredContent": {"result": value}}):
            assert tool_observation("t", result).text

    @pytest.mark.parametrize(
        ("result", "warning"),
        [
            (
                text("x", structuredContent={"n": "three"}),
                'n: should be an integer, not "three"',
            ),
            (text("x"), "promises structured content and sent none"),
        ],
    )
    def test_of_the_output_schema_are_warnings(self, result, warning):
        """A result that breaks the tool's own promise is shown, with a warning."""
        observation = tool_observation("t", result, NUMBER)
        assert observation.text == "x"
        assert any(warning in w for w in observation.warnings)

    def test_of_the_protocol_are_warnings(self, client, tmp_path):
        """What was sent in place of a list of blocks is read, with a warning."""
        hello = {"type": "text", "text": "hello"}
        contents = [("hello", "not a list of blocks"), (hello, "not a list of blocks")]
        contents += [([hello, 1], "not an object"), ({"n": "hello"}, "unknown type")]
        script = {
            "resources/read": [{"result": {"contents": {"uri": "x://a", "text": "hello"}}}],
            "prompts/get": [{"result": {"messages": {"role": "user", "content": "hello"}}}],
        }
        path = tmp_path / "script.json"
        session = client.connect("odd", scripted(path, script))
        for content, warning in contents:
            scripted(path, {**script, "tools/call": [{"result": {"content": content}}]})
            observation = client["t"]({})
            assert "hello" in observation.text
            assert any(warning in one for one in observation.warnings)
        for observation in (session.read_resource("x://a"), session.get_prompt("p")):
            assert observation.text == "hello"
            assert "one object in place of a list" in observation.warnings[0]

    def test_errors_need_not_fit(self):
        """A tool that failed owes no structured content."""
        observation = tool_observation("t", text("no", isError=True), NUMBER)
        assert observation.is_error
        assert not observation.warnings

    def test_a_failure_without_words_says_so(self):
        """An error without content still tells the model that it is one."""
        assert "did not say why" in tool_observation("t", {"content": [], "isError": True}).text

    def test_the_way_to_the_older_protocol_is_for_the_person(self):
        """Who asks by requests of its own can be reached in the other era; a model cannot do that."""
        sentence = (
            "elicitation via server-initiated requests is unavailable on 2026-07-28 connections."
        )
        failed = with_way_back(tool_observation("t", text(sentence, isError=True)), "a b")
        assert failed.warnings == [
            "This server needs the older protocol to ask: run `%mcp reconnect 'a b' --mode legacy`, "
            "or add --mode legacy in a shell."
        ]
        assert failed.text == sentence
        (block,) = failed.to_llm_content[1:]
        assert block.text == sentence
        assert str(failed.visualize).endswith(f"{sentence}\nWarning: {failed.warnings[0]}")
        assert str(ToolFailedError("t", failed)) == f"t: {sentence}\n{failed.warnings[0]}"
        for other in (text("no", isError=True), text(sentence)):
            observation = tool_observation("t", other)
            assert with_way_back(observation, "s") is observation


class TestData:
    @pytest.mark.parametrize(
        ("result", "data"),
        [
            (text("x", structuredContent={"a": 1}), {"a": 1}),
            (text("x", structuredContent={"result": [1, 2]}), [1, 2]),
            (
                text("x", structuredContent={"result": 1, "more": 2}),
                {"result": 1, "more": 2},
            ),
            (text('{"a": [1]}'), {"a": [1]}),
            (text("plain"), "plain"),
            (text("a", "b"), "a\nb"),
            ({"content": []}, None),
        ],
    )
    def test_is_the_answer_as_python_objects(self, result, data):
        """Structured content comes first, then JSON in the text, then the text."""
        assert tool_observation("t", result).data == data

    @pytest.mark.parametrize(
        ("value", "data"),
        [
            ('{"a": [1]}', {"a": [1]}),
            (" [1, 2]", [1, 2]),
            ("12", "12"),
            ("null", "null"),
            ("{not JSON", "{not JSON"),
            ("[" * 100_000, "[" * 100_000),
            ({"a": 1}, {"a": 1}),
        ],
        ids=["object", "list", "number", "null", "no JSON", "deep", "value"],
    )
    def test_in_a_wrapped_text_is_read_if_it_is_an_object_or_list(self, value, data):
        """FastMCP wraps a text as `{"result": text}`; a text that is plain stays one."""
        result = text("x", structuredContent={"result": value})
        assert tool_observation("t", result).data == data

    def test_lists_of_objects_become_a_dataframe(self):
        """Rows of objects are a table, also inside an object that holds nothing else like it."""
        rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
        for structured in ({"result": rows}, {"items": rows, "total": 2}):
            frame = tool_observation("t", text("", structuredContent=structured)).df
            assert frame.to_dict("records") == rows

    def test_anything_else_is_no_table(self):
        """Asking a text for a table says what it is and where to look."""
        with pytest.raises(TypeError, match=r"use \.text"):
            _ = tool_observation("t", text("plain")).df
