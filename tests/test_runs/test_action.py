"""The action travels: built once for a run, it is what is asked about, executed and shown."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from json import dumps

import comm
import ipywidgets
import pytest
from patience import eventually
from pydantic import field_validator
from shells import new_shell
from test_serving.clients import call as by_a_client
from test_widgets.front import Wire, click
from test_widgets.tooling import buttons, finish, shown

from toolbench import (
    Action,
    Conversation,
    ToolAnnotations,
    ToolDefinition,
    bench,
    history,
    run_tool,
)
from toolbench.agent import Agent
from toolbench.evals import sweep
from toolbench.llm import parse_tool_calls
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.runs.parallel import run_tools
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.serving import serve
from toolbench.testing import FakeMCPServer
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.tool_calls import CallsView

ARGUMENTS = {"word": "a"}


class TakeAction(Action):
    """Numbers each value that is checked, so that no two actions are alike."""

    word: str
    """The word that was sent, and the number of the check."""

    @field_validator("word")
    @classmethod
    def _numbered(cls, word):
        Counter.checks += 1
        if Counter.checks in Counter.refused:
            msg = f"is refused at check {Counter.checks}"
            raise ValueError(msg)
        return f"{word} {Counter.checks}"


class Counter:
    """How many actions were built."""

    checks = 0
    refused: tuple[int, ...] = ()


take = ToolDefinition(
    name="take",
    action_type=TakeAction,
    annotations=ToolAnnotations(readOnlyHint=True),
    executor=lambda action: action.word,
)
destroy = ToolDefinition(
    name="destroy",
    action_type=TakeAction,
    annotations=ToolAnnotations(destructiveHint=True),
    executor=lambda action: action.word,
)


async def _take_async(action):
    return action.word


take_async = take.set_executor(_take_async)


class Counted(MCPToolDefinition):
    """A server's tool that counts how often its arguments are made an action."""

    def action_from_arguments(self, arguments):
        Counter.checks += 1
        return super().action_from_arguments(arguments)

    def unchecked_action(self, arguments):
        Counter.checks += 1
        return super().unchecked_action(arguments)


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    Counter.checks, Counter.refused = 0, ()
    monkeypatch.setattr(comm, "create_comm", Wire().comm)
    yield
    forget_calls()
    ipywidgets.Widget.close_all()


@pytest.fixture(scope="module")
def shell():
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.user_ns |= {"take": take, "destroy": destroy}
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


@pytest.fixture(scope="module")
def remote():
    """A tool of a server, which counts."""
    server = FakeMCPServer("fake")
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    server.answer("echo", "a 1", schema=schema)
    with create_mcp_tools(server) as client:
        definition = client["echo"]
        yield Counted(
            name=definition.name,
            description=definition.description,
            server=definition.server,
            remote_name=definition.remote_name,
            schema=definition.schema,
            annotations=ToolAnnotations(readOnlyHint=True),
            executor=definition.executor,
            # Else it is an earlier one, and the server's present one runs
            entry=definition.entry,
            server_version=definition.server_version,
        )


def message(tool):
    function = {"name": tool.name, "arguments": dumps(ARGUMENTS)}
    call = {"id": "1", "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call]}


def clicked(panel):
    """Click on Run; the form has looked at its value for its own sake before."""
    Counter.checks, before = 0, history()[-1:]
    click(buttons(panel)["Run"])
    eventually(lambda: history()[-1:] != before)
    finish(panel)
    return panel.result


def filled_in(panel):
    panel.form.value = ARGUMENTS
    return clicked(panel)


def run_by_panel(tool):
    panel = ToolPanel(tool, ARGUMENTS)
    Counter.checks = 0
    panel.run()
    finish(panel)
    return panel.result


def rerun(tool):
    run_tool(tool, ARGUMENTS)
    Counter.checks = 0
    return history()[-1].rerun()


def called(run):
    """Parse a message, and run its call."""
    return lambda tool: run(parse_tool_calls(message(tool), [tool])[0])


def shown_call(call):
    """Open the panel of a call and click on Run."""
    view = CallsView([call])
    [panel] = view.panels
    click(buttons(panel)["Run"])
    finish(panel)
    return panel.result


def with_threads(tool):
    with ThreadPoolExecutor() as pool:
        return run_tools([(tool, ARGUMENTS)], executor=pool)[0]


def by_conversation(tool, go_on):
    """Have the model of a conversation call the tool."""
    agent = Agent(ScriptedModel([message(tool), "Done."]), [tool])
    with Conversation(agent=agent) as conversation:
        conversation.send_message("Go.")
        go_on(conversation)
        return conversation.result(tool.name)


def served_call(tool):
    """Have an agent outside call the tool."""
    with serve([tool], require="never") as served:
        by_a_client(served, tool.name, ARGUMENTS)
    return history()[-1].observation


def step_by_step(conversation):
    """Look at the call before it runs, and have it run."""
    conversation.ask()
    assert len(conversation.pending) == 1
    conversation.run_pending()


WAYS = {
    "plain call": lambda tool: tool(ARGUMENTS),
    "acall": lambda tool: asyncio.run(tool.acall(ARGUMENTS)),
    "run_tool": lambda tool: run_tool(tool, ARGUMENTS),
    "run_tool by name": lambda tool: run_tool(tool, **ARGUMENTS),
    "run_tools": lambda tool: run_tools([(tool, ARGUMENTS)])[0],
    "run_tools elsewhere": with_threads,
    "rerun": rerun,
    "panel.run": run_by_panel,
    "button": lambda tool: clicked(ToolPanel(tool, ARGUMENTS)),
    "bench": lambda tool: filled_in(bench(tool)),
    "served call": served_call,
    "message, call.run": called(lambda call: call.run()),
    "message, plain call": called(lambda call: call.tool(call.action)),
    "message, run_tool": called(lambda call: run_tool(call.tool, call.action)),
    "message, run_tools": called(lambda call: run_tools([(call.tool, call.action)])[0]),
    "message, button": called(shown_call),
    "conversation": lambda tool: by_conversation(tool, Conversation.run),
    "conversation, step by step": lambda tool: by_conversation(tool, step_by_step),
}
TOOLS = {"plain": take, "async": take_async, "of a server": None}


class TestOnce:
    """However a tool is run, one action is built; its number is in what came out."""

    @pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
    @pytest.mark.parametrize("is_recorded", [True, False], ids=["recorded", "plain"])
    @pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
    def test_from_python_and_widgets(self, way, is_recorded, tool, remote):
        """One action each, whether plain calls are recorded or not."""
        if is_recorded:
            record_calls()
        observation = way(tool or remote)
        assert observation.text == "a 1"
        assert Counter.checks == 1

    @pytest.mark.parametrize("is_recorded", [True, False], ids=["recorded", "plain"])
    @pytest.mark.parametrize(
        "call",
        [
            lambda action: take(action),
            lambda action: asyncio.run(take.acall(action)),
            lambda action: run_tool(take, action),
            lambda action: run_tools([(take, action)])[0],
        ],
        ids=["call", "acall", "run_tool", "run_tools"],
    )
    def test_an_action_is_not_built_again(self, is_recorded, call):
        """What is an action already is run as it is."""
        if is_recorded:
            record_calls()
        action = TakeAction(word="a")
        assert call(action).text == "a 1"
        assert Counter.checks == 1

    def test_an_action_and_more_is_wrong_use(self):
        """Arguments beside an action would be lost: there is nothing to add them to."""
        with pytest.raises(TypeError, match="take runs an action as it is: leave out word"):
            run_tool(take, TakeAction(word="a"), word="b")

    @pytest.mark.parametrize(
        ("line", "body"),
        [
            ("take word=a", None),
            ('take {"word": "a"}', None),
            ("take", '{"word": "a"}'),
            ("take --yes", "word: a"),
        ],
    )
    def test_from_a_line_or_a_cell(self, shell, line, body):
        """`%tool` and `%%tool` build one."""
        if body is None:
            observation = shell.run_line_magic("tool", line)
        else:
            observation = shell.run_cell_magic("tool", line, body)
        assert observation.text == "a 1"
        assert Counter.checks == 1

    def test_from_a_cell_in_the_background(self, shell):
        """`%%tool --bg` opens a panel that runs: one as well."""
        panel = shell.run_cell_magic("tool", "take --bg", '{"word": "a"}')
        finish(panel)
        assert panel.result.text == "a 1"
        assert Counter.checks == 1

    def test_from_a_sweep(self):
        """One for each call of a sweep."""
        [row] = sweep(take, {"word": ["a"]})
        assert row.fields == {"result": "a 1"}
        assert Counter.checks == 1

    def test_from_the_history_of_a_line(self, shell):
        """`%tools history --rerun` builds one."""
        run_tool(take, ARGUMENTS)
        Counter.checks = 0
        number = history()[-1].id
        again = shell.run_line_magic("tools", f"history --rerun {number}")
        assert again.text == "a 1"
        assert Counter.checks == 1

    def test_from_a_message_in_a_cell(self, shell):
        """`%%tool_call` builds one, and the click on Run takes that."""
        view = shell.run_cell_magic("tool_call", "", dumps(message(take)))
        [panel] = view.panels
        click(buttons(panel)["Run"])
        finish(panel)
        assert panel.result.text == "a 1"
        assert Counter.checks == 1

    def test_per_run_from_a_message(self):
        """What was built of the message is for one run, and only if nothing was edited."""
        [call] = parse_tool_calls(message(take), [take])
        [panel] = CallsView([call]).panels
        texts = []
        for _ in range(2):
            panel.run()
            finish(panel)
            texts.append(panel.result.text)
        assert texts == ["a 1", "a 2"]
        [panel] = CallsView([call]).panels
        panel.form.value = {"word": "b"}
        assert clicked(panel).text == "b 1"


class TestTheSame:
    def test_is_what_a_person_agreed_to(self, shell, monkeypatch):
        """The question shows the values that will be used, and not those that were sent."""
        prompts = []
        monkeypatch.setattr("builtins.input", lambda text: prompts.append(text) or "y")
        observation = shell.run_line_magic("tool", "destroy word=a")
        assert 'word = "a 1"' in prompts[0]
        assert observation.text == "a 1"

    def test_is_what_a_panel_shows(self):
        """The call above the result is the one that ran."""
        panel = ToolPanel(take, ARGUMENTS)
        clicked(panel)
        assert "a 1" in shown(panel)
        assert "a 2" not in shown(panel)

    def test_a_check_that_passes_is_not_asked_again(self):
        """A validator that would refuse the second time has no second time."""
        Counter.refused = tuple(range(2, 99))
        assert run_tool(take, ARGUMENTS).text == "a 1"
        panel = ToolPanel(take, ARGUMENTS)
        assert clicked(panel).text == "a 1"

    def test_a_refusal_is_shown_as_it_was_said(self):
        """A validator that would accept the second time has refused: the field says why."""
        panel = ToolPanel(take, ARGUMENTS)
        Counter.checks, Counter.refused = 0, (1,)
        click(buttons(panel)["Run"])
        assert panel.result is None
        assert "is refused at check 1" in shown(panel)
        assert "Fix 1 field to run:" in shown(panel)
        assert Counter.checks == 1

    def test_a_refusal_holds_until_the_value_changes(self):
        """After an edit the form asks the validator again."""
        panel = ToolPanel(take, ARGUMENTS)
        Counter.checks, Counter.refused = 0, (1,)
        click(buttons(panel)["Run"])
        panel.form.value = {"word": "b"}
        assert panel.form.errors == []
        assert "is refused" not in shown(panel)
