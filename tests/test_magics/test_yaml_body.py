import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator

from toolbench import tool
from toolbench.errors import BodyError
from toolbench.jsonschema.yaml_text import read_yaml


def _split(value):
    return value.split(", ") if isinstance(value, str) else value


class Owner(BaseModel):
    name: str


@tool
def mend(
    tags: list[str] = [],  # noqa: B006 - a default of a tool
    sizes: list[int] = [],  # noqa: B006 - as above
    owner: Owner | None = None,
    passwords: list[str] = [],  # noqa: B006 - as above
    words: Annotated[list[str], BeforeValidator(_split)] = [],  # noqa: B006 - as above
    count: int = 1,
) -> str:
    """Mend a bicycle."""
    return " ".join([*tags, *words])


SCHEMA = {
    "properties": {
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "texts": {"type": "array", "items": {"type": "string"}},
    }
}
# PyYAML joins no surrogates
TEXT = st.text(st.characters(max_codepoint=0xD7FF))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
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

    @pytest.mark.every_case
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
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
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
            (
                "a: &x [*x]",
                "an alias stands inside of the value that it names, at line 1 column 4",
            ),
            ("a: \x00", "special characters are not allowed"),
        ],
    )
    def test_say_what_and_where(self, text, reason):
        """In a sentence, without a picture of the line."""
        with pytest.raises(BodyError) as caught:
            read_yaml(text, {})
        assert str(caught.value) == f"The body is not YAML: {reason}."

    @pytest.mark.parametrize("text", ["[" * 1000, f"a: {'9' * 5000}"])
    def test_that_are_too_much_are_mistakes_too(self, text):
        """Depth and length have an end, which is no crash."""
        with pytest.raises(BodyError, match="The body is not YAML"):
            read_yaml(text, {})

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            ("tags: frame, wheel", "tags takes a list: write `tags: [frame, wheel]`."),
            ("tags: 'no, 7'", "tags takes a list: write `tags: ['no', '7']`."),
            ("tags: 'a: b'", "tags takes a list: write `tags: ['a: b']`."),
            ("tags: a]", "tags takes a list: write `tags: [one, two]`."),
            ("sizes: 26", "sizes takes a list: write `sizes: [26]`."),
            ("sizes: 26, 28", "sizes takes a list: write `sizes: [26, 28]`."),
            ("owner: Bob", "owner takes an object: write `owner: {name: one}`."),
            (
                "tags: a, b\ncount: many",
                "2 things in the body are wrong:"
                "\n- tags takes a list: write `tags: [a, b]`."
                '\n- count: should be an integer, not "many"',
            ),
        ],
    )
    def test_say_how_a_list_and_an_object_are_written(self, shell, body, sentence):
        """The person sees their own items in brackets, and all else that is wrong."""
        shell.user_ns["mend"] = mend
        with pytest.raises(BodyError) as caught:
            shell.run_cell_magic("tool", "mend", body)
        assert str(caught.value) == sentence

    def test_show_no_secret(self, shell):
        """The sentence is saved with the notebook."""
        shell.user_ns["mend"] = mend
        with pytest.raises(BodyError, match=r"write `passwords: \[one, two\]`") as caught:
            shell.run_cell_magic("tool", "mend", "passwords: swordfish, hunter2")
        assert "swordfish" not in str(caught.value)

    @pytest.mark.parametrize("body", ["tags: [a, b]", "tags: ${two}", "words: a, b"])
    def test_are_none_where_the_tool_takes_it(self, shell, body):
        """A variable may hold a list, and a tool may split a text itself."""
        shell.user_ns.update(mend=mend, two=["a", "b"])
        assert shell.run_cell_magic("tool", "mend", body).text == "a b"
