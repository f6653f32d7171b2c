"""A model uses the tools of a notebook, and a person looks at each call before it runs."""

from functools import partial

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage

SETUP = '''
%load_ext toolbench
import json, threading
from toolbench import tool
from toolbench.llm.models import PersonModel, ScriptedModel

@tool(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two whole numbers and return the sum.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b

begun, go_on = threading.Event(), threading.Event()

@tool(read_only=True)
def dig(depth: int) -> str:
    """Dig a hole; nothing stops it.

    Args:
        depth: In metres.
    """
    begun.set()
    while not go_on.is_set():
        try:
            go_on.wait(60)
        except BaseException:
            pass
    return "a late hole"

def calls(*pairs):
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(pairs)]}

%model mine ScriptedModel([calls(("add", {"a": 2, "b": 3}), ("add", {"a": 9}), ("add", {"a": 7})), "All **done**."])
%model digger ScriptedModel([calls(("dig", {"depth": 3})), "On."])
%model you PersonModel()
'''
STEP = "%%chat --step --model mine --tools add\nPlease add a few numbers."
STATE = """
print([type(e).__name__ for e in chat.events])
print([r.arguments for r in __import__("toolbench").history()])
"""
SAVE_RESULT = """
print(add_result.text.split()[0], len(chat_2.pending), len(chat.pending))
"""
CHAT = "%%chat digging --model digger --tools dig\nDig."
DIG = "%%chat digging --step --model digger --tools dig\nDig."
DUG = """
print([e.reason for e in digging.events if hasattr(e, "reason")], len(digging.pending))
go_on.set()
"""
GARDEN = """
from toolbench import current_run
replies = []
@tool(read_only=True)
def germinate(days: int) -> str:
    '''Let seeds germinate.

    Args:
        days: How long.
    '''
    tray = {"type": "object", "properties": {"tray": {"type": "string"}}, "required": ["tray"]}
    answer = current_run().ask("Which tray?", tray)
    replies.append(answer.action)
    return f"{days if answer else days // 2} days"
%model gardener ScriptedModel([calls(("germinate", {"days": 30})), "Green."])
"""
SOW = "%%chat garden --model gardener --tools germinate\nSow."
SOWN = """
print(replies, garden.run())
print([m["content"] for m in garden.agent.llm.requests[-1][0] if m["role"] == "tool"])
print([r.state for r in __import__("toolbench").history()])
"""
YOU = "%%chat played --step --model you --tools add\nWhat is 2 + 3?"


def alive(lab: NotebookPage, cell: int) -> Locator:
    """The panel as widgets, with its forks: the output before it is for when they are gone."""
    return lab.output(cell).locator(".toolbench-transcript").first


def press(within: Locator, name: str, nth: int = 0) -> None:
    within.get_by_role("button", name=name, exact=True).nth(nth).click()


def look(lab: NotebookPage, cell: int, state: str) -> list[str]:
    """What axe-core says of the panel in both themes; a picture of each is left behind."""
    faults = []
    for theme in lab.themes():
        alive(lab, cell).scroll_into_view_if_needed()
        lab.picture(f"conversation-{state}-{theme}")
        part = ".jp-OutputArea-output:has(.toolbench-transcript)"
        faults += [f"{state}, {theme}: {v}" for v in violations(lab.tab.page, part)]
    return faults


@pytest.mark.usefixtures("looks")
def test_each_call_is_edited_refused_or_answered(lab: NotebookPage):
    """One by one; when none waits, the model is asked again and reads all three answers."""
    lab.share(SETUP, STEP, STATE, SAVE_RESULT)
    lab.run(0)
    lab.run(1)
    panel = alive(lab, 1)
    expect(panel.get_by_role("button", name="Refuse", exact=True)).to_have_count(3)
    faults = look(lab, 1, "waiting")

    press(panel, "Edit")
    lab.type_into("a", "40", within=panel)
    press(panel, "Run with these arguments")
    expect(panel.get_by_role("button", name="Refuse", exact=True)).to_have_count(2)
    lab.wait_for_text("edited", within=panel)

    press(panel, "Refuse")
    lab.type_into("Why not", "Too many.", within=panel)
    press(panel, "Refuse it")
    expect(panel.get_by_role("button", name="Refuse", exact=True)).to_have_count(1)

    press(panel, "Answer by hand")
    lab.type_into("result", "8", within=panel)
    lab.type_into("Result in place of add", "Eight, roughly.", within=panel)
    press(panel, "Give this answer")
    lab.wait_for_text("answered by hand", within=panel)
    expect(panel.locator("strong", has_text="done")).to_be_visible()
    press(panel, "Open")
    expect(panel.get_by_label("a", exact=True)).to_have_value("40")
    faults += look(lab, 1, "answered")
    press(panel, "Keep")
    lab.wait_for_text("Kept: add_result", within=panel)
    press(panel, "Close")

    press(panel, "Fork", 1)
    lab.wait_for_text("Fork at step 1", within=panel)
    expect(panel.get_by_role("button", name="Refuse", exact=True)).to_have_count(3)
    faults += look(lab, 1, "forked")

    lab.run(3)
    assert lab.text(3).split() == ["43", "3", "0"]
    lab.run(2)
    kinds, calls = lab.text(2).splitlines()
    assert kinds.count("ActionEvent") == 3 and "UserRejectObservation" in kinds
    assert calls == "[{'a': 40, 'b': 3}]"

    def saved() -> str:
        lab.save()
        return "".join(o["data"]["text/html"] for o in lab.outputs(1) if "data" in o)

    # The page shows the state of the conversation before it has the view to save
    for answer in ("Eight, roughly.", "Too many."):
        eventually(lambda text=answer: text in saved(), what=f"{answer!r} in the notebook")
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []


def test_the_buttons_of_a_call_stand_on_its_card(lab: NotebookPage):
    """In a wide window and in a narrow one, and not on the words before the call."""
    script = """
message = calls(("add", {"a": 2}))
message["content"] = "First I add."
%model thinker ScriptedModel([message, "Done."])"""
    chat = "%%chat --step --model thinker --tools add\nPlease add."
    lab.share(SETUP + script, chat)
    lab.run(0)
    lab.run(1)
    panel = alive(lab, 1)
    press(panel, "Run")
    expect(panel.get_by_text("Done.", exact=True)).to_be_visible()
    for width in (1280, 500):
        lab.tab.page.set_viewport_size({"width": width, "height": 900})
        card = panel.locator("details", has_text="add").first
        for name in ("Open", "Fork"):
            button = panel.get_by_role("button", name=name, exact=True).first
            # The page is laid out anew after a change of the window
            eventually(partial(is_on, button, card), what=f"{name} is on its card at {width}")


def is_on(one: Locator, other: Locator) -> bool:
    """Whether the box of *one* is inside of the box of *other*."""
    inner, outer = one.bounding_box(), other.bounding_box()
    assert inner is not None and outer is not None
    return all(
        outer[start] <= inner[start] and inner[start] + inner[size] <= outer[start] + outer[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


def test_stop_waits_for_no_tool(lab: NotebookPage):
    """The conversation stops, and the tool that hears nothing is left behind."""
    lab.share(SETUP, DIG, DUG)
    lab.run(0)
    lab.run(1)
    panel = alive(lab, 1)
    press(panel, "Run")
    stop = panel.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_enabled()
    stop.click()
    lab.wait_for_text("goes on in the background", within=panel)
    expect(stop).to_be_disabled()
    lab.run(2)
    assert "interrupted" in lab.text(2) and lab.text(2).strip().endswith("0")
    assert "a late hole" not in panel.inner_text()
    assert lab.errors() == [] and lab.tab.console_errors == []


def begin_chat(lab: NotebookPage, name: str) -> None:
    """Run a cell of chat until its call, which nothing ends, is seen to run."""
    lab.share(SETUP, CHAT, f"{DUG}\ndigging.run()")
    lab.run(0)
    lab.start(1)
    lab.wait_for_text("running", within=lab.output(1))
    lab.show(1)
    lab.picture(f"conversation-running-{name}-light")


def test_an_interrupt_ends_a_cell_of_chat(lab: NotebookPage):
    """The call is seen while it runs; then a line says how to go on, and the next cell does."""
    begin_chat(lab, "interrupted")
    lab.interrupt()
    lab.wait_until_done()
    assert [error.partition(":")[2].strip() for error in lab.errors()] == ["KeyboardInterrupt:"]
    lab.wait_for_text("Interrupted. The conversation is kept in digging", within=lab.output(1))
    lab.picture("conversation-interrupted-light")
    lab.run(2)
    assert "interrupted" in lab.text(2) and lab.text(2).strip().endswith("'answered'")
    assert lab.tab.console_errors == []


def test_stop_ends_a_cell_of_chat(lab: NotebookPage):
    """Its button is heard while the cell runs, and is gone from the cell and the saved notebook."""
    begin_chat(lab, "stopped")
    press(lab.output(1), "Stop")
    lab.wait_until_done()
    lab.wait_for_text("The conversation is kept in digging", within=lab.output(1))
    expect(lab.output(1).get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    lab.picture("conversation-stopped-light")
    lab.run(2)
    assert "interrupted" in lab.text(2) and lab.text(2).strip().endswith("'answered'")
    lab.save()
    kinds = [kind for output in lab.outputs(1) for kind in output.get("data", {})]
    assert "application/vnd.jupyter.widget-view+json" not in kinds
    assert lab.tab.console_errors == []


def begin_sowing(lab: NotebookPage) -> Locator:
    """Run a cell of chat until its tool asks the person in the cell; return the place to type."""
    lab.share(SETUP + GARDEN, SOW, SOWN)
    lab.run(0)
    lab.start(1)
    field = lab.output(1).locator("input.jp-Stdin-input")
    expect(field).to_be_visible()
    lab.show(1)
    return field


def check_the_stop(lab: NotebookPage, field: Locator) -> None:
    """The question is gone, and the model reads of the stop; history and transcript agree."""
    lab.wait_until_done()
    lab.wait_for_text("The conversation is kept in garden", within=lab.output(1))
    lab.wait_for_text("cancelled", within=lab.output(1))
    expect(field).to_be_hidden()
    lab.run(2)
    replies, content, states = lab.text(2).splitlines()
    assert replies == "['cancel'] answered" and states == "['cancelled']"
    assert "15 days" in content and "The user" in content


def test_stop_withdraws_the_question_of_a_tool(lab: NotebookPage):
    """The row says for whom the tool waits; Stop ends the question, the tool and the cell."""
    field = begin_sowing(lab)
    lab.wait_for_text("waits for your answer", within=lab.output(1))
    lab.picture("conversation-asking-light")
    press(lab.output(1), "Stop")
    check_the_stop(lab, field)
    lab.picture("conversation-withdrawn-light")
    assert lab.tab.console_errors == []


def test_an_interrupt_withdraws_the_question_of_a_tool(lab: NotebookPage):
    """As Stop does, to the last word."""
    field = begin_sowing(lab)
    lab.interrupt()
    check_the_stop(lab, field)
    assert lab.tab.console_errors == []


@pytest.mark.usefixtures("looks")
def test_a_person_answers_for_the_model(lab: NotebookPage):
    """They see what a model is sent, call a tool by its form, and say the last word."""
    lab.share(SETUP, YOU, "print(played.final_text)")
    lab.run(0)
    lab.run(1)
    panel = alive(lab, 1)
    lab.wait_for_text("You are the model", within=panel)
    lab.wait_for_text("Add two whole numbers", within=panel)
    panel.get_by_label("Tool you call").select_option("add")
    lab.type_into("a", "2", within=panel)
    lab.type_into("b", "3", within=panel)
    faults = look(lab, 1, "person")
    press(panel, "Answer for the model")
    lab.wait_for_text("waits for you", within=panel)
    press(panel, "Run")
    lab.wait_for_text("You are the model", within=panel)
    lab.type_into("What you say", "It is 5.", within=panel)
    press(panel, "Answer for the model")
    expect(panel.get_by_role("button", name="Step", exact=True)).to_be_enabled()
    lab.run(2)
    assert lab.text(2).strip() == "It is 5."
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []


BE_THE_MODEL = """
from toolbench import Conversation
from toolbench.agent import Agent
mine = Conversation(agent=Agent(PersonModel(), [add]))
mine.send_message("What is 2 + 3?")
mine
"""


@pytest.mark.parametrize("cell", [BE_THE_MODEL, YOU.replace("--step", "--new --step")])
def test_what_waits_is_in_sight_on_a_projector(lab: NotebookPage, cell: str):
    """At 160 %, Step scrolls to the form, an answer to the call, its Run to the form, and the last word to the end."""
    lab.share(SETUP, cell, *["# below"] * 9)
    lab.run(0)
    lab.run(1)
    lab.tab.page.set_viewport_size({"width": 800, "height": 480})
    panel = alive(lab, 1)
    lab.show(1)
    answer = panel.get_by_role("button", name="Answer for the model")
    if cell == BE_THE_MODEL:
        press(panel, "Step")
        expect(answer).to_be_in_viewport(ratio=1)
    # A click, which gives it the focus: to select alone does not
    panel.get_by_label("Tool you call").click()
    panel.get_by_label("Tool you call").select_option("add")
    panel.get_by_label("a", exact=True).wait_for()
    expect(answer).to_be_in_viewport(ratio=1)
    lab.type_into("a", "2", within=panel)
    press(panel, "Answer for the model")
    expect(panel.get_by_role("button", name="Refuse", exact=True)).to_be_in_viewport(ratio=1)
    press(panel, "Run")
    expect(answer).to_be_in_viewport(ratio=1)
    panel.get_by_label("What you say").fill("It is 3.")
    press(panel, "Answer for the model")
    expect(panel.get_by_role("paragraph")).to_be_in_viewport(ratio=1)
