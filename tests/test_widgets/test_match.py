"""Which alternative a value belongs to, and which values are the same text."""

import pytest

from toolbench.jsonschema.node import read
from toolbench.values import same_json
from toolbench.widgets.fields.union import admits

_TEXT = {"type": "string"}
_INT = {"type": "integer"}


class TestMatching:
    @pytest.mark.parametrize(
        ("schema", "value", "verdict"),
        [
            (_INT, 1, True),
            (_INT, 1.0, True),
            (_INT, True, False),
            ({"type": "boolean"}, 1, False),
            (_TEXT, None, False),
            ({"type": ["string", "null"]}, None, True),
            ({"const": 1}, True, False),
            ({"enum": ["a"]}, "a", True),
            ({"type": "array", "items": _INT}, [1, "a"], False),
            ({"properties": {"a": {"const": 1}}}, {"a": 2}, False),
            ({"properties": {}, "required": ["a"]}, {}, False),
            ({"properties": {}, "additionalProperties": False}, {"a": 1}, False),
            ({}, object(), True),
            ({"type": 3}, "x", True),
        ],
    )
    def test_shapes_are_told_apart_without_a_validator(self, schema, value, verdict):
        """Types, constants and required keys decide; 1 is no true."""
        assert admits(read(schema), value) is verdict


class TestEquality:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (1, True),
            (1, 1.0),
            (0.0, -0.0),
            ("1", 1),
            (None, False),
            ([], {}),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            ([1], [1, 2]),
            ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}),
        ],
    )
    def test_what_json_writes_differently_differs(self, left, right):
        """Python's `==` calls most of these equal."""
        assert not same_json(left, right)
        assert same_json(left, left)
        assert same_json(right, right)

    def test_nan_is_itself(self):
        """A value that was set and read back has not changed."""
        assert same_json([float("nan")], [float("nan")])
