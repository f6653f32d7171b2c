import json

import pytest

from test_agent.checks import of, sent
from test_agent.scripts import add, call, calls, fail, talk
from toolbench import (
    Conversation,
    ConversationState,
    Observation,
    ToolDefinition,
    history,
    tool,
)
from toolbench.agent import (
    Agent,
    ObservationEvent,
)
from toolbench.core.builtins import FinishTool
from toolbench.errors import RegistrationError
from toolbench.llm.models import ScriptedModel, as_model


class TestSecrets:
    SECRET = "hunter2-éß"

    def test_reach_tools_and_never_the_model(self):
        """A tool may use them; no message, event or record shows them."""
        values = []

        def use(action, conversation=None):
            value = conversation.state.secrets["TOKEN"].get_secret_value()
            values.append(value)
            return Observation.from_text(f"I used {value}")

        c = Conversation(
            ConversationState(secrets={"TOKEN": self.SECRET}),
            agent=Agent(
                ScriptedModel([calls(call("use")), f"It was {self.SECRET}."]),
                [ToolDefinition(name="use", description="Use it.", executor=use)],
                system_prompt=f"Never say {self.SECRET}.",
            ),
        )
        c.send_message(f"The token is {self.SECRET}.")
        assert c.run() == "answered"
        assert values == [self.SECRET]
        c.send_message("And?")
        c.run()
        texts = [repr(sent(c)), repr(list(c.events)), c.to_html(), repr(history()[-1])]
        assert not [text for text in texts if self.SECRET in text]


class TestTools:
    def test_can_be_given_in_every_form(self):
        """Tools, classes, names, functions, and other agents."""

        def double(n: int) -> int:
            """Double a number."""
            return 2 * n

        other = Agent(ScriptedModel([]), [])
        c = talk(["x"], [add, FinishTool, double, other, [fail]])
        assert list(c.toolset.tools) == [
            "add",
            "finish",
            "double",
            "delegate",
            "fail",
        ]

    def test_of_one_name_are_wrong_use(self):
        """A model could not tell them apart."""

        @tool(name="add")
        def other() -> str:
            """Do something else."""
            return ""

        with pytest.raises(RegistrationError, match="Two tools are called 'add'"):
            talk(["x"], [add, other])

    def test_defined_again_take_the_place_of_the_old(self):
        """A cell that is run again replaces the tool, in a conversation too."""
        source = (
            "from toolbench import tool\n"
            "@tool(read_only=True)\n"
            "def version() -> str:\n"
            "    '''Say it.'''\n"
            "    return {!r}\n"
        )
        names = {"__name__": "a_cell"}
        exec(source.format("one"), names)
        c = talk([calls(call("version")), calls(call("version"))], [names["version"]])
        c.step()
        exec(source.format("two"), names)
        c.step()
        assert [e.observation.text for e in of(c, ObservationEvent)] == ["one", "two"]

    def test_made_for_the_conversation_are_closed_with_it(self):
        """Others belong to somebody else."""
        closed = []

        class Executor:
            def __init__(self, name):
                self.name = name

            def __call__(self, action):
                return self.name

            def close(self):
                closed.append(self.name)

        class MadeTool(ToolDefinition):
            @classmethod
            def create(cls, conv_state=None):
                return [cls(description="Made.", executor=Executor("made"))]

        definition = ToolDefinition(name="given", description="d", executor=Executor("given"))
        with talk(["x"], [MadeTool, definition]) as c:
            assert set(c.toolset.tools) == {"made", "given"}
        assert closed == ["made"]


def test_a_callable_that_changes_what_it_gets_harms_nobody():
    """The next request has the messages and the tools as they were."""
    requests = []

    def model(messages, tools):
        requests.append(json.dumps([messages, tools]))
        for message in messages:
            for request in message.get("tool_calls", ()):
                request["function"]["arguments"] = "{}"
        for offer in tools:
            offer["function"]["name"] = "changed"
        return calls(call("add", {"a": 1})) if len(requests) < 3 else "Done."

    c = talk(as_model(model), [add])
    assert c.run() == "answered"
    assert "changed" not in "".join(requests)
    [messages, _] = json.loads(requests[2])
    functions = [m["tool_calls"][0]["function"] for m in messages if m.get("tool_calls")]
    assert [f["arguments"] for f in functions] == ['{"a": 1}'] * 2
