import pytest
from shells import new_shell

from toolbench.core.tool import calls

MAGICS = {"line": {"tools", "tool", "tool_history", "mcp"}, "cell": {"tool"}}


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
        "calls": calls.around,
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
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_line_magic("unload_ext", "toolbench")
        shell.run_line_magic("load_ext", "toolbench")
        assert len(shell.run_line_magic("tools", "")) == len(
            shell.run_line_magic("tools", "")
        )
        assert MAGICS["cell"] <= set(shell.magics_manager.magics["cell"])

    def test_keeps_formatters_of_the_user(self, shell):
        """A display the user chose for our types comes back when we go."""
        from toolbench import Observation

        formatter = shell.display_formatter.mimebundle_formatter

        def mine(observation, **options):
            return {"text/plain": "mine"}

        formatter.for_type(Observation, mine)
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_line_magic("unload_ext", "toolbench")
        assert formatter.for_type(Observation) is mine

    def test_keeps_magics_of_the_user(self, shell):
        """A magic of the user's own that ours covered comes back when we go."""

        def tools(line):
            return "mine"

        shell.register_magic_function(tools, "line", "tools")
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_line_magic("unload_ext", "toolbench")
        assert shell.run_line_magic("tools", "") == "mine"
