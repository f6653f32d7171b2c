"""A tool class is the last value of a cell, or is called like a tool: its tool still has to be made."""

from abc import ABC

import pytest
from shells import new_shell

from toolbench import Action, Observation, ToolDefinition


class PingTool(ToolDefinition[Action, Observation]):
    """A tool of a class."""

    @classmethod
    def create(cls, conv_state=None, **params):
        executor = lambda action: Observation.from_text("pong")  # noqa: E731
        return [cls(description="Answer.", action_type=Action, executor=executor)]


ADVICE = "PingTool is a class, not a tool: `[ping] = PingTool.create()` makes its tool."


@pytest.fixture
def text_of():
    """Returns the text that a cell shows of its last value."""
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        yield lambda value: shell.display_formatter.format(value)[0]["text/plain"]
        shell.run_line_magic("unload_ext", "toolbench")


def test_the_view_of_the_class_has_the_line(text_of):
    name = f"{PingTool.__module__}.PingTool"
    assert text_of(PingTool) == f"{name}\n{ADVICE}"
    assert text_of([PingTool]) == f"[{name}]"


def test_other_classes_look_as_ever(text_of):
    """Also those of the same metaclass."""

    class Plain(ABC):  # noqa: B024 - its metaclass counts
        pass

    assert text_of(Plain).endswith("<locals>.Plain")
    assert text_of(Action) == "toolbench.core.schema.Action"
    assert text_of(int) == "int"


def test_unloading_restores_the_printers():
    with new_shell() as shell:
        printers = shell.display_formatter.formatters["text/plain"].type_printers
        before = dict(printers)
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_line_magic("unload_ext", "toolbench")
        assert dict(printers) == before


def test_a_call_of_the_class_has_the_line():
    """`PingTool({})`, where `ping({})` was meant."""
    for arguments in ((), {}, Action()):
        with pytest.raises(TypeError) as error:
            PingTool(arguments)
        assert str(error.value) == ADVICE
    with pytest.raises(TypeError, match=r"`ToolDefinition\(description=..., action_"):
        ToolDefinition("ping")
    [ping] = PingTool.create()
    assert ping({}).text == "pong"
