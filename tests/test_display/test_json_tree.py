"""JSON values as trees that fold, and as indented text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_display.inert import problems, text_of
from toolbench.display import json_html, json_text
from toolbench.display.json_tree import parse_json

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


class TestParse:
    @settings(max_examples=40)
    @given(st.dictionaries(st.text(), _JSON) | st.lists(_JSON))
    def test_objects_and_lists_are_read(self, value):
        """As they were written."""
        text = json.dumps(value)
        assert json.dumps(parse_json(f"\n {text} ")) == text

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "1",
            '"x"',
            "null",
            "{",
            "[1,]",
            "{'a': 1}",
            "[1] tail",
            "[" * 100_000,
            f"[{'9' * 5_000}]",
        ],
    )
    def test_anything_else_is_not_json(self, text):
        """Neither a bare value nor broken, bottomless or boundless JSON."""
        assert parse_json(text) is None

    def test_a_repeated_key_is_refused(self):
        """A tree would show one of the two, a model reads both."""
        assert parse_json('{"a": 1, "a": 2}') is None


class TestTree:
    def test_the_parts_of_a_tree(self):
        """Golden: keys, sizes, values as JSON writes them, strings with their own lines."""
        value = {"a": [1, True, None, "x\ny"], "b": {}, "c": 1.5}
        assert text_of(json_html(value)) == ('{3}a: [4]0: 11: true2: null3: "x\ny"b: {}c: 1.5')

    def test_two_levels_are_open(self):
        """The rest is one click away, without a script."""
        html = json_html({"a": {"b": {"c": {"d": 1}}}})
        assert html.count("<details open>") == 2
        assert html.count("<details>") == 2
        assert problems(html) == []

    @given(_JSON)
    def test_every_value_has_a_tree_and_a_text(self, value):
        """Whatever JSON can carry, and NaN."""
        assert problems(json_html(value)) == []
        json_text(value).encode("utf-8")

    def test_values_json_cannot_carry(self):
        """Said in words, and never an exception."""
        loop: dict[str, object] = {}
        loop["self"] = loop
        for value in (loop, {(1, 2): {3}}, 10**5_000, {"x": object}):
            assert problems(json_html(value)) == []
            assert json_text(value)
        assert json_text(loop) == '{\n  "self": "..."\n}'


class TestText:
    def test_indented(self):
        """Golden: two blanks a level, letters as they are, hidden characters spelled out."""
        assert json_text({"ü": [1], "b\u202e": "<>"}) == (
            '{\n  "ü": [\n    1\n  ],\n  "b⟨U+202E⟩": "<>"\n}'
        )

    def test_head_and_tail(self):
        """A long text shows both ends."""
        text = json_text(list(range(10_000)), limit=500)
        assert len(text) <= 500
        assert text.startswith("[\n  0,")
        assert text.endswith("9999\n]")


@pytest.mark.parametrize(
    ("value", "is_part"), [("whole", False), ("x" * 3_000, True), ("a\u202eb", True)]
)
def test_a_tree_says_whether_it_is_only_a_part(value, is_part):
    """Of what was cut, or spelled out, a page can save only a part."""
    html = json_html({"a": value})
    assert ("data-toolbench-part" in html) == is_part
    # Cut in the middle: both quotes are there
    assert html.count("&quot;") == 2


class TestCaps:
    @pytest.mark.parametrize(
        "value",
        [
            list(range(100_000)),
            {str(key): {"a": key} for key in range(20_000)},
            ["&" * 1_000] * 1_000,
            "x" * 1_000_000,
        ],
        ids=["list", "objects", "ampersands", "string"],
    )
    def test_a_large_value_makes_a_bounded_tree(self, value):
        """About a megabyte in, and a count of what is left out."""
        html = json_html(value)
        assert len(html) <= 600_000
        assert "left out …" in text_of(html)

    def test_a_deep_value_ends(self):
        """Below forty levels the rest is written on one line."""
        value: list[object] = []
        for _ in range(300):
            value = [value]
        assert problems(json_html(value)) == []
        assert text_of(json_html(value)).endswith("]" * 200)
