"""Answers that were recorded once, and are replayed without a model."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from test_llm.recorded import MESSAGES
from test_llm.samples import GREP, WRITE
from test_llm.test_models.provider_server import KEY, refusal, spoken
from toolbench import Conversation, ImageContent, Observation, TextContent, tool
from toolbench.agent import Agent
from toolbench.errors import ModelDriftError, ModelError, ModelStoppedError
from toolbench.llm.compose import as_call
from toolbench.llm.models import (
    CancelToken,
    RecordedModel,
    ScriptedModel,
    as_model,
)
from toolbench.llm.models.http import AddressModel
from toolbench.redaction import MARK


def user_messages(text):
    """A conversation of one message."""
    return [{"role": "user", "content": text}]


@pytest.fixture
def path(tmp_path):
    """Where to record."""
    return tmp_path / "lessons" / "answers.jsonl"


class TestReplay:
    @pytest.mark.parametrize("provider", MESSAGES)
    def test_gives_the_answers_that_were_recorded(self, path, provider):
        """Each to its own request, in any order, with usage and finish reason and chunks."""
        script = ScriptedModel([MESSAGES[provider], "Two"], provider=provider)
        recording = RecordedModel(path, script)
        one = recording.complete(user_messages("one"), [GREP, WRITE])
        two = recording.complete(user_messages("two"))
        replayed, chunks = RecordedModel(path), []
        assert (replayed.name, replayed.provider) == ("scripted", provider)
        assert replayed.complete(user_messages("two")) == two
        again = replayed.complete(user_messages("one"), [GREP, WRITE], on_chunk=chunks.append)
        assert again == one
        assert [chunk.kind for chunk in chunks].count("call") == 2

    def test_of_the_same_request_gives_one_after_the_other(self, path):
        """As they were recorded; then from the first again."""
        recording = RecordedModel(path, ScriptedModel(["a", "b", "c"]))
        for _ in range(3):
            recording.complete(user_messages("dice"))
        replayed = RecordedModel(path)
        texts = [replayed.complete(user_messages("dice")).text for _ in range(4)]
        assert texts == ["a", "b", "c", "a"]

    def test_is_of_a_file_that_only_its_owner_reads(self, path):
        """As everything else that is kept of a conversation; what is there keeps its mode."""
        RecordedModel(path, ScriptedModel(["a"])).complete(user_messages("one"))
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o644)
        RecordedModel(path, ScriptedModel(["b"])).complete(user_messages("two"))
        assert path.stat().st_mode & 0o777 == 0o644
        assert len(path.read_text().splitlines()) == 2

    def test_records_only_what_is_missing(self, path):
        """A file grows by new requests; the old ones ask nobody."""
        RecordedModel(path, ScriptedModel(["old"])).complete(user_messages("one"))
        later = ScriptedModel(["new"])
        model = RecordedModel(path, later)
        assert model.complete(user_messages("one")).text == "old"
        assert model.complete(user_messages("two")).text == "new"
        assert len(later.requests) == 1
        assert len(path.read_text().splitlines()) == 2

    @given(st.lists(st.text(st.characters(codec=None), max_size=20), max_size=6))
    def test_is_what_was_recorded(self, tmp_path_factory, texts):
        """Whatever is asked and answered: the same conversation, the same answers."""
        path = tmp_path_factory.mktemp("r") / "x.jsonl"
        conversations = [user_messages(text) for text in texts]
        recording = RecordedModel(path, ScriptedModel([f"<{t}>" for t in texts]))
        first = [recording.complete(messages) for messages in conversations]
        if texts:
            replayed = RecordedModel(path)
            assert [replayed.complete(messages) for messages in conversations] == first


class TestDrift:
    def test_shows_the_difference(self, path):
        """To the nearest request: what was recorded, and what is asked now."""
        recording = RecordedModel(path, ScriptedModel(["1", "2"]))
        recording.complete(user_messages("Find the word TODO"), [GREP])
        recording.complete(user_messages("Something else altogether"))
        changed = GREP.model_copy(update={"description": "Find text, quickly."})
        with pytest.raises(ModelDriftError) as raised:
            RecordedModel(path).complete(user_messages("Find the word TODO"), [changed])
        lines = str(raised.value).splitlines()
        assert any("Find text, quickly." in line for line in lines if line[:1] == "+")
        assert any(GREP.description[:20] in line for line in lines if line[:1] == "-")
        assert not any("altogether" in line for line in lines)

    def test_names_the_descriptions_that_are_recorded(self, path):
        """Of a menu that was recorded: a few, the nearest first; not what was asked as recorded."""
        recording = RecordedModel(path, ScriptedModel([str(n) for n in range(12)]))
        for number in range(12):
            described = GREP.model_copy(update={"description": f"Number {number}:\nfind text."})
            recording.complete(user_messages("Find TODO"), [described])
        changed = GREP.model_copy(update={"description": "Number 7: find texts."})
        with pytest.raises(ModelDriftError) as raised:
            RecordedModel(path).complete(user_messages("Find TODO"), [changed])
        [line] = [line for line in str(raised.value).splitlines() if line.startswith("Recorded")]
        name = GREP.name
        begin = f'Recorded descriptions of {name}, the nearest first: "Number 7: find text."'
        assert line.startswith(begin) and line.endswith(", and 8 more")

    def test_names_the_messages_that_are_recorded(self, path):
        """Only those with the same tools; characters that reorder text are spelled out."""
        recording = RecordedModel(path, ScriptedModel(["1", "2", "3"]))
        recording.complete(user_messages("Find TODO"), [GREP])
        recording.complete(user_messages("Find \u202eFIXME"), [GREP])
        recording.complete(user_messages("Write TODO"), [WRITE])
        with pytest.raises(ModelDriftError) as raised:
            RecordedModel(path).complete(user_messages("Find TODOs"), [GREP])
        [line] = [line for line in str(raised.value).splitlines() if line.startswith("Recorded")]
        texts = '"Find TODO", "Find ⟨U+202E⟩FIXME"'
        assert line == f"Recorded last messages, the nearest first: {texts}"

    def test_is_cut_short(self, path):
        """A difference of a thousand lines is none that anybody reads."""
        RecordedModel(path, ScriptedModel(["1"])).complete(user_messages("a"))
        many = [{"role": "user", "content": f"{n}" * 500} for n in range(200)]
        with pytest.raises(ModelDriftError, match="more lines") as raised:
            RecordedModel(path).complete(many)
        assert len(str(raised.value)) < 8_000

    def test_asks_the_inner_model_if_there_is_one(self, path):
        """Then it is no drift, but missing."""
        RecordedModel(path, ScriptedModel(["1"])).complete(user_messages("a"))
        assert RecordedModel(path, ScriptedModel(["2"])).complete(user_messages("b")).text == "2"


class TestFile:
    def test_holds_no_key(self, path, server):
        """Not even where the conversation, or the model, says it."""
        server.reply(spoken("openai", f"Your key is {KEY}."))
        inner = AddressModel(f"{server.url}/v1#toy", api_key=KEY)
        recording = RecordedModel(path, inner)
        answer = recording.complete(user_messages(f"My key is {KEY}, keep it."))
        assert KEY in answer.text
        assert KEY not in path.read_text()
        assert KEY not in repr(recording)

    @pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini"])
    def test_holds_no_secret_that_only_a_type_tells(self, provider, path):
        """A `SecretStr` with the name of any other argument; Gemini's schemas do not know the type."""

        @tool(read_only=True)
        def unlock(word: SecretStr | None = None) -> str:
            """Unlock."""
            return "open"

        call = as_call(unlock, {"word": "hunter2-arg-55"}, provider, id="c1")
        key = {"openai": "tool_calls", "anthropic": "content", "gemini": "parts"}
        message = {"role": "assistant", key.get(provider, "output"): [call]}
        c = Conversation(
            agent=Agent(
                RecordedModel(path, ScriptedModel([message, "Open."], provider=provider)), [unlock]
            )
        )
        c.send_message("Unlock it.")
        assert c.run() == "answered"
        assert "unlock" in path.read_text() and "hunter2" not in path.read_text()

    def test_holds_no_secret_of_a_call(self, path):
        """Where the person, the model and the tool say it; and the file still replays."""

        @tool(read_only=True)
        def login(password: str) -> str:
            """Log in."""
            return f"in with {password}"

        secret = "hunter2-arg-55"
        function = {"name": "login", "arguments": json.dumps({"password": secret})}
        call = {"id": "c1", "type": "function", "function": function}
        request = {"role": "assistant", "content": None, "tool_calls": [call]}

        def talk(model):
            conversation = Conversation(agent=Agent(model, [login]))
            conversation.send_message(f"Log in with {secret}.")
            return conversation.run(), conversation.final_text

        inner = ScriptedModel([request, f"I used {secret}."])
        assert talk(RecordedModel(path, inner)) == ("answered", f"I used {secret}.")
        assert secret not in path.read_text()
        assert talk(RecordedModel(path)) == ("answered", f"I used {MARK}.")
        with pytest.raises(ModelDriftError):
            RecordedModel(path).complete(user_messages("Log out."))
        request = json.loads(path.read_text().splitlines()[0])["request"]
        request["tools"][0]["function"]["parameters"] = True
        with pytest.raises(ModelDriftError):
            RecordedModel(path).complete(**request)

    def test_holds_no_secret_of_a_call_in_the_format_of_another_provider(self, path):
        """A server may answer as another provider does; its calls may be unreadable too."""

        @tool(read_only=True)
        def login(password: str) -> str:
            """Log in."""
            return "in"

        broken = {"functionCall": {"name": "login", "args": '{"password": "hunter2-arg-55'}}
        model = RecordedModel(path, ScriptedModel([{"parts": [broken]}, "Sorry."]))
        answer = model.complete(user_messages("Log in."), [login])
        model.complete([*user_messages("Log in."), answer.message], [login])
        assert "login" in path.read_text() and "hunter2" not in path.read_text()

    @pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini"])
    def test_of_an_earlier_version_knows_the_results_of_written_calls(self, path, provider):
        """They were in one message, without their images; a request that says something else drifts."""

        @tool(read_only=True)
        def see(word: str) -> Observation:
            """See."""
            url = "data:image/png;base64,iVBORw0KGgo="
            return Observation(content=[TextContent(text=word), ImageContent(image_urls=[url])])

        def talk(model, text="Look."):
            conversation = Conversation(agent=Agent(model, [see]))
            conversation.send_message(text)
            return conversation.run(), conversation.final_text

        call = '<tool_call>{"name": "see", "arguments": {"word": "%s"}}</tool_call>'
        inner = ScriptedModel([call % "sun" + call % "moon", "Done."], provider=provider)
        inner.written_calls = True
        assert talk(RecordedModel(path, inner)) == ("answered", "Done.")
        first, second = [json.loads(line) for line in path.read_text().splitlines()]
        messages = second["request"]["messages"]
        *before, one, other = messages
        content = "parts" if provider == "gemini" else "content"
        assert "sun" in str(one) and "moon" in str(other) and len(one[content]) == 2
        one[content] = [one[content][0], other[content][0]]
        second["request"]["messages"] = [*before, one]
        path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
        assert talk(RecordedModel(path)) == ("answered", "Done.")
        assert talk(RecordedModel(path, ScriptedModel([], provider=provider)), "Look")[0] == "error"

    def test_holds_no_failure(self, path, server):
        """What went wrong is asked again the next time."""
        server.reply(refusal(400, "No."), spoken("openai", "Yes."))
        recording = RecordedModel(path, as_model(f"{server.url}/v1#toy"))
        with pytest.raises(ModelError):
            recording.complete(user_messages("a"))
        assert recording.complete(user_messages("a")).text == "Yes."
        assert RecordedModel(path).complete(user_messages("a")).text == "Yes."

    def test_that_was_cut_off_is_read_and_goes_on(self, path):
        """A kernel that died while it wrote loses that line, and no other."""
        RecordedModel(path, ScriptedModel(["1"])).complete(user_messages("a"))
        with path.open("a") as file:
            file.write('{"request": {"mess')
        assert RecordedModel(path).complete(user_messages("a")).text == "1"
        RecordedModel(path, ScriptedModel(["2"])).complete(user_messages("b"))
        assert RecordedModel(path).complete(user_messages("b")).text == "2"

    def test_that_is_none_says_which_line(self, path):
        """One sentence."""
        path.parent.mkdir()
        path.write_text(json.dumps({"request": {}, "answer": {}}) + "\n[]\n")
        with pytest.raises(ModelError, match="Line 2 of"):
            RecordedModel(path)

    @pytest.mark.parametrize("text", ["my notes", "one\ntwo", '{"my": "settings"}'])
    def test_of_another_kind_keeps_its_last_line(self, path, text):
        """Also if that line does not end; a recording loses what a crash left of it."""
        path.parent.mkdir()
        path.write_text(text)
        with pytest.raises(ModelError, match="Line 1 of"):
            RecordedModel(path, ScriptedModel(["1"]))
        assert path.read_text() == text

    def test_that_is_not_there_says_so(self, path):
        """Without an inner model there is nothing to replay."""
        with pytest.raises(ModelError, match="is not there"):
            RecordedModel(path)

    def test_is_not_asked_once_it_is_stopped(self, path):
        """As of any model."""
        token = CancelToken()
        token.cancel()
        with pytest.raises(ModelStoppedError):
            RecordedModel(path, ScriptedModel(["1"])).complete(user_messages("a"), cancel=token)
        assert not path.exists()
