"""A panel without a browser: filled in, run, stopped, asked, made stale, closed."""

import re
import threading
from html import unescape
from typing import Annotated

import pytest
from ipywidgets import HTML, FloatProgress
from patience import PATIENCE, eventually, join
from payloads import each_payload
from pydantic import Field, SecretStr
from test_display.inert import problems
from test_runs import tools

from test_widgets.front import click, is_of, named, only, page, receive, walk
from test_widgets.tooling import buttons, finish, links, shown, tabs
from toolbench import (
    Action,
    Observation,
    SecurityRisk,
    ToolDefinition,
    current_run,
    history,
    run_tool,
    tool,
)
from toolbench.runs.policy import policy
from toolbench.runs.questions import answering
from toolbench.widgets.panel.panel import ToolPanel, open_panels
from toolbench.widgets.panel.tabs import TABS


@pytest.fixture(autouse=True)
def _clean():
    history().clear()
    policy.reset()
    yield
    policy.reset()
    for panel in list(open_panels):
        panel.close()
    history().clear()


@tool(title="Add up", read_only=True)
def add(a: int, b: Annotated[int, Field(ge=0)] = 1) -> int:
    """Add *two* numbers."""
    return a + b


def opened(panel, name):
    receive(tabs(panel), selected_index=TABS.index(name))
    return tabs(panel).children[TABS.index(name)]


class TestHead:
    def test_says_what_the_tool_is(self):
        """Title, name, source, hints in words, and the description as Markdown."""
        head = page(ToolPanel(add))
        for part in ("Add up", "add", "function", "read-only", "<em>two</em>"):
            assert part in head

    def test_does_not_call_an_executor_a_function(self):
        """A tool that was made without one is of its class."""
        made = ToolDefinition(
            name="count",
            description="Counts.",
            action_type=Action,
            executor=lambda action: Observation.from_text("3"),
        )
        head = page(ToolPanel(made))
        assert "ToolDefinition" in head
        assert "function" not in head

    def test_says_how_the_call_is_rated(self):
        """A call a model made and rated carries its rating."""
        assert "rated HIGH" in page(ToolPanel(add, risk=SecurityRisk.HIGH))

    def test_is_made_as_it_stays(self, wire):
        """Nothing is sent twice. A form made by hand with a button and a result opens 16."""
        ToolPanel(add, {"a": 2})
        assert wire.updates() == []
        assert wire.opened() <= 35


class TestRunning:
    def test_shows_the_call_and_the_result(self):
        """What is seen of the call, and a result that is the same for both readers, once."""
        panel = ToolPanel(add, {"a": 2})
        click(buttons(panel)["Run"])
        finish(panel)
        text = shown(panel)
        for part in ("The call", "AddAction", "The user and the model read the same"):
            assert part in text
        assert "What the model reads" not in text
        assert panel.result.result == 3

    def test_one_that_does_not_stop_lets_the_next_begin(self):
        """Run is enabled again when nobody waits for the run any more."""
        steps = tools.Steps()
        panel = ToolPanel(steps.tool)
        run = panel.run()
        eventually(lambda: buttons(panel)["Run"].disabled)
        run.give_up()
        eventually(lambda: not buttons(panel)["Run"].disabled)
        assert not run.done.is_set()
        panel.cancel()
        finish(panel)

    def test_can_be_cancelled_only_while_it_lasts(self):
        """Cancel is there as long as there is something to cancel."""
        steps = tools.Steps()
        panel = ToolPanel(steps.tool)
        assert "Cancel" not in buttons(panel)
        click(buttons(panel)["Run"])
        assert steps.begun.wait(PATIENCE)
        assert buttons(panel)["Run"].disabled
        assert panel.run() is None
        eventually(lambda: "1 of 2" in shown(panel))
        assert not is_of(only(panel, FloatProgress), "toolbench-hidden")
        click(buttons(panel)["Cancel"])
        finish(panel)
        assert "cancelled" in shown(panel)
        assert not buttons(panel)["Run"].disabled
        assert "Cancel" not in buttons(panel)

    def test_says_when_there_is_nothing_to_run(self):
        """A tool without an executor has a form, and a sentence."""
        panel = ToolPanel(add.set_executor(None), {"a": 1})
        assert buttons(panel)["Run"].disabled
        assert panel.run() is None
        assert "no executor" in shown(panel)

    def test_is_limited_in_time(self):
        """A panel's time limit is that of each run, unless the run has its own."""
        panel = ToolPanel(tools.Steps().tool, timeout=0.05)
        click(buttons(panel)["Run"])
        finish(panel)
        assert "timed out after 0.05 s" in shown(panel)
        panel = ToolPanel(tools.Steps().tool, timeout=PATIENCE)
        panel.run(timeout=0.04)
        finish(panel)
        assert "timed out after 0.04 s" in shown(panel)

    def test_shows_the_traceback_one_click_away(self):
        """The person can open it; the model never reads it."""
        panel = ToolPanel(tools.fail)
        panel.run()
        finish(panel)
        text = shown(panel)
        assert "<summary" in text
        assert "raise ValueError" in text
        assert "raise ValueError" not in panel.result.text

    def test_runs_what_the_buttons_thread_knows(self):
        """Clicks may come on any thread."""
        panel = ToolPanel(add, {"a": 1})
        thread = threading.Thread(target=click, args=(buttons(panel)["Run"],))
        thread.start()
        join(thread)
        finish(panel)
        assert panel.result.result == 2

    def test_one_after_the_other_are_each_finished(self):
        """A run that is started before the last one was drawn takes nothing from it."""
        panel = ToolPanel(add, {"a": 1})
        for n in range(5):
            panel.form.value = {"a": n}
            assert panel.run().done.wait(PATIENCE)
        finish(panel)
        assert [record.arguments["a"] for record in history()] == [0, 1, 2, 3, 4]
        assert panel.record is history()[-1]

    def test_shows_pictures_without_a_word_about_text(self):
        """A result that is an image has no text, and nobody misses it."""
        pixel = b"\x89PNG\r\n\x1a\n"
        panel = ToolPanel(tool(lambda: pixel, name="draw", description="Draw."))
        panel.run()
        finish(panel)
        assert "image" in shown(panel)
        assert "no text content" not in shown(panel)


class TestAsking:
    def test_before_something_is_destroyed(self):
        """Refused, it does not run, and says why; agreed to, it does."""
        panel = ToolPanel(tools.erase, {"path": "x"})
        click(buttons(panel)["Run"])
        eventually(lambda: "Don't run" in buttons(panel))
        question = shown(panel).partition("Pretend to erase a file.")[2]
        assert "can delete or overwrite data" in question
        # The workbench does, and says so by asking
        assert "asks" not in question
        # The whole question, however narrow
        assert "overwrite data.</strong>" in page(panel)
        assert buttons(panel)["Run erase"].button_style == "danger"
        click(buttons(panel)["Don't run"])
        finish(panel)
        assert panel.record.state == "denied"
        assert "Don't run" not in buttons(panel)
        panel = ToolPanel(tools.erase, {"path": "x"})
        click(buttons(panel)["Run"])
        eventually(lambda: "Run erase" in buttons(panel))
        click(buttons(panel)["Run erase"])
        finish(panel)
        assert panel.result.text == "erased x"

    def test_what_is_denied_runs_never(self):
        """A policy that denies asks nobody."""
        policy.deny(tools.erase)
        panel = ToolPanel(tools.erase, {"path": "x"})
        panel.run(confirm=False)
        finish(panel)
        assert "denied, because the policy names erase" in shown(panel)

    def test_because_of_the_rating(self):
        """A panel opened for a call rated HIGH asks."""
        panel = ToolPanel(add, {"a": 1}, risk=SecurityRisk.HIGH)
        click(buttons(panel)["Run"])
        eventually(lambda: "Don't run" in buttons(panel))
        assert "rated HIGH" in shown(panel)
        panel.cancel()
        finish(panel)
        assert panel.record.state == "cancelled"

    def test_is_answered_in_advance(self):
        """Preset answers are taken, and no form is shown."""
        panel = ToolPanel(tools.erase, {"path": "x"})
        with answering(True):
            panel.run()
            finish(panel)
        assert panel.result.text == "erased x"


class TestNews:
    def test_of_the_tool_are_one_click_away(self):
        """A tool defined again makes its panel stale; Reload keeps what was entered."""
        old = define("the old one")
        panel = ToolPanel(old, {"text": "typed"})
        new = define("the new one")
        panel.staleness.check()
        panel.staleness.check()
        assert shown(panel).count("The tool changed") == 1
        tools_then, forms_then = [], []
        panel.staleness.notice.observe(lambda _: tools_then.append(panel.tool), "children")
        panel.staleness.notice.observe(
            lambda _: forms_then.append(panel.form.widget in walk(panel)), "children"
        )
        click(buttons(panel)["Reload"])
        # The notice goes last: what is typed then is typed into the new form
        assert tools_then == [new]
        assert forms_then == [True]
        assert "The tool changed" not in shown(panel)
        assert panel.tool is new
        assert panel.form.value == {"text": "typed"}
        assert "the new one" in shown(panel)

    def test_leave_no_widget_behind(self, wire):
        """Reloading closes what the old form was made of."""
        panel = ToolPanel(define("0"), {"text": "typed"})
        for tab in TABS:
            opened(panel, tab)
        opened(panel, "Form")
        counts = []
        for n in range(3):
            define(str(n))
            panel.staleness.check()
            click(buttons(panel)["Reload"])
            eventually(lambda: not panel.staleness.notice.children)
            counts.append(len(wire.live))
        assert len(set(counts)) == 1


def define(description):
    """Define a tool again, as a re-run cell does."""
    namespace = {"__name__": "__main__", "tool": tool}
    code = f'@tool\ndef echo(text: str) -> str:\n    """{description}"""\n    return text'
    exec(code, namespace)
    return namespace["echo"]


def define_unlock(kind):
    """Define a tool with an argument of the type *kind*, as a re-run cell does."""
    namespace = {"__name__": "__main__", "tool": tool, "SecretStr": SecretStr}
    code = f'@tool\ndef unlock(user: str, code: {kind}) -> str:\n    """Unlock."""\n    return "ok"'
    exec(code, namespace)
    return namespace["unlock"]


class TestSecrets:
    def test_are_nowhere_on_the_page(self, wire):
        """A secret that is run, printed, returned and copied is never sent to the page."""

        @tool
        def unlock(user: str, password: SecretStr) -> str:
            """Say the secret out loud."""
            plain = password.get_secret_value()
            print(plain)
            current_run().progress(1, 1, plain)
            return f"{user} got in with {plain}"

        panel = ToolPanel(unlock, {"user": "ada", "password": "hunter2!"})
        panel.run()
        finish(panel)
        for tab in TABS:
            opened(panel, tab)
        assert "hunter2" not in wire.text()
        assert "hunter2" not in str(panel._repr_mimebundle_())
        assert panel.result.text.endswith("hunter2!")

    def test_of_an_earlier_run_are_put_back_from_memory(self, wire):
        """Each run of this panel has its own, also in the panel that takes its place."""
        panel = ToolPanel(define_unlock("SecretStr"))
        calls = [{"user": "ada", "code": "hunter2!"}, {"user": "bob", "code": "*sesame*"}]
        for call in calls:
            panel.form.value = call
            panel.run()
            finish(panel)
        again = ToolPanel(panel.tool)
        assert again.resume(panel)
        panel.close()
        view = opened(again, "History")
        numbers = {"bob": history()[-1].id, "ada": history()[-2].id}
        for call in calls:
            receive(named(view, "Run"), index=[*numbers].index(call["user"]))
            click(buttons(view)["Load"])
            eventually(lambda call=call: again.form.value == call)
        assert tabs(again).selected_index == 0
        assert "did not keep" not in page(again)
        said = wire.text() + str(again._repr_mimebundle_()) + str(history()[-1].to_dict())
        assert "hunter2!" not in said and "*sesame*" not in said

    @pytest.mark.parametrize("source", ["cell", "panel"])
    def test_that_cannot_be_put_back_are_named(self, source, wire):
        """Nobody kept those of a cell; a field that is no secret any more would show those of a panel."""
        panel = ToolPanel(define_unlock("SecretStr"))
        call = {"user": "ada", "code": "hunter2!"}
        if source == "cell":
            run_tool(panel.tool, call)
        else:
            panel.form.value = call
            panel.run()
            finish(panel)
            panel.show(define_unlock("str"))
        click(buttons(opened(panel, "History"))["Load"])
        eventually(lambda: panel.form.value == {"user": "ada"})
        sentence = f"Run {history()[-1].id} did not keep 'code'"
        eventually(lambda: sentence in unescape(shown(panel)))
        assert "hunter2!" not in wire.text()
        assert links(panel) == ["code"]
        panel.form.value = {**panel.form.value, "code": "typed again"}
        assert "did not keep" not in shown(panel)

    def test_in_a_field_that_shows_them_are_not_put_back(self, wire):
        """A setting in a plain text is a secret; the field has shown it, but does not again."""
        panel = ToolPanel(define_unlock("str"))
        panel.form.value = {"user": "ada", "code": "password=hunter2!"}
        panel.run()
        finish(panel)
        panel.form.value = {}
        before = len(wire.messages)
        click(buttons(opened(panel, "History"))["Load"])
        eventually(lambda: panel.form.value == {"user": "ada"})
        assert "did not keep 'code'" in unescape(shown(panel))
        assert "hunter2!" not in str(wire.messages[before:])


class TestWeight:
    def test_closing_leaves_nothing(self, wire):
        """A panel that ran, asked and showed every tab leaves no comm when it is closed."""
        before = set(wire.live)
        panel = ToolPanel(tools.talk)
        for tab in TABS:
            opened(panel, tab)
        panel.run()
        finish(panel)
        panel.close()
        assert wire.live == before

    @pytest.mark.slow
    def test_many_runs_leave_nothing_behind(self, wire):
        """No comm and no thread more after 300 runs than after the first."""
        panel = ToolPanel(tools.talk)
        panel.run()
        finish(panel)
        comms, threads = len(wire.live), threading.active_count()
        for _ in range(300):
            assert panel.run().done.wait(PATIENCE)
        finish(panel)
        eventually(lambda: threading.active_count() <= threads)
        assert len(wire.live) == comms

    @pytest.mark.slow
    def test_fifty_panels_run_at_once(self, wire):
        """Each shows its own result."""
        panels = [ToolPanel(add, {"a": n}) for n in range(50)]
        for panel in panels:
            click(buttons(panel)["Run"])
        for n, panel in enumerate(panels):
            finish(panel)
            assert panel.result.result == n + 1
            assert "<pre" in shown(panel)


class TestStatic:
    def test_shows_the_tool_with_no_kernel(self):
        """Beside the view: text and HTML that name the tool and what it takes."""
        data = ToolPanel(add)._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in data
        assert data["text/plain"].startswith("Add up (add, function)")
        assert "b (optional)" in data["text/html"]

    def test_shows_the_arguments_and_the_result(self):
        """A panel that is shown again shows what it holds, and its last run."""
        panel = ToolPanel(add, {"a": 2})
        panel.run()
        finish(panel)
        html = panel._repr_mimebundle_()["text/html"]
        assert "The user and the model read the same" in html
        assert ">2<" in html
        assert ">3<" in html


class TestHostileTools:
    @each_payload
    def test_can_put_nothing_on_the_page(self, payload):
        """Name, description, arguments, progress, logs, output, result, error: all inert."""

        @tool(title=payload.strip() or "x")
        def hostile(text: str = payload) -> Observation:
            """Be hostile."""
            run = current_run()
            run.progress(1, 2, payload)
            run.log(payload, payload)
            print(payload)
            if text:
                raise ValueError(payload)
            return Observation.from_text(payload)

        hostile = hostile.model_copy(update={"description": payload})
        for arguments in ({"text": payload}, {"text": ""}):
            panel = ToolPanel(hostile, arguments)
            panel.run()
            finish(panel)
            receive(tabs(panel), selected_index=TABS.index("Schema"))
            receive(tabs(panel), selected_index=TABS.index("History"))
            for part in _markup(panel):
                assert problems(part) == []
            panel.close()

    def test_cannot_stop_the_page(self):
        """A `visualize` that raises or never ends hurts its own panel only."""
        hang = threading.Event()

        class Odd(Observation):
            @property
            def visualize(self):
                assert hang.wait(PATIENCE)
                raise RuntimeError("no looks")

        @tool
        def odd() -> Observation:
            """Return something that cannot show itself."""
            return Odd.from_text("x")

        stuck, other = ToolPanel(odd), ToolPanel(add, {"a": 1})
        stuck.run()
        other.run()
        eventually(lambda: "The call" in shown(other))
        hang.set()
        finish(stuck)
        assert "visualize failed with RuntimeError: no looks" in shown(stuck)


# What the panel itself writes, and what no other text may contain.
OWN = {"pre": 'class="toolbench-out"', "span": 'role="status" aria-live="polite"'}


def _markup(panel):
    """The markup a panel made of what it was given, without its style sheets and forms."""
    form = set(walk(panel.form.widget))
    for part in walk(panel):
        if isinstance(part, HTML) and part not in form:
            markup = part.value.rpartition("</style>")[2]
            markup = re.sub(r' data-run="\d+"', "", markup)
            for tag, own_attributes in OWN.items():
                markup = markup.replace(f"<{tag} {own_attributes}>", f"<{tag}>")
            yield markup


def test_the_helpers_find_what_they_look_for():
    """A test that finds no button by mistake would pass for the wrong reason."""
    panel = ToolPanel(add)
    assert set(buttons(panel)) >= {"Run", "Copy call"}
    assert named(panel, "Run") is buttons(panel)["Run"]
