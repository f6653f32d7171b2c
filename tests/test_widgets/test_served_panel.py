"""The panel of what is served: calls that wait, run and ended, and a person's hand in them."""

import json

import pytest
from patience import PATIENCE, eventually
from test_display.inert import problems
from test_serving.calling import Caller
from test_serving.clients import call

from test_widgets.front import click, named, page, receive, walk
from test_widgets.served_tools import (
    bake,
    begun,
    chatty,
    erase,
    go_on,
    look,
    slow,
    verbose,
    weigh,
)
from toolbench import Action, history, policy, tool
from toolbench.errors import ToolbenchError
from toolbench.serving import serve, served_view
from toolbench.widgets import served_panel
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.served_panel import ServedPanel


@pytest.fixture
def served(no_records):
    begun.clear()
    go_on.clear()
    with serve([look, erase, bake, weigh, slow, chatty, verbose], name="panel") as served:
        yield served
    go_on.set()


@pytest.fixture
def panel(served):
    panel = ServedPanel(served, Variables({}))
    yield panel
    panel.close()


def seen(panel, text):
    """Wait until the panel shows *text*; a failure says what it shows instead."""
    try:
        eventually(lambda: text in page(panel))
    except AssertionError:
        pytest.fail(f"{text!r} is not in {page(panel)!r}")


def inert_page(panel):
    """What the panel shows, without what is its own: it speaks to assistive technology."""
    ours = (' role="status" aria-live="polite"', ' class="toolbench-head"')
    text = page(panel)
    for each in ours:
        text = text.replace(each, "")
    return text


def button(panel, label):
    eventually(lambda: any(getattr(w, "description", None) == label for w in walk(panel)))
    return named(panel, label)


def with_buttons(panel):
    """How many calls have buttons."""
    labels = [getattr(w, "description", None) for w in walk(panel)]
    return labels.count("Answer by hand")


def press(panel, label):
    click(button(panel, label))


def type_text(panel, label, text):
    receive(button(panel, label), value=text)


class TestConsent:
    def test_is_given_here(self, served, panel):
        """The person reads the arguments, and lets the call run."""
        caller = Caller(served, "erase", {"what": "disk"})
        seen(panel, "what = &quot;disk&quot;")
        assert "1 call waits for you" in page(panel)
        press(panel, "Run erase")
        assert caller.result().content[0].text == "disk is gone"
        seen(panel, "succeeded: disk is gone")
        eventually(lambda: "waits for you" not in page(panel))

    def test_is_refused_here_with_a_reason(self, served, panel):
        """Which the agent is told."""
        caller = Caller(served, "erase", {"what": "disk"})
        press(panel, "Refuse")
        type_text(panel, "Why not", "it is mine")
        press(panel, "Refuse it")
        assert "the user declined: it is mine" in caller.result().content[0].text
        seen(panel, "declined: erase was not run")

    def test_without_an_answer_the_call_leaves_the_panel(self, no_records):
        """It was refused, and says so."""
        with serve([erase], name="alone", answer_within=0.3) as served:
            panel = ServedPanel(served, Variables({}))
            assert call(served, "erase", {"what": "x"}).is_error
            seen(panel, "no answer came within 0.3 seconds")
            eventually(lambda: with_buttons(panel) == 0)
            panel.close()

    def test_says_how_long_there_is(self, served, panel):
        """Until the call is refused."""
        caller = Caller(served, "erase", {"what": "disk"})
        seen(panel, "without an answer")
        served.calls[-1].refuse()
        caller.result()


class TestPause:
    def test_has_calls_wait_until_resumed(self, served, panel):
        """All of them."""
        press(panel, "Pause")
        callers = [Caller(served, "look", {"what": f"cat {n}"}) for n in range(2)]
        seen(panel, "2 calls wait for you")
        seen(panel, "calls are paused")
        press(panel, "Resume")
        texts = [caller.result().content[0].text for caller in callers]
        assert texts == ["cat 0 is there", "cat 1 is there"]
        seen(panel, ">serving<")

    def test_is_seen_if_it_came_from_a_cell(self, served, panel):
        """The button follows what is so."""
        served.pause()
        button(panel, "Resume")
        served.resume()
        button(panel, "Pause")


class TestByHand:
    def test_a_waiting_call_is_answered(self, served, panel):
        """The tool does not run, and the agent cannot tell."""
        press(panel, "Pause")
        caller = Caller(served, "look", {"what": "cat"})
        press(panel, "Answer by hand")
        type_text(panel, "Result in place of look", "the cat sleeps")
        press(panel, "Give this answer")
        assert caller.result().content[0].text == "the cat sleeps"
        seen(panel, "answered by hand: the cat sleeps")

    def test_with_all_that_the_tool_promises(self, served, panel):
        """Its structure is a form; what does not fit is not sent."""
        press(panel, "Pause")
        caller = Caller(served, "weigh", {"what": "cat"})
        press(panel, "Answer by hand")
        type_text(panel, "grams", "7")
        press(panel, "Give this answer")
        assert caller.result().structured_content["grams"] == 7

    def test_a_running_call_is_answered(self, served, panel):
        """It gets its buttons when it has run for a while, and is stopped."""
        caller = Caller(served, "slow")
        assert begun.wait(PATIENCE)
        press(panel, "Answer by hand")
        type_text(panel, "Result in place of slow", "early")
        press(panel, "Give this answer")
        assert caller.result().content[0].text == "early"
        assert go_on.wait(PATIENCE)

    def test_a_running_call_is_stopped(self, served, panel):
        """With a reason."""
        caller = Caller(served, "slow")
        assert begun.wait(PATIENCE)
        press(panel, "Stop")
        type_text(panel, "Why not", "enough")
        press(panel, "Stop it")
        assert "stopped by the user: enough" in str(caller.result().content)


class TestQuestion:
    def test_of_a_tool_is_a_form(self, served, panel):
        """As in the tool's own panel."""
        caller = Caller(served, "bake")
        type_text(panel, "size", "5")
        press(panel, "Accept")
        assert caller.result().content[0].text == "accept: 5"

    def test_is_passed_over_by_an_answer_by_hand(self, served, panel):
        """The tool is stopped; what it would have made of no answer does not count."""
        caller = Caller(served, "bake")
        press(panel, "Answer by hand")
        type_text(panel, "Result in place of bake", "a cake")
        press(panel, "Give this answer")
        assert caller.result().content[0].text == "a cake"
        eventually(lambda: [one.state for one in history()] == ["cancelled"])


class TestRunningCall:
    def test_shows_what_it_prints(self, served, panel):
        """The last lines, as text, while it runs; those of before are in the whole call."""
        caller = Caller(served, "verbose")
        seen(panel, "&lt;b&gt;line 19&lt;/b&gt;")
        assert "line 18" in page(panel)
        assert "line 2&lt;" not in page(panel)
        assert not problems(inert_page(panel))
        press(panel, "Stop")
        press(panel, "Stop it")
        assert caller.result().is_error


class TestLines:
    def test_hold_each_call_that_ended(self, served, panel):
        """Who, what, the result, how long; the fast ones get no buttons."""
        call(served, "look", {"what": "cat"})
        seen(panel, "look(what=&quot;cat&quot;)")
        seen(panel, "succeeded: cat is there")
        assert with_buttons(panel) == 0

    def test_open_into_the_whole_call(self, served, panel):
        """And on into the tool's panel, filled with it."""
        call(served, "look", {"what": "cat"})
        type_text(panel, "Open call", str(served.calls[-1].id))
        seen(panel, "no confirmation needed")
        press(panel, "Open in panel")
        assert button(panel, "what").value == "cat"
        press(panel, "Close panel")
        press(panel, "Close")
        assert "no confirmation needed" not in page(panel)

    def test_open_into_what_was_printed(self, served, panel):
        """It is for the person alone."""
        result = call(served, "chatty")
        assert "person" not in str(result.content)
        type_text(panel, "Open call", str(served.calls[-1].id))
        seen(panel, "What it printed")
        assert "&lt;b&gt;for the person" in page(panel)

    @pytest.mark.slow
    def test_are_not_many(self, served, monkeypatch, wire):
        """However many calls: the oldest go, and what was sent is not sent again."""
        monkeypatch.setattr("toolbench.widgets.kit.message_lines.PIECE", 2)
        monkeypatch.setattr("toolbench.widgets.served_panel._PIECES", 3)
        panel = ServedPanel(served, Variables({}))
        call(served, "look", {"what": "first"})
        seen(panel, "first is there")
        widgets = len(list(walk(panel)))
        for n in range(12):
            call(served, "look", {"what": f"cat {n}"})
            seen(panel, f"cat {n} is there")
        assert "first is there" not in page(panel)
        assert len(list(walk(panel))) <= widgets + 2
        assert "earlier calls not shown" in page(panel)
        panel.close()

    def test_large_calls_are_written_once(self, served, monkeypatch):
        """What is over is not read again when others come."""
        written = []
        brief = served_view.call_whole
        monkeypatch.setattr(
            served_view,
            "call_whole",
            lambda call, **options: written.append(call.id) or brief(call, **options),
        )
        for n in range(3):
            call(served, "look", {"what": "x" * 1_000_000})
            eventually(lambda n=n: served.calls[n].is_over)
            text = served._repr_mimebundle_()["text/html"]
        assert sorted(written) == sorted({one.id for one in served.calls})
        assert len(text) < 100_000

    def test_only_some_calls_have_buttons(self, served, monkeypatch):
        """Of many that wait at once."""
        monkeypatch.setattr(served_panel, "MOST", 2)
        panel = ServedPanel(served, Variables({}))
        served.pause()
        callers = [Caller(served, "look", {"what": str(n)}) for n in range(4)]
        seen(panel, "4 calls wait for you")
        seen(panel, "2 more calls wait or run")
        assert with_buttons(panel) == 2
        served.resume()
        assert not any(caller.result().is_error for caller in callers)
        panel.close()


class TestHostility:
    def test_text_of_agents_is_escaped(self, served, panel):
        """Arguments, results, the name of the client."""
        evil = "<img src=x onerror=alert(1)></div>"
        served.pause()
        caller = Caller(served, "look", {"what": evil}, name=evil)
        seen(panel, "1 call waits for you")
        assert problems(inert_page(panel)) == []
        served.resume()
        caller.result()
        seen(panel, "is there")
        type_text(panel, "Open call", str(served.calls[-1].id))
        assert problems(inert_page(panel)) == []
        assert problems(served._repr_mimebundle_()["text/html"]) == []

    def test_a_secret_is_in_nothing_that_was_sent(self, no_records, wire):
        """Nor in the static view."""

        class Login(Action):
            """Where to."""

            password: str

        @tool(read_only=True)
        def login(password: str) -> str:
            """Log in."""
            return f"as {password}"

        with serve([login], name="secrets") as served:
            panel = ServedPanel(served, Variables({}))
            served.pause()
            caller = Caller(served, "login", {"password": "hunter2hunter2"})
            seen(panel, "1 call waits for you")
            served.resume()
            caller.result()
            seen(panel, "succeeded")
            type_text(panel, "Open call", str(served.calls[-1].id))
            press(panel, "Open in panel")
            assert "hunter2hunter2" not in wire.text()
            assert "hunter2hunter2" not in json.dumps(served._repr_mimebundle_())
            assert served.token not in wire.text()
            panel.close()


class TestEnd:
    def test_stop_serving_ends_it(self, served, panel):
        """And the panel says so."""
        press(panel, "Stop serving")
        assert served.is_closed
        seen(panel, ">stopped<")
        eventually(lambda: button(panel, "Pause").disabled)

    def test_closing_the_panel_leaves_no_widget(self, served, wire):
        """What is served goes on; who listened does not."""
        before = set(wire.live)
        panel = ServedPanel(served, Variables({}))
        served.pause()
        caller = Caller(served, "look", {"what": "cat"})
        seen(panel, "1 call waits for you")
        panel.close()
        assert wire.live == before
        served.resume()
        assert not caller.result().is_error
        count = len(wire.messages)
        call(served, "look", {"what": "dog"})
        assert len(wire.messages) == count


class TestStill:
    def test_shows_the_calls(self, served):
        """As text in a terminal, as HTML in a saved notebook."""
        call(served, "look", {"what": "cat"})
        eventually(lambda: served.calls[-1].is_over)
        bundle = served._repr_mimebundle_()
        assert 'look(what="cat")' in bundle["text/plain"]
        assert "succeeded: cat is there" in bundle["text/plain"]
        assert "cat is there" in bundle["text/html"]
        assert "toolbench connect panel" in bundle["text/html"]

    def test_what_the_policy_denies_is_seen(self, served, panel):
        """The agent is refused without a person; the line says why."""
        policy.deny(look)
        assert call(served, "look", {"what": "cat"}).is_error
        seen(panel, "declined: look was not run")

    def test_an_answer_that_does_not_fit_is_refused(self, served):
        """In a cell too: the tool promises a structure."""
        served.pause()
        caller = Caller(served, "weigh", {"what": "cat"})
        eventually(lambda: served.calls and served.calls[-1].questions)
        with pytest.raises(ToolbenchError, match="weigh"):
            served.calls[-1].answer("heavy")
        served.calls[-1].answer({"grams": 3})
        assert caller.result().structured_content["grams"] == 3
