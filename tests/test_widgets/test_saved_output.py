"""What a cell that shows a panel holds for the day when the notebook is opened again."""

import pytest
from patience import PATIENCE

SETUP = """
%load_ext toolbench
from toolbench import bench, tool

@tool
def add(a: int = 1) -> int:
    '''Add one.'''
    return a + 1
"""
SERVER = """
from itertools import count
from fastmcp import FastMCP
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer

calls = count(1)
server = FastMCP("counter")
server.tool(lambda: f"{next(calls)} of one", name="one", annotations={"readOnlyHint": True})
server.tool(lambda: f"{next(calls)} of two", name="two", annotations={"readOnlyHint": True})
client = MCPClient(timeout=60)
client.connect("counter", server)
"""
COUNTING = """
from collections import Counter
from toolbench.runs.record import RunRecord

rendered, to_html = Counter(), RunRecord.to_html

def counted(record, **options):
    rendered[record.id] += 1
    return to_html(record, **options)

RunRecord.to_html = counted
"""
DRAWN = f"from toolbench.widgets.kit.ticker import ticker\nticker.wait_idle({PATIENCE})"
HINT = "Run the cell to use the form."
STILL = '<div class="toolbench-still" hidden>'


@pytest.fixture(scope="module")
def kernel(shared_kernel):
    shared_kernel.run(SETUP)
    return shared_kernel


def displays(kernel, code, *, stdin=True):
    """Run a cell and return what it displays, in order."""
    request = kernel.start(code, stdin=stdin)
    assert kernel.reply(request)["status"] == "ok"
    kernel.listen_until(lambda: kernel.is_idle(request), "the cell is done")
    kinds = ("display_data", "execute_result")
    messages = [m for m in kernel.of(request) if m["msg_type"] in kinds]
    return request, [m["content"]["data"] for m in messages]


def updates(kernel, request):
    kernel.listen()
    messages = [m for m in kernel.of(request) if m["msg_type"] == "update_display_data"]
    return [m["content"]["data"] for m in messages]


class TestSignOfLife:
    LINE = "%tools export add --to {folder} --overwrite"

    def test_is_replaced_by_the_view(self, kernel, tmp_path):
        """While an export is made the cell says so, and then has no more outputs than without."""
        request, (sign, card) = displays(kernel, self.LINE.format(folder=tmp_path / "p"))
        assert sign["text/plain"] == "Reading the notebook …"
        [kept] = updates(kernel, request)
        assert "from add import create_tools" in kept["text/html"]
        assert card["text/plain"].startswith("Wrote the package")
        lines = f"{self.LINE}\n{self.LINE}".format(folder=tmp_path / "p")
        # Of two in a cell the first one has no view
        assert updates(kernel, displays(kernel, lines)[0])[0] == {"text/plain": ""}
        _, shown = displays(kernel, self.LINE.format(folder=tmp_path / "p"), stdin=False)
        assert "Reading" not in str(shown)


class TestKeepsake:
    def test_holds_the_static_view_once_and_hidden(self, kernel):
        """Beside the view itself: converted, a notebook shows the tool once."""
        _, (copy, panel) = displays(kernel, "add")
        assert list(copy) == ["text/html"]
        _, _, still = copy["text/html"].partition(STILL)
        assert still.startswith(panel["text/html"])
        assert still.endswith(f"{HINT}</div></div></div>")
        # Which nbconvert shows, where no cell runs
        assert HINT not in panel["text/html"]

    def test_is_the_same_each_time(self, kernel):
        """A notebook that is run again can be compared with what was saved."""
        first, second = (displays(kernel, "add")[1][0] for _ in range(2))
        assert first == second

    @pytest.mark.parametrize(
        ("view", "then"),
        [("bench(add)", ""), ("bench(add, add)", "view._list._lines[0].widget.index = 0")],
        ids=["a panel", "a bench"],
    )
    def test_holds_a_later_run_for_all_to_see(self, kernel, view, then):
        """The tool stays hidden, the run does not."""
        request, (copy, _) = displays(kernel, f"view = {view}\nview")
        kernel.run(then)
        kernel.click("Run")
        kernel.listen_until(lambda: updates(kernel, request), "the run is kept")
        [update] = updates(kernel, request)
        before, _, after = update["text/html"].partition(STILL)
        assert copy["text/html"].startswith(before)
        assert "The user and the model read the same" in after.partition("</div></div>")[2]
        assert update["text/plain"].startswith("arguments: {}")

    def test_holds_the_last_run_of_each_tool_of_an_explorer(self, kernel):
        """Also of a tool that was open before; its servers stay hidden."""
        kernel.run(SERVER)
        request, (copy, _) = displays(kernel, "view = Explorer(client)\nview")
        for turn, tool in enumerate(("one", "two"), start=1):
            kernel.run(f"view.page.lists.pane.use({tool!r}, {{}}, is_run=True)")
            kernel.listen_until(
                lambda turn=turn: len(updates(kernel, request)) == turn, "a run is kept"
            )
        html = updates(kernel, request)[-1]["text/html"]
        before, _, after = html.partition(STILL)
        assert copy["text/html"].startswith(before)
        cards = after.partition("</div></div>")[2]
        assert "1 of one" in cards and "2 of two" in cards
        kernel.run("view.page.lists.pane.use('one', {}, is_run=True)")
        kernel.listen_until(lambda: len(updates(kernel, request)) == 3, "it is kept")
        html = updates(kernel, request)[-1]["text/html"]
        assert "3 of one" in html and "1 of one" not in html
        kernel.run("view.close()")

    def test_of_an_explorer_renders_each_run_once(self, kernel):
        """However many runs of other tools follow: the saved output is renewed after each."""
        kernel.run(SERVER)
        request, _ = displays(kernel, "view = Explorer(client)\nview")
        kernel.run(COUNTING)
        for turn, tool in enumerate(("one", "two", "one"), start=1):
            kernel.run(f"view.page.lists.pane.use({tool!r}, {{}}, is_run=True)")
            kernel.listen_until(
                lambda turn=turn: len(updates(kernel, request)) == turn, "a run is kept"
            )
        _, [counts] = displays(kernel, "sorted(rendered.values())")
        assert counts["text/plain"] == "[1, 1, 1]"
        assert "2 of two" in updates(kernel, request)[-1]["text/html"]
        kernel.run("RunRecord.to_html = to_html\nview.close()")

    def test_of_a_run_that_was_over_is_part_of_the_view(self, kernel):
        """It is shown, hidden, with the tool, and not kept again."""
        code = "view = bench(add)\nview.run().done.wait()\nview"
        request, (_, panel) = displays(kernel, code)
        assert "The user and the model read the same" in panel["text/html"]
        kernel.run(DRAWN)
        assert updates(kernel, request) == []

    def test_stays_as_it_was_where_nobody_is_there(self, kernel):
        """Who runs it again compares what the cell showed; what came later would differ."""
        code = "view = bench(add)\nview"
        request, _ = displays(kernel, code, stdin=False)
        kernel.run("view.run().done.wait()")
        kernel.run(DRAWN)
        assert updates(kernel, request) == []

    @pytest.mark.slow
    def test_of_a_models_calls_holds_their_runs(self, kernel):
        """A panel among others has its run kept with theirs."""
        message = '{"tool_calls": [{"id": "1", "function": {"name": "add", "arguments": "{}"}}]}'
        request, (copy, view) = displays(kernel, f"%%tool_call\n{message}")
        assert view["text/html"] in copy["text/html"]
        kernel.click("Run")
        kernel.listen_until(lambda: updates(kernel, request), "the run is kept")
        assert "The user and the model read the same" in updates(kernel, request)[0]["text/html"]
