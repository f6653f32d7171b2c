import pytest

from toolbench.errors import SchemaError
from toolbench.jsonschema.node import SchemaView, read
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.walk import MISSING, follow

_ROOT = {
    "$defs": {
        "a/b": {"n": 1},
        "c~d": {"n": 2},
        "e f": {"n": 3},
        "none": None,
        "deep": [{"n": 4}, {"$anchor": "named", "n": 5}],
        "old": {"$id": "#oldest", "n": 6},
    }
}


@pytest.mark.parametrize(
    ("reference", "n"),
    [
        ("#/$defs/a~1b", 1),
        ("#/$defs/a%2Fb", 1),
        ("#/$defs/c~0d", 2),
        ("#/$defs/e%20f", 3),
        ("#/$defs/deep/0", 4),
        ("#named", 5),
        ("#oldest", 6),
    ],
)
def test_leads_to_a_part(reference, n):
    """A pointer is unescaped and goes through lists; a name is looked for everywhere."""
    assert follow(_ROOT, reference)["n"] == n


def test_leads_to_the_whole():
    """`#` is the root itself; what is None is there."""
    assert follow(_ROOT, "#") is _ROOT
    assert follow(_ROOT, "#/$defs/none") is None


@pytest.mark.parametrize(
    "reference",
    [
        "#/gone",
        "#/$defs/deep/2",
        "#/$defs/deep/x",
        "#unnamed",
        "#named/n",
        "other.json#/a",
        "",
        5,
    ],
)
def test_leads_nowhere(reference):
    """Neither a part that is not there nor another document is mistaken for the root."""
    assert follow(_ROOT, reference) is MISSING


def test_ends_where_a_schema_goes_in_circles():
    """A name is looked for once in each part."""
    root = {"$defs": {}}
    root["$defs"]["again"] = root
    assert follow(root, "#unnamed") is MISSING


def test_what_stands_beside_a_reference_adds_to_it():
    """Properties and required names of both count; of one in both, what either says."""
    far = {"properties": {"a": {"type": "number"}, "b": {}}, "required": ["a", "b"]}
    near = {"$ref": "#/$defs/far", "properties": {"a": {"minimum": 1}, "c": {}}}
    root = {"$defs": {"far": far}, **near, "required": ["c", "a"]}
    whole = read(root)
    assert set(whole.names) == {"a", "b", "c"}
    assert set(whole.required) == {"a", "b", "c"}
    assert whole.at("a").type == "number"
    assert whole.at("a").schema["minimum"] == 1


@pytest.mark.parametrize(
    "dialect",
    [
        {},
        {"$id": "https://example.com/root.json"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "root"},
    ],
)
@pytest.mark.parametrize(
    ("part", "good", "bad"),
    [
        ({"items": {"$ref": "#/properties/n"}, "type": "array"}, [1], ["x"]),
        ({"$ref": "#"}, {"n": 1}, {"n": "x"}),
        ({"$ref": "#/$defs/yes"}, True, 1),
        ({"type": "string"}, "x", 1),
    ],
)
def test_a_part_is_judged_by_what_it_refers_to(dialect, part, good, bad):
    """Also where that is no definition but another part, as zod writes it, or the whole."""
    root = {
        **dialect,
        "type": "object",
        "$defs": {"yes": {"type": "boolean"}},
        "properties": {"n": {"type": "integer"}, "part": part},
    }
    view = SchemaView(root)
    assert view.fits(part, good) and not view.problems(part, good)
    assert not view.fits(part, bad) and view.problems(part, bad)


@pytest.mark.parametrize("own", ["http://x/root.json", "http://x/root.json#", ""])
@pytest.mark.parametrize(
    "reference",
    [
        *("http://x/root.json#/$defs/whole", "root.json#/$defs/whole", "#/$defs/whole"),
        *("part.json", "http://x/part.json", "http://[", "urn:a", "http://y/root.json"),
    ],
)
def test_an_address_leads_where_the_validator_goes(own, reference):
    """What stands there is read, and judges a part alone; else the schema cannot be used."""
    whole = {"type": "integer", "description": "W."}
    schema = {
        **({"$id": own} if own else {}),
        "$defs": {"whole": whole, "part": {**whole, "$id": "part.json"}},
        "properties": {"a": {"$ref": reference}},
    }
    argument = read(schema).at("a")
    try:
        validator_of(schema)
    except SchemaError:
        assert (argument.types, argument.notice != "") == ((), True)
    else:
        assert argument.types == ("integer",)
        assert argument.description == "W."
        assert argument.fits(1)
        assert not argument.fits("x")
