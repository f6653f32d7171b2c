"""Keys pressed in a panel stay in the panel; Ctrl+Enter runs; the focus is where one needs it."""

import re
from pathlib import Path

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.lab import ClassicPage, NotebookPage, wait_until_drawn, write_notebook

TOOLS = """
%load_ext toolbench
from typing import Literal
from toolbench import bench, tool

@tool
def greet(
    name: str,
    tone: Literal["kind", "curt", "formal", "cheerful", "ceremonial", "plain"] = "kind",
    place: Literal["here", "there"] | None = None,
    loud: bool = False,
) -> str:
    '''Greet somebody.

    Args:
        name: Who is greeted.
        tone: How.
        loud: In capitals.
    '''
    return f"Hello {name}."

@tool(destructive=True)
def erase(path: str) -> str:
    '''Erase a file.'''
    return f"Erased {path}."

bench(greet, erase)
"""
PANEL = TOOLS.replace("bench(greet, erase)", "greet")
ERASE = TOOLS.replace("bench(greet, erase)", "erase")
SECRET = """
%load_ext toolbench
from toolbench import current_run, tool

@tool(read_only=True)
def login(password: str) -> str:
    '''Log in.'''
    secret = {"type": "string", "format": "password"}
    question = {"type": "object", "properties": {"pin": secret}, "required": ["pin"]}
    pin = current_run().ask("Which PIN?", question)["pin"]
    return f"{len(password)} letters and {len(pin)} digits"

login
"""
# A field whose editor is the user's own, a date and a JSON editor
TYPED = """
import ipywidgets
from datetime import date
from typing import Any
from toolbench.widgets.fields import registry

registry.add(
    95,
    lambda view, schema, path: path == ("share",),
    lambda slot: ipywidgets.IntText(description=slot.label),
)

@tool(read_only=True)
def order(share: int = 0, day: date | None = None, extra: Any = None) -> str:
    '''Order.'''
    return f"{share=} {day=!s} {extra=}"

order
"""
NEIGHBOUR = "'a cell that must survive'"

# What the front ends bind to cells in command mode, and what moves or deletes. The two keys of `d d`
# and of `0 0` are three apart, for those who take a third.
KEYS = [
    *["x", "a", "d", "b", "m", "d", "y", "c", "0", "v", "z", "0", "j", "k"],
    *["ArrowDown", "ArrowUp", "Delete", "Backspace", "Escape", "Shift+Enter", "Alt+Enter"],
    *["Control+Backspace", "Shift+ArrowDown", "Enter"],
]

FOCUSABLE = "button:enabled, select:enabled, input:enabled, textarea:enabled, [tabindex='0']"
FOCUS = """(places, index) => {
  const place = places[index];
  place?.focus();
  return place && place === document.activeElement ? place.tagName + place.type + place.role : null;
}"""


def press_on_each(output: Locator) -> int:
    """Press keys on every element of *output* that can have the focus; count the elements.

    The first of each kind gets a third of all keys, by turns; one more like it gets two.
    """
    places = output.locator(".toolbench-box").first.locator(FOCUSABLE)
    pressed = 0
    kinds: set[str] = set()
    for index in range(places.count()):
        # Not there any more, or not to be seen: a key may change the panel
        if (kind := places.evaluate_all(FOCUS, index)) is None:
            continue
        keys = KEYS[len(kinds) % 3 :: 3]
        if kind in kinds:
            keys = KEYS[:2]
        pressed += 1
        for key in keys:
            if places.evaluate_all(FOCUS, index) is None:
                break
            output.page.keyboard.press(key)
        kinds.add(kind)
    return pressed


@pytest.mark.parametrize("front_end", ["lab", pytest.param("notebook7", marks=pytest.mark.long)])
def test_no_key_changes_the_notebook(front_end: str, request: pytest.FixtureRequest):
    """No letter, arrow, Enter, Escape or Delete in the panel adds, moves or removes a cell."""
    page: NotebookPage = request.getfixturevalue(front_end)
    page.share(TOOLS, NEIGHBOUR)
    page.run_all()
    output = page.output(0)
    output.get_by_role("option", name="greet").click()
    expect(output.get_by_label("name")).to_be_visible()
    page.wait_for_module()
    before = sources(page)
    assert press_on_each(output) >= 6
    assert sources(page) == before


def sources(page: NotebookPage) -> list[str]:
    cells = page.tab.page.evaluate("rig.cells()")
    return ["".join(cell["source"]) for cell in cells]


def opened(lab: NotebookPage, *cells: str) -> Locator:
    """Run a notebook of *cells* in a page that has the module; return the first output."""
    lab.share(*cells)
    lab.run_all()
    lab.wait_for_module()
    return lab.output(0)


@pytest.mark.long
def test_no_key_changes_a_classic_notebook(nbclassic: ClassicPage, nbroot: Path):
    """The same holds in nbclassic, whose shortcuts know no attribute."""
    write_notebook(nbroot / "keys-classic.ipynb", PANEL, NEIGHBOUR)
    nbclassic.open("keys-classic.ipynb")
    nbclassic.run_all()
    page = nbclassic.tab.page
    nbclassic.wait_for_module()
    panel = page.locator(".toolbench-panel")
    panel.get_by_role("button", name="Run", exact=True).wait_for()
    before = page.evaluate("Jupyter.notebook.get_cells().map(c => c.get_text())")
    assert press_on_each(page.locator("body")) >= 4
    assert page.evaluate("Jupyter.notebook.get_cells().map(c => c.get_text())") == before


def test_a_drop_down_keeps_its_arrow_keys(lab: NotebookPage):
    """Arrow-down on a closed drop-down chooses the next value instead of leaving it."""
    output = opened(lab, PANEL)
    tone = output.get_by_label("tone")
    tone.focus()
    before = tone.input_value()
    lab.tab.page.keyboard.press("ArrowDown")
    expect(tone).to_be_focused()
    eventually(lambda: tone.input_value() != before, what="the next is chosen")


def test_a_few_short_values_are_buttons_of_one_group(lab: NotebookPage):
    """The group has the field's name, the arrows choose in it, and Tab leaves it."""
    output = opened(lab, PANEL)
    group = output.get_by_role("radiogroup", name="place", exact=True)
    labels = ["not sent", "here", "there"]
    expect(group.get_by_role("radio")).to_have_count(len(labels))
    keys = lab.tab.page.keyboard
    group.get_by_role("radio", name="not sent").focus()
    keys.press("ArrowRight")
    expect(group.get_by_role("radio", name="here", exact=True)).to_be_checked()
    keys.press("Tab")
    expect(group.get_by_role("radio", checked=True)).not_to_be_focused()
    output.get_by_label("name").fill("Ada")
    output.get_by_role("button", name="Copy call", exact=True).click()
    lab.wait_for_text("Copied", within=output)
    lab.tab.page.context.grant_permissions(["clipboard-read"])
    copied = lab.tab.page.evaluate("navigator.clipboard.readText()")
    assert "run_tool(greet" in copied and "'place': 'here'" in copied


def test_commands_of_jupyter_still_work(lab: NotebookPage):
    """Ctrl+S in a field or on a button of a panel saves the notebook."""
    output = opened(lab, PANEL)
    run = output.get_by_role("button", name="Run", exact=True)
    dirty = lab.tab.page.locator(".jp-mod-dirty")
    expect(dirty).not_to_have_count(0)
    run.focus()
    lab.tab.page.keyboard.press("x")
    lab.tab.page.keyboard.press("Control+s")
    expect(dirty).to_have_count(0)


def test_control_enter_runs_and_finds_the_first_wrong_field(lab: NotebookPage):
    """Ctrl+Enter runs from any field; if a value is missing, its field gets the focus."""
    output = opened(lab, PANEL, NEIGHBOUR)
    keys = lab.tab.page.keyboard
    output.get_by_label("tone").focus()
    keys.press("Control+Enter")
    name = output.get_by_label("name")
    expect(name).to_be_focused()
    keys.type("Ada")
    keys.press("Control+Enter")
    lab.wait_for_text("Hello Ada.", within=output)
    assert lab.errors() == []


def test_control_enter_sends_what_was_just_typed(lab: NotebookPage):
    """Also from a field that sends its text only when a person leaves it, as that of a secret."""
    output = opened(lab, SECRET, TYPED)
    submit(output.get_by_label("password", exact=True), "hunter22")
    submit(output.get_by_label("pin", exact=True), "1234")
    lab.wait_for_text("8 letters and 4 digits", within=output)
    output = lab.output(1)
    for label, text, result in [
        ("share", "3", "share=3 "),
        ("extra", "[1]", "extra=[1]"),
        ("day", "2026-12-24", "day=2026-12-24"),
    ]:
        submit(output.get_by_label(label, exact=True), text)
        lab.wait_for_text(result, within=output)


def submit(field: Locator, text: str) -> None:
    """Type *text* into *field*, and press Ctrl+Enter there."""
    wait_until_drawn(field)
    field.focus()
    field.page.keyboard.type(text)
    field.page.keyboard.press("Control+Enter")


def test_the_focus_stays_in_the_panel_while_it_runs(lab: NotebookPage, nbroot: Path):
    """Run is disabled while its run goes on; the panel has the focus until Run has it again."""
    gate = nbroot / "go"
    wait = f"    while not __import__('os').path.exists({str(gate)!r}): pass\n"
    waits = PANEL.replace('    return f"Hello', f'{wait}    return f"Hello')
    output = opened(lab, waits)
    output.get_by_label("name").fill("Ada")
    run = output.get_by_role("button", name="Run", exact=True)
    run.focus()
    run.press("Enter")
    expect(run).to_be_disabled()
    expect(output.locator(".toolbench-panel")).to_be_focused()
    gate.touch()
    expect(run).to_be_focused()
    lab.wait_for_text("Hello Ada.", within=output)


def test_a_question_takes_the_focus_and_gives_it_back(lab: NotebookPage):
    """Who answers with the keyboard is where they were; who clicked sees which answer Enter gives.

    No button Cancel stands beside the two answers: to refuse is to cancel.
    """
    output = opened(lab, ERASE)
    path = output.get_by_label("path")
    path.fill("old.log")
    path.press("Control+Enter")
    no = output.get_by_role("button", name="Don't run", exact=True)
    expect(no).to_be_focused()
    no.press("Enter")
    expect(no).to_have_count(0)
    expect(path).to_be_focused()
    output.get_by_role("button", name="Run", exact=True).click()
    expect(no).to_be_focused()
    expect(no).to_have_css("outline-style", "solid")
    cancel = output.get_by_title("Cancel", exact=True)
    expect(cancel).to_be_enabled()
    expect(cancel).to_be_hidden()
    no.press("Enter")
    expect(no).to_have_count(0)


def test_a_description_is_not_part_of_the_name(lab: NotebookPage):
    """An input is called what its label says; help and errors describe it."""
    output = opened(lab, PANEL)
    name = output.get_by_role("textbox", name="name", exact=True)
    expect(name).to_have_accessible_description("Who is greeted.")
    expect(name).to_have_attribute("aria-required", "true")
    expect(name).to_have_attribute("aria-invalid", "false")
    output.get_by_role("button", name="Run", exact=True).click()
    expect(name).to_have_attribute("aria-invalid", "true")
    name.fill("Ada")
    expect(name).to_have_attribute("aria-invalid", "false")
    expect(name).to_have_accessible_description("Who is greeted.")


def test_everything_works_without_the_module(new_lab: NotebookPage, nbroot: Path):
    """Where the page cannot load anywidget, it says so, and plain widgets remain: a tool is filled in and run."""
    new_lab.tab.page.route("**/*anywidget*/**", lambda route: route.abort())
    write_notebook(nbroot / "without.ipynb", PANEL)
    new_lab.open("without.ipynb")
    new_lab.run_all()
    output = new_lab.output(0)
    new_lab.wait_for_text("could not load the front-end module", within=output)
    name = output.get_by_role("textbox", name="name")
    expect(name).to_have_accessible_name(re.compile("name.*Who is greeted"))
    name.fill("Ada")
    new_lab.click("Run", within=output)
    new_lab.wait_for_text("Hello Ada.", within=output)
    output.get_by_role("tab", name="JSON").click()
    text = output.get_by_role("textbox", name="Arguments as JSON")
    text.fill('{"name": null, "more": []}')
    new_lab.wait_for_text("more", within=output.get_by_role("alert"))
    text.fill('{"name": "Bea"}')
    # When the alert goes, Run moves: a click must not be under way
    expect(output.get_by_role("alert").filter(has_text="more")).to_have_count(0)
    new_lab.click("Run", within=output)
    new_lab.wait_for_text("Hello Bea.", within=output)
    output.get_by_role("tab", name="Code").click()
    expect(output.get_by_role("textbox", name="Code")).to_have_value(re.compile("Bea"))
    expect(new_lab.tab.page.locator("html.toolbench-live")).to_have_count(0)
    assert new_lab.errors() == []


@pytest.mark.long
def test_a_page_without_the_module_beside_one_with_it(new_lab: NotebookPage, nbroot: Path):
    """Two pages of one kernel: the editor of one is a text area in the other, with no error in its place."""
    write_notebook(nbroot / "beside.ipynb", PANEL)
    new_lab.open("beside.ipynb")
    new_lab.run_all()
    output = new_lab.output(0)
    output.get_by_role("tab", name="JSON").click()
    editor = output.get_by_role("textbox", name="Arguments as JSON")
    expect(editor).to_have_attribute("contenteditable", "true")
    new_lab.save()
    second = new_lab.tab.page.context.new_page()
    second.route("**/*anywidget*/**", lambda route: route.abort())
    second.goto(new_lab.server.url("beside.ipynb"))
    area = second.get_by_role("textbox", name="Arguments as JSON")
    area.fill('{"name": "Bea"}')
    expect(editor).to_have_text('{"name": "Bea"}')
    expect(second.get_by_text("Error displaying widget").locator("visible=true")).to_have_count(0)
