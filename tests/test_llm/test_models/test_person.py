"""A person answers for the model: by questions in a cell, or by an answerer of one's own."""

import pytest

from test_llm.samples import GREP, WRITE
from toolbench import tool
from toolbench.errors import ModelError, ModelStoppedError
from toolbench.llm import parse_tool_calls
from toolbench.llm.compose import as_call
from toolbench.llm.models import CancelToken, PersonModel
from toolbench.llm.models.person import PersonRequest
from toolbench.runs.questions import Answer, answering

PROVIDERS = ["openai", "responses", "anthropic", "gemini"]
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Find TODO"},
]


@pytest.fixture
def typed(monkeypatch):
    """What the person types, a line for each `input()`; and the prompts."""
    lines, prompts = [], []

    def read(prompt=""):
        prompts.append(prompt)
        return lines.pop(0)

    monkeypatch.setattr("builtins.input", read)
    return lines, prompts


class TestInCell:
    def test_sees_what_a_model_is_sent(self, typed):
        """Every message and every tool, before the first question."""
        lines, prompts = typed
        lines += ["", "There is none."]
        answer = PersonModel().complete(MESSAGES, [GREP, WRITE])
        assert answer.text == "There is none."
        assert answer.finish_reason == "stop"
        for part in ("Be brief.", "Find TODO", '"grep"', '"file_editor"'):
            assert part in prompts[0]

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_sees_each_schema_once(self, typed, provider):
        """Then the name is enough, until the tool changes; another model shows all again."""
        lines, prompts = typed
        lines += ["", "One."] * 4
        model = PersonModel(provider=provider)
        changed = GREP.model_copy(update={"description": "Find better."})
        for tools in ([GREP], [GREP, WRITE], [changed, WRITE]):
            model.complete(MESSAGES, tools)
        PersonModel(provider=provider).complete(MESSAGES, [GREP])
        lists = [prompt.partition("[tools]\n")[2] for prompt in prompts if "[tools]" in prompt]
        schema = '"pattern"'
        assert schema in lists[0] and "as before" not in lists[0]
        assert schema not in lists[1] and "as before: grep\n" in lists[1]
        assert "Find better." in lists[2] and "as before: file_editor\n" in lists[2]
        assert schema in lists[3] and "as before" not in lists[3]

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_picks_a_tool_and_fills_its_form(self, typed, provider):
        """Argument by argument; what is left empty is not sent. The text is the thought."""
        lines, _ = typed
        names = list(GREP.input_schema["properties"])
        values = {"pattern": "TODO", "limit": "5"}
        lines += ["grep", "I look.", *(values.get(name, "") for name in names)]
        chunks = []
        model = PersonModel(provider=provider)
        answer = model.complete(MESSAGES, [GREP], on_chunk=chunks.append)
        (call,) = parse_tool_calls(answer.message, [GREP], provider=provider)
        assert call.arguments == {"pattern": "TODO", "limit": 5}
        assert call.error is None
        assert call.thought == "I look."
        assert answer.finish_reason == "tool_calls"
        assert provider == "gemini" or call.id
        assert [chunk.kind for chunk in chunks] == ["text", "call"]

    def test_may_be_answered_in_advance(self):
        """As every question: for notebooks that run by themselves."""
        with answering({"tool": "grep"}, {"pattern": "TODO"}, {"text": "Done."}):
            model = PersonModel()
            first = model.complete(MESSAGES, [GREP])
            second = model.complete([*MESSAGES, first.message], [GREP])
        assert parse_tool_calls(first.message, [GREP])[0].arguments == {"pattern": "TODO"}
        assert second.text == "Done."

    def test_is_asked_where_the_run_is_shown(self):
        """A tool that asks a model has the person answer where its questions go."""

        @tool
        def ask_model() -> str:
            """Ask the model."""
            return PersonModel().complete(MESSAGES).text

        with answering({"text": "From the panel."}):
            assert ask_model({}).text == "From the panel."

    def test_that_nobody_answers_is_one_sentence(self, monkeypatch):
        """Where input() does not work."""

        def refuse(prompt=""):
            raise EOFError

        monkeypatch.setattr("builtins.input", refuse)
        with pytest.raises(ModelError, match="Nobody can answer"):
            PersonModel().complete(MESSAGES)

    def test_that_is_declined_stops(self):
        """The person will not: the conversation can go on later."""
        with answering(Answer("decline")), pytest.raises(ModelStoppedError):
            PersonModel().complete(MESSAGES)


class TestRequest:
    def test_has_every_word_that_is_sent(self):
        """However long a message is."""
        words = " ".join(map(str, range(5_000)))
        call = as_call(GREP, {"pattern": "TODO"}, "openai", id="c1")
        messages = [
            {"role": "user", "content": words},
            {"role": "assistant", "content": None, "tool_calls": [call]},
        ]
        text = PersonRequest(messages, [], "openai").text
        assert words in text and 'calls grep {"pattern":"TODO"}' in text

    def test_of_no_such_tool_is_a_key_error(self):
        """With the tools that there are."""
        with pytest.raises(KeyError, match="there are: none"):
            PersonRequest(MESSAGES, [], "openai").schema("x")


class TestAnswerer:
    def test_takes_the_place_of_the_questions(self):
        """A panel shows the request, and gives back texts and calls."""
        requests = []

        def panel(request, cancel):
            requests.append((request, cancel.cancelled))
            return request.answer("Both.", [(n, {}) for n in request.tool_names])

        model, tools = PersonModel(panel), [GREP, WRITE]
        answer = model.complete(MESSAGES, tools)
        calls = parse_tool_calls(answer.message, tools)
        assert [call.name for call in calls] == ["grep", "file_editor"]
        assert len({call.id for call in calls}) == 2
        ((request, cancelled),) = requests
        assert request.messages == MESSAGES
        assert request.schema("grep")["properties"].keys() == GREP.input_schema["properties"].keys()
        assert not cancelled

    @pytest.mark.parametrize("message", ["Yes.", {"role": "assistant", "content": "Yes."}])
    def test_may_give_any_message(self, message):
        """A text is enough."""
        assert PersonModel(lambda request, cancel: message).complete(MESSAGES).text == "Yes."

    def test_is_told_that_nobody_waits(self):
        """By the token it is given; what it gives then is not taken."""
        token = CancelToken()

        def panel(request, cancel):
            token.cancel()
            assert cancel.cancelled
            return "Too late."

        with pytest.raises(ModelStoppedError):
            PersonModel(panel).complete(MESSAGES, cancel=token)

    def test_is_not_asked_once_it_is_stopped(self):
        """A token that is cancelled already."""
        token = CancelToken()
        token.cancel()
        with pytest.raises(ModelStoppedError):
            PersonModel(lambda request, cancel: 1 / 0).complete(MESSAGES, cancel=token)
