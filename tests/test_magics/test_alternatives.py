import pytest

from toolbench.magics.alternatives import Alternatives

SCHEMA = {
    "$defs": {
        "way": {"enum": ["on foot", "by car"]},
        "trip": {"type": "object", "properties": {"way": {"$ref": "#/$defs/way"}}},
        "loop": {"$ref": "#/$defs/loop"},
        "tree": {"properties": {"below": {"$ref": "#/$defs/tree"}, "n": {"const": 1}}},
    },
    "properties": {
        "way": {"anyOf": [{"$ref": "#/$defs/way"}, {"type": "null"}]},
        "trips": {"type": "array", "items": {"$ref": "#/$defs/trip"}},
        "pair": {"prefixItems": [{"const": "a"}], "items": {"type": "boolean"}},
        "notes": {"additionalProperties": {"type": ["string", "null"]}},
        "free": {"type": "object", "additionalProperties": True},
        "loop": {"$ref": "#/$defs/loop"},
        "lost": {"$ref": "#/$defs/lost"},
        "tree": {"$ref": "#/$defs/tree"},
        "mixed": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    },
}


def at(*path):
    return Alternatives.of(SCHEMA).below(path)


class TestAlternatives:
    @pytest.mark.parametrize(
        ("path", "names", "choices"),
        [
            ((), list(SCHEMA["properties"]), []),
            (("way",), [], ["on foot", "by car"]),
            (("trips", 3), ["way"], []),
            (("trips", 0, "way"), [], ["on foot", "by car"]),
            (("pair", 0), [], ["a"]),
            (("pair", 1), [], [True, False]),
            (("tree", "below", "below"), ["below", "n"], []),
            (("tree", "below", "n"), [], [1]),
            *(((name,), [], []) for name in ("loop", "lost", "free", "nope")),
            (("free", "x", 0, "y"), [], []),
        ],
    )
    def test_know_names_and_choices(self, path, names, choices):
        """Those of the place itself, whatever references and branches lead there."""
        assert at(*path).names == names
        assert at(*path).choices == choices

    @pytest.mark.parametrize(
        ("path", "text", "null"),
        [
            (("way",), True, True),
            (("trips", 0, "way"), True, False),
            (("notes", "any"), True, True),
            (("mixed",), False, False),
            (("nope",), False, False),
        ],
    )
    def test_know_what_is_text(self, path, text, null):
        """Text is what can be nothing else; null may stand beside it."""
        assert at(*path).are_text is text
        assert at(*path).take_null is null

    @pytest.mark.parametrize("schema", [None, True, [], {"anyOf": 3, "properties": 3}])
    def test_survive_what_is_no_schema(self, schema):
        """A server may send anything."""
        found = Alternatives.of(schema)
        assert found.names == found.at("x").choices == found.at(0).names == []
