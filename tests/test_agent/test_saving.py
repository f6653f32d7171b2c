import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import PROVIDERS, add, call, calls, calls_of, fail, talk
from toolbench import Conversation, ConversationState, tool
from toolbench.agent import ActionEvent, Agent, AgentErrorEvent, UserRejectObservation
from toolbench.core.builtins import FinishTool
from toolbench.errors import FileError, ModelError, ToolbenchError
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.redaction import MARK


def reopened(conversation, path, script=(), tools=(add, fail, FinishTool), **options):
    conversation.save(path)
    model = ScriptedModel(script, provider=conversation.agent.llm.provider)
    return Conversation.load(path, Agent(model, tools), **options)


class TestAgain:
    def test_replaces_what_it_was_and_nothing_else(self, tmp_path):
        """Each cell may save to the same file; another conversation loses nothing."""
        path = tmp_path / "c.jsonl"
        c = talk([calls(call("add", {"a": 1})), "Two.", "Yes."])
        c.save(path)
        c.run()
        c.save(path)
        c.send_message("Sure?")
        c.run()
        c.save(path)
        other = reopened(c, tmp_path / "other.jsonl", ["Well."])
        assert len(other.events) == len(c.events)
        other.send_message("And now?")
        other.run()
        other.save(path)
        saved = path.read_bytes()
        with pytest.raises(FileError, match="already has other content"):
            c.save(path)
        with pytest.raises(FileError, match="already has other content"):
            talk(["Another."]).save(path)
        assert path.read_bytes() == saved


class TestLoading:
    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_goes_on_where_it_was(self, provider, tmp_path):
        """The next request is what it would have been without the break."""
        message = calls_of(provider, ("add", {"a": 1}), ("fail", {}), text="Hm.")
        c = talk(ScriptedModel([message, "Two."], provider=provider))
        c.run()
        other = reopened(c, tmp_path / "c.jsonl", ["Yes."])
        assert other.next_request.messages == c.next_request.messages
        assert [type(e) for e in other.events] == [type(e) for e in c.events]
        other.send_message("Sure?")
        assert other.run() == "answered"
        check_answered(other)

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_goes_on_with_a_model_of_another_provider(self, provider, tmp_path):
        """Calls and answers are said again in the words of the new one."""
        c = talk([calls(call("add", {"a": 1})), calls(call("gone", {"x": 1})), "Two."])
        c.run()
        c.save(tmp_path / "c.jsonl")
        model = ScriptedModel(["Yes."], provider=provider)
        other = Conversation.load(tmp_path / "c.jsonl", Agent(model, [add]))
        other.send_message("Sure?")
        assert other.run() == "answered"
        assert "2" in json.dumps(sent(other))

    def test_keeps_calls_that_wait(self, tmp_path):
        """They run with the next step, with the tools of now."""
        c = talk([calls(call("add", {"a": 1}), call("fail", id="c2"))])
        c.agent_state.log.listen(lambda e: c.pause() if isinstance(e, ActionEvent) else None)
        assert c.run() == "paused"
        c.send_message("And hurry.")
        other = reopened(c, tmp_path / "c.jsonl", ["Done."])
        check_answered(other, waiting=2)
        assert other.run() == "answered"
        check_answered(other)
        check_sent(sent(other))
        assert sent(other)[-1]["content"] == "And hurry."

    def test_gives_no_id_twice(self, tmp_path):
        """Calls from before and after are told apart, though a server calls them all `c1`."""
        c = talk([calls(call("add", {"a": 1})), calls(call("add", {"a": 2})), "Three."])
        c.run()
        other = reopened(c, tmp_path / "c.jsonl", [calls(call("add", {"a": 3})), "Four."])
        other.send_message("More.")
        assert other.run() == "answered"
        check_answered(other)
        check_sent(sent(other))

    def test_knows_that_all_is_said(self, tmp_path):
        """An answered conversation stays answered; what it took is known."""
        c = talk([Answer({"role": "assistant", "content": "Done."}, "stop", Usage(3, 4, 0.5))])
        c.run()
        other = reopened(c, tmp_path / "c.jsonl")
        assert other.run() == "answered"
        assert other.usage == Usage(3, 4, 0.5)

    def test_works_in_the_current_directory_and_says_so(self, tmp_path):
        """A file does not choose where its tools write; a person does, and then nothing is said."""
        state = ConversationState(tmp_path)
        c = Conversation(state, agent=Agent(ScriptedModel([]), []))
        with pytest.warns(UserWarning, match=f"worked in '{tmp_path}'"):
            other = reopened(c, tmp_path / "c.jsonl")
        assert other.state.workspace.working_dir == str(Path.cwd())
        other = reopened(c, tmp_path / "c.jsonl", workspace=tmp_path)
        assert other.state.workspace.working_dir == str(tmp_path)


class TestFiles:
    def test_hold_no_secret(self, tmp_path):
        """Neither those of the conversation, nor what a tool calls secret."""

        @tool(read_only=True)
        def login(password: str) -> str:
            """Log in."""
            return "in"

        c = Conversation(
            secrets={"TOKEN": "hunter2-token"},
            agent=Agent(ScriptedModel([calls(call("login", {"password": "s3same"}))]), [login]),
        )
        c.send_message("Use hunter2-token.")
        c.step()
        c.save(tmp_path / "c.jsonl")
        text = (tmp_path / "c.jsonl").read_text()
        assert (
            "hunter2" not in text
            and "s3same" not in text
            and MARK in json.loads(text.splitlines()[1])["content"][0]["text"]
        )
        assert "s3same" not in c.to_html()

    def test_nor_cells_show_what_a_call_keeps_secret(self):
        """Neither text nor page, neither one event nor all, also where the model repeats it."""

        @tool(read_only=True)
        def login(password: str) -> str:
            """Log in."""
            return f"in with {password}"

        secret = "hunter2-said-again"
        request = calls(call("login", {"password": secret}), text=f"I try {secret}.")
        unknown = calls(call("logon", {"password": "other-s3cret"}))
        script = [request, unknown, f"It was {secret}, not other-s3cret."]
        c = Conversation(agent=Agent(ScriptedModel(script), [login]))
        c.send_message("Log in.")
        c.run()
        bundle = c._repr_mimebundle_()
        text = f"{bundle['text/plain']}{bundle['text/html']}{c.to_html()}"
        assert MARK in bundle["text/plain"]
        assert secret not in text and "other-s3cret" not in text
        assert secret not in "".join(f"{e!r}{e.visualize}" for e in c.events)
        # The program has it as it is
        assert secret in c.final_text

    def test_give_no_call_a_mark_for_a_secret(self, tmp_path):
        """A call that waited with a secret is refused, until a person writes the secret again."""
        passwords = []

        @tool(read_only=True)
        def login(user: str, password: SecretStr) -> str:
            """Log in."""
            passwords.append(password.get_secret_value())
            return "in"

        arguments = {"user": "u", "password": "geheim123"}
        c = talk([calls(call("login", arguments))], [login])
        c.ask()
        others = [reopened(c, tmp_path / "c.jsonl", ["Done."], [login]) for _ in range(3)]
        assert others[0].run() == "answered"
        [refused] = of(others[0], AgentErrorEvent)
        assert "password: " in refused.error and "edit the call" in refused.error
        with pytest.raises(ToolbenchError, match="edit the call"):
            others[1].edit_pending(None, {"user": "v", "password": MARK})
        others[1].edit_pending(None, arguments)
        assert others[1].run() == "answered"
        others[2].answer_pending(None, "in")
        assert others[2].run() == "answered"
        assert passwords == ["geheim123"]
        # Which is no file: it has the secret
        fork = c.fork()
        fork.run_pending()
        assert passwords == ["geheim123"] * 2

    @pytest.mark.parametrize("text", ["", "x\n", "[]\n", '{"a": 1}\n', '{"toolbench": 1'])
    def test_of_somebody_else_are_told_apart(self, text, tmp_path):
        """One sentence says which line is nothing of ours."""
        path = tmp_path / "c.jsonl"
        path.write_text(text)
        with pytest.raises(ToolbenchError, match=r"c\.jsonl"):
            Conversation.load(path, Agent(ScriptedModel([]), []))

    def test_that_cannot_be_written_are_an_error(self, tmp_path):
        """What was there before stays."""
        c = talk(["Done."])
        with pytest.raises(ToolbenchError, match="cannot be written"):
            c.save(tmp_path / "no" / "c.jsonl")


@given(
    st.lists(
        st.one_of(
            st.lists(
                st.builds(
                    call,
                    st.sampled_from(["add", "fail", "nothing", "finish"]),
                    st.sampled_from([{"a": 1}, {"a": 2}, {}, {"message": "m"}, "{"]),
                ),
                min_size=1,
                max_size=3,
            ).map(lambda sent: calls(*sent)),
            st.sampled_from(["Done.", "", ModelError("gone")]),
        ),
        max_size=5,
    ),
    st.booleans(),
)
def test_a_break_changes_nothing(tmp_path_factory, script, is_paused):
    """After save and load the events are the same, and the model is sent what it would have been."""
    c = talk(script, max_steps=3)
    if is_paused:
        c.agent_state.log.listen(lambda e: c.pause() if isinstance(e, ActionEvent) else None)
    c.run()
    path = tmp_path_factory.mktemp("talk") / "c.jsonl"
    other = reopened(c, path, tools=[add, fail, FinishTool])
    assert other.written() == c.written()
    for conversation in (c, other):
        conversation.reject_pending("no")
    assert other.next_request.messages == c.next_request.messages
    refused = [[e.reason for e in of(x, UserRejectObservation)] for x in (c, other)]
    assert refused[0] == refused[1]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("other", PROVIDERS)
def test_each_message_goes_on_in_the_format_of_the_model_that_goes_on(provider, other, tmp_path):
    """After a change of provider too: the second file, and a fork, hold messages of both."""
    script = [calls_of(provider, ("add", {"a": 1})), calls_of(provider, ("add", {"a": 2}))]
    c = talk(ScriptedModel(script, provider=provider), [add])
    c.step()
    c.save(tmp_path / "1.jsonl")
    agent = Agent(ScriptedModel([calls_of(other, ("add", {"a": 3}))], provider=other), [add])
    c = Conversation.load(tmp_path / "1.jsonl", agent)
    c.step()
    c.save(tmp_path / "2.jsonl")
    again = Conversation.load(tmp_path / "2.jsonl", agent)
    assert again.next_request == c.fork().next_request == c.next_request
