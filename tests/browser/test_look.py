"""Where the parts of a panel stand in the page, measured: what a person would see as a blemish."""

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.lab import NotebookPage

ASK = '''
from toolbench import current_run, tool

@tool(title="Ask a person", read_only=True)
def ask_person(topic: str = "the lunch of yesterday, and that of the day before") -> str:
    """Ask a person something."""
    return current_run().ask("What do you think?", {"type": "object", "required": ["grade"],
        "properties": {"grade": {"enum": ["good", "bad"]}, "why": {"type": "string"}}})

ask_person
'''
PANEL = 1
TABS = ("Form", "JSON", "Schema", "Code", "History")
WIDE, NARROW = {"width": 1280, "height": 1200}, {"width": 420, "height": 1200}
SIDEBAR = "window.jupyterapp.commands.execute('application:toggle-left-area')"

CONTENT = """panel => [...panel.querySelectorAll(".toolbench-tabs > .widget-tab-contents > *")]
  .some(tab => tab.offsetHeight > 20 && tab.querySelector("input, select, textarea, table, .cm-editor, .toolbench-text"))"""
ACTIVE = "document.activeElement.outerHTML.slice(0, 200)"
RING = """(() => {
  const active = document.activeElement;
  const parts = [active, active.closest("label"), active.closest(".cm-editor")];
  return parts.filter(part => part).map(part => getComputedStyle(part)).some(
    style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2);
})()"""


@pytest.fixture
def panel(lab: NotebookPage) -> Locator:
    """The panel of a tool, in a wide window."""
    lab.share("%load_ext toolbench", ASK)
    lab.tab.page.set_viewport_size(WIDE)
    lab.run_all()
    lab.wait_for_module()
    place = lab.output(PANEL)
    place.get_by_role("button", name="Run", exact=True).wait_for()
    return place


def left(part: Locator) -> int:
    """The left edge of *part* in the window."""
    return round(box(part)["x"])


def middle(part: Locator) -> float:
    """The height in the window of the middle of *part*."""
    return box(part)["y"] + box(part)["height"] / 2


def box(part: Locator) -> dict[str, float]:
    part = part.locator("visible=true").first
    part.wait_for()
    bounds = part.bounding_box()
    assert bounds is not None
    return dict(bounds)


@pytest.mark.long
def test_panel_stands_still_and_straight(lab: NotebookPage, panel: Locator) -> None:
    """Tabs, edges and lines, in a wide window and in a narrow one."""
    tabs_stay_in_place(panel)
    every_stop_has_a_ring(lab, panel)
    question_is_one_column(lab, panel)
    code_has_its_button_beside_its_label(panel)
    history_fits_a_narrow_window(lab, panel)


def tabs_stay_in_place(panel: Locator) -> None:
    """To choose a tab moves no other."""
    tabs = [panel.get_by_role("tab", name=name) for name in TABS]
    edges = [left(tab) for tab in tabs]
    for tab in tabs:
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        eventually(lambda: [left(each) for each in tabs] == edges, what="no tab has moved")
        labels = [each.locator(".lm-TabBar-tabLabel") for each in tabs]
        eventually(lambda: len({*map(middle, labels)}) == 1, what="the tabs stand in one line")  # noqa: B023
    tabs[0].click()


def every_stop_has_a_ring(lab: NotebookPage, panel: Locator) -> None:
    """Whoever goes by Tab sees where they are, in the form and in every other tab."""
    for name in TABS:
        tab = panel.get_by_role("tab", name=name)
        tab.click()
        eventually(lambda: panel.evaluate(CONTENT), what="the tab is filled")
        # By mouse it has the focus without a ring
        tab.evaluate("tab => tab.blur()")
        lab.tab.page.keyboard.press("Shift")
        tab.focus()
        stops = 0
        while panel.evaluate("panel => panel.contains(document.activeElement)"):
            active = lab.tab.page.evaluate(ACTIVE)
            ring = f"there is a ring in {name} around {active}"
            eventually(lambda: lab.tab.page.evaluate(RING), what=ring)
            lab.tab.page.keyboard.press("Tab")
            stops += 1
        assert stops > 2, name
    panel.get_by_role("tab", name="Form").click()


def question_is_one_column(lab: NotebookPage, panel: Locator) -> None:
    """Its words, its fields and its buttons begin at one edge; Run's keys are not offered then."""
    keys = panel.locator(".toolbench-refusal")
    expect(keys).to_be_visible()
    lab.click("Run", within=panel)
    question = panel.locator(".toolbench-question")
    accept = question.get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_visible()
    expect(keys).to_be_hidden()
    text = question.get_by_role("alert").filter(has_text="What do you think?")
    grade = question.get_by_text("grade", exact=True)
    parts = (text, grade, accept)
    eventually(lambda: len({*map(left, parts)}) == 1, what="all of it begins at one edge")
    lab.click("Cancel question", within=question)
    expect(accept).to_have_count(0)
    expect(keys).to_be_visible()


def code_has_its_button_beside_its_label(panel: Locator) -> None:
    """One line for both, and the edges of the code are those of the buttons below."""
    panel.get_by_role("tab", name="Schema").click()
    schema = panel.get_by_role("group", name="What a model gets")
    copy = panel.get_by_title("Copy: What a model gets")
    run = panel.get_by_role("button", name="Run", exact=True)
    eventually(lambda: left(schema) - left(run) < 2, what="the schema begins below Run")
    expect(copy).to_be_visible()
    panel.get_by_role("tab", name="Code").click()
    label = panel.locator(".toolbench-code > label")
    copy_code = panel.locator(".toolbench-code").get_by_role("button", name="Copy")
    eventually(lambda: abs(middle(label) - middle(copy_code)) < 4, what="both stand in one line")
    editor = panel.locator(".toolbench-code > .toolbench-editor")
    eventually(lambda: left(editor) == left(run), what="the code begins below Run")


def history_fits_a_narrow_window(lab: NotebookPage, panel: Locator) -> None:
    """The runs need no scrolling sideways, and the tokens stand beside the hints."""
    lab.tab.page.evaluate(SIDEBAR)
    lab.tab.page.set_viewport_size(NARROW)
    panel.get_by_role("tab", name="History").click()
    runs = panel.get_by_role("group", name="Runs")
    expect(runs.get_by_role("button")).to_have_count(1)
    width = "part => part.scrollWidth <= part.clientWidth"
    eventually(lambda: runs.evaluate(width), what="the runs fit")
    times = panel.get_by_role("group", name="Runs").locator("time")
    assert times.inner_text().count(":") == 2 and "M" not in times.inner_text()
    hint = panel.get_by_text("read-only", exact=True)
    cost = panel.get_by_text("tokens")
    eventually(lambda: abs(middle(hint) - middle(cost)) < 2, what="both stand in one line")
    run, copy = (
        panel.get_by_role("button", name=name, exact=True) for name in ("Run", "Copy call")
    )
    state = panel.get_by_role("status").filter(has_text="succeeded")

    def in_lines() -> bool:
        below = middle(copy) - middle(run)
        return abs(middle(state) - middle(run)) < 4 < below

    eventually(in_lines, what="state and buttons stand in two lines")
    lab.picture("history-narrow")
    lab.tab.page.set_viewport_size(WIDE)
    lab.tab.page.evaluate(SIDEBAR)
