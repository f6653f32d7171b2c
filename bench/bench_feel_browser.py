"""What a person feels in JupyterLab: beside the same made by hand of ipywidgets, in turns."""

from collections.abc import Callable
from statistics import median, quantiles
from typing import NamedTuple

import pytest
from bench_agent import STREAM
from dom import longest_tasks, rows_in_the_page, started
from feel import Feeler, Felt
from playwright.sync_api import Locator
from timeline_page import seen_timeline

# Each takes more than a second
ROUNDS = 3
RELOADS = 2
# Ms without a change, where none comes later than 150 ms after another
QUIET = 400
# Seconds that the page may be busy with one thing
TASK = 0.2
# Seconds of a timeline
DRAWN, FILTERED, FRAME = 0.3, 0.05, 1 / 60
# A machine that is busy loses a frame now and then
LATE = 1.2
SETUP = '''
from itertools import count
from typing import Annotated
import ipywidgets as w
from pydantic import Field
from IPython.display import display
from toolbench import Action, ToolDefinition, bench, run_tool, tool
from toolbench.widgets.panel import ToolPanel

LONG = "\\n".join(f"line {n} of a long text, with words in it" for n in range(120_000))

@tool
def echo(text: str, count: int = 1) -> str:
    """Return the text."""
    return text * count

@tool
def short(text: Annotated[str, Field(max_length=3)]) -> str:
    """Take a short text."""
    return text

@tool
def long() -> str:
    """Return five megabytes."""
    return LONG

many = [ToolDefinition(name=f"tool_{n}", description=f"Does {n}.", action_type=Action)
        for n in range(1_000)]

def by_hand(work, *rows):
    button, label, clicks = w.Button(description="Run"), w.HTML(), count()
    def click(_):
        label.value = f"{work()}<!-- {next(clicks)} -->"  # a change, also for the same result
    button.on_click(click)
    return w.VBox([*rows, button, label])

def field(description):
    box, label = w.Text(description=description), w.Label()
    box.observe(lambda change: setattr(label, "value", change.new), "value")
    return w.VBox([box, label])

def tabs():
    tab = w.Tab([field("a"), w.HTML("<pre>code</pre>"), w.HTML("<pre>text</pre>")])
    tab.titles = ["Form", "JSON", "Code"]
    return tab

def names():
    search, lines = w.Text(placeholder="Search"), w.Select(options=[t.name for t in many], rows=12)
    def find(change):
        lines.options = [t.name for t in many if change.new in t.name]
    search.observe(find, "value")
    return w.VBox([search, lines])
'''


class Work(NamedTuple):
    """A thing to do in the output of a cell of ours, and in one made by hand."""

    name: str
    ours: str
    by_hand: str
    # None: run the cell
    act: Callable[[Locator], object] | None
    # Seconds
    goal: float | None = None


def _run(output: Locator) -> None:
    output.get_by_role("button", name="Run", exact=True).first.click()


def _key(output: Locator) -> None:
    output.locator("input[type=text], textarea").first.press_sequentially("x")


def _search(output: Locator) -> None:
    field = output.locator("input").first
    field.fill("")
    field.press_sequentially("9")


def _turn(output: Locator) -> None:
    tabs = output.get_by_role("tab")
    tabs.nth(1 if tabs.nth(0).get_attribute("aria-selected") == "true" else 0).click()


ECHO = "ToolPanel(echo, {'text': 'a'})"
# Each key changes what is said of it
WRONG = "ToolPanel(short, {'text': 'abcd'})"
WORK = [
    Work("key to feedback", WRONG, "field('text')", _key, 0.05),
    Work(
        "Run to the result",
        ECHO,
        "by_hand(lambda: 'a', field('text'))",
        _run,
        0.08,
    ),
    Work("a panel opened", ECHO, "by_hand(lambda: 'a', field('text'))", None, 0.1),
    Work("a tab changed", ECHO, "tabs()", _turn),
    Work("1,000 tools listed", "bench(many)", "names()", None),
    Work("1,000 tools filtered", "bench(many)", "names()", _search),
    Work(
        "a result of 5 MB",
        "bench(long)",
        "by_hand(lambda: f'<pre>{LONG}</pre>')",
        _run,
    ),
]


@pytest.fixture(scope="module")
def lab():
    """One JupyterLab for all notebooks here."""
    with started() as lab:
        yield lab


@pytest.fixture(scope="module")
def felt(lab) -> dict[tuple[str, str], list[Felt]]:
    """What was felt of each work, ours and by hand, in turns in one notebook."""
    cells = {
        f"{work.name}, {who}": source
        for work in WORK
        for who, source in (("ours", work.ours), ("by hand", work.by_hand))
    }
    with lab.opened(cells, SETUP) as page:
        page.run_all()
        assert page.errors() == [], page.errors()
        feeler, taken = Feeler(page, QUIET), {}
        for turn in range(ROUNDS + 1):
            for number, work in enumerate(WORK):
                for which, who in enumerate(("ours", "by hand")):
                    index = 1 + 2 * number + which
                    each = feeler.run(index) if work.act is None else feeler.do(index, work.act)
                    # The first round does not count
                    if turn:
                        taken.setdefault((work.name, who), []).append(each)
        assert page.errors() == [], page.errors()
    return taken


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.name)
def test_work(ledger, felt, work):
    """First and last change, bytes and longest task, beside the same by hand."""
    ours, hand = felt[work.name, "ours"], felt[work.name, "by hand"]
    what = "first" if work.name.startswith("key") else "last"
    mine, theirs = (median(getattr(each, what) for each in x) for x in (ours, hand))
    ledger.beside(
        f"{work.name}: the {what} change",
        mine,
        "s wall",
        peer=theirs,
        peer_name="by hand",
        note=f"median of {len(ours)}; at best "
        f"{min(getattr(each, what) for each in ours) * 1000:.0f} ms",
    )
    if work.goal is not None:
        ledger.limit(f"{work.name}: the {what} change", mine, "s wall", work.goal)
    ledger.beside(
        f"{work.name}: sent to the page",
        median(each.bytes for each in ours),
        "B",
        peer=max(median(each.bytes for each in hand), 1),
        peer_name="by hand",
    )
    ledger.limit(
        f"{work.name}: longest task of the page",
        median(each.task for each in ours),
        "s wall",
        TASK,
        f"by hand {median(each.task for each in hand) * 1000:.0f} ms; 0: none of 50 ms",
    )


def test_twenty_panels(ledger, lab):
    """Twenty panels in a notebook take at most 1.2 times twenty times one."""
    cells = {
        "one": ECHO,
        "twenty": "display(*[ToolPanel(echo, {'text': str(n)}) for n in range(20)])",
    }
    with lab.opened(cells, SETUP) as page:
        page.run_all()
        assert page.errors() == [], page.errors()
        feeler = Feeler(page)
        pairs = [(feeler.run(1), feeler.run(2)) for _ in range(ROUNDS)]
    one, twenty = zip(*pairs, strict=True)
    ledger.beside(
        "20 panels drawn",
        median(each.last for each in twenty),
        "s wall",
        peer=20 * median(each.last for each in one),
        peer_name="twenty times one",
        goal=1.2,
        note=f"longest task {max(each.task for each in twenty) * 1000:.0f} ms",
    )


LARGE = """
import pandas as pd

@tool
def trips() -> pd.DataFrame:
    '''Return 200,000 rows of nine columns.'''
    columns = {f"column_{n}": [row * 0.5 + n for row in range(200_000)] for n in range(8)}
    return pd.DataFrame({**columns, "note": ["late", None] * 100_000})

@tool
def bookings() -> list[dict]:
    '''Return 20,000 objects.'''
    return [{"number": n, "guest": f"guest {n}", "room": {"floor": n % 9, "beds": [1, 2]}, "paid": n % 3 == 0}
            for n in range(20_000)]
"""


@pytest.mark.parametrize(
    ("name", "rows", "text"),
    [("trips", "200,000", "column_0>99000"), ("bookings", "20,000", "number>19000")],
)
def test_a_large_result(ledger, lab, name, rows, text):
    """A result of many rows is in sight within a second, and filtered within a fifth of one."""
    with lab.opened({name: f"bench({name})"}, SETUP + LARGE) as page:
        page.run_all()
        assert page.errors() == [], page.errors()
        feeler = Feeler(page)

        def filter_rows(output: Locator) -> None:
            field = output.get_by_label("Filter rows").locator("visible=true").first
            field.fill("")
            output.get_by_text(f"{rows} of {rows} rows").first.wait_for()
            # The watch begins with a key
            field.press("Shift")
            field.fill(text)

        runs = [feeler.do(1, _run) for _ in range(ROUNDS + 1)][1:]
        filters = [feeler.do(1, filter_rows) for _ in range(ROUNDS + 1)]
    for work, taken, limit in (("in sight", runs, 1), ("filtered", filters[1:], 0.2)):
        ledger.limit(
            f"{name}, {rows} rows: {work}",
            median(each.last for each in taken),
            "s wall",
            limit,
            f"first time {taken[0].last * 1000:.0f} ms, longest task {max(each.task for each in taken) * 1000:.0f} ms",
        )
    ledger.limit(f"{name}, {rows} rows: filtered for the first time", filters[0].last, "s wall", 1)


TRAFFIC = """
%load_ext toolbench
from fastmcp import FastMCP
from toolbench.mcp import MCPClient
server = FastMCP("talker")
server.tool(lambda text: text, name="echo")
client = MCPClient(timeout=60)
session = client.connect("talker", server)
for n in range(5_000):
    session.traffic.note("sent", f'{{"n": {n}}}', kind="request", method="x", request_id=n)
    session.traffic.note("received", "{}", kind="response", request_id=n)
"""


def test_ten_thousand_messages(ledger, lab):
    """The tab with 10,000 messages is opened and scrolled, with no long task."""
    with lab.opened({"client": "client"}, SETUP + TRAFFIC) as page:
        page.run_all()
        assert page.errors() == [], page.errors()
        feeler = Feeler(page)
        page.show(1)
        page.output(1).get_by_role("button", name="Server and traffic").click()

        def open_tab(output: Locator) -> None:
            output.get_by_role("tab", name="Traffic").click()

        def scroll(output: Locator) -> None:
            output.get_by_role("listbox", name="Messages").hover()
            # The watch begins with a key
            page.tab.page.keyboard.press("Shift")
            page.tab.page.mouse.wheel(0, 50_000)

        for name, act in (("opened", open_tab), ("scrolled", scroll)):
            each = feeler.do(1, act)
            work = f"10,000 messages {name}: longest task of the page"
            note = f"last change after {each.last * 1000:.0f} ms, {each.bytes:,} bytes"
            ledger.limit(work, each.task, "s wall", TASK, note)


def test_a_saved_notebook(ledger, lab):
    """A saved notebook with 50 results, opened: beside 50 results of plain HTML."""
    sources = {"toolbench": "run_tool(echo, text='{n}')", "HTML": "w.HTML('{n}')"}
    taken = {}
    for name, source in sources.items():
        cells = {str(n): source.format(n=n) for n in range(50)}
        with lab.opened(cells, SETUP) as page:
            page.run_all()
            assert page.errors() == [], page.errors()
            page.save()
            times = []
            for _ in range(RELOADS):
                page.tab.page.reload()
                page.tab.page.wait_for_function(_OUTPUTS, timeout=60_000)
                times.append(page.tab.page.evaluate("outputsSince") / 1000)
            taken[name] = median(times)
    ledger.beside(
        "a saved notebook with 50 results, opened",
        taken["toolbench"],
        "s wall",
        peer=taken["HTML"],
        peer_name="50 widgets of HTML",
        note="from the reload of the page to the last new output in sight",
    )


REPORT = """
%load_ext toolbench
from toolbench import tool
from toolbench.evals import sweep

@tool(read_only=True)
def divide(a: int, b: int) -> dict:
    '''Divide a by b; returns quotient and rest.'''
    return {"quotient": a // b, "rest": a % b}

report = sweep(divide, {"a": range(1_000), "b": range(10)})
"""


def test_rows_of_a_sweep(ledger, lab):
    """10,000 rows are shown, and filtered, in under a second each."""
    shown, filtered = rows_in_the_page(lab, "report", "b>7 quotient=12", setup=REPORT)
    for name, seconds in (("shown", shown), ("filtered", filtered)):
        note = f"the slowest; {median(seconds) * 1000:.0f} ms at the median"
        ledger.limit(f"10,000 rows of a sweep {name}", max(seconds), "s wall", 1.0, note)


LONG_TEXTS = {
    "1 MB of text streams into a cell of %%chat": "%%chat talk --new --model streams\nWrite.",
    "a conversation with two messages of 1 MB is shown": "asked",
}


def test_long_texts(ledger, lab):
    """JupyterLab stays responsive: no task of the page over 200 ms, in any of the rounds."""
    for work, seconds in longest_tasks(lab, LONG_TEXTS, setup=STREAM).items():
        note = f"the longest task of the page; {median(seconds) * 1000:.0f} ms at the median"
        ledger.limit(work, max(seconds), "s wall", TASK, note)


def test_ten_thousand_spans(ledger, lab):
    """Each is what a person sees, in the page; the kernel's part of the first drawing is noted."""
    seen = seen_timeline(lab)
    note = f"median of {len(seen.drawn)}; since the cell was run {median(seen.whole) * 1000:.0f} ms"
    ledger.limit("10,000 spans drawn", median(seen.drawn), "s wall", DRAWN, note)
    late = sum(frame > FRAME * LATE for frame in seen.frames)
    most = quantiles(seen.frames, n=20)[-1] * 1000
    note = f"95 of 100 within {most:.1f} ms; {late} of {len(seen.frames)} late"
    ledger.limit(
        "a frame while 10,000 spans are zoomed", median(seen.frames), "s wall", FRAME * 1.02, note
    )
    note = f"at most {max(seen.filtered) * 1000:.0f} ms; with the frame that shows it"
    ledger.limit("10,000 spans filtered", median(seen.filtered), "s wall", FILTERED, note)


_OUTPUTS = """
    () => {
      const count = document.querySelectorAll(".jp-OutputArea-output").length;
      if (count !== window.outputCount) {
        window.outputCount = count;
        window.outputsSince = performance.now();
      }
      return count > 0 && performance.now() - window.outputsSince > 1000;
    }
"""
