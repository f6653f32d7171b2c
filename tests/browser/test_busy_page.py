"""A page that was busy while our code loaded: anywidget then loses all that the kernel says to its widgets."""

import pytest
from playwright.sync_api import expect

from browser.explored import connect, opened
from browser.lab import NotebookPage
from browser.tab import CLOCK_OF_ANYWIDGET
from browser.test_mcp import app_in
from browser.test_mcp_apps import SERVER, show

# Longer than the clock of anywidget, for the module, the views of the lists, the editor and its view
BUSY = """
const create = URL.createObjectURL;
window.rest = 8;
URL.createObjectURL = (blob) => {
  const end = performance.now() + (blob.type === "text/javascript" && window.rest-- > 0 ? 2500 : 0);
  while (performance.now() < end);
  return create.call(URL, blob);
};
"""


# A processor is busy for 15 seconds; test_mcp_apps has the same of a page that only says so
@pytest.mark.long
def test_a_page_that_was_busy_works_afterwards(new_lab: NotebookPage) -> None:
    """A tool runs, an app hears the kernel, and the editor comes and is heard."""
    page, errors = new_lab.tab.page, []
    page.add_init_script(BUSY)
    page.on("pageerror", lambda error: errors.append(error.message))
    cells = (connect("counter", str(SERVER)), "%mcp explore counter")
    with opened(new_lab, *cells) as explorer:
        show(explorer, "show")
        app = app_in(new_lab)
        app.get_by_text("count 0").wait_for()
        app.get_by_role("button", name="Add").click()
        app.get_by_text("count 1").wait_for()
        explorer.box.get_by_role("tab", name="JSON").locator("visible=true").click()
        editor = explorer.box.get_by_role("textbox", name="Arguments as JSON")
        expect(editor).to_have_text("{}")
        editor.click()
        page.keyboard.type("oops")
        explorer.see("Not JSON yet")
    # The module, a list, the editor and its view
    assert errors.count(CLOCK_OF_ANYWIDGET) >= 4
    assert new_lab.tab.console_errors == []
