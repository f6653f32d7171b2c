"""Questions of servers and who answers them."""

import pytest

from toolbench.mcp.elicitation import (
    Answer,
    FormQuestion,
    SamplingQuestion,
    UrlQuestion,
    as_answer,
    ask_here,
    for_person,
)
from toolbench.runs.questions import answering as in_advance

ABOUT = {"server": "s", "tool": "t", "message": "Please."}


class TestAskHere:
    def test_names_the_server_and_takes_answers_given_in_advance(self):
        """Without a run, presets answer; with nobody, the answer is no."""
        question = FormQuestion(schema={"type": "object", "properties": {"a": {}}}, **ABOUT)
        with in_advance({"a": 1}):
            assert ask_here(question) == Answer("accept", {"a": 1})
        assert question.whole == "Server 's' asks: Please."

    def test_a_page_is_shown_and_never_opened(self):
        """The whole URL is in the question; one that is no web page is warned of."""
        page = UrlQuestion(url="https://x/authorize?state=1", **ABOUT)
        script = UrlQuestion(url="javascript:alert(1)", **ABOUT)
        assert page.is_safe
        assert "https://x/authorize?state=1" in page.whole
        assert not script.is_safe
        assert "Do not open it" in script.whole
        with in_advance(True):
            assert ask_here(page)

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "url",
        [
            *(
                "file:///etc/passwd",
                "data:text/html,x",
                "https:///x",
                "http://[::1",
                "",
            ),
            *("https://bank.example@evil.invalid/", "https://x\nAll is well.", "//x"),
            *("https://x/\u202egpj", "https://x y", 'https://x/"onclick="x'),
        ],
    )
    def test_a_page_that_hides_where_it_is_is_warned_of(self, url):
        """The URL stands on one line, and cannot write lines of its own into the question."""
        question = UrlQuestion(url=url, **ABOUT)
        assert not question.is_safe
        assert question.whole.endswith("\nDo not open it.")
        assert len(question.whole.splitlines()) == 3

    @pytest.mark.parametrize(
        ("url", "advice"),
        [
            ("https://\u0430pple.com/", "Its host is xn--pple-43d.com, written in letters"),
            ("https://xn--pple-43d.com/", "Its host is xn--pple-43d.com, written in letters"),
            ("http://127.0.0.1:1/", "It leads to this machine:"),
            ("http://2130706433/", "It leads to this machine:"),
            ("http://\uff11\uff12\uff17.0.0.1/", "It leads to this machine:"),
            ("http://a.localhost./", "It leads to this machine:"),
            ("http://[::ffff:10.0.0.1]/", "It leads to a private network (10.0.0.1):"),
            ("https://login.example.com/", "Visit it yourself, then confirm."),
        ],
    )
    @pytest.mark.every_case  # each is another way to write a host
    def test_a_host_that_is_not_what_it_seems_is_said(self, url, advice):
        """Letters that look like others, this machine, a private network: in one sentence."""
        lines = UrlQuestion(url=url, **ABOUT).whole.splitlines()
        assert len(lines) == 3
        assert lines[-1].startswith(advice)

    def test_a_page_is_named_to_whoever_shows_the_question(self):
        """A form can make a link of it; other questions have none."""
        page = UrlQuestion(url="https://x/authorize", **ABOUT)
        assert for_person(page).url == "https://x/authorize"
        assert for_person(FormQuestion(schema={}, **ABOUT)).url == ""

    def test_a_message_of_a_model_can_be_written_by_a_person(self):
        """The conversation is shown, and a text is asked for."""
        messages = [{"role": "user", "content": {"type": "text", "text": "say hi"}}]
        question = SamplingQuestion(messages=messages, **ABOUT)
        assert "user: say hi" in question.whole
        with in_advance("hi"):
            assert ask_here(question).value == "hi"


class TestAsAnswer:
    @pytest.mark.parametrize(
        ("reply", "answer"),
        [
            (None, Answer("decline")),
            ({"a": 1}, Answer("accept", {"a": 1})),
            ("text", Answer("accept", {"answer": "text"})),
            (Answer("cancel"), Answer("cancel")),
        ],
    )
    def test_takes_what_is_short_to_write(self, reply, answer):
        """None declines, values accept, an answer is itself."""
        assert as_answer(reply) == answer
