"""What a panel shows of its run while it goes on."""

import threading
from contextlib import nullcontext

import pytest
from ipywidgets import FloatProgress
from patience import PATIENCE, eventually
from test_mcp.peers import scripted
from test_runs import tools

from test_widgets.front import click, is_of, walk
from test_widgets.tooling import buttons, finish, shown
from toolbench import Observation, current_run, history, tool
from toolbench.core.coercion import ResultObservation
from toolbench.core.content import TextContent
from toolbench.display.escape import escape
from toolbench.display.page import badge
from toolbench.evals import sweep
from toolbench.mcp import MCPClient
from toolbench.runs.history import RunHistory
from toolbench.runs.perform import perform
from toolbench.runs.run import Run
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.result import RunReport
from toolbench.widgets.panel.snippets import as_pytest


class TestRun:
    def test_goes_on_when_its_tool_is_taken_anew(self):
        """Reloading leaves the run alone: it can still be cancelled, and no second one starts."""
        steps, states = tools.Steps(), []
        panel = ToolPanel(steps.tool, when_state=states.append)
        panel.run()
        eventually(lambda: states == ["running"])
        panel.staleness.reload()
        assert buttons(panel)["Run"].disabled
        click(buttons(panel)["Cancel"])
        finish(panel)
        assert panel.result.is_error or panel.result.text.startswith("stopped early")
        assert not buttons(panel)["Run"].disabled
        assert "Cancel" not in buttons(panel)
        # The list of a bench or an explorer marks it no more
        assert states[-1] == ""

    def test_can_be_followed_by_the_next_when_its_end_is_shown(self, wire):
        """Run is enabled before any word of the end: a key pressed while it is not is lost."""
        go_on = threading.Event()

        @tool
        def work() -> str:
            """Work until the test says so."""
            assert go_on.wait(PATIENCE)
            return "all of it is done"

        panel = ToolPanel(work)
        click(buttons(panel)["Run"])
        run = buttons(panel)["Run"]
        assert run.disabled
        wire.messages.clear()
        go_on.set()
        finish(panel)
        updates = wire.updates()
        enabled = updates.index((run.comm.comm_id, {"disabled": False}))
        before = str(updates[:enabled])
        assert "succeeded" in str(updates)
        assert "all of it is done" in str(updates)
        assert "succeeded" not in before
        assert "all of it is done" not in before
        # No empty place stands below the word
        assert "all of it is done" in str(updates).partition("succeeded")[0]

    def test_is_drawn_until_its_result_is_prepared(self):
        """A slow `visualize`: nothing can be cancelled any more, and no word says how the run ended."""
        is_drawing, go_on = threading.Event(), threading.Event()

        class Slow(Observation):
            @property
            def visualize(self):
                is_drawing.set()
                assert go_on.wait(PATIENCE)
                return "drawn"

        @tool
        def work() -> Observation:
            """Return what is drawn slowly."""
            return Slow.from_text("x")

        panel = ToolPanel(work)
        panel.run()
        assert is_drawing.wait(PATIENCE)
        panel.runs.refresh()
        panel.runs.report.compare({})
        assert buttons(panel)["Run"].disabled
        assert "Cancel" not in buttons(panel)
        assert "drawing…" in shown(panel)
        assert "succeeded" not in shown(panel)
        go_on.set()
        finish(panel)
        assert "succeeded" in shown(panel)
        assert not buttons(panel)["Run"].disabled


class TestARunThatDoesNotStop:
    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch):
        monkeypatch.setattr("toolbench.runs.control.GRACE", 0.02)
        history().clear()

    def test_is_told_of_and_frees_the_panel(self):
        """A call blocked in C: a sentence, then the next run; nothing of either is lost."""
        blocked = tools.Blocked()

        @tool
        def work(block: bool) -> str:
            """Block in C, or do not."""
            if block:
                blocked()
            return "done"

        panel = ToolPanel(work, {"block": True})
        first = panel.run()
        blocked.wait()
        assert "cannot be interrupted" not in shown(panel)
        click(buttons(panel)["Cancel"])
        eventually(lambda: not buttons(panel)["Run"].disabled)
        eventually(lambda: "cannot be interrupted" in shown(panel))
        text = shown(panel)
        assert "You can run the tool again" in text
        panel.form.value = {"block": False}
        panel.run()
        eventually(lambda: panel.result is not None and "done" in shown(panel))
        assert "cannot be interrupted" not in shown(panel)
        blocked.let_go()
        assert first.done.wait(PATIENCE)
        finish(panel)
        assert panel.result.result == "done"
        assert "done" in shown(panel)
        assert {r.id: r.state for r in history()}[first.id] == "cancelled"
        assert len(history()) == 2

    def test_takes_no_place_from_the_next(self):
        """What is prepared of it when it ends late does not hide the result of the next."""
        first, second = (Run(tools.add, {"a": n}, source="button") for n in (1, 2))
        report = RunReport(Parts(), nullcontext(), lambda widget: None)
        late, result = report.expect(first), report.expect(second)
        perform(second)
        result.prepare()
        perform(first)
        late.prepare()
        assert report.is_ready
        report.show(over=True)
        assert "AddAction" in shown(report.widget)

    def test_is_shown_when_it_ends_after_all(self):
        """Who waits sees the end of it."""
        begun, blocked = threading.Event(), threading.Lock()

        @tool
        def work() -> None:
            """Block in C."""
            begun.set()
            with blocked:
                pass

        panel = ToolPanel(work)
        with blocked:
            panel.run()
            assert begun.wait(PATIENCE)
            panel.cancel()
            eventually(lambda: "cannot be interrupted" in shown(panel))
            eventually(lambda: "stopping" in shown(panel))
        finish(panel)
        assert "cannot be interrupted" not in shown(panel)
        assert "cancelled" in shown(panel)


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
        assert seen_bars(value, total) == [share]

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
        assert seen_bars(value, total) == []

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
        assert not buttons(panel)["Run"].disabled


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


class _TextlessBlocks(Observation):
    @property
    def to_llm_content(self):
        return [TextContent.model_construct()]


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
        ("result", "sentence"),
        [
            (
                _NoBlocks.from_text("x"),
                "to_llm_content is not a list of content: NoneType",
            ),
            (_OddBlocks.from_text("x"), "This cannot be shown: RuntimeError: no text"),
            (_TextlessBlocks.from_text("x"), "cannot be shown: AttributeError"),
            (_Refusing.from_text("x"), "to_llm_content failed with _Speechless"),
            (
                ResultObservation(content=[], result=_OddTable()),
                "_Unprintable whose repr raises RuntimeError",
            ),
        ],
    )
    def test_that_cannot_be_shown_says_so(self, result, sentence):
        """Whatever a tool's own objects do, the panel says it and can run again."""

        @tool
        def odd() -> Observation:
            """Return something odd."""
            return result

        panel = ToolPanel(odd)
        panel.run()
        finish(panel)
        assert sentence in shown(panel)
        assert not buttons(panel)["Run"].disabled


def seen_bars(value, total):
    """How full each bar is that is seen in a panel whose tool says how far it is."""
    is_drawn, go_on = threading.Event(), threading.Event()

    @tool
    def work() -> str:
        """Work."""
        current_run().progress(value, total, "far")
        assert is_drawn.wait(PATIENCE)
        # Which a panel draws after the bar
        print("output")
        assert go_on.wait(PATIENCE)
        return "done"

    panel = ToolPanel(work)
    panel.run()
    eventually(lambda: "far" in shown(panel))
    is_drawn.set()
    eventually(lambda: "output" in shown(panel))
    bars = [part for part in walk(panel) if isinstance(part, FloatProgress)]
    shares = [bar.value for bar in bars if not is_of(bar, "toolbench-hidden")]
    go_on.set()
    finish(panel)
    return shares


PROMISE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
WRONG = {"n": "forty-two"}


@pytest.fixture
def run_of(tmp_path):
    """Runs a server's tool whose answer has a text, and the wrong content; returns its panel."""

    def run(text):
        hints = {"readOnlyHint": True}
        tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": PROMISE}
        content = [{"type": "text", "text": text}]
        script = {
            "tools/list": [{"result": {"tools": [{**tool, "annotations": hints}]}}],
            "tools/call": [{"result": {"content": content, "structuredContent": WRONG}}],
        }
        session = client.connect("s", scripted(tmp_path / "script", script))
        panel = ToolPanel(session.tool("t"))
        panel.run()
        finish(panel)
        return panel

    with MCPClient(timeout=PATIENCE) as client:
        yield run


@pytest.mark.usefixtures("no_records", "no_open_panels")
class TestResultThatBreaksItsPromise:
    @pytest.mark.parametrize("text", ['{"n": "forty-two"}', '{"m": 1}', "no JSON"])
    def test_is_amber_and_says_why(self, run_of, tmp_path, text):
        """Whatever its text is: in the panel, in the history and in the file of the history."""
        history().persist(tmp_path / "runs.jsonl")
        panel = run_of(text)
        again = RunHistory()
        again.persist(tmp_path / "runs.jsonl")
        words, reason = "succeeded, not as declared", "output schema: n: should be an integer"
        assert badge(words, "warning") in shown(panel)
        for view in (shown(panel), history()[-1].to_html(), again[-1].to_html()):
            assert escape(reason) in view
            assert words in view
        assert words in repr(history())
        assert words in repr(again)
        assert "expect = {}" in as_pytest(panel.tool, {})
        assert "'warnings': True" in as_pytest(panel.tool, {}, panel.runs.record)

    def test_is_said_of_a_sweep(self, run_of, tmp_path):
        """Of a saved one too."""
        tool = run_of('{"n": "forty-two"}').tool
        for _ in range(2):
            report = sweep(tool, {}, save=tmp_path / "sweep.jsonl")
            # Before it stands that the row is from the file
            notice = report.notices[-1]
            assert notice.startswith("1 call succeeded, but not as the tool declares: ")
            assert "n: should be an integer" in notice
            assert escape(notice) in report.to_html()

    @pytest.mark.parametrize(
        ("text", "is_shown"), [('{"n": "forty-two"}', False), ('{"m": 1}', True), ("x", True)]
    )
    def test_shows_the_data_that_its_text_does_not_have(self, run_of, text, is_shown):
        """A program reads the structured content, a model the text: a person sees both."""
        panel = run_of(text)
        for view in (shown(panel), history()[-1].to_text()):
            assert ("Structured content, which differs from the text" in view) == is_shown
            assert "forty-two" in view
