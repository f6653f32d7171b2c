"""A refused or stopped run: neither a person nor a model reads it as a crash."""

from threading import Event

import pytest
from patience import PATIENCE, eventually
from test_widgets.conftest import wire  # noqa: F401 - panels talk to it
from test_widgets.front import click
from test_widgets.tooling import buttons, finish, shown

from test_runs.tools import Steps
from toolbench import Observation, ToolDefinition, history, tool
from toolbench.core.content import TextContent
from toolbench.core.schema import Action
from toolbench.display.observations import result_html
from toolbench.display.render import to_text
from toolbench.llm import parse_tool_calls, respond
from toolbench.mcp import MCPClient
from toolbench.runs.control import CANCELLED, INTERRUPTED, stop
from toolbench.runs.history import RunHistory
from toolbench.runs.perform import perform, start
from toolbench.runs.policy import policy
from toolbench.runs.questions import answering
from toolbench.runs.run import Run
from toolbench.testing import FakeMCPServer
from toolbench.widgets.panel import ToolPanel
from toolbench.wording import CROSS

CRASH = "error occurred"


@tool(destructive=True)
def erase(path: str) -> str:
    """Erase a file."""
    return path


def read(observation):
    """What a model reads, and what a person sees."""
    blocks = "".join(block.text for block in observation.to_llm_content)
    return f"{blocks}\n{observation.visualize}"


def refused():
    run = Run(erase, {"path": "a"}, source="magic")
    with answering(False):
        perform(run)
    return run


def denied():
    policy.deny(erase)
    run = Run(erase, {"path": "a"}, source="magic")
    perform(run)
    return run


def cancelled():
    steps = Steps()
    run = Run(steps.tool, {}, source="button")
    run.control.request()
    start(run)
    assert run.done.wait(PATIENCE)
    return run


def performed(name, executor, source):
    """Perform a run of a tool of *executor*, which knows the run that it stops."""
    tool = ToolDefinition(name=name, action_type=Action, executor=executor)
    run = executor.run = Run(tool, {}, source=source)
    perform(run)
    return run


class FailsWhenStopped:
    """A tool that calls it an error that it was stopped, as a server's does."""

    def __call__(self, action):
        self.run.control.request()
        return Observation.from_text("half of it", is_error=True)


def stopped_by_an_error():
    return performed("half", FailsWhenStopped(), source="button")


def late():
    steps = Steps()
    run = Run(steps.tool, {}, source="button")
    start(run, timeout=0.05)
    assert run.done.wait(PATIENCE)
    return run


def run_of_a_server(interrupt):
    """The run of a server's tool that *interrupt* stops when the server has begun."""
    server, begun, over = FakeMCPServer("slow"), Event(), Event()

    @server.tool
    def wait() -> str:
        """Wait."""
        begun.set()
        assert over.wait(PATIENCE)
        return "too late"

    with MCPClient() as client:
        run = Run(client.connect("slow", server).tool("wait"), {}, source="button")
        start(run, confirm=False)
        assert begun.wait(PATIENCE)
        interrupt(run)
        assert run.done.wait(PATIENCE)
        over.set()
    return run


def interrupted_at_its_server():
    return run_of_a_server(lambda run: run.tool.executor.interrupt())


def cancelled_at_its_server():
    return run_of_a_server(stop)


class Germination(Observation):
    """A result whose class writes the text for a model itself."""

    percent: int

    @property
    def to_llm_content(self):
        return [TextContent(text=f"Sprouted: {self.percent} percent.")]

    @property
    def visualize(self):
        return f"|{'#' * self.percent}|"


class Germinates:
    """A tool that returns what it has when it is stopped."""

    def __call__(self, action):
        self.run.control.request(INTERRUPTED)
        return Germination(percent=10)


def stopped_with_a_result_of_its_own_class():
    return performed("germinate", Germinates(), source="model")


WAYS = [
    refused,
    denied,
    cancelled,
    stopped_by_an_error,
    late,
    interrupted_at_its_server,
    cancelled_at_its_server,
    stopped_with_a_result_of_its_own_class,
]


@pytest.mark.every_case
class TestNoCrash:
    @pytest.mark.parametrize("way", WAYS)
    def test_for_a_person_and_a_model(self, way):
        """The result says what happened, and nothing of an error."""
        run = way()
        text = read(run.observation)
        assert run.state in ("denied", "cancelled")
        assert CRASH not in text
        assert CROSS not in text
        why = run.control.why or CANCELLED
        words = (why.words, "not run", "stopped early")
        assert any(word in text for word in words)

    @pytest.mark.parametrize("way", WAYS)
    def test_in_the_record(self, way, tmp_path):
        """Nor in the record, shown, and read again from a file."""
        history().persist(tmp_path / "runs.jsonl")
        way()
        again = RunHistory()
        again.persist(tmp_path / "runs.jsonl")
        for record in (history()[-1], again[-1]):
            assert CRASH not in f"{record.to_html()}{record.to_text()}"
            assert CRASH not in read(record.observation)

    def test_with_a_result_that_writes_its_own_text(self):
        """The model reads that text and of the stop; a person sees the result's own view."""
        run = stopped_with_a_result_of_its_own_class()
        note = "[The user interrupted the run. The result above may be incomplete.]"
        text = "".join(block.text for block in run.observation.to_llm_content)
        assert text == run.observation.text == f"Sprouted: 10 percent.\n{note}"
        assert run.observation.partial.percent == 10
        assert "pre-wrap" in result_html(run.observation).partition(note)[0]
        view = to_text(run.observation.visualize)
        assert "|##########|" in view and note in view and "Sprouted" not in view
        assert (run.state, run.observation.is_error) == ("cancelled", False)
        assert Observation.from_dict(run.observation.to_dict()).text == text

    def test_in_a_panel(self):
        """A click that is answered with a no."""
        panel = ToolPanel(erase, {"path": "a"})
        click(buttons(panel)["Run"])
        eventually(lambda: "Don't run" in buttons(panel))
        click(buttons(panel)["Don't run"])
        finish(panel)
        assert "You declined; erase was not run." in shown(panel)
        assert CRASH not in shown(panel)
        assert panel.record.state == "denied"

    def test_in_the_answer_to_a_model(self):
        """The message that goes back says what happened; it is no result either."""
        function = {"name": "erase", "arguments": '{"path": "a"}'}
        sent = {"id": "1", "type": "function", "function": function}
        [call] = parse_tool_calls({"role": "assistant", "tool_calls": [sent]}, [erase])
        answer = str(respond(call, refused().observation))
        assert "a preset answer declined" in answer
        assert CRASH not in answer

    def test_what_failed_before_it_was_stopped_is_a_failure(self):
        """A tool that raises while nobody stopped it failed: that is said."""

        @tool
        def fail() -> str:
            """Fail."""
            raise ValueError("the disk is full")

        run = Run(fail, {}, source="button")
        perform(run)
        assert CRASH in read(run.observation)
