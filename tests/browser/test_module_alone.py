"""The page's module on a page without a kernel: the tests write what the kernel would."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.tab import Tab
from toolbench.widgets import frontend

MODULE = Path(frontend.__file__).with_name("module.js")
# The clipboard needs an address that counts as safe
ADDRESS = "http://localhost/"
PANEL = """
<div class="toolbench-box"><div class="toolbench-actions">
  <span id="said"></span><button class="widget-button toolbench-copy-call">Copy call</button>
</div></div>"""
CARD = """
<div data-toolbench-card><div data-toolbench-bar></div><div data-toolbench-body aria-label="{title}">
  <details><summary>The call</summary><pre>a = 1</pre></details>{content}
</div></div>"""
LINE = '<div class="toolbench-box"><div class="widget-text"><input></div></div>'
KNOWING = """async (module) => {
  const address = URL.createObjectURL(new Blob([module], {type: "text/javascript"}));
  const {default: {initialize}} = await import(address);
  window.messages = [];
  const model = {comm_live: true, send(content) { messages.push(content.event); }};
  const view = {el: document.querySelector(".toolbench-copy-call"), model, callbacks() {}};
  const widget_manager = {_models: {button: Promise.resolve(model)}};
  model.views = {view: Promise.resolve(view)};
  initialize({model: {get() {}, on() {}, send() {}, widget_manager}});
}"""
COUNT = """() => {
  window.arrivals = [];
  for (const name of ["click", "keypress"]) {
    document.addEventListener(name, (event) => arrivals.push(event.type));
  }
}"""
CONTENTS = {"a text": "<pre>one\ntwo</pre>", "an image": '<img alt="" src="data:,">'}
CARDS = "".join(CARD.format(title=title, content=CONTENTS[title]) for title in CONTENTS)
START = """async (module) => {
  const address = URL.createObjectURL(new Blob([module], {type: "text/javascript"}));
  const {default: {initialize}} = await import(address);
  const widget_manager = {_models: {}};
  initialize({model: {get() {}, on() {}, send() {}, widget_manager}});
}"""
WRITE = """async (call) => {
  const said = document.createElement("span");
  said.dataset.toolbenchCopy = JSON.stringify(call);
  document.getElementById("said").replaceChildren(said);
  while (said.hasAttribute("data-toolbench-copy")) await new Promise(requestAnimationFrame);
}"""


@pytest.fixture
def panel(page: Tab) -> Tab:
    """A page with the module, the button and cards."""
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.page.route(ADDRESS, lambda route: route.fulfill(body=PANEL + LINE + CARDS))
    page.page.goto(ADDRESS)
    page.page.evaluate(START, MODULE.read_text("utf-8"))
    page.page.evaluate("navigator.clipboard.writeText('of the person')")
    return page


def test_a_call_is_copied_once_for_each_click(panel: Tab):
    """A call that is in the page without a click, as after a reload, leaves the clipboard alone."""
    message = panel.page.locator("#said > span")
    panel.page.evaluate(WRITE, "old()")
    panel.page.get_by_role("button", name="Copy call").click()
    panel.page.evaluate(WRITE, "new()")
    expect(message).to_have_text("Copied")
    panel.page.evaluate(WRITE, "again()")
    assert message.text_content() == ""
    assert panel.page.evaluate("navigator.clipboard.readText()") == "new()"
    assert panel.console_errors == []


def test_a_call_without_a_click_is_not_copied(panel: Tab):
    """The clipboard stays what the person made it."""
    panel.page.evaluate(WRITE, "old()")
    assert panel.page.evaluate("navigator.clipboard.readText()") == "of the person"


def test_what_has_no_lines_has_no_button_to_wrap_them(panel: Tab):
    """What is folded away does not count: the button would change nothing that is seen."""
    cards = panel.page.locator("[data-toolbench-card]")
    wraps = cards.get_by_role("button", name="Wrap")
    expect(cards.get_by_role("button", name="Full view")).to_have_count(2)
    expect(wraps).to_have_count(1)
    expect(cards.first.get_by_role("button", name="Wrap")).to_be_visible()


@pytest.mark.parametrize("kernels", [1, pytest.param(2, marks=pytest.mark.long), 3])
def test_a_click_that_no_kernel_knows_arrives_once(panel: Tab, kernels: int):
    """Each kernel brings its own module: they pass a click or Enter on, and not back and forth."""
    page = panel.page
    for _ in range(1, kernels):
        page.evaluate(START, MODULE.read_text("utf-8"))
    page.evaluate(COUNT)
    page.get_by_role("button", name="Copy call").click()
    page.wait_for_function("arrivals.length > 0")
    page.get_by_role("textbox").press("Enter")
    page.wait_for_function("arrivals.length > 1")
    assert page.evaluate("arrivals") == ["click", "keypress"]
    assert panel.console_errors == []


@pytest.mark.parametrize("others", [1, 2])
def test_a_click_comes_to_its_own_kernel_past_others(panel: Tab, others: int):
    """The page shows more notebooks, and their kernels' modules, which came first, know no such button."""
    page = panel.page
    for _ in range(1, others):
        page.evaluate(START, MODULE.read_text("utf-8"))
    page.evaluate(KNOWING, MODULE.read_text("utf-8"))
    page.get_by_role("button", name="Copy call").click()
    page.wait_for_function("messages.length > 0")
    assert page.evaluate("messages") == ["click"]
    assert panel.console_errors == []
