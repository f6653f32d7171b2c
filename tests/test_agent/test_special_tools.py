import json

import pytest

from test_agent.checks import of, sent
from test_agent.scripts import add, call, calls, talk, wipe
from toolbench import (
    Conversation,
    Tool,
    ToolDefinition,
    history,
    register_tool,
    tool,
)
from toolbench.agent import (
    Agent,
    ObservationEvent,
    check_tools,
)
from toolbench.agent.tools import AskHumanTool, DelegateTool
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.registry import default_registry
from toolbench.errors import RegistrationError, ToolbenchError, ToolNotFoundError
from toolbench.llm.models import ScriptedModel
from toolbench.runs.policy import policy
from toolbench.runs.questions import answering
from toolbench.tools.presets import default_tools


class TestDelegate:
    def test_reports_what_the_other_agent_says_last(self):
        """The other one has a conversation of its own, whose events stay in the result."""
        helper = Agent(ScriptedModel([calls(call("add", {"a": 4})), "Five."]), [add])
        c = talk([calls(call("delegate", {"task": "4+1?"})), "It is five."], [helper])
        assert c.run() == "answered"
        [answer] = of(c, ObservationEvent)
        assert (answer.observation.text, answer.observation.reason) == (
            "Five.",
            "answered",
        )
        kinds = [event["kind"] for event in answer.observation.transcript]
        assert kinds.count("ActionEvent") == 1
        assert "Its conversation" in c.to_html()
        assert {r.tool for r in history()} == {"add", "delegate"}

    def test_hands_on_no_secret_of_its_calls(self, tmp_path):
        """What is secret in a call of either agent shows nowhere, even if it is part of the task."""

        @tool(read_only=True)
        def login(password: str) -> str:
            """Log in."""
            return f"in with {password}"

        secret, outer = "hunter2-inner", "hunter2-outer"
        inside = [
            calls(call("login", {"password": secret})),
            f"Logged in with {secret}.",
        ]
        helper = Agent(ScriptedModel(inside), [login])
        script = [
            calls(call("login", {"password": outer})),
            calls(call("delegate", {"task": f"Log in, not with {outer}."}, id="c2")),
            f"It was {secret}.",
        ]
        c = talk(script, [helper, login])
        history().persist(tmp_path / "journal")
        c.run()
        c.save(tmp_path / "saved")
        texts = {
            "history": history().to_json(),
            "journal": (tmp_path / "journal").read_text(),
            "file": (tmp_path / "saved").read_text(),
            "page": c.to_html(),
            "cell": str(c._repr_mimebundle_()),
            "events": str([*c.events]),
            "looks": str([str(event.visualize) for event in c.events]),
            "written": str(c.written()),
        }
        assert not [place for place, text in texts.items() if secret in text or outer in text]
        assert sent(c)[-1]["content"] == f"Logged in with {secret}."

    def test_has_limits_of_its_own(self):
        """One that does not come to an end is a failure, and says what it said last."""
        helper = Agent(
            ScriptedModel([calls(call("add", {"a": n})) for n in range(9)]),
            [add],
            max_steps=2,
        )
        c = talk([calls(call("delegate", {"task": "Count."})), "Well."], [helper.as_tool()])
        c.run()
        assert "max_steps" in of(c, ObservationEvent)[0].observation.text
        assert of(c, ObservationEvent)[0].observation.is_error

    def test_as_a_class_is_the_agent_without_it(self):
        """A sub-agent has the same model and tools, but delegates no further."""
        script = [
            calls(call("delegate", {"task": "4+1?"})),
            calls(call("add", {"a": 4})),
            "Five.",
            "5.",
        ]
        c = talk(script, [add, DelegateTool])
        assert c.run() == "answered"
        offered = [[t["function"]["name"] for t in r[1]] for r in c.agent.llm.requests]
        assert offered == [["add", "delegate"], ["add"], ["add"], ["add", "delegate"]]

    def test_names_may_be_chosen(self):
        """Two helpers are two tools."""
        helper = Agent(ScriptedModel([]), [])
        names = [helper.as_tool(n, f"Ask {n}.").name for n in ("ann", "ben")]
        assert names == ["ann", "ben"]

    def test_alone_is_wrong_use(self):
        """There is nobody to give tasks to."""
        with pytest.raises(ToolbenchError, match="needs an agent"):
            DelegateTool.create()


class TestAskHuman:
    def test_returns_the_answer(self):
        """The question goes where questions of runs go."""
        question = call("ask_human", {"question": "Which?", "choices": ["red", "blue"]})
        c = talk([calls(question), "Blue it is."], [AskHumanTool])
        with answering("blue"):
            c.run()
        assert sent(c)[-1]["content"] == "blue"

    def test_says_that_nobody_is_there(self):
        """A model that waits for nobody would wait for ever."""
        c = talk(
            [calls(call("ask_human", {"question": "Which?"})), "Then not."],
            [AskHumanTool],
        )
        c.run()
        assert "Nobody can be asked" in sent(c)[-1]["content"]


class TestManyTools:
    def test_are_searched(self, tmp_path):
        """Above 100, the model gets a search; what it finds it can call, also later."""

        def numbered(n):
            return ToolDefinition(
                name=f"tool_{n}",
                description=f"Returns {n}.",
                executor=lambda action: str(n),
            )

        script = [
            calls(call("search_tools", {"query": "tool 77"})),
            calls(call("tool_77")),
            "77.",
        ]
        c = talk(script, [numbered(n) for n in range(101)])
        assert c.run() == "answered"
        offered = [{t["function"]["name"] for t in r[1]} for r in c.agent.llm.requests]
        assert offered[0] == {"search_tools"}
        assert "tool_77" in offered[1] and len(offered[1]) < 10
        assert of(c, ObservationEvent)[-1].observation.text == "77"
        c.save(tmp_path / "c.jsonl")
        for again in (Conversation.load(tmp_path / "c.jsonl", c.agent), c.fork()):
            tools = again.toolset.offered("openai")
            assert {t["function"]["name"] for t in tools} == offered[-1]


class TestCheckTools:
    def test_says_what_is_refused_before_the_first_request(self):
        """A name that a provider does not take, and two that become one."""
        bad = ToolDefinition(name="a b", description="d", executor=lambda a: "")
        problems = check_tools([bad, add, add], lambda messages, tools: "")
        assert [str(p) for p in problems if p.tool == "add"] == [
            "add, name: 2 tools have this name (refused)"
        ]
        [change] = [p for p in problems if p.where == "name" and p.tool == "a b"]
        assert not change.refused and "changed when it is sent" in str(change)
        assert problems[0].refused and str(problems[0]).endswith("(refused)")

    def test_finds_nothing_where_there_is_nothing(self):
        """Plain tools go through as they are."""
        assert check_tools([add], ScriptedModel([])) == []

    def test_takes_what_an_agent_takes(self):
        """Classes, specs, names, functions, agents, one or several; what is none is said."""

        def double(x: int) -> int:
            """Return twice the number."""
            return 2 * x

        register_tool("wipe", wipe)
        try:
            model = ScriptedModel([])
            specs = [FinishTool, Tool(name="wipe"), double, Agent(model)]
            for tools in (specs, *specs, "wipe", [[add, ThinkTool]]):
                assert check_tools(tools, model) == []
                Conversation(agent=Agent(model, tools)).close()
        finally:
            default_registry.unregister("wipe")
        for wrong, error in ((7, TypeError), ([7], RegistrationError)):
            with pytest.raises(error):
                check_tools(wrong, model)
        with pytest.raises(ToolNotFoundError):
            check_tools("no_such_tool", model)


class TestDefaultTools:
    def test_know_the_switches_of_openhands(self, tmp_path):
        """Each switch adds or leaves out its tool."""
        tools = default_tools(
            enable_cmd=False, enable_jupyter=False, enable_plan_mode=True,
            enable_condensation_request=True, enable_think=False,
            enable_llm_editor=True, llm=ScriptedModel([]), ask_human=True,
        )  # fmt: skip
        names = [tool.name for tool in tools]
        assert names == [
            "task_tracker", "glob", "grep", "request_condensation", "ask_human",
            "edit_file", "finish",
        ]  # fmt: skip

    def test_know_no_others(self):
        """A typing mistake is told as Python tells it."""
        with pytest.raises(TypeError, match="enable_think"):
            default_tools(enable_thik=True)


def test_records_keep_the_version_of_the_tool():
    """A label in a tool's meta is in its records and events."""
    labelled = add.model_copy(update={"meta": {"version": "1.2"}})
    c = talk([calls(call("add", {"a": 1}))], [labelled])
    c.step()
    assert history()[-1].version == "1.2"
    assert json.loads(history().to_json())[-1]["version"] == "1.2"
    assert of(c, ObservationEvent)[0].version == "1.2"


def test_a_policy_holds_inside_of_a_delegated_task():
    """What is denied is denied to every agent."""
    policy.deny(add)
    helper = Agent(ScriptedModel([calls(call("add", {"a": 4})), "No."]), [add])
    c = talk([calls(call("delegate", {"task": "4+1?"})), "No."], [helper])
    c.run()
    assert history()[0].state == "denied"
