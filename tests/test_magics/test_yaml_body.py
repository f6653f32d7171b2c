import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.errors import BodyError
from toolbench.magics.arguments.yaml_body import read_yaml

SCHEMA = {
    "properties": {
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "texts": {"type": "array", "items": {"type": "string"}},
    }
}
TEXT = st.text(st.characters(max_codepoint=0xD7FF))  # PyYAML joins no surrogates
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=8,
)


class TestReading:
    @pytest.mark.parametrize(
        "text",
        [
            *("16:30", "12:30:00", "2026-11-22", "2026-11-22 10:00:00"),
            *("yes", "No", "on", "off", "y", "n", "1_000", "0b1", "="),
        ],
    )
    def test_leaves_text_what_only_older_yaml_reads_otherwise(self, text):
        """No times, dates, or words for true and false: version 1.2 has none."""
        assert read_yaml(f"a: {text}", {}) == {"a": text}

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            *(("7", 7), ("-7", -7), ("010", 10), ("0o17", 15), ("0x1F", 31)),
            *((".5", 0.5), ("1e3", 1000.0), ("-1.5E-1", -0.15), ("-.inf", -1e999)),
            *(("true", True), ("FALSE", False), ("null", None), ("~", None)),
            *(("", None), ('"7"', "7"), ("'true'", "true")),
        ],
    )
    def test_reads_numbers_and_the_like(self, text, value):
        """What JSON has besides text is read as that, unless it is in quotes."""
        result = read_yaml(f"a: {text}", {})["a"]
        assert (type(result), result) == (type(value), value)

    @pytest.mark.parametrize("text", ["7", "007", "1.10", "true", "16:30", "~", "null"])
    def test_keeps_text_as_it_is_written(self, text):
        """Where the schema wants text, a scalar is what stands there, at any depth."""
        body = f"text: {text}\ntexts: [{text}]\nother: 7"
        assert read_yaml(body, SCHEMA) == {"text": text, "texts": [text], "other": 7}

    @pytest.mark.parametrize(("text", "value"), [("null", None), ("7", "7")])
    def test_keeps_null_where_it_may_stand(self, text, value):
        """Null beside text is null."""
        assert read_yaml(f"maybe: {text}", SCHEMA) == {"maybe": value}

    def test_takes_nothing_for_no_text(self):
        """A name without a value is no empty text: somebody forgot it."""
        assert read_yaml("text:", SCHEMA) == {"text": None}

    def test_takes_names_for_text(self):
        """Arguments have names, and a merge is none."""
        body = "404: a\nyes: b\nnull: c\n<<: {d: 1}"
        assert read_yaml(body, {}) == {"404": "a", "yes": "b", "null": "c", "d": 1}

    @given(JSON)
    def test_reads_json(self, value):
        """JSON in YAML means what it means in JSON."""
        assert read_yaml(json.dumps(value), {}) == value

    def test_reads_aliases_once(self):
        """A few lines that stand for a billion items are no trouble."""
        lines = ["a0: &a0 [1]"]
        lines += [
            f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)
        ]
        assert read_yaml("\n".join(lines), SCHEMA)["a0"] == [1]


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (
                "a: 1\nb: c: d",
                "mapping values are not allowed here, at line 2 column 5",
            ),
            (
                "a: !x 1",
                "could not determine a constructor for the tag '!x', at line 1 column 4",
            ),
            ("a: \x00", "special characters are not allowed"),
        ],
    )
    def test_say_what_and_where(self, text, reason):
        """In a sentence, without a picture of the line."""
        with pytest.raises(BodyError) as caught:
            read_yaml(text, {})
        assert str(caught.value) == f"The body is not YAML: {reason}."

    @pytest.mark.parametrize("text", ["[" * 5000, f"a: {'9' * 5000}"])
    def test_that_are_too_much_are_mistakes_too(self, text):
        """Depth and length have an end, which is no crash."""
        with pytest.raises(BodyError, match="The body is not YAML"):
            read_yaml(text, {})
