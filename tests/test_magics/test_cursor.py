import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.magics.completion import place_in_json, place_in_yaml

OBJECTS = st.dictionaries(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    ),
)


def parts_of(place):
    return place and (place.kind, place.path, place.typed)


class TestJSON:
    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("{", ("name", (), "")),
            ('{"', ("name", (), '"')),
            ("{to", ("name", (), "to")),
            ('{"a"', None),
            ('{"a":', ("value", ("a",), "")),
            ('{"a": "x, {', ("value", ("a",), '"x, {')),
            ('{"a": "x\\"', ("value", ("a",), '"x\\"')),
            ('{"a": tr', ("value", ("a",), "tr")),
            ('{"a": true ', None),
            ('{"a": [1, [2, "', ("value", ("a", 1, 1), '"')),
            ('{"a": [1], "b": {"c": 2,\n  "', ("name", ("b",), '"')),
            ('{"a": {}}', None),
            ("", None),
            ('}]:,"', None),
        ],
    )
    def test_tells_names_from_values(self, text, place):
        """A name is of the object around it; a value has its own place."""
        assert parts_of(place_in_json(text)) == place

    def test_knows_what_is_given(self):
        """The names of this object, not of those around it or in it."""
        place = place_in_json('{"a": 1, "b": {"c": {"d": 1}, "\\u0065": 2, "')
        assert place.path == ("b",)
        assert place.present == {"c", "e"}

    @pytest.mark.slow
    @given(OBJECTS, st.integers(0, 200))
    def test_takes_the_beginning_of_any_object(self, value, cut):
        """Whatever is typed so far: what was begun is its end."""
        text = json.dumps(value, ensure_ascii=False)[:cut]
        place = place_in_json(text)
        assert place is None or text.endswith(place.typed)


class TestYAML:
    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("", ("name", (), "")),
            ("to", ("name", (), "to")),
            ('a: 1\n"to', ("name", (), '"to')),
            ("a: ", ("value", ("a",), "")),
            ("a: by c", ("value", ("a",), "by c")),
            ("'a': 'by", ("value", ("a",), "'by")),
            ("a:\n  b", None),
            ("- a", None),
        ],
    )
    def test_tells_names_from_values(self, text, place):
        """Of lines that are not indented."""
        assert parts_of(place_in_yaml(text)) == place

    def test_knows_what_is_given(self):
        """The names of the lines above."""
        assert place_in_yaml('a: 1\n"b": 2\n  c: 3\n').present == {"a", "b"}
