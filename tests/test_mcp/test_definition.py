"""A server's tool as a tool like any other."""

import json

import pytest

from test_mcp.peers import scripted
from toolbench.core.declarations import ToolAnnotations
from toolbench.core.schema import Action
from toolbench.errors import ArgumentsError
from toolbench.mcp import MCPToolAction, MCPToolDefinition, MCPToolExecutor
from toolbench.testing import FakeMCPServer

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "minimum": 1, "x-unknown": True},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["a"],
    "additionalProperties": False,
}


def definition(**fields):
    fields = {"schema": SCHEMA, **fields}
    return MCPToolDefinition(name="n", remote_name="n", server="s", description="d", **fields)


class TestExports:
    def test_give_the_servers_schema_untouched(self):
        """Unknown keywords, nulls and limits survive; every export is plain JSON."""
        tool = definition()
        assert tool.input_schema == SCHEMA
        assert tool.to_mcp_tool()["inputSchema"] == SCHEMA
        assert tool.to_openai_tool()["function"]["parameters"] == SCHEMA
        json.dumps([tool.to_mcp_tool(), tool.to_openai_tool(), tool.to_responses_tool()])

    def test_have_the_names_of_openhands_too(self, client):
        """The definition has the tool of the package `mcp`; the executor its name and the session."""
        server = FakeMCPServer("s")
        server.answer("t", "fine", schema=SCHEMA)
        session = client.connect("s", server)
        tool = session.tool("t")
        assert (tool.mcp_tool.name, tool.mcp_tool.input_schema) == ("t", SCHEMA)
        executor = MCPToolExecutor(tool_name="t", client=session)
        assert (executor.tool_name, executor.client) == ("t", session)
        assert executor(MCPToolAction(data={"a": 1})).text == "fine"

    def test_can_be_changed_without_changing_the_tool(self):
        """Each export is the caller's own."""
        tool = definition()
        tool.parameters()["properties"].clear()
        tool.input_schema["properties"].clear()
        assert tool.parameters() == tool.input_schema == SCHEMA

    def test_say_all_a_server_says(self):
        """Output schema, hints, icons and meta go back out as they came in."""
        tool = definition(
            output_schema={"type": "object"},
            annotations=ToolAnnotations(title="T", readOnlyHint=True),
            meta={"k": 1},
            icons=({"src": "data:,"},),
        )
        exported = tool.to_mcp_tool()
        assert exported["outputSchema"] == {"type": "object"}
        assert exported["annotations"]["readOnlyHint"] is True
        assert exported["_meta"] == {"k": 1}
        assert exported["icons"] == [{"src": "data:,"}]
        assert tool.title == "T"

    def test_are_the_servers_list_word_for_word(self, client, tmp_path):
        """Title, execution, unknown parts: nothing is left out, moved or invented."""
        plain = {
            "name": "plain",
            "inputSchema": {"additionalProperties": False, "x-own": [1]},
        }
        rich = {
            **plain,
            "name": "rich",
            "title": "Rich",
            "execution": {"taskSupport": "optional"},
            "annotations": {"title": "Older", "readOnlyHint": True, "x-hint": 1},
            "outputSchema": {"type": "object", "x-out": None},
            "icons": [{"src": "data:,", "sizes": ["any"]}],
            "_meta": {"k": {"deep": [1]}},
            "x-new": {"of": "tomorrow"},
        }
        tools = [{"result": {"tools": [plain, rich]}}]
        session = client.connect("s", scripted(tmp_path / "s", {"tools/list": tools}))
        for entry in (plain, rich):
            tool = session.tool(entry["name"])
            assert tool.to_mcp_tool() == entry
            tool.to_mcp_tool()["inputSchema"]["x-own"].append(2)
            assert tool.to_mcp_tool() == entry
            renamed = tool.model_copy(update={"name": "s_other"})
            assert renamed.to_mcp_tool() == {**entry, "name": "s_other"}
            other = tool.to_mcp_tool(input_schema={"type": "object"})
            assert other == {**entry, "inputSchema": {"type": "object"}}

    def test_leave_out_what_the_server_got_wrong(self, client, tmp_path):
        """A wrong part is not passed on; what is right beside it is."""
        wrong = {
            "name": "t",
            "title": 5,
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": 7},
            "execution": {"taskSupport": "forbidden"},
        }
        tools = [{"result": {"tools": [wrong]}}]
        session = client.connect("s", scripted(tmp_path / "s", {"tools/list": tools}))
        exported = session.tool("t").to_mcp_tool()
        assert exported["execution"] == {"taskSupport": "forbidden"}
        assert exported.keys() & {"title", "outputSchema"} == set()

    def test_for_openai_always_have_properties(self):
        """OpenAI refuses the schema of an object without them; the server's own is unchanged."""
        tool = definition(schema={"type": "object"})
        parameters = {"type": "object", "properties": {}}
        assert tool.to_openai_tool()["function"]["parameters"] == parameters
        assert tool.to_responses_tool()["parameters"] == parameters
        assert tool.to_mcp_tool()["inputSchema"] == {"type": "object"}

    def test_are_objects_where_a_server_left_that_out(self):
        """A schema without a type is exported as the object it must be."""
        assert definition(schema={}).parameters() == {"type": "object"}

    def test_know_where_they_come_from(self):
        """The source names the server."""
        assert definition().source == "mcp:s"


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "sent"),
        [
            ({"a": 1, "c": None}, {"a": 1}),
            ({"a": 1, "c": None, "d": None, "b": None}, {"a": 1, "b": None}),
            ({"a": 1, "c": "x"}, {"a": 1, "c": "x"}),
        ],
    )
    def test_drop_a_null_that_an_optional_argument_cannot_be(self, arguments, sent):
        """What a model writes for "left out" is left out; where null is a value it is sent."""
        more = {"c": {"type": "string"}, "d": {"$ref": "#/$defs/D"}}
        schema = {
            **SCHEMA,
            "properties": {**SCHEMA["properties"], **more},
            "$defs": {"D": {"enum": [1, 2]}},
        }
        tool = definition(schema=schema)
        assert tool.problems(arguments) == []
        assert tool.action_from_arguments(arguments).to_arguments() == sent

    @pytest.mark.parametrize(
        ("value", "sent"),
        [
            ({"n": 1, "t": None}, {"n": 1}),
            ({"n": 1, "t": "x"}, {"n": 1, "t": "x"}),
            ({"n": 1, "free": None}, {"n": 1, "free": None}),
            ({"n": 1, "next": {"n": 2, "t": None}}, {"n": 1, "next": {"n": 2}}),
            ({"n": 1, "next": None}, {"n": 1}),
            ({"n": 1, "all": [{"n": 2, "t": None}]}, {"n": 1, "all": [{"n": 2}]}),
            ({"n": 1, "one": {"kind": "x", "t": None}}, {"n": 1, "one": {"kind": "x"}}),
        ],
        ids=str,
    )
    def test_drop_such_a_null_at_any_depth(self, value, sent):
        """In objects, lists, unions and recursion it is left out as it is at the top."""
        node = {
            "type": "object",
            "properties": {
                "n": {"type": "integer"},
                "t": {"type": "string"},
                "free": {"type": ["string", "null"]},
                "next": {"$ref": "#/$defs/Node"},
                "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "one": {"anyOf": [{"$ref": "#/$defs/X"}, {"type": "string"}]},
            },
            "required": ["n"],
            "additionalProperties": False,
        }
        x = {
            "type": "object",
            "properties": {"kind": {"const": "x"}, "t": {"type": "string"}},
            "required": ["kind"],
        }
        schema = {
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": node, "X": x},
        }
        tool = definition(schema=schema)
        arguments = {"value": value}
        before = json.dumps(arguments)
        action = tool.action_from_arguments(arguments)
        assert action.to_arguments() == {"value": sent}
        assert json.dumps(arguments) == before

    @pytest.mark.parametrize(
        ("value", "sent"),
        [
            ({"o": {"k": "a", "x": None}}, {"o": {"k": "a"}}),
            ({"o": {"k": "b", "x": "y", "z": None}}, {"o": {"k": "b", "x": "y"}}),
            ({"m": "x", "n": None, "free": None}, {"m": "x", "free": None}),
            ({"m": "y", "n": None}, {"m": "y", "n": None}),
        ],
        ids=str,
    )
    def test_drop_such_a_null_in_the_alternative_that_counts(self, value, sent):
        """A tag or a condition says what may be left out; what may be null is sent."""
        text = {"type": "string"}
        parts = {"x": text, "z": text}
        one = {"properties": {"k": {"const": "a"}, **parts}, "required": ["k"]}
        other = {"properties": {"k": {"const": "b"}, **parts}, "required": ["k", "x"]}
        schema = {
            "type": "object",
            "properties": {"o": {"oneOf": [one, other]}, "m": text},
            "if": {"properties": {"m": {"const": "x"}}, "required": ["m"]},
            "then": {"properties": {"n": text}},
        }
        tool = definition(schema=schema)
        assert tool.problems(value) == []
        assert tool.action_from_arguments(value).to_arguments() == sent

    @pytest.mark.parametrize(
        "value",
        [{"n": None}, {"n": 1, "other": None}, {"n": 1, "all": [None]}],
        ids=str,
    )
    def test_refuse_every_other_null_at_any_depth(self, value):
        """One that is required, undeclared or in a list was no way to leave something out."""
        inner = {
            "type": "object",
            "properties": {
                "n": {"type": "integer"},
                "all": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["n"],
            "additionalProperties": False,
        }
        tool = definition(schema={"type": "object", "properties": {"value": inner}})
        with pytest.raises(ArgumentsError):
            tool.action_from_arguments({"value": value})

    def test_name_what_was_sent_in_place_of_a_required_argument(self):
        """A schema that takes other names refuses a misspelt one only by what is missing."""
        tool = definition(
            schema={
                "type": "object",
                "properties": {"repo_path": {"type": "string"}},
                "required": ["repo_path"],
            }
        )
        [near], [far] = (tool.problems({name: "x"}) for name in ("repo", "limit"))
        assert str(near) == "repo_path: is required, and 'repo' is not an argument"
        assert str(far) == "repo_path: is required"

    def test_name_a_misspelt_argument_once(self):
        """A schema that refuses other names does it in the words of own tools."""
        schema = {
            "type": "object",
            "properties": {"words": {"type": "string"}},
            "required": ["words"],
            "additionalProperties": False,
        }
        assert sorted(map(str, definition(schema=schema).problems({"word": "x"}))) == [
            "word: is an unknown argument. Did you mean 'words'?",
            "words: is required",
        ]

    @pytest.mark.parametrize("arguments", [{"a": None}, {"a": 1, "unknown": None}])
    def test_refuse_every_other_null(self, arguments):
        """A required argument, and one the tool does not have, are told as before."""
        with pytest.raises(ArgumentsError):
            definition().action_from_arguments(arguments)

    def test_keep_nulls_and_leave_out_what_is_not_there(self):
        """Unset, null and a value stay three different things."""
        tool = definition()
        assert tool.action_from_arguments({"a": 1}).data == {"a": 1}
        assert tool.action_from_arguments({"a": 1, "b": None}).data == {
            "a": 1,
            "b": None,
        }

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "a: is required"),
            ({"a": "x"}, 'a: should be an integer, not "x"'),
            ({"a": 0}, "a: should be at least 1"),
            ({"a": 1, "c": 2}, "c: is an unknown argument; expected: a, b"),
        ],
    )
    def test_are_checked_by_the_servers_schema(self, arguments, message):
        """What does not fit is told at its place, before the server is asked."""
        assert str(definition().problems(arguments)[0]).startswith(message)
        with pytest.raises(ArgumentsError, match=message):
            definition().action_from_arguments(arguments)

    def test_with_a_date_in_another_notation_are_only_sent_unchecked(self):
        """A check refuses them in the words of own tools; who sends without a check sends them."""
        day = {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}
        tool = definition(schema={"type": "object", "properties": {"since": day}})
        message = 'since: should be a date such as 2024-01-31, not "1.12.2026"'
        with pytest.raises(ArgumentsError, match=message):
            tool.action_from_arguments({"since": "1.12.2026"})
        sent = tool.unchecked_action({"since": "1.12.2026"})
        assert sent.data == {"since": "1.12.2026"}
        for text in ("2026-12-01", "today", None):
            assert tool.action_from_arguments({"since": text}).data == {"since": text}

    def test_that_do_not_fit_are_told_without_secrets(self):
        """Neither what names call a secret, nor what the schema does, is quoted."""
        schema = {
            "properties": {
                "token": {"type": "string", "pattern": "^x"},
                "password": {"type": "integer"},
                "word": {"enum": ["a"], "format": "password"},
                "n": {"type": "integer"},
            }
        }
        tool = definition(schema=schema)
        arguments = {"token": "hunter2", "word": "hunter3", "n": "x"}
        arguments |= {"password": "hunter4"}
        with pytest.raises(ArgumentsError) as raised:
            tool.action_from_arguments(arguments)
        assert "hunter" not in str(raised.value)
        assert "hunter" not in str(tool.problems(arguments))
        assert 'not "x"' in str(raised.value)


class TestAction:
    def test_survives_being_written_down(self):
        """An action comes back from its dict, arguments called `kind` and `data` included."""
        action = MCPToolAction(data={"kind": 1, "data": None})
        assert Action.from_dict(json.loads(json.dumps(action.to_dict()))) == action
        assert action.to_arguments() == {"kind": 1, "data": None}

    def test_shows_its_arguments(self):
        """A person sees names and values."""
        text = str(MCPToolAction(data={"path": "/x", "n": 3}).visualize)
        assert text.split() == ["Arguments", "path:", "/x", "n:", "3"]
        assert str(MCPToolAction(data={}).visualize) == "No arguments"

    def test_shows_no_secret(self):
        """What the names call a secret is hidden, at any depth, as in its repr."""
        action = MCPToolAction(data={"auth": {"password": "hunter2"}, "user": "ann"})
        for text in (str(action.visualize), repr(action)):
            assert "hunter2" not in text
            assert "ann" in text

    def test_of_a_tool_shows_nothing_its_schema_calls_secret(self):
        """A call that was checked, and one that the server is to judge."""
        tool = definition(schema={"properties": {"word": {"writeOnly": True}}})
        for make in (tool.action_from_arguments, tool.unchecked_action):
            action = make({"word": "hunter2"})
            assert "hunter2" not in f"{action.visualize} {action!r}"
            assert action.to_arguments() == {"word": "hunter2"}
            assert action == MCPToolAction(data={"word": "hunter2"})
            assert action != MCPToolAction(data={})
