"""A class in a cell was changed and run again: wherever its old tool is used, the next step is said."""

import re
import warnings

import pytest

from toolbench.errors import ExportError
from toolbench.export import export_package
from toolbench.widgets.panel.panel import ToolPanel

CLASSES = """
from toolbench import Action, Observation, ToolDefinition, ToolExecutor
class SowAction(Action):
    seed: str = "kale"
class Sower(ToolExecutor):
    def __call__(self, action, conversation=None):
        return Observation.from_text("{text}")
class SowTool(ToolDefinition[SowAction, Observation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        return [cls(description="Sow it.", action_type=SowAction, executor=Sower())]
"""
MAKE = "[sow] = SowTool.create()"
ADVICE = f"SowTool was defined again, and sow still uses the earlier one: run `{MAKE}` to use the new one."
INSTANCE = """
from toolbench import ToolDefinition
dig = ToolDefinition(name="dig", description="Dig.", action_type=SowAction, executor=Sower())
"""


@pytest.fixture
def run(shell):
    """Runs a cell."""
    return lambda cell: shell.run_cell(cell).raise_error()


@pytest.fixture
def changed(run):
    """Defines the classes, makes the tool, and defines the classes again."""
    run(CLASSES.format(text="old"))
    run(MAKE)
    run(CLASSES.format(text="new"))


EXECUTOR = """
class Sower(ToolExecutor):
    def __call__(self, action, conversation=None):
        return Observation.from_text("newest")
"""


def notices(panel):
    """Return what the panel says of its tool: texts, and the labels of buttons."""
    parts = panel.staleness.notice.children
    texts = [getattr(p, "value", None) or p.description for p in parts]
    return [re.sub("<[^>]*>", "", text) for text in texts]


class TestTheLine:
    def test_is_said_of_an_executor_in_a_cell_of_its_own(self, shell, run):
        """The class that people change most often; it is said until the tool is made again."""
        run(CLASSES.format(text="old"))
        run(MAKE)
        with_panel = ToolPanel(shell.user_ns["sow"])
        run(EXECUTOR)
        advice = f"Sower was defined again, and sow still uses the earlier one: run `{MAKE}` to use the new one."
        assert notices(with_panel) == [advice]
        run(MAKE)
        assert advice not in notices(with_panel)
        assert not shell.user_ns["sow"].is_stale

    def test_is_in_the_panel_when_the_cell_ends(self, shell, run):
        """An open panel learns of it; after the line it offers to reload the tool."""
        run(CLASSES.format(text="old"))
        run(MAKE)
        with_panel = ToolPanel(shell.user_ns["sow"])
        assert notices(with_panel) == []
        run(CLASSES.format(text="new"))
        assert notices(with_panel) == [ADVICE]
        run("1 + 1")
        assert notices(with_panel) == [ADVICE]
        run(MAKE)
        assert notices(with_panel)[-1] == "Reload"
        run(CLASSES.format(text="newest"))
        assert notices(with_panel) == [ADVICE]
        run(MAKE)
        with_panel.staleness.reload()
        assert notices(with_panel) == []
        assert with_panel.tool is shell.user_ns["sow"]

    def test_is_in_a_panel_that_is_opened_later(self, shell, changed):
        assert notices(ToolPanel(shell.user_ns["sow"])) == [ADVICE]

    def test_makes_the_tool_of_the_new_class(self, shell, changed, run):
        run(re.findall("`(.*)`", ADVICE)[0])
        assert shell.run_line_magic("tool", "sow {}").text == "new"

    @pytest.mark.parametrize(
        "line",
        [
            "tool sow {}",
            "tool sow seed=chard",
            "tools schema sow openai",
            "tool sow {} -o x",
            "tools sweep sow seed=chard --yes",
        ],
    )
    def test_is_printed_by_tool(self, shell, changed, run, capsys, line):
        name, _, line = line.partition(" ")
        shell.run_line_magic(name, line)
        assert capsys.readouterr().out == f"{ADVICE}\n"
        run(MAKE)
        shell.run_line_magic(name, line)
        assert capsys.readouterr().out == ""

    def test_is_printed_when_a_run_is_repeated(self, shell, changed, capsys):
        with pytest.warns(UserWarning, match="sow still uses the earlier one"):
            shell.user_ns["sow"]({})
        number = shell.run_line_magic("tools", "history 1")[0].id
        capsys.readouterr()
        shell.run_line_magic("tools", f"history --rerun {number}")
        assert capsys.readouterr().out == f"{ADVICE}\n"

    def test_is_below_the_list_of_tools(self, shell, changed, run):
        assert shell.run_line_magic("tools", "").notes == (ADVICE,)
        assert shell.run_line_magic("tools", "add").notes == ()
        run(MAKE)
        assert shell.run_line_magic("tools", "").notes == ()

    def test_is_why_no_package_is_written(self, shell, changed, tmp_path):
        """The source would be that of the new class, and the tests those of the old one."""
        with pytest.raises(ExportError) as error:
            export_package(shell.user_ns["sow"], tmp_path / "sow")
        assert str(error.value) == ADVICE
        assert not (tmp_path / "sow").exists()


def test_without_create_the_cell_of_the_tool_is_named(shell, run):
    """Of a tool made directly it is the cell that has to run again."""
    run(CLASSES.format(text="old"))
    run(INSTANCE)
    run(CLASSES.format(text="new"))
    [note] = shell.run_line_magic("tools", "dig").notes
    assert note == (
        "SowAction was defined again, and dig still uses the earlier one: "
        "run the cell that makes dig again to use the new one."
    )


CALLS = ("sow({})", "await sow.acall({})", "run_tool(sow)", "run_tools([(sow, {})])[0]")


class TestADirectCall:
    @pytest.mark.parametrize("call", CALLS)
    def test_warns_once(self, shell, changed, run, call):
        """The code of the earlier class runs: the line of the message ends that."""
        run("from toolbench import run_tool, run_tools")
        for number in range(2):
            with warnings.catch_warnings(record=True) as messages:
                warnings.simplefilter("always")
                run(f"text = ({call}).text")
            assert shell.user_ns["text"] == "old"
            texts = [str(message.message) for message in messages]
            assert texts == ([] if number else [ADVICE])
            assert all("ipython-input" in m.filename for m in messages)
        run(MAKE)
        # A warning would be an error here
        run(f"text = ({call}).text")
        assert shell.user_ns["text"] == "new"
        run(CLASSES.format(text="newest"))
        with pytest.warns(UserWarning, match="sow still uses the earlier one"):
            run(call)

    def test_of_an_instance_warns(self, shell, changed, run):
        """There is no line to run: the cell that makes it is named."""
        run(INSTANCE)
        run(EXECUTOR)
        with pytest.warns(UserWarning, match="run the cell that makes dig again"):
            run("dig({})")
