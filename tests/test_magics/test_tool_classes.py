"""A tool class in a cell, of which nothing was made yet: the line that makes its tool is said."""

import re

import pytest

from toolbench.errors import ToolNotFoundError

CLASS = """
from toolbench import Action, Observation, ToolDefinition, ToolExecutor
class Pong(ToolExecutor):
    def __call__(self, action, conversation=None):
        return Observation.from_text("pong")
class PingTool(ToolDefinition):
    @classmethod
    def create(cls, {parameters}):
        return [cls(description="Answer.", action_type=Action, executor=Pong())]
"""
BARE = "from toolbench import ToolDefinition\nclass BareTool(ToolDefinition): pass"


@pytest.fixture
def define(shell):
    """Runs the cell of the class, whose `create` has these parameters."""
    return lambda parameters: shell.run_cell(CLASS.format(parameters=parameters)).raise_error()


def code_in(sentence):
    [code] = re.findall("`([^`]*)`", str(sentence))
    return code


@pytest.mark.parametrize(
    "parameters",
    [
        "conv_state=None, **params",
        "conv_state",
        "state, *more, loud=False",
        "",
        "path='x'",
    ],
)
@pytest.mark.parametrize("name", ["ping", "PingTool"])
def test_the_line_makes_the_tool(shell, define, parameters, name):
    """By the name of the tool or of the class; after the line the tool is there."""
    define(parameters)
    with pytest.raises(ToolNotFoundError, match="PingTool is a class") as error:
        shell.run_line_magic("tool", name)
    shell.run_cell(code_in(error.value)).raise_error()
    assert shell.run_line_magic("tool", "ping {}").text == "pong"
    assert shell.run_line_magic("tools", "").notes == ()


def test_what_else_it_needs_is_left_to_fill_in(shell, define):
    """What only the person knows has a name and dots."""
    define("conv_state, path, *, limit, deep=False")
    with pytest.raises(ToolNotFoundError) as error:
        shell.run_line_magic("tool", "ping")
    assert code_in(error.value).endswith(
        "[ping] = PingTool.create(ConversationState(), path=..., limit=...)"
    )


def test_is_below_the_list(shell, define):
    """The list of tools says so too, where a tool of that name would be in it."""
    define("conv_state=None")
    [note] = shell.run_line_magic("tools", "").notes
    assert code_in(note) == "[ping] = PingTool.create()"
    assert len(shell.run_line_magic("tools", "ping").notes) == 1
    assert shell.run_line_magic("tools", "greet").notes == ()
    assert shell.run_line_magic("tools", "--source registry").notes == ()


def test_a_class_without_create_is_no_recipe(shell):
    """It may be the base of other classes: no list speaks of it, but its name is known."""
    shell.run_cell(BARE).raise_error()
    assert shell.run_line_magic("tools", "").notes == ()
    with pytest.raises(ToolNotFoundError, match=r"without create\(\): `BareTool\("):
        shell.run_line_magic("tool", "bare")


def test_classes_of_packages_are_none_of_the_notebook(shell):
    """A class that a cell only imports is not spoken of."""
    shell.run_cell("from toolbench.tools.glob import GlobTool").raise_error()
    assert shell.run_line_magic("tools", "").notes == ()
