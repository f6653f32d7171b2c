"""The tab History while runs are added elsewhere: what a person does in it is not disturbed."""

from patience import eventually
from playwright.sync_api import expect

from browser.lab import NotebookPage

PANEL = """\
from toolbench import run_tool, tool

@tool
def double(n: int) -> int:
    \"\"\"Double a number.\"\"\"
    return 2 * n

for n in range(20):
    run_tool(double, n=n)
double"""
CALL = """code => jupyterapp.shell.currentWidget.sessionContext.session.kernel
  .requestExecute({code}).done.then(() => true)"""
IN_SIGHT = """scroller => {
  const [box, row] = [scroller, scroller.querySelector(".toolbench-chosen")].map(e => e.getBoundingClientRect());
  return box.top <= row.top && row.bottom <= box.bottom;
}"""


def test_a_new_run_leaves_the_focus_and_the_list_where_they_are(lab: NotebookPage) -> None:
    """The new run comes into the open tab; the chosen run stays chosen, in sight and focused."""
    lab.share("%load_ext toolbench", PANEL)
    lab.run_all()
    lab.wait_for_module()
    panel = lab.output(1)
    panel.get_by_role("tab", name="History (20)").click()
    runs = panel.get_by_role("group", name="Runs")
    chosen = runs.get_by_role("row").filter(has_text="n = 5")
    chosen.get_by_role("button").click()
    panel.get_by_text("10", exact=True).first.wait_for()
    eventually(lambda: runs.evaluate(IN_SIGHT), what="the chosen run is in sight")
    lab.tab.page.evaluate(CALL, "run_tool(double, n=77)")
    runs.get_by_text("n = 77").wait_for()
    panel.get_by_role("tab", name="History (21)").wait_for()
    eventually(lambda: runs.evaluate(IN_SIGHT), what="the chosen run is in sight again")
    eventually(lambda: runs.evaluate("e => e.scrollTop") > 0, what="the list is scrolled again")
    active = "document.activeElement.closest('tr')?.textContent"
    eventually(
        lambda: "n = 5" in str(lab.tab.page.evaluate(active)),
        what="the run has the focus again",
    )
    expect(panel.locator(".toolbench-chosen")).to_contain_text("n = 5")
    for n in (77, 5):
        runs.get_by_role("row").filter(has_text=f"n = {n}").get_by_role("checkbox").click()
    expect(panel.locator(".toolbench-chosen")).to_have_count(2)
    difference = panel.locator("[data-toolbench-card]").filter(has_text="Result")
    expect(difference).to_contain_text('"10" → "154"')
    panel.get_by_label("Filter").fill("n = 77")
    expect(runs.get_by_role("checkbox")).to_have_count(1)
