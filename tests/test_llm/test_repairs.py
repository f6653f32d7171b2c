"""What is mended, what never is, and that nothing is mended in silence."""

import json
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from test_llm.samples import GREP, taking
from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition
from toolbench.llm.calls import parse_tool_calls
from toolbench.llm.calls.repairs import NotJsonError, read_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)


def loose(value):
    """The JSON of *value* with a comma after every last item."""
    if isinstance(value, list):
        return "[" + "".join(f"{loose(item)}, " for item in value) + "]"
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k)}: {loose(v)}, " for k, v in value.items())
        return "{" + "".join(pairs) + "}"
    return json.dumps(value)


def call_of(arguments, tool=GREP):
    """The call of *tool* with the text or object *arguments*."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    message = {"type": "function", "function": {"name": tool.name, "arguments": text}}
    (call,) = parse_tool_calls(message, [tool])
    return call


def repair_texts(call):
    """The repairs, as a person reads them."""
    return [str(repair) for repair in call.repairs]


class TestText:
    """Text that is nearly JSON."""

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"a": 1,}', {"a": 1}),
            ('{"a": [1, 2,],}', {"a": [1, 2]}),
            ("{'a': 'b'}", {"a": "b"}),
            ("{'a': 'say \"hi\"', 'b': \"it's\"}", {"a": 'say "hi"', "b": "it's"}),
            ("{a: 1}", {"a": 1}),
            ('{"a": True, "b": None, "c": False}', {"a": True, "b": None, "c": False}),
            ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
            ('{"a": "x\ny",}', {"a": "x\ny"}),
            ('{"re": "\\d+\\s"}', {"re": "\\d+\\s"}),
            ('```json\n{"a": 1}\n```', {"a": 1}),
            ('```\n{"a": "x\ny"}\n```', {"a": "x\ny"}),
            ('{"url": "http://x/y", }', {"url": "http://x/y"}),
            ('{"a": "\\ud83d\\ude00",}', {"a": "😀"}),
            ('{"a": -1.5e3,}', {"a": -1500.0}),
            ('{"a": 12345678901234567890,}', {"a": 12345678901234567890}),
        ],
    )
    def test_mended(self, text, value):
        """One reading is possible: it is taken, and told."""
        assert read_json(text)[0] == value
        assert read_json(text)[1]

    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "text",
        [
            '{"command": "rm -rf /tmp/fo',
            '{"command": "rm -rf /tmp/fo"',
            '{"a": [1, 2',
            '{"a": [1, 2}',
            '{"a": 1}}',
            "{",
            "",
            '{"a":}',
            '{"a"}',
            '{"a": "he said "hi" to me"}',
            '{"a": "x" + "y"}',
            '{"a": 1,, "b": 2}',
            '{"a": 1 "b": 2}',
            '{"a": 1, // why\n "b": 2}',
            '{"a": undefined}',
            '{"a": NaN}',
            '{"a": Infinity}',
            '{"a": 01}',
            '{"a": .5}',
            '{"a": 1, "a": 2,}',
            '{"path": "C:\\dir\\new"}',
            '{"a": 1}{"b": 2}',
            '{"a": 1} and more',
            "{'a': 'it's'}",
            '{"a": tru}',
            "[" * 100_000,
            "[" * 50_000 + "]" * 50_000,
            "{" * 9_000,
            '{"a": [1,, ' * 900,
            '{"a": ' + "1" * 5_000 + "}",
        ],
        ids=lambda text: text[:20] + text[-9:],
    )
    def test_refused(self, text):
        """Cut off, or open to two readings: an error."""
        with pytest.raises(NotJsonError):
            read_json(text)

    def test_where(self):
        """The error says where the text goes wrong, without a piece of it: it may hold a secret."""
        with pytest.raises(NotJsonError, match=r"ends too early, after 27 characters$"):
            read_json('{"command": "rm -rf /tmp/fo')
        with pytest.raises(NotJsonError, match=r"ends too early, after 5 characters$"):
            read_json('{"a":')
        with pytest.raises(NotJsonError, match=r"at character 2$"):
            read_json("{'a': 1} \"and what follows")
        with pytest.raises(NotJsonError, match=r"at character 14$"):
            read_json('{"a": "said "hi" to"}')

    @given(VALUES)
    def test_json_is_left_alone(self, value):
        """JSON is read as `json` reads it, and nothing is told."""
        text = json.dumps(value)
        assert read_json(text) == (json.loads(text), [])

    @pytest.mark.slow
    @given(OBJECTS)
    @settings(max_examples=25)
    def test_never_from_a_part(self, value):
        """No part of an object's text is taken for the whole."""
        text = json.dumps(value)
        for end in range(len(text)):
            with pytest.raises(NotJsonError):
                read_json(text[:end])

    @given(OBJECTS)
    @settings(max_examples=50)
    def test_python(self, value):
        """What Python prints of an object is read as that object, or refused."""
        try:
            value_read, _ = read_json(repr(value))
        except NotJsonError:
            return
        assert value_read == value

    @given(OBJECTS)
    @settings(max_examples=50)
    def test_commas(self, value):
        """A comma after the last item changes nothing."""
        value_read, repairs = read_json(loose(value))
        assert value_read == value
        assert bool(repairs) == (loose(value) != json.dumps(value))

    @given(st.text(alphabet="{}[]:,\"\\'abc 1\n", max_size=24))
    def test_any_text(self, text):
        """Whatever comes, it is JSON or an error."""
        try:
            value, _ = read_json(text)
        except NotJsonError:
            return
        assert json.loads(json.dumps(value)) == value


class TestValues:
    """Values of another type than the schema's."""

    @pytest.mark.parametrize(
        ("schema", "sent", "value"),
        [
            ({"type": "boolean"}, "true", True),
            ({"type": "boolean"}, "False", False),
            ({"type": "integer"}, "3", 3),
            ({"type": "integer"}, " -3 ", -3),
            ({"type": "number"}, "3.5", 3.5),
            ({"type": "number"}, "1e3", 1000.0),
            ({"type": ["integer", "null"]}, "null", None),
            ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", 3),
            ({"type": "array"}, "[1, 2]", [1, 2]),
            ({"type": "array"}, "['a',]", ["a"]),
            ({"type": "object"}, '{"a": 1}', {"a": 1}),
            ({"enum": [1, 2]}, "2", 2),
            ({"const": True}, "true", True),
        ],
    )
    def test_in_a_string(self, schema, sent, value):
        """A value in a string is read where the schema wants no string, and that is told."""
        call = call_of({"x": sent}, taking({"x": schema}))
        assert call.arguments == {"x": value}
        assert type(call.arguments["x"]) is type(value)
        (repair,) = call.repairs
        assert repair.path == ("x",)
        assert "was read as" in repair.message

    @pytest.mark.parametrize(
        ("schema", "sent"),
        [
            ({"type": "string"}, "true"),
            ({"type": ["string", "integer"]}, "3"),
            ({"anyOf": [{"type": "string"}, {"type": "object"}]}, '{"a": 1}'),
            ({}, "3"),
            ({"enum": ["1", "2"]}, "1"),
        ],
    )
    def test_strings_stay(self, schema, sent):
        """Where a string is welcome, a string stays."""
        call = call_of({"x": sent}, taking({"x": schema}))
        assert call.arguments == {"x": sent}
        assert call.repairs == ()

    @pytest.mark.parametrize(
        ("schema", "sent"),
        [
            ({"type": "integer"}, "3.5"),
            ({"type": "integer"}, "three"),
            ({"type": "integer"}, "0x10"),
            ({"type": "integer"}, ""),
            ({"type": "boolean"}, "yes"),
            ({"type": "boolean"}, 1),
            ({"type": "array"}, "a, b"),
            ({"type": "array"}, '{"a": 1}'),
            ({"type": "object"}, "[1]"),
            ({"type": "object"}, '{"a": '),
            ({"type": "string"}, 3),
            ({"type": "number"}, "1e999"),
        ],
    )
    def test_refused(self, schema, sent):
        """What is no value of the type is an error."""
        call = call_of({"x": sent}, taking({"x": schema}))
        assert call.error
        assert call.arguments == {"x": sent}

    def test_inside(self):
        """Lists, objects, maps and choices are mended inside."""
        schema = {
            "list": {"type": "array", "items": {"type": "integer"}},
            "object": {"type": "object", "properties": {"n": {"type": "number"}}},
            "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}]},
            "choice": {
                "anyOf": [
                    {
                        "type": "object",
                        "required": ["a"],
                        "properties": {"a": {"type": "integer"}},
                    },
                    {
                        "type": "object",
                        "required": ["b"],
                        "properties": {"b": {"type": "integer"}},
                    },
                ]
            },
        }
        sent = {
            "list": [1, "2"],
            "object": {"n": "3"},
            "map": {"k": "true"},
            "pair": ["4"],
            "choice": {"b": "5"},
        }
        call = call_of(sent, taking(schema))
        assert call.arguments == {
            "list": [1, 2],
            "object": {"n": 3},
            "map": {"k": True},
            "pair": [4],
            "choice": {"b": 5},
        }
        wheres = [repair.where for repair in call.repairs]
        assert wheres == ["list[1]", "object.n", "map.k", "pair[0]", "choice.b"]

    def test_open_choice(self):
        """Where a value may be meant for several alternatives, it is left alone."""
        one = {"type": "object", "properties": {"a": {"type": "integer"}}}
        other = {"type": "object", "properties": {"a": {"type": "string"}}}
        call = call_of({"x": {"a": "3"}}, taking({"x": {"anyOf": [one, other]}}))
        assert call.arguments == {"x": {"a": "3"}}
        assert call.repairs == ()

    def test_recursive(self):
        """A schema that holds itself is followed as deep as the value goes."""
        node = {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}},
        }
        tool = taking({"node": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
        call = call_of({"node": {"next": {"next": {"n": "1"}}}}, tool)
        assert call.arguments == {"node": {"next": {"next": {"n": 1}}}}

    def test_null_for_unset(self):
        """`null` for an optional argument that cannot be null is left out, and told."""
        tool = taking({"a": {"type": "string"}, "b": {"type": "string"}}, "a")
        call = call_of({"a": "x", "b": None}, tool)
        assert call.arguments == {"a": "x"}
        assert repair_texts(call) == ["b: null was left out: the argument is optional"]
        assert call_of({"a": None}, tool).error
        assert call_of({"a": None}, tool).arguments == {"a": None}

    def test_null_that_is_meant(self):
        """`null` stays where the schema takes it."""
        tool = taking({"a": {"type": ["string", "null"]}})
        call = call_of({"a": None}, tool)
        assert call.arguments == {"a": None}
        assert call.repairs == ()

    def test_whole_arguments(self):
        """Arguments that are JSON in a string of JSON."""
        call = call_of(json.dumps(json.dumps({"pattern": "x"})))
        assert call.action.pattern == "x"
        assert repair_texts(call) == ["the arguments were JSON in a string"]

    def test_whole_number(self):
        """3.0 is an integer: nothing had to be mended."""
        call = call_of({"n": 3.0}, taking({"n": {"type": "integer"}}))
        assert call.action
        assert call.repairs == ()


class TestNative:
    """pydantic takes more than the schema says: that is told too."""

    class Sub(BaseModel):
        n: int = 0

    class LaxAction(Action):
        flag: bool = False
        count: int = 0
        mode: Literal["a", "b"] = "a"
        sums: dict[str, int] = Field(default_factory=dict)
        sub: "TestNative.Sub | None" = None

    TOOL = ToolDefinition(name="lax", description="Lax.", action_type=LaxAction)

    def test_mended(self):
        """What can be read is read before pydantic sees it."""
        call = call_of(
            {"flag": "true", "count": "3", "sums": {"a": "1"}, "sub": {"n": "4"}},
            self.TOOL,
        )
        assert call.arguments == {
            "flag": True,
            "count": 3,
            "sums": {"a": 1},
            "sub": {"n": 4},
        }
        assert len(call.repairs) == 4

    @pytest.mark.parametrize("sent", [{"flag": "yes"}, {"flag": 1}, {"count": True}])
    def test_taken(self, sent):
        """What only pydantic understands is told."""
        call = call_of(sent, self.TOOL)
        assert call.action
        (repair,) = call.repairs
        assert "was accepted, though the schema asks for another type" in repair.message

    def test_fits(self):
        """What fits is not touched."""
        sent = {"flag": True, "count": 3, "mode": "b", "sums": {"a": 1}, "sub": None}
        call = call_of(sent, self.TOOL)
        assert call.arguments == sent
        assert call.repairs == ()
