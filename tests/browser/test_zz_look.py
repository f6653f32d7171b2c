from browser.lab import NotebookPage, write_notebook

CELL = '''
%load_ext toolbench
import time
from typing import Literal, Annotated
from pydantic import Field
from toolbench import tool, current_run
@tool(title="Index a folder", read_only=True, open_world=False)
def index(folder: str, depth: Annotated[int, Field(ge=1, le=9)] = 3, kind: Literal["text", "all"] = "text") -> dict:
    """Index every file of a folder.

    Reads each file once and counts its words. **Nothing is changed.** See [the docs](https://example.org).

    Args:
        folder: Where to begin.
        depth: How many levels down.
        kind: Which files count.
    """
    run = current_run()
    for n in range(12):
        print(f"\\x1b[32mindexed\\x1b[0m {folder}/part-{n}.txt")
        run.progress(n + 1, 12, f"part {n}")
        time.sleep(0.1)
        if run.cancelled: return {"stopped": n}
    run.log("3 files were skipped", "warning")
    return {"folder": folder, "files": 12, "words": {"total": 4711, "unique": 815}, "skipped": ["a.bin", "b.bin", "c.bin"]}
index
'''
ASK = '''
from toolbench import Action, bench
@tool(destructive=True)
def erase(path: str) -> str:
    """Erase a file."""
    answer = current_run().ask("Why?", {"type": "object", "properties": {"reason": {"type": "string", "description": "The reason"}, "level": {"enum": [1,2,3]}}, "required": ["reason"]})
    raise ValueError("the disk is full")
erase
'''
def test_look(lab: NotebookPage, nbroot):
    write_notebook(nbroot / "look.ipynb", CELL, ASK, "index({'folder': '/tmp'})", "from toolbench import history\nhistory()[-1]", "bench(index, erase)")
    lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})
    lab.open("look.ipynb")
    lab.run_all()
    assert lab.errors() == []
    out = lab.output(0)
    lab.type_into("folder", "/srv/data", within=out)
    lab.click("Run", within=out)
    lab.wait_for_text("part-5.txt", within=out)
    lab.show(0)
    lab.tab.page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollBy(0, 420)")
    lab.screenshot("look-running")
    lab.wait_for_text("What the model reads", within=out)
    lab.screenshot("look-done")
    e = lab.output(1)
    lab.type_into("path", "/x", within=e)
    lab.click("Run", within=e)
    lab.wait_for_text("Asked because", within=e)
    lab.click("Yes", within=e)
    lab.wait_for_text("Why?", within=e)
    lab.show(1)
    lab.screenshot("look-question")
    lab.type_into("reason", "because", within=e)
    lab.click("Accept", within=e)
    lab.wait_for_text("Traceback", within=e)
    for tab in ("Schema", "Code", "History"):
        e.get_by_role("tab", name=tab).click()
        lab.tab.page.wait_for_timeout(500)
        lab.screenshot(f"look-{tab.lower()}")
    lab.show(2)
    lab.screenshot("look-static")
    print(lab.tab.console_errors)
