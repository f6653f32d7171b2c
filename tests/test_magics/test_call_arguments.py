import re
from typing import Annotated

import pytest
from IPython.core.error import UsageError
from pydantic import BaseModel, BeforeValidator

from toolbench import tool
from toolbench.errors import BodyError, ToolbenchError
from toolbench.jsonschema.node import read
from toolbench.magics.call_arguments import FORMS as FORM_NAMES
from toolbench.magics.call_arguments import WordError, from_text, from_words
from toolbench.magics.tool_magics import TOOL


def as_list(value):
    """Return *value*, or a list of it alone."""
    return value if isinstance(value, list) else [value]


class TestWords:
    def test_give_an_argument_once(self):
        """The second of two would win in silence."""
        with pytest.raises(WordError, match=r"'a' is given twice\."):
            from_words(["a=1", "b=1", "a=2"], read({}))

    @pytest.mark.parametrize("body", ["a: 1", '{"a": 1}'])
    @pytest.mark.parametrize("line", ["add a=2", 'add {"a": 2}'])
    def test_give_no_argument_of_the_body(self, shell, line, body):
        """Neither does the body win over the line."""
        with pytest.raises(BodyError, match="'a' is given twice: leave one out"):
            shell.run_cell_magic("tool", line, body)

    def test_are_text_where_a_reference_says_so(self):
        """An Enum of strings is behind one."""
        schema = {
            "$defs": {"K": {"enum": ["7", "8"]}},
            "properties": {"k": {"$ref": "#/$defs/K"}},
        }
        assert from_words(["k=7", "n=7"], read(schema)) == {"k": "7", "n": 7}

    def test_say_how_a_list_is_written(self):
        """JSON, as everywhere on a line; a variable in its place is filled in later."""
        words = {"type": "array", "items": {"type": "string"}}
        numbers = {"type": "array", "items": {"type": "integer"}}
        accepted = read({"properties": {"w": words, "n": numbers}})
        with pytest.raises(WordError, match=r'w takes a list: write w=\["Austen", "Melville"\]'):
            from_words(["w=Austen,Melville"], accepted)
        with pytest.raises(WordError, match=r"n takes a list: write n=\[1, 2\]"):
            from_words(["n=1,2"], accepted)
        days = {"type": "array", "items": {"type": "string", "format": "date"}}
        sizes = {"type": "array", "items": {"enum": ["small", "large", "huge"]}}
        others = read({"properties": {"days": days, "sizes": sizes, "secrets": words}})
        for word, example in (
            ("days=31.1.2024", r'days=\["2024-01-31", "2024-02-29"\]'),
            ("sizes=small", r'sizes=\["small"\]'),
            ("sizes=tiny", r'sizes=\["small", "large"\]'),
            ("secrets=swordfish", r'secrets=\["one", "two"\]'),
        ):
            with pytest.raises(WordError, match=f"takes a list: write {example}\\."):
                from_words([word], others)
        right = ['w=["Austen"]', "n=${numbers}"]
        assert from_words(right, accepted) == {"w": ["Austen"], "n": "${numbers}"}


@tool
def tag(ids: list[int] = (), tags: list[str] = (), limit: int = 3) -> str:
    """Tag what has these numbers."""
    return f"{ids} {tags}"


@tool
def tag_leniently(ids: Annotated[list[int], BeforeValidator(as_list)]) -> str:
    """Tag what has these numbers, or this one."""
    return f"{ids}"


class TestAListFromOneWord:
    @pytest.mark.parametrize(
        ("word", "sentence"),
        [
            ("ids=4", "ids takes a list: write ids=[4]."),
            ("ids=4,5", "ids takes a list: write ids=[4, 5]."),
            ("ids=(4)", "ids takes a list: write ids=[1, 2]."),
            ("ids=true", "ids takes a list: write ids=[1, 2]."),
            ("tags=4", 'tags takes a list: write tags=["4"].'),
            ("tags=oil,sea", 'tags takes a list: write tags=["oil", "sea"].'),
            ("tags=[oil,sea]", 'tags takes a list: write tags=["oil", "sea"].'),
            (
                """tags="['oil', 'sea']\"""",
                'tags takes a list: write tags=["oil", "sea"].',
            ),
            ("tags=[oil", 'tags takes a list: write tags=["one", "two"].'),
            ("tags=", 'tags takes a list: write tags=["one", "two"].'),
        ],
    )
    def test_has_the_values_that_were_typed(self, shell, word, sentence):
        """The sentence is what the person meant, where it fits, and can be typed as it is."""
        shell.user_ns["tag"] = tag
        with pytest.raises(UsageError) as error:
            shell.run_line_magic("tool", f"tag {word}")
        assert str(error.value) == sentence
        right = sentence.partition("write ")[2].removesuffix(".")
        assert not shell.run_line_magic("tool", f"tag {right}").is_error

    def test_is_named_beside_other_mistakes(self, shell):
        """All are said at once."""
        shell.user_ns["tag"] = tag
        with pytest.raises(UsageError) as error:
            shell.run_line_magic("tool", "tag ids=4 limit=a")
        assert "\n- ids takes a list: write ids=[4]." in str(error.value)
        assert '\n- limit: should be an integer, not "a"' in str(error.value)

    def test_is_left_to_a_tool_that_takes_it(self, shell):
        """A tool may make a list of one number itself."""
        shell.user_ns["tag_leniently"] = tag_leniently
        assert shell.run_line_magic("tool", "tag_leniently ids=4").text == "[4]"

    def test_is_not_made_of_a_variable(self, shell):
        """What it holds is not what was typed."""
        shell.user_ns |= {"tag": tag, "number": 4}
        with pytest.raises(ToolbenchError, match="should be a list, not 4"):
            shell.run_line_magic("tool", "tag ids=${number}")


class Address(BaseModel):
    city: str
    zip: int = 0


class Customer(BaseModel):
    name: str
    tags: list[str] = []
    address: Address | None = None
    password: str = ""
    api_keys: list[str] = []


@tool
def add_job(customer: Customer, note: str = "") -> str:
    """Add a job."""
    return f"{customer.name} {customer.address} {note}"


class TestAnObject:
    @pytest.mark.parametrize(
        ("line", "advice"),
        [
            ("customer.name=Bob", '{"name": "Bob"}'),
            (
                "customer.name=Bob customer.address.city=Ulm customer.address.zip=7",
                '{"name": "Bob", "address": {"city": "Ulm", "zip": 7}}',
            ),
            ("customer.tags=a,b", '{"tags": ["one", "two"]}'),
            ("customer=Bob", '{"name": "one"}'),
        ],
    )
    def test_is_written_as_json(self, shell, line, advice):
        """The sentence has what the line must say, and no complaint that the object is missing."""
        shell.user_ns["add_job"] = add_job
        sentence = f"customer takes an object: write customer={advice}."
        with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
            shell.run_line_magic("tool", f"add_job {line}")

    def test_works_as_the_sentence_has_it(self, shell):
        """What a person copies from the sentence runs."""
        shell.user_ns["add_job"] = add_job
        with pytest.raises(UsageError) as error:
            shell.run_line_magic("tool", "add_job customer.name=Bob customer.address.city=Ulm")
        words = str(error.value).partition("write ")[2].removesuffix(".")
        result = shell.run_line_magic("tool", f"add_job {words}")
        assert result.text == "Bob city='Ulm' zip=0 "

    @pytest.mark.parametrize("word", ["password=swordfish", 'api_keys=["swordfish"]'])
    def test_shows_no_secret(self, shell, word):
        """The sentence is saved with the notebook."""
        shell.user_ns["add_job"] = add_job
        with pytest.raises(UsageError, match=r"write customer=.*hidden") as error:
            shell.run_line_magic("tool", f"add_job customer.{word}")
        assert "swordfish" not in str(error.value)


class TestSeveralMistakes:
    @pytest.mark.parametrize(
        ("line", "mistakes"),
        [
            (
                "dishes=soup nots=x cunt=3",
                [
                    'dishes takes a list: write dishes=["soup"].',
                    "nots: is an unknown argument. Did you mean 'note'?",
                    "cunt: is an unknown argument. Did you mean 'count'?",
                ],
            ),
            (
                "dishes=soup count=a note",
                [
                    'dishes takes a list: write dishes=["soup"].',
                    "Expected key=value, not 'note'. Put text with blanks in quotes.",
                    'count: should be an integer, not "a"',
                ],
            ),
            (
                "dishes=soup dishes=x dishes=x note=a note=b note=c",
                [
                    "dishes takes a list: write dishes=[\"soup\"]. 'dishes' is given twice.",
                    "'note' is given twice.",
                ],
            ),
            (
                "note=${qqq}",
                ["There is no variable 'qqq'.", "dishes: is required"],
            ),
            (
                'nots=x count=${qqq} {"dishes": ["soup"]}',
                [
                    "There is no variable 'qqq'.",
                    "nots: is an unknown argument. Did you mean 'note'?",
                ],
            ),
        ],
    )
    def test_are_said_at_once(self, shell, line, mistakes):
        """Also those that only the tool knows; what the object or a bad word may hold is not missed."""

        @tool
        def order(dishes: list[str], note: str = "", count: int = 1) -> str:
            """Order."""
            return note

        shell.user_ns["order"] = order
        with pytest.raises((UsageError, BodyError)) as error:
            shell.run_line_magic("tool", f"order {line}")
        head, *lines = str(error.value).split("\n- ")
        assert head == f"{len(mistakes)} things in the line are wrong:"
        assert lines == mistakes


class TestPython:
    @pytest.mark.parametrize(
        ("body", "arguments"),
        [
            ('{"a": 1}', {"a": 1}),
            ("dict(a=n)", {"a": 4}),
            ("given = {'a': 1}\ngiven", {"a": 1}),
            ("a = 1\nprint(a)", {"a": 1}),
            ("a = 1\n'a remark'", {"a": 1}),
            ("# nothing", {}),
            ("", {}),
        ],
    )
    def test_ends_in_a_dict_or_assigns(self, body, arguments):
        """As a cell shows its last line, a body gives it; else what it assigns counts."""
        assert from_text(body, "py", {"n": 4}, {}) == arguments

    @pytest.mark.parametrize("body", ["n", "[1]", "print(n)", "_a = 1\n3"])
    def test_that_gives_nothing_is_a_mistake(self, body):
        """An expression that is no dict would be lost."""
        with pytest.raises(BodyError, match="The body has no assignments: write"):
            from_text(body, "py", {"n": 4}, {})


FORMS = 'Write YAML (`total: 84`), JSON (`{"total": 84}`), or Python with `-f py` (`total = 84`).'
PYTHON = "It is Python: add `-f py` to the line."


class TestBodiesThatNameNothing:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            (
                "since = date(2026, 9, 1)",
                f"The body must name its arguments, and this is a str. {PYTHON}",
            ),
            ("a: int = 3\nb = [1]", PYTHON),
            ("a = {'x': 1}\nb = ']'", PYTHON),
            (
                "just text",
                f"The body must name its arguments, and this is a str. {FORMS}",
            ),
            ("- 1", f"The body must name its arguments, and this is a list. {FORMS}"),
            ("a: b: c", FORMS),
            ("a = (", FORMS),
        ],
    )
    def test_are_told_the_forms(self, body, message):
        """All three of them, or the one that the lines have."""
        with pytest.raises(BodyError) as error:
            from_text(body, None, {}, {})
        assert str(error.value).endswith(message)

    def test_help_has_each_form_and_the_default(self):
        words = " ".join(TOOL.help_text().split())
        for form in FORM_NAMES:
            assert form in words.partition("format of the body:")[2][:200]
        assert "a body that starts with { is JSON, and any other is YAML" in words
