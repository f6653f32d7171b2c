"""Questions in the middle of a run: of any shape, answered by whoever can, never a hang."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE, join

from test_runs import tools
from toolbench import current_run, run_tool, tool
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.perform import perform, start
from toolbench.runs.questions import (
    YES_OR_NO,
    Answer,
    ConsentLabels,
    Question,
    answering,
)
from toolbench.runs.run import Run, run_here

WAYS_OUT = "Type /decline to decline, or /cancel to leave the question unanswered."
NODE = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}},
        }
    },
}


@pytest.fixture
def typed(monkeypatch):
    """Answer `input()` with these lines; the prompts are returned."""

    def type_lines(*lines):
        answers, prompts = iter(lines), []

        def answer(prompt):
            prompts.append(prompt)
            return next(answers)

        monkeypatch.setattr("builtins.input", answer)
        monkeypatch.setattr("toolbench.runs.input_prompt.getpass", answer)
        return prompts

    return type_lines


class TestQuestion:
    @pytest.mark.parametrize(
        "schema",
        [
            NODE,
            {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "object"}}},
            {"$ref": "#x", "$defs": {"X": {"$anchor": "x", "properties": {}}}},
        ],
    )
    def test_of_an_object_is_asked_as_it_is(self, schema):
        """Objects, also behind a reference, are forms of their own."""
        assert not Question.about("?", schema, "").bare
        assert Question.about("?", schema, "").schema is schema

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "string"},
            {"enum": [1, 2]},
            {"type": "array", "items": {"$ref": "#/$defs/X"}, "$defs": {"X": {}}},
            {"anyOf": [{"type": "object"}, {"type": "null"}]},
            {},
            {"$ref": "#/$defs/nowhere"},
            {"$ref": "#"},
        ],
    )
    def test_of_anything_else_is_wrapped(self, schema):
        """Any other schema is the one field of a form; references still lead somewhere."""
        question = Question.about("?", schema, "")
        assert question.bare
        assert list(question.schema["properties"]) == ["answer"]
        assert question.schema.get("$defs") == schema.get("$defs")


class TestAsking:
    @pytest.mark.parametrize(
        ("content", "percent"),
        [({"name": "oat"}, 100), ({"name": "x", "percent": 5}, 5)],
    )
    def test_fills_in_the_defaults_that_the_form_shows(self, content, percent):
        """What a person leaves alone has the default; an answer tells which other fields it has."""
        schema = {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "percent": {"type": "integer", "default": 100},
                "reason": {"type": "string"},
            },
            "required": ["name"],
        }

        @tool
        def ask() -> str:
            """Ask."""
            answer = current_run().ask("What instead?", schema)
            assert "reason" not in answer and answer.get("reason", "none") == "none"
            return str(answer["percent"])

        with answering(content):
            assert run_tool(ask).text == str(percent)

    def test_uses_no_default_that_does_not_fit(self):
        """The mistake is the schema's: the answer stays as the person gave it."""
        properties = {"n": {"type": "integer", "default": "many"}}
        question = Question("How many?", {"type": "object", "properties": properties})
        assert question.with_defaults(Answer("accept", {})).content == {}

    def test_goes_through_input_in_a_cell(self, typed):
        """In a cell each field is asked for by input(), again while it does not fit."""
        prompts = typed("x", "Ada")
        assert run_tool(tools.ask_name).text == "Hello Ada."
        assert prompts == [
            f"ask_name asks: What is your name?\n{WAYS_OUT}\n"
            "name (string; at least 2 characters): ",
            "name: should have at least 2 characters\nname (string; at least 2 characters): ",
        ]

    def test_asks_again_only_for_what_is_wrong(self, typed):
        """What fits stays; what is missing or does not fit is asked again at once, with the reason."""
        schema = {
            "type": "object",
            "properties": {
                "book": {"type": "string", "title": "Book"},
                "copies": {"type": "integer", "maximum": 9},
                "gift": {"type": "boolean", "default": False},
                "paper": {"enum": ["a", "b"], "enumNames": ["Apples", ""]},
            },
            "required": ["book", "copies", "gift"],
        }
        prompts = typed("", "Emma", "ten", "10", "3", "", "c", "a")
        answer = ask_in_cell(Question("Order?", schema))
        content = {"book": "Emma", "copies": 3, "gift": False, "paper": "a"}
        assert answer == Answer("accept", content)
        last = "One try is left, then the question is declined."
        assert prompts == [
            f"Order?\n{WAYS_OUT}\nBook (string): ",
            "Book: is required\nBook (string): ",
            "copies (integer; at most 9): ",
            'copies: should be an integer, not "ten"\ncopies (integer; at most 9): ',
            f"copies: should be at most 9\n{last}\ncopies (integer; at most 9): ",
            "gift (yes or no; default: false): ",
            "paper (one of a (Apples), b; optional): ",
            'paper: should be one of ["a", "b"], not "c"\npaper (one of a (Apples), b; optional): ',
        ]

    def test_refuses_in_the_words_of_its_prompt(self, typed):
        """Yes or no is called so in both; a decimal comma is explained as in a form."""
        schema = {
            "type": "object",
            "properties": {
                "gift": {"type": "boolean"},
                "weight": {"type": "number"},
                "copies": {"type": "integer"},
            },
            "required": ["gift", "weight", "copies"],
        }
        prompts = typed("maybé", "yes", "2,5", "2.5", "2,5", "2")
        content = {"gift": True, "weight": 2.5, "copies": 2}
        assert ask_in_cell(Question("Order?", schema)).content == content
        assert prompts[1::2] == [
            'gift: should be yes or no, not "maybé"\ngift (yes or no): ',
            'weight: should be a number, not "2,5". Use a point for decimals.\nweight (number): ',
            'copies: should be an integer, not "2,5"\ncopies (integer): ',
        ]

    def test_of_consent_says_how_long_it_lasts_on_a_line_of_its_own(self, typed):
        """The value of an argument ends with its line."""
        labels = ConsentLabels("Run find", can_be_remembered=True)
        question = Question('query = "a"', YES_OR_NO, "db", bare=True, consent=labels)
        prompts = typed("y")
        assert ask_in_cell(question)
        assert prompts == [
            'db asks: query = "a"\nYour approval holds for the session.\nRun find? [y/N] '
        ]

    @pytest.mark.parametrize("reply", ["decline", "cancel"])
    @pytest.mark.parametrize("before", [(), ("Emma",), ("Emma", "many")])
    def test_may_be_left_at_any_field(self, typed, before, reply):
        """Each way out of a question is said with its first field, and holds in all."""
        properties = {"book": {"type": "string"}, "copies": {"type": "integer"}}
        schema = {"type": "object", "properties": properties}
        prompts = typed(*before, f"/{reply}")
        assert ask_in_cell(Question("Order?", schema)) == Answer(reply)
        assert WAYS_OUT in prompts[0]

    @pytest.mark.parametrize(
        ("text", "reply"),
        [("y", "accept"), ("", "decline"), ("no", "decline"), ("/cancel", "cancel")],
    )
    def test_without_fields_is_not_accepted_by_itself(self, typed, text, reply):
        """A server that wants no more than a yes does not get it without a person."""
        prompts = typed(text)
        question = Question.about("Really?", {"type": "object", "properties": {}}, "")
        answer = ask_in_cell(question)
        assert answer.action == reply
        assert prompts == ["Really? [y/N] "]

    def test_quotes_no_secret(self, typed):
        """Neither one that was typed and does not fit, nor the default of a schema."""
        token = {"type": "string", "minLength": 9, "default": "hunter2hunter2"}
        schema = {"type": "object", "properties": {"token": token}}
        prompts = typed("t0ps3cr", "t0ps3cret")
        assert ask_in_cell(Question("?", schema)).content == {"token": "t0ps3cret"}
        assert "token: this value does not fit." in prompts[1]
        assert not any(text in "".join(prompts) for text in ("t0ps3cr", "hunter2"))

    def test_quotes_no_secret_of_fields_that_do_not_fit_together(self, typed):
        """A problem of the whole answer quotes the answer."""
        code = {"type": "string", "format": "password"}
        schema = {
            "type": "object",
            "properties": {"code": code, "user": {"type": "string"}},
            "anyOf": [{"required": ["user"]}, {"required": ["mail"]}],
        }
        prompts = typed("hunter2-secret", "", "hunter2-secret", "Ada")
        assert ask_in_cell(Question("Who?", schema)).content["user"] == "Ada"
        assert len(prompts) == 4
        assert "hunter2" not in "".join(prompts)

    def test_quotes_no_default_that_does_not_fit(self, typed):
        """A server may give a secret as a default that its own schema refuses."""
        token = {"type": "string", "minLength": 9, "default": "hunter2"}
        schema = {
            "type": "object",
            "properties": {"token": token},
            "required": ["token"],
        }
        prompts = typed("", "t0ps3cret")
        assert ask_in_cell(Question("?", schema)).content == {"token": "t0ps3cret"}
        assert "hunter2" not in "".join(prompts)

    def test_reads_values_as_people_type_them(self, typed):
        """Numbers, yes and no, JSON and nothing are understood; secrets are not echoed."""
        schema = {
            "type": "object",
            "properties": {
                "count": {"type": "integer", "description": "How many"},
                "sure": {"type": "boolean"},
                "share": {"type": "number"},
                "tags": {"type": "array"},
                "colour": {"enum": ["red", "blue"]},
                "token": {"type": "string"},
                "note": {"type": "string"},
            },
            "required": ["count"],
        }
        prompts = typed("3", "yes", ".25", '["a"]', "red", "t0ps3cret", "")
        answer = ask_in_cell(Question("Order?", schema))
        assert answer.content == {
            "count": 3,
            "sure": True,
            "share": 0.25,
            "tags": ["a"],
            "colour": "red",
            "token": "t0ps3cret",
        }
        assert prompts[0] == f"Order?\n{WAYS_OUT}\nHow many\ncount (integer): "
        assert prompts[1:5] == [
            "sure (yes or no; optional): ",
            "share (number; optional): ",
            "tags (array, as JSON; optional): ",
            "colour (one of red, blue; optional): ",
        ]

    def test_reads_a_schema_as_every_reader_does(self, monkeypatch):
        """Choices with titles are listed; a text and a password behind references are these."""
        prompts = []

        def answer(kind, text):
            return lambda prompt: prompts.append((kind, prompt)) or text

        monkeypatch.setattr("builtins.input", answer("input", "5"))
        monkeypatch.setattr("toolbench.runs.input_prompt.getpass", answer("getpass", "6"))
        schema = {
            "type": "object",
            "$defs": {
                "size": {"oneOf": [{"const": "5", "title": "V"}, {"const": "6"}]},
                "code": {"type": "string", "format": "password"},
            },
            "properties": {
                "size": {"$ref": "#/$defs/size"},
                "code": {"anyOf": [{"$ref": "#/$defs/code"}, {"type": "null"}]},
            },
            "required": ["size", "code"],
        }
        content = ask_in_cell(Question("?", schema)).content
        assert content == {"size": "5", "code": "6"}
        assert prompts == [
            ("input", f"?\n{WAYS_OUT}\nsize (one of 5 (V), 6): "),
            ("getpass", "code (string or null): "),
        ]

    def test_gives_up_after_three_tries(self, typed):
        """Somebody who cannot answer does not sit there for ever."""
        typed("1", "2", "3", "never read")
        schema = {"type": "object", "properties": {"name": {"enum": ["a"]}}}
        assert ask_in_cell(Question("?", schema)).action == "decline"

    @pytest.mark.parametrize("error", [EOFError, RuntimeError, OSError])
    def test_is_declined_where_there_is_no_input(self, monkeypatch, error):
        """Under nbconvert, nbval or a closed pipe a question is declined."""

        def no_input(prompt):
            raise error

        monkeypatch.setattr("builtins.input", no_input)
        assert run_tool(tools.ask_name).text == "Nobody: decline."

    def test_writes_nothing_a_terminal_would_obey(self, typed):
        """What a server asks is spelled out: it cannot retitle the window or hide a line."""
        prompts = typed("Ada")
        ask_in_cell(Question.about("Who\x1b]0;root\x07?", {"type": "string"}, "a\x1b[8m"))
        assert [prompt for prompt in prompts if "\x1b" in prompt or "\x07" in prompt] == []

    def test_is_declined_in_other_threads(self, typed):
        """`input()` outside the main thread would hang the kernel: it is not called."""
        prompts = typed("Ada")
        texts = []
        thread = threading.Thread(
            target=lambda: texts.append(perform(run_here(tools.ask_name, {})).text)
        )
        thread.start()
        join(thread)
        assert (texts, prompts) == (["Nobody: decline."], [])

    def test_is_declined_in_a_background_run_without_anybody(self):
        """A background run nobody looks at goes on with a decline."""
        run = Run(tools.ask_name, {}, source="button")
        start(run)
        assert run.done.wait(PATIENCE)
        assert run.observation.text == "Nobody: decline."

    def test_outside_a_run_finds_nobody(self):
        """An executor that asks works anywhere: outside a run it is declined."""
        assert not current_run().ask("Really?")

    # The first test that draws text makes hypothesis' table of characters
    @pytest.mark.slow
    @given(st.text(max_size=20))
    def test_takes_any_text(self, text):
        """Whatever somebody types, the answer fits the schema or there is none."""
        schema = {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("builtins.input", lambda prompt: text)
            answer = ask_in_cell(Question("?", schema))
        assert not answer or Question("?", schema).problems(answer.content) == []
