"""A panel in a page: Run, consent, Cancel and questions without a thread that waits."""

import asyncio

import pytest
from test_widgets.front import click, named, page

from toolbench import Conversation, answering, current_run, tool
from toolbench.agent import Agent
from toolbench.llm.models import PersonModel
from toolbench.runs.questions import Answer
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.widgets.transcript.conversation_panel import ConversationPanel


@tool(read_only=True)
def halve(total: float) -> str:
    """Halve a number."""
    return f"{total / 2:g}"


@tool(destructive=True)
def wipe(disk: str) -> str:
    """Wipe a disk."""
    return f"{disk} is empty"


@tool
async def greet() -> str:
    """Greet."""
    answer = await current_run().ask_async("Come in?")
    return "hello" if answer else "goodbye"


def run(panel):
    click(named(panel, "Run"))
    return panel


def test_run_shows_its_result():
    """A plain tool has its result when the click returns, and the panel says what it cannot do."""
    panel = run(ToolPanel(halve, {"total": 9}))
    assert panel.result.text == "4.5"
    assert panel.record.state == "ok"
    assert "cannot be cancelled" in page(panel)


def test_consent_is_asked_before():
    """The tool runs with the yes, and not before; the record says that a person agreed."""
    panel = run(ToolPanel(wipe, {"disk": "sda"}))
    assert panel.result is None
    click(named(panel, "Run wipe"))
    assert panel.result.text == "sda is empty"
    assert panel.record.state == "ok"


def test_consent_is_refused_or_left():
    """A no and a cancel both end the run without the tool."""
    panel = run(ToolPanel(wipe, {"disk": "sda"}))
    click(named(panel, "Don't run"))
    assert panel.record.state == "denied"
    panel = run(ToolPanel(wipe, {"disk": "sda"}))
    panel.cancel()
    assert panel.record.state == "cancelled"
    assert "empty" not in panel.result.text


def test_async_tool_asks_in_the_panel():
    """Its question is shown while the loop goes on, and its answer reaches it."""

    async def session():
        panel = run(ToolPanel(greet))
        while "Come in?" not in page(panel):
            await asyncio.sleep(0)
        click(named(panel, "Yes"))
        while panel.is_busy:
            await asyncio.sleep(0)
        return panel

    assert asyncio.run(session()).result.text == "hello"


def test_async_tool_takes_one_answer_for_its_consent():
    """Before, it took another when its result was recorded, and a run that had been was "denied"."""
    runs = []

    @tool(destructive=True)
    async def clear() -> str:
        """Clear the shelf."""
        runs.append(1)
        return "clear"

    async def session():
        with answering(Answer("accept", {"answer": True})):
            panel = run(ToolPanel(clear))
        while panel.is_busy:
            await asyncio.sleep(0)
        return panel

    panel = asyncio.run(session())
    assert (panel.record.state, panel.result.text, len(runs)) == ("ok", "clear", 1)


@pytest.mark.filterwarnings("ignore:jsonschema.RefResolver")
def test_user_is_the_model():
    """The request stays on the page while nothing works; the answer is a call, which waits, and then a text."""
    conversation = Conversation(agent=Agent(PersonModel(), [halve]))
    conversation.send_message("Halve 9.")
    panel = ConversationPanel(conversation)
    for name in ("Step", "Run to the end"):
        click(named(panel, name))
    panel.refresh()
    assert "is sent next" not in page(panel)
    named(panel, "Tool you call").value = "halve"
    named(panel, "total").value = "9"
    click(named(panel, "Answer for the model"))
    # What the loop of the kernel does between two clicks
    panel.refresh()
    click(named(panel, "Run"))
    panel.refresh()
    assert "4.5" in page(panel)
    named(panel, "What you say").value = "It is 4.5."
    click(named(panel, "Answer for the model"))
    assert conversation.final_text == "It is 4.5."
    panel.close()
