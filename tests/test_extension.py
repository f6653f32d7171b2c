import pytest
from patience import PATIENCE
from shells import new_shell
from test_runs.tools import Steps

from toolbench.core.tool import hooks
from toolbench.widgets.panel.panel import open_panels

MAGICS = {
    "line": {"tools", "tool", "tool_history", "mcp"},
    "cell": {"tool", "tool_call"},
}


@pytest.fixture
def shell():
    with new_shell() as shell:
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


def state(shell):
    """Everything an extension could leave behind."""
    return {
        "magics": {k: set(v) for k, v in shell.magics_manager.magics.items()},
        "matchers": len(shell.Completer.custom_matchers),
        "formatters": set(shell.display_formatter.mimebundle_formatter.type_printers),
        "events": len(shell.events.callbacks["post_run_cell"]),
        "calls": hooks.around,
    }


class TestLoading:
    def test_adds_the_magics(self, shell):
        shell.run_line_magic("load_ext", "toolbench")
        for kind, names in MAGICS.items():
            assert names <= set(shell.magics_manager.magics[kind])

    @pytest.mark.parametrize("times", [1, 2, 3])
    def test_is_undone_by_unloading(self, shell, times):
        """However often it is loaded and reloaded, unloading leaves what was there before."""
        before = state(shell)
        for _ in range(times):
            shell.run_line_magic("load_ext", "toolbench")
            shell.run_line_magic("reload_ext", "toolbench")
        shell.run_line_magic("unload_ext", "toolbench")
        assert state(shell) == before

    def test_works_again_after_unloading(self, shell):
        shell.run_cell("from toolbench import tool\n@tool\ndef f(): 'Do it.'")
        shell.run_line_magic("load_ext", "toolbench")
        rows = shell.run_line_magic("tools", "").rows
        shell.run_line_magic("unload_ext", "toolbench")
        shell.run_line_magic("load_ext", "toolbench")
        assert shell.run_line_magic("tools", "").rows == rows
        assert "f" in [row[0] for row in rows]
        assert MAGICS["cell"] <= set(shell.magics_manager.magics["cell"])

    def test_keeps_formatters_of_the_user(self, shell):
        """A display the user chose for our types stays, also when we go."""
        from toolbench import Observation

        formatter = shell.display_formatter.mimebundle_formatter

        def mine(observation, **options):
            return {"text/plain": "mine"}

        formatter.for_type(Observation, mine)
        shell.run_line_magic("load_ext", "toolbench")
        shown, _ = shell.display_formatter.format(Observation.from_text("theirs"))
        assert shown == {"text/plain": "mine"}
        shell.run_line_magic("unload_ext", "toolbench")
        assert formatter.for_type(Observation) is mine

    def test_leaves_usage_errors_of_other_magics_on_stderr(self, shell, capsys):
        """Only a wrong line of ours is shown as an error of its cell."""
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_cell("%nosuch")
        shell.run_cell("%tool")
        said = capsys.readouterr()
        assert "%nosuch" in said.err and "%nosuch" not in said.out
        assert "Which tool?" in said.out and "Which tool?" not in said.err

    def test_keeps_magics_of_the_user(self, shell):
        """A magic of the user's own that ours covered comes back when we go."""

        def tools(line):
            return "mine"

        shell.register_magic_function(tools, "line", "tools")
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_line_magic("unload_ext", "toolbench")
        assert shell.run_line_magic("tools", "") == "mine"


class TestPanels:
    @pytest.fixture
    def kernel(self, shell):
        """A shell that looks as one in a kernel does, and counts the panels it shows."""
        for panel in list(open_panels):
            panel.close()
        shell.kernel = object()
        shell.run_line_magic("load_ext", "toolbench")
        steps = Steps()
        shell.user_ns["work"] = steps.tool
        shell.steps = steps
        return shell

    def test_of_a_cell_that_is_run_again_are_closed(self, kernel):
        """A cell keeps what it showed last: however often it runs, no more is held."""
        for _ in range(5):
            kernel.run_cell("work", cell_id="a")
        kernel.run_cell("work", cell_id="b")
        kernel.run_cell("1 + 1", cell_id="c")
        assert len(open_panels) == 2

    def test_stay_where_cells_have_no_name(self, kernel):
        """Nobody can tell then which output is gone."""
        for _ in range(3):
            kernel.run_cell("work")
        assert len(open_panels) == 3

    def test_of_a_variable_stay_until_that_is_made_anew(self, kernel):
        """A cell may show again what it or another cell made; what is replaced and gone is closed."""
        make = "if not again: panel = panels.ToolPanel(work)"
        kernel.run_cell("import toolbench.widgets as panels\nagain = False")
        kernel.run_cell(make, cell_id="make")
        [first] = open_panels
        for cell_id in ("show", "show", "show too", "show"):
            kernel.run_cell("panel", cell_id=cell_id)
        kernel.run_cell("1 + 1", cell_id="show")
        kernel.run_cell("1 + 1", cell_id="show too")
        assert list(open_panels) == [first]
        kernel.run_cell(f"{make}\npanel", cell_id="make")
        assert first not in open_panels
        second = kernel.user_ns["panel"]
        kernel.run_cell("again = True")
        kernel.run_cell(f"{make}\npanel", cell_id="make")
        assert list(open_panels) == [second]

    def test_that_run_are_closed_when_they_are_through(self, kernel):
        """A run is not cancelled because its cell runs again."""
        kernel.run_cell("work", cell_id="a")
        [panel] = open_panels
        run = panel.run()
        assert kernel.steps.begun.wait(PATIENCE)
        kernel.run_cell("work", cell_id="a")
        assert panel in open_panels
        assert not run.cancelled
        panel.cancel()
        assert run.done.wait(PATIENCE)
        kernel.run_cell("1 + 1", cell_id="b")
        assert panel not in open_panels
        assert len(open_panels) == 1
