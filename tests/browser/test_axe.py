"""The panel and the bench for people who cannot see, or cannot use a mouse: axe-core finds nothing."""

import pytest
from playwright.sync_api import expect

from browser.axe import violations
from browser.lab import NotebookPage

TOOLS = """
%load_ext toolbench
import threading
from typing import Literal
import pandas as pd
from IPython.display import Markdown, display
from toolbench import Action, ToolDefinition, bench, current_run, tool
from toolbench import history
from toolbench.runs.history import ListedRuns
from toolbench.widgets.history_panel import HistoryPanel
from toolbench.widgets.panel import ToolPanel

@tool(title="Index a folder", read_only=True)
def index(folder: str, depth: int = 3, kind: Literal["text", "all"] = "text") -> dict:
    '''Index every file of a folder.

    **Nothing is changed.** See [the manual](https://example.org) and `find`.

    - one
    - two
    '''
    run, told = current_run(), threading.Event()
    run.on_cancel(told.set)
    print("\\x1b[31mred \\x1b[32mgreen \\x1b[33myellow \\x1b[34mblue \\x1b[35mpurple \\x1b[36mcyan "
          "\\x1b[90mgrey \\x1b[97mwhite \\x1b[41mon red\\x1b[0m \\x1b[2mdim\\x1b[0m")
    display(pd.DataFrame({"file": ["a.txt"], "words": [4711]}))
    display(Markdown("*three* files, `code` and\\n\\n> a quotation"))
    run.log("a.bin is no text", "warning")
    for n in range(80):
        print(f"line {n} " + "that is long " * 30)
    if folder == "wait":
        run.progress(3, 12, "part 3")
        told.wait(60)
    return {"folder": folder, "words": {"total": 5526, "none": None}, "ok": True, "long": "wide" * 200}

@tool(destructive=True)
def erase(path: str) -> str:
    '''Erase a file.'''
    current_run().ask("Why?", {"type": "object", "required": ["reason"], "properties": {
        "reason": {"type": "string"}, "copies": {"type": "integer", "default": 1}}})
    raise OSError("the disk is full")

many = [ToolDefinition(name=f"tool_{n}", description=f"Does thing {n}.", action_type=Action)
        for n in range(1000)]
for name, shown in (("index", ToolPanel(index, {"folder": "/srv"})),
                    ("wait", ToolPanel(index, {"folder": "wait"})),
                    ("erase", ToolPanel(erase, {"path": "x"})), ("bench", bench(index, many)),
                    ("history", HistoryPanel(ListedRuns(history())))):
    shown.add_class("axe-" + name)
    display(shown)
"""
TABS = ("Form", "JSON", "Schema", "Code", "History")


def check(page: NotebookPage, part: str, state: str) -> list[str]:
    """What axe-core says of a *part* that is in some *state*, in both themes."""
    page.tab.page.locator(part).scroll_into_view_if_needed()
    violations_found = []
    for theme in page.themes():
        violations_found += [f"{state}, {theme}: {v}" for v in violations(page.tab.page, part)]
    return violations_found


class TestPanel:
    @pytest.mark.usefixtures("looks")
    def test_has_no_violation_in_any_state(self, lab: NotebookPage):
        """At rest, with each tab, while it runs, when it asks, done, failed; light and dark."""
        lab.share(TOOLS)
        lab.run_all()
        page = lab.tab.page
        index, erase = page.locator(".axe-index"), page.locator(".axe-erase")
        violations_found = check(lab, ".axe-index", "at rest")

        lab.click("Run", within=page.locator(".axe-wait"))
        lab.wait_for_text("part 3", within=page.locator(".axe-wait"))
        violations_found += check(lab, ".axe-wait", "running")
        lab.picture("running-long")
        lab.click("Cancel", within=page.locator(".axe-wait"))

        lab.click("Run", within=index)
        lab.wait_for_text("The user and the model read the same", within=index)
        for tab in TABS:
            index.get_by_role("tab", name=tab).click()
            violations_found += check(lab, ".axe-index", f"done, {tab}")
        index.get_by_role("tab", name="Form").click()
        lab.type_into("depth", "much", within=index)
        lab.click("Run", within=index)
        lab.wait_for_text("Fix 1 field to run", within=index)
        violations_found += check(lab, ".axe-index", "refused")

        lab.click("Run", within=erase)
        lab.wait_for_text("can delete", within=erase)
        violations_found += check(lab, ".axe-erase", "confirm")
        lab.click("Run erase", within=erase)
        lab.wait_for_text("Why?", within=erase)
        # A reason is needed
        lab.click("Accept", within=erase)
        violations_found += check(lab, ".axe-erase", "asking")
        lab.type_into("reason", "old", within=erase)
        lab.click("Accept", within=erase)
        lab.wait_for_text("Traceback", within=erase)
        erase.get_by_text("Traceback", exact=True).click()
        violations_found += check(lab, ".axe-erase", "failed")

        runs = page.locator(".axe-history")
        violations_found += check(lab, ".axe-history", "history")
        for place in range(2):
            runs.get_by_role("checkbox").nth(place).click()
        lab.wait_for_text("→ run 3", within=runs)
        violations_found += check(lab, ".axe-history", "compared")

        bench = page.locator(".axe-bench")
        violations_found += check(lab, ".axe-bench", "bench")
        # At once: with every key the list is another, and a click waits for the one it found.
        bench.get_by_label("Search", exact=True).fill("index")
        tools = bench.get_by_role("listbox", name="Tools")
        options = tools.get_by_role("option")
        expect(options).to_have_count(1)
        options.click()
        lab.wait_for_text("Nothing is changed", within=bench)
        violations_found += check(lab, ".axe-bench", "bench, open")
        lab.type_into("Search", "nothing has this", within=bench)
        lab.wait_for_text("Nothing matches", within=bench)
        violations_found += check(lab, ".axe-bench", "bench, empty")
        assert not violations_found, "\n".join(violations_found)
