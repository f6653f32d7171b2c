"""An app that uses the App class of `@modelcontextprotocol/ext-apps`, which `make peers` installs."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.explored import connect, opened
from browser.lab import NotebookPage
from browser.test_mcp import app_in

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "test_mcp" / "servers" / "ext_app.py"
PACKAGE = ROOT / ".peers/npm/ext-apps/node_modules/@modelcontextprotocol/ext-apps"
CODE = PACKAGE / "dist" / "src" / "app-with-deps.js"

pytestmark = pytest.mark.skipif(
    not CODE.is_file(), reason="NOT TESTED: run `make peers` for ext-apps"
)


@pytest.mark.usefixtures("looks")
def test_the_apps_of_the_specification_work(lab: NotebookPage) -> None:
    """It connects, gets the call and its result, calls a tool, reads, sends a message, asks for a link."""
    cells = (connect("ext", str(SERVER), str(CODE)), "%mcp explore ext")
    with opened(lab, *cells) as explorer:
        explorer.open_tool("show")
        explorer.click("Run")
        explorer.see("The user and the model read the same")
        explorer.click("Preview its app")
        app = app_in(lab)
        app.get_by_text("in toolbench").wait_for()
        expect(app.locator("#result")).to_have_text("shown hello")
        for button, text in {
            "Add": "added 1",
            "Read": "three rows",
            "Message": "sent",
        }.items():
            app.get_by_role("button", name=button).click()
            app.get_by_text(text, exact=True).wait_for()
        explorer.see("From the app")
        app.get_by_role("button", name="Link").click()
        explorer.see("The app asks to open https://counter.invalid/")
        explorer.click("Do not open")
        app.get_by_text("not opened").wait_for()
        assert app.locator("#error").inner_text() == ""
        explorer.look("explorer-ext-app")
        assert lab.tab.console_errors == []
