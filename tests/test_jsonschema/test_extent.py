"""Schemas that are too large to check a value with, and values too large to check."""

import time

import pytest
from corpus import needs_corpus, published_tools
from hostile_schemas import DOUBLING, READ, TOO_LARGE, deep, ref

from toolbench.errors import SchemaError
from toolbench.jsonschema.extent import MOST_BYTES, MOST_FOR_ONE_VALUE, MOST_SCHEMAS, Extent
from toolbench.jsonschema.validate import validator_of

# Seconds of the processor: the time that was found is a tenth of it
SOON = 3.0


class TestSchemas:
    @pytest.mark.parametrize("name", TOO_LARGE)
    def test_too_large_is_refused_at_once(self, name):
        """What would take hours, or the whole memory, is not read, and a sentence says why."""
        begin = time.process_time()
        with pytest.raises(SchemaError, match=r"more than [\d,]+|too many references to names"):
            validator_of(TOO_LARGE[name])
        assert time.process_time() - begin < SOON

    @needs_corpus
    def test_of_public_tools_are_far_smaller(self):
        """No limit is near to what real servers publish."""
        extents = []
        for tool in published_tools(all_of_them=False):
            schema = tool["inputSchema"]
            assert len(str(schema)) < MOST_BYTES / 10
            extents.append(Extent(schema, schema).schemas)
        assert max(extents) < MOST_SCHEMAS / 7

    def test_of_a_grammar_are_no_larger_for_its_circles(self):
        """Each of 20 kinds of expressions may hold all kinds, at two places."""
        kinds = {f"k{n}": {"properties": {"kind": {"const": n}}} for n in range(20)}
        either = {"anyOf": [ref(name) for name in kinds]}
        for kind in kinds.values():
            kind["properties"] |= {"left": either, "right": either}
        validator = validator_of({"type": "object", **either, "$defs": kinds})
        assert validator.problems(deep(3, {"kind": 7}, "left")) == []
        assert validator.problems(deep(3, {"kind": 77}, "left"))


class TestValues:
    @pytest.mark.parametrize("name", READ)
    def test_are_checked_soon(self, name):
        """Of a wrong value there are at most twenty problems, and a large value says so."""
        schema, value = READ[name]
        validator = validator_of(schema)
        begin = time.process_time()
        problems = validator.problems(value)
        assert time.process_time() - begin < SOON
        assert 0 < len(problems) <= 20
        assert not validator.is_valid(value)

    @pytest.mark.parametrize(
        "schema",
        [
            {"propertyNames": {"maxLength": 1}},
            {"required": [f"other{n}" for n in range(2_000)]},
            {"dependentRequired": {"name0": [f"other{n}" for n in range(2_000)]}},
            {"allOf": [False] * 2_000},
            {"additionalProperties": {"not": {"description": "x" * 200_000}}},
            {"additionalProperties": {"const": {f"c{n}": n for n in range(1_000)}}},
        ],
    )
    def test_whose_errors_would_quote_too_much_have_no_list(self, schema):
        """Some errors quote the whole object, or the schema: these would take hundreds of megabytes."""
        problems = validator_of(schema).problems({f"name{n}": n for n in range(500)})
        assert list(map(str, problems)) == [
            "does not fit its schema, and is too large for finding the place"
        ]

    def test_of_a_circle_are_checked_as_far_as_they_go(self):
        """A tree of an ordinary size has its problem at its place."""
        schema = {"type": "object", "properties": {"a": {"$ref": "#"}}}
        validator = validator_of(schema)
        assert validator.problems(deep(100, {})) == []
        [problem] = validator.problems(deep(100, 1))
        assert problem.path == ("a",) * 100
        [problem] = validator.problems(deep(300, 1))
        assert str(problem).startswith("is too large, or nested too deeply, to be checked")


def test_the_limit_of_one_value_counts_all_its_schemas():
    """The list of doubling schemas holds one that is just too large."""
    smallest = next(iter(DOUBLING.values()))
    with pytest.raises(SchemaError, match=f"{MOST_FOR_ONE_VALUE:,} schemas for the same value"):
        validator_of(smallest)
