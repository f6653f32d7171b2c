"""Questions of a run as forms: any schema, one at a time, never a run that waits in vain."""

import threading
from dataclasses import replace

import pytest
from patience import eventually, join
from payloads import each_payload
from test_display.inert import problems

from test_widgets.front import click, named, page, receive, type_into
from test_widgets.tooling import buttons, shown
from toolbench import tool
from toolbench.display.escape import escape
from toolbench.runs.consent_question import question_of
from toolbench.runs.control import CancelToken
from toolbench.runs.questions import Answer, Question
from toolbench.runs.run import Run
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.parts import Parts


class PendingQuestion:
    """A question that waits in a thread."""

    def __init__(self, question, box=None):
        self.box = box or QuestionBox(Parts())
        self.work = CancelToken()
        self.answers = []
        self._thread = threading.Thread(target=self._ask, args=(question,))
        self._thread.start()

    def _ask(self, question):
        self.answers.append(self.box.ask(question, self.work))

    def wait_for(self, button):
        eventually(lambda: button in buttons(self.box.widget))

    def answer(self):
        join(self._thread)
        return self.answers[0]


class TestQuestionBox:
    def test_asks_yes_or_no(self):
        """Two buttons; the box is empty again afterwards."""
        question = PendingQuestion(Question.about("Really?", None, "erase"))
        question.wait_for("Yes")
        assert "<strong>erase</strong> asks: Really?" in shown(question.box.widget)
        click(buttons(question.box.widget)["Yes"])
        assert question.answer() == Answer("accept", {"answer": True})
        assert question.box.widget.children == ()

    @pytest.mark.parametrize(
        ("schema", "label", "typed", "value"),
        [
            ({"type": "string"}, "answer", "Ada", "Ada"),
            ({"type": "integer", "minimum": 3}, "answer", "7", 7),
        ],
    )
    def test_asks_for_a_value(self, schema, label, typed, value):
        """A schema that is no object is one field."""
        question = PendingQuestion(Question.about("Which?", schema, ""))
        question.wait_for("Accept")
        type_into(named(question.box.widget, label), typed)
        click(buttons(question.box.widget)["Accept"])
        assert question.answer().value == value

    def test_takes_the_last_keys_that_come_after_the_click(self):
        """A quick person's click overtakes the end of what they typed."""
        question = PendingQuestion(Question.about("Which?", {"type": "string"}, ""))
        question.wait_for("Accept")
        field = named(question.box.widget, "answer")
        receive(field, value="Ad")
        click(buttons(question.box.widget)["Accept"], settled=False)
        receive(field, value="Ada")
        assert question.answer().value == "Ada"

    def test_asks_for_an_object(self):
        """Fields, nested as they may be; nothing is sent that nobody touched."""
        schema = {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer", "default": 3},
            },
            "required": ["name"],
        }
        question = PendingQuestion(Question.about("Who?", schema, "greet"))
        question.wait_for("Accept")
        # Not yet: the name is missing
        click(buttons(question.box.widget)["Accept"])
        assert question.answers == []
        type_into(named(question.box.widget, "name"), "Ada")
        click(buttons(question.box.widget)["Accept"])
        assert question.answer() == Answer("accept", {"name": "Ada"})

    @pytest.mark.parametrize(
        ("format", "wrong", "right"),
        [
            ("email", "ada", "ada@example.org"),
            ("date-time", "31.12.2026 9:30", "2026-12-31T09:30:00Z"),
            ("uri", "example.org", "https://example.org/"),
        ],
    )
    def test_takes_only_the_format_that_was_asked_for(self, format, wrong, right):
        """As the cell does; a click on Accept says why not, at the field."""
        question = Question.about("Where?", {"type": "string", "format": format}, "")
        pending = PendingQuestion(question)
        pending.wait_for("Accept")
        field = named(pending.box.widget, "answer")
        type_into(field, wrong)
        click(buttons(pending.box.widget)["Accept"])
        eventually(lambda: "should be" in shown(pending.box.widget))
        assert pending.answers == []
        type_into(field, right)
        click(buttons(pending.box.widget)["Accept"])
        assert pending.answer().value == right

    def test_can_be_declined(self):
        """No answer is an answer."""
        question = PendingQuestion(Question.about("Who?", {"type": "string"}, ""))
        question.wait_for("Decline")
        click(buttons(question.box.widget)["Decline"])
        assert question.answer().action == "decline"

    @pytest.mark.parametrize(
        "question",
        [
            Question.about("Who?", {"type": "string"}, ""),
            Question.about("Nothing to fill in.", {"type": "object"}, ""),
            replace(Question.about("Sign in.", None, ""), url="https://shop.invalid/"),
        ],
    )
    def test_can_be_left(self, question):
        """Neither yes nor no: the protocol has a third word, and so has every form."""
        pending = PendingQuestion(question)
        pending.wait_for("Cancel question")
        click(buttons(pending.box.widget)["Cancel question"])
        assert pending.answer() == Answer("cancel")

    @pytest.mark.parametrize(
        ("url", "host"),
        [
            ("https://shop.invalid/in?a=1&b=2", "shop.invalid"),
            ("HTTP://shop.invalid:8000", "shop.invalid"),
            ("https://b\u0430nk.example/", "xn--bnk-6cd.example"),
        ],
    )
    def test_leads_to_a_page(self, url, host):
        """A link that tells the host as the network knows it, in a tab without a way back."""
        question = PendingQuestion(replace(Question.about("Sign in.", None, ""), url=url))
        question.wait_for("Yes")
        markup = shown(question.box.widget)
        click(buttons(question.box.widget)["No"])
        question.answer()
        assert f"<strong>{host}</strong>" in markup
        assert f'href="{escape(url)}"' in markup
        assert 'target="_blank" rel="noopener noreferrer"' in markup

    @pytest.mark.parametrize(
        "url",
        [
            *("", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"),
            *("mailto:a@b.example", "https:///nowhere", "https://[::1", "//x.example"),
            "https://bank.example@evil.invalid/",
            "https://evil.invalid\\@bank.example/",
            'https://x.example/"onclick="alert(1)',
        ],
    )
    def test_leads_nowhere_that_is_not_plainly_safe(self, url):
        """The address is read, not followed."""
        question = PendingQuestion(replace(Question.about("Sign in.", None, ""), url=url))
        question.wait_for("Yes")
        markup = shown(question.box.widget)
        click(buttons(question.box.widget)["No"])
        question.answer()
        assert "<a " not in markup

    def test_takes_the_first_of_two_clicks(self):
        """A double click, or a click on each button, is one answer."""
        question = PendingQuestion(Question.about("Really?", None, ""))
        question.wait_for("Yes")
        pair = buttons(question.box.widget)
        for button in (pair["Yes"], pair["No"], pair["Yes"]):
            click(button)
        assert question.answer().action == "accept"

    def test_ends_with_the_run(self):
        """A run that is to stop waits no more, in front of the form or behind another."""
        box = QuestionBox(Parts())
        # It would keep its place before all others, and the box would stay empty
        with pytest.raises(TypeError):
            box.put(Question("A form that cannot be made", None))
        first = PendingQuestion(Question.about("1?", None, ""), box)
        first.wait_for("Yes")
        second = PendingQuestion(Question.about("2?", None, ""), box)
        second.work.cancel()
        assert second.answer().action == "cancel"
        first.work.cancel()
        assert first.answer().action == "cancel"
        assert box.widget.children == ()

    def test_puts_one_question_after_the_other(self):
        """Threads of a run that ask at once are answered in turn."""
        box = QuestionBox(Parts())
        questions = [PendingQuestion(Question.about(f"{n}?", None, ""), box) for n in range(3)]
        markups = set()
        while len(markups) < 3:
            eventually(lambda: "Yes" in buttons(box.widget))
            markups.add(shown(box.widget))
            click(buttons(box.widget)["Yes"])
            eventually(lambda: sum(len(a.answers) for a in questions) == len(markups))
        assert [one.answer().action for one in questions] == ["accept"] * 3

    def test_leaves_no_widget_behind(self, wire):
        """The form of a question is closed with it."""
        box = QuestionBox(Parts())
        before = set(wire.live)
        question = PendingQuestion(Question.about("Who?", {"type": "string"}, ""), box)
        question.wait_for("Decline")
        click(buttons(box.widget)["Decline"])
        question.answer()
        assert wire.live == before

    @each_payload
    def test_is_inert(self, payload):
        """Neither the question nor who asks it can put anything on the page."""
        question = PendingQuestion(Question.about(payload, None, payload))
        question.wait_for("Yes")
        markup = shown(question.box.widget).replace(' role="alert"', "")
        click(buttons(question.box.widget)["No"])
        question.answer()
        assert problems(markup) == []

    def test_keeps_what_is_typed_while_it_waits(self):
        """Nothing redraws the form under the cursor."""
        question = PendingQuestion(Question.about("Who?", {"type": "string"}, ""))
        question.wait_for("Accept")
        field = named(question.box.widget, "answer")
        receive(field, value="half")
        assert named(question.box.widget, "answer") is field
        assert field.value == "half"
        question.work.cancel()
        question.answer()


def test_a_long_call_is_shown_whole_before_the_yes():
    """By the button that says how long it is, page by page; each line of it stays behind its bar."""

    @tool(destructive=True)
    def shell(command: str) -> str:
        """Run a command."""
        return command

    command = "\n".join(f"<step {number}>" for number in range(6_000))
    run = Run(shell, {"command": command}, source="model")
    asked = question_of(run, "shell can delete or overwrite data", once=False)
    question = PendingQuestion(asked)
    question.wait_for("Don't run")
    box = question.box.widget
    [label] = [name for name in buttons(box) if name.startswith("Show all ")]
    assert "step 3000" not in shown(box)
    seen = ""
    button = buttons(box)[label]
    click(button)
    while button.description != "Show less":
        seen += page(box)
        click(button)
    seen += page(box)
    assert problems(seen) == []
    assert all(f"    | &lt;step {number}&gt;" in seen for number in range(6_000))
    click(button)
    assert button.description == label
    click(buttons(box)["Run shell"])
    assert question.answer() == Answer("accept", {"answer": True})
