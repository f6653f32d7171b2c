"""Answers that are given in advance: to questions of runs, and to none that they do not fit."""

from math import nan
from typing import ClassVar

import pytest
from patience import PATIENCE

from test_runs import tools
from toolbench import current_run, run_tool, tool
from toolbench.errors import ToolbenchError
from toolbench.runs.perform import perform, start
from toolbench.runs.questions import Answer, Preset, Question, answering
from toolbench.runs.run import Run


class TestPresets:
    def test_answer_in_turn_and_then_decline(self):
        """Each question takes the next; after the last, the answer is no."""
        asker = Preset([{"name": "Ada"}, None])
        question = Question("Name?", tools.NAME)
        assert asker(question) == Answer("accept", {"name": "Ada"})
        assert asker(question).action == "decline"
        assert asker(question).action == "decline"

    @pytest.mark.parametrize(
        ("schema", "preset"),
        [({"type": "string"}, "Ada"), ({"type": "array"}, [1]), (None, True)],
    )
    def test_may_be_bare_values(self, schema, preset):
        """A question for one value is answered by that value."""

        @tool
        def ask() -> str:
            """Ask."""
            answer = current_run().ask("?", schema)
            return f"{answer.action} {answer.value}"

        with answering(preset):
            assert run_tool(ask).text == f"accept {preset}"

    def test_of_one_field_may_be_bare_too(self):
        """FastMCP wraps a single value as `value`: there is no other it could be meant for."""
        schema = {
            "type": "object",
            "properties": {"value": {"type": "integer"}},
            "required": ["value"],
        }
        question = Question.about("How many?", schema, "")
        assert Preset([3])(question) == Answer("accept", {"value": 3})
        assert Preset([{"value": 3}])(question) == Answer("accept", {"value": 3})
        with pytest.raises(ToolbenchError, match="does not fit"):
            Preset(["three"])(question)

    def test_answer_runs_from_buttons_too(self):
        """Whoever else would be asked: what was answered in advance is not asked again."""
        run = Run(tools.ask_name, {}, source="button", asker=lambda question: 1 / 0)
        with answering({"name": "Ada"}):
            start(run)
            assert run.done.wait(PATIENCE)
        assert run.observation.text == "Hello Ada."

    def test_that_do_not_fit_are_an_error(self):
        """A preset answer that could not have been given says so."""
        with answering({"name": 1}):
            observation = run_tool(tools.ask_name)
        assert observation.is_error
        assert "does not fit 'What is your name?'" in observation.text

    def test_that_json_has_not_are_an_error(self):
        """A server would get null for nan."""
        schema = {"type": "object", "properties": {"value": {"type": "number"}}}
        question = Question.about("How much?", schema, "")
        with pytest.raises(ToolbenchError, match="value: is nan, and JSON has no such number"):
            Preset([{"value": nan}])(question)

    @pytest.mark.parametrize(
        ("required", "advice"),
        [
            (["soil"], "{'soil': 'loam'}"),
            ([], "{'soil': 'loam'}"),
            (["note", "soil"], "{'note': 'loam', 'soil': ...}"),
        ],
    )
    def test_of_several_fields_are_a_dict(self, required, advice):
        """Which of the fields a bare value means is not guessed: the error has the dict."""
        text = {"type": "string"}
        schema = {
            "type": "object",
            "properties": {"soil": text, "note": text},
            "required": required,
            "additionalProperties": False,
        }
        question = Question.about("Which soil?", schema, "")
        with pytest.raises(ToolbenchError) as error:
            Preset(["loam"])(question)
        assert str(error.value) == (
            "The preset answer 'loam' does not fit 'Which soil?': "
            f"it is a form with 2 fields, write {advice}."
        )

    def test_of_several_fields_show_no_secret(self):
        """The error is recorded."""
        text = {"type": "string"}
        schema = {"type": "object", "properties": {"password": text, "user": text}}
        question = Question.about("Who?", {**schema, "required": ["password"]}, "")
        with pytest.raises(ToolbenchError, match=r"write \{'password': '<secret"):
            Preset(["swordfish"])(question)

    def test_a_no_is_a_decline(self):
        """A yes-or-no question answered no is falsy."""
        run = Run(tools.erase, {"path": "x"}, source="magic")
        with answering(False):
            perform(run)
        assert run.state == "denied"


class TestAFieldOfAnAnswerThatIsNotAccepted:
    SCHEMA: ClassVar = {"type": "object", "properties": {"hunger": {"type": "string"}}}

    def fed(self):
        """Return a tool that takes its answer for accepted."""

        @tool
        def feed() -> str:
            """Feed."""
            return current_run().ask("How hungry?", self.SCHEMA)["hunger"]

        return feed

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (Answer("decline"), "declined"),
            (Answer("cancel"), "cancelled"),
            (None, "declined"),
        ],
    )
    def test_says_what_became_of_the_question(self, answer, words):
        """The name of the field alone looks like a misspelt one."""
        with answering(answer):
            text = run_tool(self.fed(), {}).text
        assert f"hunger: the question was {words}." in text
        assert "`if answer:` tells whether it was accepted" in text

    def test_of_an_accepted_one_is_its_name_alone(self):
        """There the field was left empty, and nothing was declined."""
        with pytest.raises(KeyError, match=r"^'hunger'$"):
            Answer("accept", {})["hunger"]
