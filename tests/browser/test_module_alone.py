"""The page's module on a page without a kernel: the tests write what the kernel would."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Download, Locator, expect
from test_display.test_filter import FOUND, KEYS, ROWS

from browser.tab import Tab
from toolbench.display.json_tree import json_html
from toolbench.display.page import Card, cards_html
from toolbench.display.render import to_html
from toolbench.display.tables import TableHead, table_html
from toolbench.evals.report_parts import scrolled
from toolbench.widgets import frontend

MODULE = Path(frontend.__file__).with_name("module.js")
SHEET = json.dumps(MODULE.with_name("style.css").read_text("utf-8"))
# The clipboard needs an address that counts as safe
ADDRESS = "http://localhost/"
PANEL = """
<div class="toolbench-box"><div class="toolbench-actions">
  <button class="widget-button toolbench-copy-call">Copy call</button>
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
  const heard = new Set();
  const model = {
    comm_live: true, on(event, hear) { heard.add(hear); }, off(event, hear) { heard.delete(hear); },
    send(content) { messages.push(content.event); }
  };
  window.answer = (call) => { for (const hear of [...heard]) hear({copy: call}, []); };
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
START = (
    f"""async (module) => {{
  const css = {SHEET};
"""
    + """
  const address = URL.createObjectURL(new Blob([module], {type: "text/javascript"}));
  const {default: {initialize}} = await import(address);
  const widget_manager = {_models: {}};
  initialize({model: {get: (name) => (name === "css" ? css : undefined), on() {}, send() {}, widget_manager}});
}"""
)


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
    """A call that comes without a click in this page, as for another page, leaves the clipboard alone."""
    page = panel.page
    page.evaluate(KNOWING, MODULE.read_text("utf-8"))
    page.evaluate("answer('old()')")
    button = page.get_by_role("button", name="Copy call")
    button.click()
    page.wait_for_function("messages.length > 0")
    assert page.evaluate("navigator.clipboard.readText()") == "of the person"
    page.evaluate("answer('new()')")
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    page.evaluate("answer('again()')")
    assert page.evaluate("navigator.clipboard.readText()") == "new()"
    assert panel.console_errors == []


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


PIXEL = "data:image/png;base64,iVBORw0KGgo="
SMALL = {"quote": 'say "hi"\nand go', "big": 12345678901234567890, "rows": [{"i": 1}], "none": []}
LARGE = {"text": "a" * 5000, "rows": [{"i": i, "t": "x" * 60} for i in range(1200)]}
FRAME = pd.DataFrame({f"c{n}": range(90) for n in range(30)})
RESULTS = {
    "small JSON": json_html(SMALL),
    "large JSON": json_html(LARGE),
    "long text": to_html("line\n" * 40_000),
    "large table": table_html(FRAME),
    "small table": table_html(FRAME.iloc[:3, :2]),
    "text and images": f'<pre>seen</pre><img alt="a" src="{PIXEL}"><img alt="b" src="{PIXEL}">',
}


def saved(page: Tab, button: Locator, count: int = 1) -> dict[str, str]:
    """Return the name and the content of each file that a click on *button* saves."""
    files: list[Download] = []

    def keep(file: Download) -> bool:
        files.append(file)
        return len(files) == count

    with page.page.expect_download(keep):
        button.click()
    return {file.suggested_filename: file.path().read_text("latin-1") for file in files}


def test_save_says_which_part_a_page_without_a_kernel_has(page: Tab):
    """What is saved as JSON is the result; what is only a part of it says so in label and name."""
    cards = cards_html(Card(title, html) for title, html in RESULTS.items())
    live = f"<div data-toolbench-whole>{cards_html([Card('run', table_html(FRAME))])}</div>"
    live += cards_html([Card("a long line", to_html("begin\n" + "x" * 9_000))])
    page.page.route(ADDRESS, lambda route: route.fulfill(body=f"<body>{cards}{live}"))
    page.page.goto(ADDRESS)
    page.page.evaluate(START, MODULE.read_text("utf-8"))
    buttons = page.page.locator(".toolbench-save")
    part = "Save first 50 of 90 rows, first 20 of 30 columns"
    expect(buttons).to_have_text(
        [
            *("Save", "Save what is shown", "Save what is shown", part, "Save as shown", "Save"),
            # A kernel would write the table of the last in these forms too
            *("Save", "CSV", "JSON", "Parquet", "Save"),
        ]
    )
    # What is left out is not among "all"; few long lines are counted by their characters
    shows = page.page.get_by_role("button", name=re.compile("^Show (all )?[0-9,]+ (lines|char)"))
    expect(shows).to_have_text([re.compile(r"^Show [0-9,]+ lines$"), "Show all 9,006 characters"])
    small, large, text, table, _, several, run, *_ = buttons.all()
    files = saved(page, small)
    assert json.loads(files["result.json"]) == SMALL
    for button in (large, text):
        assert "left out" in saved(page, button)["result-shown.txt"]
    filter_of = page.page.get_by_label("Filter rows").first
    filter_of.fill("c1>40")
    status = page.page.locator(".toolbench-filter [role=status]").first
    expect(status).to_have_text("9 in the first 50 of 90 rows, first 20 of 30 columns")
    lines = saved(page, table)["result-shown.csv"].split("\n")
    assert (len(lines), lines[1][:6]) == (51, "0,0,0,")
    assert saved(page, several, 3).keys() == {"result.txt", "result-1.png", "result-2.png"}
    # The kernel has the whole of this one, and it is gone
    run.click()
    expect(page.page.get_by_role("alert")).to_have_text(
        "No kernel gives the whole result here: only what is shown can be saved."
    )
    expect(run).to_have_text(part)
    assert saved(page, run).keys() == {"result-shown.csv"}
    assert page.console_errors == []


@pytest.mark.parametrize("text", FOUND)
def test_a_filter_means_what_it_means_in_the_kernel(page: Tab, text):
    """Of a table without a kernel the page shows the same rows, or names the same key."""
    head = TableHead(KEYS, (len(ROWS), len(KEYS)), tuple((n, *row) for n, row in enumerate(ROWS)))
    frame = scrolled(table_html(head))
    page.page.route(ADDRESS, lambda route: route.fulfill(body=f"<body>{frame}"))
    page.page.goto(ADDRESS)
    page.page.evaluate(START, MODULE.read_text("utf-8"))
    page.page.get_by_label("Filter rows").fill(text)
    status = page.page.locator(".toolbench-filter [role=status]")
    if FOUND[text] is None:
        expect(status).to_contain_text(
            "No key is called 'route'. Keys: tool, state, ms, day, first_name."
        )
        return
    expect(status).to_have_text(f"{len(FOUND[text])} of {len(ROWS)} rows")
    labels = page.page.locator("table.toolbench-table tbody tr > :first-child")
    assert labels.all_text_contents() == [str(n) for n in FOUND[text]]
