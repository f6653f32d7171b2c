"""A result beside other arguments than those it came of: the panel says so."""

import pytest
from ipywidgets import Dropdown

from test_widgets.front import click, named, receive
from test_widgets.tooling import buttons, finish, shown, tabs
from toolbench import run_tool, tool
from toolbench.widgets.panel.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_open_panels")
CHANGED = "the arguments have changed since"


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def ended(**arguments: int) -> ToolPanel:
    """A panel whose run of *arguments* is over."""
    panel = ToolPanel(add, arguments)
    panel.run()
    finish(panel)
    assert CHANGED not in shown(panel)
    return panel


def test_arguments_of_an_earlier_run_stand_over_the_result_of_another():
    """History puts them into the form; a run of them, or the old ones, ends the remark."""
    run_tool(add, a=5, b=6)
    panel = ended(a=1)
    tabs(panel).selected_index = 4
    receive(named(panel, "Run", Dropdown), index=1)
    click(buttons(panel)["Load"])
    assert panel.form.value == {"a": 5, "b": 6}
    assert CHANGED in shown(panel)
    panel.put_back({"a": 1})
    assert CHANGED not in shown(panel)
    panel.put_back({"a": 5, "b": 6})
    panel.run()
    finish(panel)
    assert CHANGED not in shown(panel)


def test_arguments_of_a_message_stand_over_the_result_of_another():
    """As *Edit and send* of the traffic puts them into the form."""
    panel = ended(a=1)
    panel.edit({"a": 2})
    assert CHANGED in shown(panel)


def test_typed_arguments_stand_over_the_result_of_others(wire):
    """The first key that makes a difference says so, and no other key sends it again."""
    panel = ended(a=1)
    box = named(panel.form.widget, "a")
    before = len(wire.updates())
    for text in ("12", "123", "1234"):
        receive(box, value=text)
    assert CHANGED in shown(panel)
    remarks = [state for _, state in wire.updates()[before:] if CHANGED in repr(state)]
    assert len(remarks) == 1
    receive(box, value="1")
    assert CHANGED not in shown(panel)


def test_a_form_without_a_result_has_nothing_to_say():
    """Nothing ran, so nothing is of other arguments."""
    panel = ToolPanel(add, {"a": 1})
    panel.put_back({"a": 2})
    assert CHANGED not in shown(panel)


def test_an_edit_during_a_run_is_told_when_it_is_over():
    """While it goes on there is no result to mistake."""
    markups: list[str] = []

    @tool
    def change(word: str) -> str:
        """Change the form, and look at it."""
        panel.form.value = {"word": "b"}
        markups.append(shown(panel))
        return word

    panel = ToolPanel(change, {"word": "a"})
    panel.run()
    finish(panel)
    assert CHANGED not in markups[0]
    assert CHANGED in shown(panel)
