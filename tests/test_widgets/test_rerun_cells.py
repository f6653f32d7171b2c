"""A cell that ends with its tool runs again: what was typed stays, the last result is of the earlier code."""

from threading import Event
from types import SimpleNamespace

import pytest
from patience import PATIENCE, eventually
from shells import new_shell
from test_magics.test_settings import WAIT

from test_widgets.front import click, named, page, receive, walk
from test_widgets.tooling import buttons, finish, shown, wait_for_ticker
from toolbench import tool
from toolbench.mcp import MCPClient
from toolbench.runs.policy import policy
from toolbench.testing import FakeMCPServer
from toolbench.widgets.panel.panel import open_panels

CELL = '''
from typing import Literal
from pydantic import SecretStr
from toolbench import tool

@tool
def book({arguments}) -> str:
    """Book a room."""
    return f"{word} {{locals()}}"
'''
WORDS = "From the earlier code: the tool was defined again after this run."


def find() -> str:
    """Find."""
    return "found"


@pytest.fixture
def shell(tmp_path, monkeypatch, no_open_panels):
    """A shell that looks as one in a kernel does, with files of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with new_shell() as shell:
        shell.kernel = object()
        shell.run_line_magic("load_ext", "toolbench")
        # What cells of other tests showed is not forgotten
        run_cell = shell.run_cell
        name = tmp_path.name
        shell.run_cell = lambda code, cell_id="": run_cell(code, cell_id=f"{name} {cell_id}")
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


@pytest.fixture
def define(shell):
    """Runs the cell with *arguments* of the tool, and returns the panel that the cell now has."""

    def define(arguments, word="old", cell="a", last="book"):
        before = list(open_panels)
        code = CELL.format(arguments=arguments, word=word)
        shell.run_cell(f"{code}\n{last}", cell_id=cell).raise_error()
        [panel] = [panel for panel in open_panels if panel not in before]
        return panel

    return define


def typed(panel, name):
    """What stands in the field *name* of *panel*."""
    return named(panel, name).value


def test_it_keeps_what_was_typed_and_its_result(define):
    """The loop of a prototype: edit the function, run the cell, Run. A run replaces the earlier result."""
    panel = define("city: str, nights: int = 1, tags: list[str] = []")
    for name, text in {"city": "Köln", "nights": "3x", "tags": "sea\nsun"}.items():
        receive(named(panel, name), value=text)
    receive(named(panel, "nights"), value="3")
    panel.run()
    finish(panel)
    receive(named(panel, "nights"), value="3x")
    for _ in range(2):
        panel = define("city: str, nights: int = 1, tags: list[str] = [], late: bool = False")
    assert [typed(panel, n) for n in ("city", "nights", "tags")] == ["Köln", "3x", "sea\nsun"]
    assert "is not an integer" in shown(panel)
    assert WORDS in shown(panel) and "old" in shown(panel)
    assert panel.result is None
    receive(named(panel, "nights"), value="4")
    assert "the arguments have changed since" in shown(panel)
    panel = define("city: str, nights: int = 1, tags: list[str] = []", word="new")
    panel.run()
    assert WORDS not in shown(panel)
    finish(panel)
    assert WORDS not in shown(panel)
    assert "new" in panel.result.text and "'nights': 4" in panel.result.text
    # Other arguments have other results anyway: those of the earlier code are compared
    assert "<ins>" not in shown(panel)
    receive(named(panel, "nights"), value="3")
    panel.run()
    finish(panel)
    assert "<del>old</del>" in shown(panel) and "<ins>new</ins>" in shown(panel)


def test_the_new_result_stands_beside_that_of_the_earlier_code(shell):
    """A table or list, by its cells; the same result in a line; the earlier one at a click, in grey."""
    cells = "__import__('pandas').DataFrame({'a': [1, 2], 'b': ['x', %r]})"
    code = CELL.replace("-> str", "").replace('f"{word} {{locals()}}"', "{word}")

    def run(word):
        before = list(open_panels)
        shell.run_cell(code.format(arguments="", word=word) + "book", cell_id="a")
        [panel] = [panel for panel in open_panels if panel not in before]
        panel.run()
        finish(panel)
        return panel

    assert "earlier" not in shown(run(cells % "y"))
    panel = run(cells % "y")
    assert "The same result as the earlier code gave." in shown(panel)
    panel.runs.report.outdate()
    assert "The same result" not in shown(panel) and WORDS in shown(panel)
    panel = run(cells % "z")
    assert "[1].b" in shown(panel) and "1 difference" in shown(panel)
    panel.run()
    finish(panel)
    assert "[1].b" in shown(panel)
    assert shown(panel).count("<table data-toolbench-table") == 2
    # More than is read of other JSON
    items = "{'items': [{'id': n, 'text': %d * 'x'} for n in range(%d)]}"
    run(items % (99, 20_000))
    for letters, count in ((98, 20_000), (97, 9)):
        panel = run(items % (letters, count))
        assert "[3].text" in shown(panel) and "of the first 2,000 rows" in shown(panel)


class TestRunAgainOnChange:
    """A tool that only reads runs by itself: after its cell, and after an edit of its form."""

    CELL = CELL.replace("@tool", "@tool(read_only=True)").replace(
        'f"{word} {{locals()}}"', "{word}"
    )

    def cell(self, shell, word, cell="a"):
        code = self.CELL.format(arguments="x: int", word=repr(word))
        shell.run_cell(f"{code}\nbook", cell_id=cell).raise_error()
        return list(open_panels)

    def on(self, panel):
        receive(named(panel, "Run again on change"), value=True)

    def test_only_if_it_declares_that(self, shell, define):
        """No hint, no switch; and the switch goes when the hint does."""
        parts = list(walk(define("x: int")))
        assert "Run again on change" not in [getattr(part, "description", "") for part in parts]
        [panel] = [each for each in self.cell(shell, "old", cell="b") if each.on_change.widgets]
        self.on(panel)
        panel.show(define("x: int").tool)
        assert not named(panel, "Run again on change").value

    def test_its_result_follows_the_code_and_the_form(self, shell):
        """In its own cell, and in another; what is not valid does not run, and no word is said."""
        [own] = self.cell(shell, "old")
        self.on(own)
        receive(named(own, "x"), value="1")
        eventually(lambda: own.result is not None)
        assert own.result.text == "old"
        shell.run_cell("book", cell_id="b")
        [other] = [panel for panel in open_panels if panel is not own]
        self.on(other)
        wait_for_ticker()
        assert other.result is None and "Fix" not in shown(other)
        receive(named(other, "x"), value="2")
        eventually(lambda: other.result is not None)
        panels = self.cell(shell, "new")
        [own] = [panel for panel in panels if panel is not other]
        eventually(lambda: [p.result and p.result.text for p in (own, other)] == ["new", "new"])
        assert [panel.record.arguments for panel in (own, other)] == [{"x": 1}, {"x": 2}]
        wait_for_ticker()
        assert "<ins>new</ins>" in shown(own) and "<ins>new</ins>" in shown(other)
        receive(named(own, "x"), value="9")
        receive(named(own, "Run again on change"), value=False)
        wait_for_ticker()
        assert own.record.arguments == {"x": 1}

    def test_it_is_not_on_for_the_tool_of_another_server(self, shell):
        """Which has the same name, and has not been switched on."""
        servers = [FakeMCPServer(name) for name in ("first", "second")]
        seen = []
        with MCPClient() as client:
            for server in (servers[0], *servers):
                server.tool(tool(read_only=True)(find))
                shell.user_ns["it"] = client.connect("lib", server).tool("find")
                shell.run_cell("it", cell_id="c").raise_error()
                [panel] = open_panels
                seen.append(named(panel, "Run again on change").value)
                self.on(panel)
        assert seen == [False, True, False]

    def test_nothing_runs_that_would_ask(self, shell, monkeypatch):
        """A call that needs consent waits for a click."""
        [panel] = self.cell(shell, "old")
        monkeypatch.setattr(policy, "by_tool", {})
        policy.ask(panel.tool)
        self.on(panel)
        receive(named(panel, "x"), value="1")
        eventually(lambda: "Not run automatically" in shown(panel))
        assert panel.runs.latest is None


def test_a_result_of_the_same_tool_is_no_earlier_one(shell, define):
    """A cell below the definition shows the tool and runs again: the code is what it was."""

    def below():
        before = set(open_panels)
        shell.run_cell("book", cell_id="below").raise_error()
        [panel] = set(open_panels) - before
        return panel

    define("x: str = ''")
    panel = below()
    panel.run()
    finish(panel)
    for _ in range(2):
        panel = below()
        assert "old" in shown(panel) and WORDS not in shown(panel)
    define("x: str = ''", word="new")
    assert WORDS in shown(below())


class TestASecret:
    def test_is_kept_in_memory_only(self, define, wire, tmp_path):
        """The next run has it; nothing that leaves the kernel does, and no file."""
        panel = define("token: SecretStr")
        panel.form.value = {"token": "hunter2hunter2"}
        panel = define("token: SecretStr, more: int = 0")
        assert panel.form.value == {"token": "hunter2hunter2"}
        saved = str(panel._repr_mimebundle_()) + str(panel.get_manager_state())
        assert "hunter2" not in wire.text() + saved
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(b"hunter2" in path.read_bytes() for path in files)


def test_a_run_that_goes_on_is_shown_and_can_be_cancelled(shell, define):
    """It is of the earlier code: the new code can run beside it. Its end is shown if nothing else ran."""
    shell.user_ns["go_on"], begun = Event(), Event()
    shell.user_ns["begun"] = begun
    work = "(begun.set(), go_on.wait(60))"
    panel = define("x: int = 0", word=f"{{{work}}} old")
    run = panel.run()
    assert begun.wait(PATIENCE)
    for _ in range(2):
        panel = define("x: int = 0", word="new")
    assert "running" in shown(panel) and WORDS in shown(panel)
    assert not run.cancelled
    assert "Cancel" in buttons(panel) and not buttons(panel)["Run"].disabled
    shell.user_ns["go_on"].set()
    eventually(lambda: "succeeded" in shown(panel))
    assert "Cancel" not in buttons(panel) and " old" in shown(panel)
    begun.clear()
    shell.user_ns["go_on"].clear()
    panel = define("x: int = 0", word=f"{{{work}}} old")
    run = panel.run()
    assert begun.wait(PATIENCE)
    panel = define("x: int = 0", word="new")
    click(buttons(panel)["Cancel"])
    assert run.cancelled
    shell.user_ns["go_on"].set()
    panel.run()
    finish(panel)
    assert WORDS not in shown(panel) and "new" in panel.result.text


def test_a_run_whose_question_left_the_page_is_cancelled(shell):
    """Nobody can answer it any more; it would wait for ever, and keep its panel."""
    cell = (
        "from toolbench import current_run, tool\n@tool\ndef asks() -> str:\n    'Ask.'\n"
        "    return str(current_run().ask('Really?'))\nasks"
    )
    shell.run_cell(cell, cell_id="a").raise_error()
    [panel] = open_panels
    run = panel.run()
    eventually(lambda: "Really?" in page(panel))
    shell.run_cell(cell, cell_id="a").raise_error()
    eventually(run.done.is_set)
    assert run.state == "cancelled"
    shell.run_cell("None", cell_id="b")
    [panel] = open_panels
    eventually(lambda: "cancelled" in shown(panel))


def test_each_cell_and_each_panel_has_its_own(shell, define):
    """By the cell, the tool and the order in the cell; a cell that fails forgets nothing."""
    first, second = "x: str", "x: str, y: int = 0"
    receive(named(define(first, cell="b"), "x"), value="other cell")
    receive(named(define(first), "x"), value="one")
    both = "shown = get_ipython().display_formatter.format(book)\nbook"
    define_both = CELL.format(arguments=second, word="new") + both
    shell.run_cell(define_both, cell_id="a").raise_error()
    shell.run_cell("1/0", cell_id="a")
    shell.run_cell("unfinished(", cell_id="a")
    assert len(open_panels) == 1
    shell.run_cell(define_both, cell_id="a").raise_error()
    values = sorted(panel.form.value.get("x", "") for panel in open_panels)
    assert values == ["", "one", "other cell"]


def test_old_cells_are_forgotten(shell, define):
    """A session of many cells holds the panels that it shows, and a few more."""
    for number in range(25):
        receive(named(define("x: str", cell=f"cell {number}"), "x"), value="typed")
    for number in range(25):
        shell.run_cell("None", cell_id=f"cell {number}")
    assert define("x: str", cell="cell 1").form.value == {}
    assert define("x: str", cell="cell 24").form.value == {"x": "typed"}


WAYS = ("book", "%tool book", "ToolPanel(book)", "bench(book)", "old = ToolPanel(book)\nold")


@pytest.mark.parametrize("way", WAYS)
def test_however_the_cell_shows_its_tool(shell, define, way):
    """A line and a widget show the same panel; what the cell itself fills in is the cell's."""
    shell.run_cell("from toolbench import bench\nfrom toolbench.widgets import ToolPanel")
    receive(named(define("x: str, n: int = 0", last=way), "x"), value="typed")
    assert define("x: str", last=way).form.value == {"x": "typed"}
    filled = "new = ToolPanel(book)\nnew.form.value = {'x': 'given'}\nnew"
    for last in ("ToolPanel(book, {'x': 'given'})", filled):
        assert define("x: str", last=last).form.value == {"x": "given"}


def test_the_limit_of_the_notebook_counts_whoever_opens_the_panel(shell):
    """`%config Toolbench.timeout`, for a line and for a tool that is a cell's last value."""
    shell.run_line_magic("config", "Toolbench.timeout = 0.1")
    shell.run_cell(WAIT).raise_error()
    for way in ("%tool wait", "wait"):
        before = list(open_panels)
        shell.run_cell(way, cell_id=way).raise_error()
        [panel] = [panel for panel in open_panels if panel not in before]
        panel.run()
        finish(panel)
        assert "timed out after 0.1 s" in shown(panel)


def test_a_servers_tool_keeps_what_was_typed_too(shell):
    """By its server and its name there: the cell that connects the server makes a new tool each time."""
    shell.run_cell("from toolbench.mcp import MCPClient\nfrom test_mcp.servers.shop import shop")
    cell = "client = MCPClient()\nsession = client.connect({name!r}, shop)\nsession.tool('basket')"
    panels = []
    for name in ("shop", "shop", "other"):
        before = set(open_panels)
        shell.run_cell(cell.format(name=name), cell_id="a").raise_error()
        panels += [panel for panel in open_panels if panel not in before]
        if len(panels) == 1:
            panels[0].form.value = {"item": "typed"}
    assert [panel.form.value for panel in panels[1:]] == [{"item": "typed"}, {}]


def test_a_bench_keeps_its_open_tools(shell, define):
    """Each with what was typed; the tool that was open is open again, also after a cell that failed."""
    shell.run_cell(
        f"from toolbench import bench\n{CELL.format(arguments='y: str', word='')}other = book"
    )
    shell.run_cell("other = other.model_copy(update={'name': 'other'})")
    panel = define("x: str", last="shown = bench(book, other)\nshown")
    receive(named(panel, "x"), value="typed")
    assert shell.user_ns["shown"]._list.pick("1")
    receive(named(shell.user_ns["shown"].panel, "y"), value="typed too")
    shell.run_cell("1/0", cell_id="a")
    shell.run_cell(
        f"{CELL.format(arguments='x: str', word='')}\nshown = bench(book, other)\nshown",
        cell_id="a",
    )
    values = [panel.form.value for panel in shell.user_ns["shown"]._panels.values()]
    assert values == [{"x": "typed"}, {"y": "typed too"}]
    assert shell.user_ns["shown"].panel.tool.name == "other"


def test_so_does_the_cell_that_loads_toolbench(tmp_path, no_open_panels):
    """The extension is loaded while the cell runs: the kernel tells which cell that is."""
    cell = f"%load_ext toolbench\n{CELL.format(arguments='x: str', word='')}book"
    with new_shell() as shell:
        parent = {"metadata": {"cellId": str(tmp_path)}}
        shell.kernel = SimpleNamespace(get_parent=lambda: parent)
        shell.run_cell(cell, cell_id=str(tmp_path)).raise_error()
        [panel] = open_panels
        receive(named(panel, "x"), value="typed")
        shell.run_cell(cell, cell_id=str(tmp_path)).raise_error()
        [panel] = open_panels
        shell.run_line_magic("unload_ext", "toolbench")
    assert panel.form.value == {"x": "typed"}
