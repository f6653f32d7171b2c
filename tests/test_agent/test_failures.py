import pytest

from test_agent.checks import check_answered, of
from test_agent.scripts import add, call, calls, fail, talk, wipe
from toolbench import (
    Conversation,
    SecurityRisk,
    ToolAnnotations,
    ToolDefinition,
    history,
    tool,
)
from toolbench.agent import (
    Agent,
    AgentErrorEvent,
    LLMSecurityAnalyzer,
    NoticeEvent,
    ObservationEvent,
    RuleSecurityAnalyzer,
    StopEvent,
    UserRejectObservation,
)
from toolbench.core.schema import Action
from toolbench.errors import ModelStoppedError
from toolbench.llm.models import ScriptedModel, as_model
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer


class UnspeakableError(Exception):
    """An error without words: whoever asks for them gets another error."""

    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [UnspeakableError("gone"), ModelStoppedError("gone")])
@pytest.mark.parametrize("work", ["ask", "step", "run"])
def test_a_request_that_fails_leaves_one_reason(work, error):
    """Whatever piece of work it was, and whatever the model raised."""
    c = talk([error, error, "Done."])
    for times in (1, 2):
        getattr(c, work)()
        assert [event.reason for event in of(c, StopEvent)] == ["error"] * times
        assert isinstance(c.events[-1], StopEvent)
    assert c.run() == "answered"


class TestSecurityAnalyzer:
    def test_by_rules_feeds_the_policy(self):
        """A call rated HIGH is asked about; others are not."""
        analyzer = RuleSecurityAnalyzer(patterns={r'"a": 7': SecurityRisk.HIGH})
        c = talk(
            [calls(call("add", {"a": 1}), call("add", {"a": 7}, id="c2"))],
            security_analyzer=analyzer,
        )
        c.step()
        assert len(of(c, ObservationEvent)) == len(of(c, UserRejectObservation)) == 1
        assert "rated HIGH" in of(c, UserRejectObservation)[0].reason

    def test_by_another_model(self):
        """The worst of the words counts; an answer without one counts as HIGH."""
        rater = ScriptedModel(["LOW", "It is HIGH.", "banana", "UNKNOWN"])
        message = calls(*(call("add", {"a": n}, id=f"c{n}") for n in range(4)))
        c = talk([message], security_analyzer=LLMSecurityAnalyzer(rater))
        c.step()
        refused = [e.tool_call_id for e in of(c, UserRejectObservation)]
        assert refused == ["c1", "c2"]
        [notice] = of(c, NoticeEvent)
        assert "counts as HIGH" in notice.text and "banana" in notice.text

    def test_of_ones_own_that_asks_a_model_sends_it_no_secret(self):
        """What rates sees marks in the place of the conversation's secrets."""
        rater = ScriptedModel(["LOW"])
        by_model = LLMSecurityAnalyzer(rater)

        class Composed:
            def security_risk(self, event):
                return by_model.security_risk(event)

        agent = Agent(
            ScriptedModel([calls(call("wipe", {"path": "/x"}))]),
            [wipe],
            security_analyzer=Composed(),
        )
        c = Conversation(agent=agent, secrets={"TOKEN": "s3cret-of-the-house"})
        c.send_message("Do it.")
        c.ask()
        c.edit_pending(None, {"path": "s3cret-of-the-house"})
        c.run_pending()
        [(messages, _)] = rater.requests
        assert "s3cret-of-the-house" not in str(messages)
        assert "wipe" in str(messages)

    def test_by_the_agent_itself(self):
        """Its model is asked for a rating with each call that may change something."""

        @tool
        def save(text: str) -> str:
            """Save a text."""
            return "saved"

        script = [calls(call("save", {"text": "x", "security_risk": "HIGH"}))]
        c = talk(script, [save], security_analyzer=LLMSecurityAnalyzer())
        c.step()
        [offered] = c.agent.llm.requests[0][1]
        assert "security_risk" in offered["function"]["parameters"]["properties"]
        assert of(c, UserRejectObservation)

    def test_that_fails_counts_as_high(self):
        """What cannot be rated is asked about."""
        analyzer = LLMSecurityAnalyzer(ScriptedModel([]))
        c = talk([calls(call("add", {"a": 1}))], security_analyzer=analyzer)
        c.step()
        assert of(c, UserRejectObservation)
        assert "could not be rated" in of(c, NoticeEvent)[0].text


class Flaky:
    """A tool that fails so often, and then works."""

    def __init__(self, failures, error):
        self.left, self.error = failures, error

    def __call__(self, action):
        self.left -= 1
        if self.left >= 0:
            raise self.error
        return "here"


NO_ROUTE = ConnectionError("no route")


def flaky(failures, error=NO_ROUTE, **hints):
    return ToolDefinition(
        name="flaky",
        description="Fetch it.",
        action_type=Action,
        annotations=ToolAnnotations(**{"readOnlyHint": True, **hints}),
        executor=Flaky(failures, error),
        meta={"backup": "spare"},
    )


@tool(read_only=True)
def spare() -> str:
    """Fetch it elsewhere."""
    return "elsewhere"


class TestRecovery:
    def outcome(self, tools, **options):
        c = talk([calls(call("flaky"))], tools, **options)
        object.__setattr__(c.agent.recovery, "pause", 0.001)
        c.step()
        check_answered(c)
        [answer] = of(c, ObservationEvent)
        return answer.observation.text, [e.text for e in of(c, NoticeEvent)]

    def test_is_off_unless_asked_for(self):
        """A failure is the model's to deal with."""
        text, notes = self.outcome([flaky(1), spare])
        assert "no route" in text and not notes

    def test_retries_what_may_pass(self):
        """Each retry is in the transcript, and in the history."""
        text, notes = self.outcome([flaky(2)], retry=2)
        assert text == "here" and "(network)" in notes[0]
        assert [note.split()[-2] for note in notes] == ["0.001", "0.002"]
        assert len(history()) == 3

    def test_retries_what_a_package_of_the_network_raises(self):
        """Whatever class it has, and whatever it was made into on the way."""

        class ConnectError(Exception):
            """As httpx has it."""

        def fetch(action):
            if not history():
                raise RuntimeError("no weather") from ConnectError("no route")
            return "here"

        tool = flaky(0).model_copy(update={"executor": fetch})
        text, notes = self.outcome([tool], retry=2)
        assert text == "here" and len(notes) == 1 and "(network)" in notes[0]

    @pytest.mark.parametrize(
        "tool",
        [
            flaky(1, ValueError("bad")),
            flaky(1, readOnlyHint=False, destructiveHint=False),
        ],
        ids=["not of this class", "not harmless"],
    )
    def test_retries_nothing_else(self, tool):
        """Another error stays the same; a tool that changes something may change it twice."""
        _, notes = self.outcome([tool], retry=3)
        assert not notes and len(history()) == 1

    def test_a_stop_in_the_pause_before_a_retry_ends_it(self):
        """The tool does not run once more after the person stopped it."""

        def stop(event):
            if isinstance(event, NoticeEvent):
                c.interrupt()

        agent = Agent(ScriptedModel([calls(call("flaky"))]), [flaky(3)], retry=3)
        c = Conversation(agent=agent, callbacks=[stop])
        c.send_message("Do it.")
        assert c.run() == "paused"
        assert len(history()) == 1
        check_answered(c)

    def test_degrades_to_the_backup_that_the_tool_names(self):
        """The call goes there with the same arguments."""
        text, notes = self.outcome([flaky(1), spare], degrade=True)
        assert text == "elsewhere" and "spare takes its place" in notes[0]

    def test_degrades_from_a_function_that_names_its_backup(self):
        """`@tool(meta={"backup": ...})`; both are in the transcript as a person reads it."""

        @tool(name="flaky", read_only=True, meta={"backup": "spare"})
        def fetch() -> str:
            """Fetch it."""
            raise NO_ROUTE

        text, notes = self.outcome([fetch, spare], degrade=True)
        assert text == "elsewhere"
        assert notes == ["flaky failed (network); spare takes its place."]

    def test_does_not_degrade_to_what_a_server_names(self):
        """Its `_meta` would choose a tool of the notebook, with the server's own arguments."""
        server = FakeMCPServer("there")

        @server.tool
        @tool(name="flaky", read_only=True, meta={"backup": "spare"})
        def fetch() -> str:
            """Fetch it."""
            raise NO_ROUTE

        with create_mcp_tools(server) as client:
            assert client["flaky"].meta["backup"] == "spare"
            text, notes = self.outcome([client["flaky"], spare], degrade=True)
        assert "no route" in text and not notes

    def test_asks_to_reflect_once(self):
        """The first failure of a tool comes with a request to think."""
        script = [
            calls(call("fail"), call("add", {"a": 1}, id="c1")),
            calls(call("fail"), call("add", {"a": "x"}, id="c2")),
        ]
        c = talk(script, [fail, add], reflect=True)
        c.step(), c.step()
        texts = [e.answer.text for e in of(c, (ObservationEvent, AgentErrorEvent))]
        assert [("Before you call" in text) for text in texts] == [True, False, True, False]
        assert len(of(c, NoticeEvent)) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"max_steps": "3"},
        {"max_steps": 2.5},
        {"retry": True},
        {"condenser": "x"},
        {"security_analyzer": print},
    ],
)
def test_options_of_the_wrong_kind_are_named_in_a_sentence(options):
    """At once, and not when they are used."""
    [name] = options
    with pytest.raises(TypeError, match=f"^{name} must be .*, not .*[.]$"):
        Agent(ScriptedModel([]), [], **options)


def test_a_model_in_the_place_of_an_agent_is_named():
    """What to give is said."""
    with pytest.raises(TypeError, match="ScriptedModel is not an agent: give Agent"):
        Conversation(agent=ScriptedModel([]))


def test_a_provider_that_is_none_is_named():
    """The known ones are listed."""
    with pytest.raises(ValueError, match=r"no provider 'nonsense'; use one of openai, "):
        as_model(lambda messages, tools: "x", provider="nonsense")
