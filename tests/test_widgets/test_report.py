"""What a panel shows of its run while it goes on."""

import threading

import pytest
from test_runs import tools

from test_widgets.front import click
from test_widgets.tooling import finish, shown, until
from toolbench import Observation, current_run, tool
from toolbench.core.results import ResultObservation
from toolbench.widgets.panel import ToolPanel


class TestRun:
    def test_goes_on_when_its_tool_is_taken_anew(self):
        """Reloading leaves the run alone: it can still be cancelled, and no second one starts."""
        steps = tools.Steps()
        panel = ToolPanel(steps.tool)
        panel.run()
        assert steps.begun.wait(20)
        panel.reload()
        assert (panel._run_button.disabled, panel._cancel_button.disabled) == (
            True,
            False,
        )
        click(panel._cancel_button)
        finish(panel)
        assert panel.result.is_error or panel.result.text == "stopped early"
        assert (panel._run_button.disabled, panel._cancel_button.disabled) == (
            False,
            True,
        )


class TestProgress:
    @pytest.mark.parametrize(
        ("value", "total", "share"),
        [
            (1, 4, 0.25),
            (9, 4, 1.0),
            (-1, 4, 0.0),
            (1, -4, 0.0),
        ],
    )
    def test_is_a_bar_whatever_the_numbers(self, value, total, share):
        """A server may say anything; the bar stays between nothing and all."""
        assert seen_bar(value, total) == (share, True)

    @pytest.mark.parametrize(
        ("value", "total"),
        [
            (float("nan"), 4),
            (float("inf"), 4),
            (1, float("inf")),
            (float("inf"), float("inf")),
            (1, 0),
            (1, None),
        ],
    )
    def test_is_no_bar_where_nothing_can_be_told(self, value, total):
        """No JSON has a number for it."""
        assert seen_bar(value, total)[1] is False

    def test_of_no_number_is_the_fault_of_the_tool(self):
        """The run ends with an error, and the panel goes on."""

        @tool
        def odd() -> str:
            """Say something odd."""
            current_run().progress("much")
            return "done"

        panel = ToolPanel(odd)
        panel.run()
        finish(panel)
        assert "ValueError" in panel.result.text
        assert not panel._run_button.disabled


class _Speechless(Exception):  # noqa: N818 - it is none of ours
    def __str__(self):
        raise TypeError("no words")


class _Unprintable:
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class _NoBlocks(Observation):
    @property
    def to_llm_content(self):
        return None


class _OddBlocks(Observation):
    @property
    def to_llm_content(self):
        return [_Unprintable()]


class _Refusing(Observation):
    @property
    def to_llm_content(self):
        raise _Speechless


class _OddTable:
    """What looks like a DataFrame, with a cell that has no text."""

    columns = ("a",)
    shape = (1, 1)

    def itertuples(self, index=True, name=None):
        return [(0, _Unprintable())]


class TestResult:
    @pytest.mark.parametrize(
        ("result", "said"),
        [
            (
                _NoBlocks.from_text("x"),
                "to_llm_content is no list of content: NoneType",
            ),
            (_OddBlocks.from_text("x"), "This cannot be shown: RuntimeError: no text"),
            (_Refusing.from_text("x"), "The result cannot be shown: TypeError"),
            (
                ResultObservation(content=[], result=_OddTable()),
                "This cannot be shown: RuntimeError: no text",
            ),
        ],
    )
    def test_that_cannot_be_shown_says_so(self, result, said):
        """Whatever a tool's own objects do, the panel says it and can run again."""

        @tool
        def odd() -> Observation:
            """Return something odd."""
            return result

        panel = ToolPanel(odd)
        panel.run()
        finish(panel)
        assert said in shown(panel)
        assert not panel._run_button.disabled


def seen_bar(value, total):
    """The bar of a panel whose tool says how far it is: how full, and whether it is seen."""
    go_on = threading.Event()

    @tool
    def work() -> str:
        """Work."""
        current_run().progress(value, total)
        assert go_on.wait(20)
        return "done"

    panel = ToolPanel(work)
    panel.run()
    until(lambda: panel._run.progress_state.value != 0)
    panel._refresh()
    bar = panel._report._bar
    seen = (bar.value, "toolbench-hidden" not in bar._dom_classes)
    go_on.set()
    finish(panel)
    return seen
