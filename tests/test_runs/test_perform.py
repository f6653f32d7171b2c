import io
import sys
import threading
from asyncio import CancelledError
from pathlib import Path

import pytest
from patience import PATIENCE, eventually, join

import toolbench
from test_runs import tools
from toolbench import SecurityRisk, ToolDefinition, history, run_tool, tool
from toolbench.runs import plain_calls
from toolbench.runs.control import active
from toolbench.runs.perform import perform, start
from toolbench.runs.policy import policy
from toolbench.runs.questions import Preset, decline
from toolbench.runs.run import Run


class Odd(BaseException):
    """An error that cannot say what it is."""

    def __str__(self):
        return ""


class SpeechlessError(Exception):
    """An error that fails to say what it is."""

    def __str__(self):
        raise ValueError("no words")


def background(tool, arguments=None, **options):
    run = Run(tool, arguments or {}, source="button", **options)
    return run, start(run)


class TestPlainCalls:
    @pytest.fixture(autouse=True)
    def _recorded(self):
        plain_calls.record_calls()
        yield
        plain_calls.forget_calls()

    def test_are_recorded(self):
        """`tool(action)` is a run like any other once toolbench is loaded."""
        tools.add({"a": 2})
        assert (history()[-1].tool, history()[-1].source) == ("add", "python")

    def test_raise_what_the_tool_raises(self):
        """A plain call stays plain: the executor's own exception comes out."""
        with pytest.raises(ValueError, match="disk is full"):
            tools.fail({})
        assert history()[-1].state == "error"


class TestBackground:
    def test_ends_with_the_observation(self):
        """A background run ends as ok, with what the tool returned."""
        run, _ = background(tools.add, {"a": 1})
        assert run.done.wait(PATIENCE)
        assert (run.state, run.observation.result) == ("ok", 2)

    @pytest.mark.parametrize("error", [OSError("no view"), SystemExit(1)], ids=repr)
    def test_shows_what_fails_after_it(self, error):
        """What whoever started it does in its thread, when it is over, fails in its output."""

        def fails(run):
            assert run.done.is_set()
            raise error

        run = Run(tools.add, {"a": 1}, source="button")
        thread = start(run, then=fails)
        join(thread)
        assert (run.state, len(active)) == ("ok", 0)
        assert type(error).__name__ in run.output.text
        assert "raise error" in run.output.text


class TestTheEnd:
    def test_comes_even_if_the_screen_is_closed(self, monkeypatch):
        """The run is recorded, and nobody waits for it longer, even if its last output goes nowhere."""

        @tool
        def close(password: str) -> None:
            """Print the first half of the password, which is held back, and close the screen."""
            print(password[:6], end="")
            sys.stdout.close()

        monkeypatch.setattr(sys, "stdout", io.StringIO())
        run = Run(close, {"password": "sesame-4711"}, source="python")
        with pytest.raises(ValueError, match="closed file"):
            perform(run)
        assert run.done.is_set()
        assert history()[-1].tool == "close"


class TestWhateverIsRaised:
    """A tool may raise anything; a run always ends, and the model is told."""

    @pytest.mark.parametrize(
        "error",
        [
            SystemExit(3),
            GeneratorExit(),
            CancelledError(),
            KeyError("x"),
            Odd(),
            SpeechlessError(),
        ],
        ids=repr,
    )
    def test_becomes_an_observation(self, error):
        """Also what is no Exception: the page and the kernel go on."""

        def raising(action):
            raise error

        run, thread = background(tools.add.set_executor(raising), {"a": 1})
        join(thread)
        assert run.done.is_set()
        assert run.state == "error"
        assert run.observation.text.startswith(type(error).__name__)
        assert history()[-1].state == "error"

    def test_in_a_button_run_a_keyboard_interrupt_is_an_error_like_any_other(self):
        """Only the main thread is interrupted by a keyboard."""

        def raising(action):
            raise KeyboardInterrupt

        run, thread = background(tools.add.set_executor(raising), {"a": 1})
        join(thread)
        assert run.state == "error"

    def test_of_another_tool_is_not_blamed_on_the_arguments(self):
        """Only what is wrong with this tool's arguments lands on its form."""

        @tool
        def outer() -> str:
            """Call another tool wrongly."""
            return tools.add({"a": "many"})

        run, thread = background(outer)
        join(thread)
        assert run.problems == ()
        assert "many" in run.observation.text
        assert run.traceback

    def test_in_our_own_code_keeps_its_traceback(self):
        """What fails inside a runtime tool of ours is still shown with a traceback."""
        inside = str(Path(toolbench.__file__).parent / "tools" / "x.py")
        code = compile("def f(action):\n    1 / 0", inside, "exec")
        namespace = {}
        exec(code, namespace)
        run, thread = background(tools.add.set_executor(namespace["f"]), {"a": 1})
        join(thread)
        assert "ZeroDivisionError" in run.traceback
        assert "tools/x.py" in run.traceback


class TestConsent:
    @pytest.mark.parametrize(
        ("asker", "state", "text", "decision"),
        [
            (Preset([True]), "ok", "erased x", "agreed to: "),
            (Preset([False]), "denied", "erase was not run: the user declined", "declined: "),
            (
                decline,
                "denied",
                "erase was not run: nobody could be asked",
                "declined: nobody could be asked, and ",
            ),
        ],
        ids=["yes", "no", "nobody"],
    )
    def test_is_asked_for_before_something_is_destroyed(self, asker, state, text, decision):
        """A destructive tool runs only if somebody agreed; the record says what was decided."""
        run = Run(tools.erase, {"path": "x"}, source="button", asker=asker)
        observation = perform(run)
        assert run.state == state
        assert observation.text.startswith(text)
        why = "erase can delete or overwrite data"
        assert history()[-1].decision == f"{decision}{why}"

    def test_is_asked_for_the_call_and_not_for_the_name_alone(self):
        """The question shows the arguments, of long ones both ends, and hides secret ones."""
        questions = []
        arguments = {"user": "Ada" + 5_000 * "!", "password": "hunter22"}
        policy.ask("unlock")
        perform(Run(tools.unlock, arguments, source="button", asker=questions.append))
        (question,) = questions
        assert "user = text, 1 line, 5,003 characters:\n    | Ada!!" in question.message
        assert "password = " in question.message
        assert "hunter22" not in question.message
        assert len(question.message) < 5_000

    def test_is_not_asked_for_where_nothing_can_run(self):
        """Arguments that do not fit are said at once: a yes would change nothing."""
        run = Run(tools.erase, {"paht": "x"}, source="magic", asker=lambda q: 1 / 0)
        assert "paht" in perform(run).text
        assert run.state == "error"
        assert run.decision == ""

    def test_may_be_given_in_advance(self):
        """`--yes` asks nobody."""
        run = Run(tools.erase, {"path": "x"}, source="magic", asker=lambda q: 1 / 0)
        assert perform(run, confirm=False).text == "erased x"
        assert history()[-1].decision.startswith("agreed to in advance")

    def test_is_not_needed_from_python(self):
        """A plain call is the user's own code: it is never stopped."""
        policy.deny("erase")
        assert run_tool(tools.erase, path="x").text == "erased x"
        assert history()[-1].decision == ""

    @pytest.mark.parametrize("rating", ["HIGH", "high"])
    def test_is_asked_for_when_the_call_is_rated_high(self, rating):
        """A call its model rated HIGH asks, whatever the tool says of itself."""
        arguments = {"a": 1, "security_risk": rating}
        run = Run(tools.add, arguments, source="magic", asker=Preset([True]))
        assert perform(run).text == "2"
        assert history()[-1].decision == "agreed to: the call is rated HIGH"
        assert history()[-1].arguments == {"a": 1}

    def test_is_asked_for_when_the_rating_is_an_argument(self):
        """A tool that has an argument of that name keeps it."""

        @tool
        def risky(security_risk: str) -> str:
            """Say the risk."""
            return security_risk

        run = Run(risky, {"security_risk": "HIGH"}, source="magic", asker=Preset([True]))
        assert perform(run).text == "HIGH"
        assert "rated HIGH" in run.decision

    @pytest.mark.parametrize("risk", ["LOW", "MEDIUM", "UNKNOWN", "nonsense", 3, None])
    def test_is_not_asked_for_below_that(self, risk):
        """Other ratings run without a question."""
        run = Run(tools.add, {"a": 1, "security_risk": risk}, source="magic")
        assert perform(run).text == "2"

    @pytest.mark.parametrize(
        ("rule", "hint", "state"),
        [
            ("allow", "ask", "denied"),
            ("allow", "deny", "denied"),
            ("ask", "allow", "denied"),
            ("deny", "allow", "denied"),
            ("allow", "allow", "ok"),
        ],
    )
    def test_is_by_the_stricter_of_the_rating_and_the_hint(self, rule, hint, state):
        """A model that calls its own call harmless loosens nothing."""
        policy.by_risk[SecurityRisk.LOW] = rule
        policy.destructive = hint
        call = {"path": "x", "security_risk": "LOW"}
        run = Run(tools.erase, call, source="model")
        perform(run)
        assert run.state == state

    def test_is_not_asked_for_by_default_hints(self):
        """MCP's default for the hint is no declaration: nothing is asked."""
        run = Run(tools.add, {"a": 1}, source="button")
        perform(run)
        assert run.state == "ok"

    def test_follows_the_policy_of_the_session(self):
        """The tool's own entry counts before its risk and its hints."""
        policy.allow(tools.erase)
        assert perform(Run(tools.erase, {"path": "x"}, source="button")).text
        policy.deny("add")
        run = Run(tools.add, {"a": 1}, source="button", asker=lambda q: 1 / 0)
        text = perform(run, confirm=False).text
        assert text == "add was not run: denied, because the policy names add."
        policy.reset()
        policy.by_risk[SecurityRisk.MEDIUM] = "deny"
        rated = Run(tools.add, {"a": 1}, source="magic", risk=SecurityRisk.MEDIUM)
        assert perform(rated).is_error
        policy.ask(tools.add)
        run = Run(tools.add, {"a": 1}, source="magic", asker=Preset([True]))
        assert perform(run).text == "2"


class Theirs(ToolDefinition):
    """A tool of a server, named as one of ours is."""

    source = "mcp:theirs"


class TestConsentByName:
    @pytest.fixture
    def theirs(self):
        ours = tools.erase
        return Theirs(
            name=ours.name,
            action_type=ours.action_type,
            annotations=ours.annotations,
            executor=ours.executor,
        )

    def verdict(self, tool):
        return policy.verdict(Run(tool, {"path": "x"}, source="button"))[0]

    @pytest.mark.parametrize("definition", [tools.erase, "erase"], ids=["tool", "name"])
    def test_is_for_no_tool_of_another_source(self, theirs, definition):
        """Who trusts his own tool does not trust a server's that calls itself the same."""
        policy.allow(definition)
        assert (self.verdict(tools.erase), self.verdict(theirs)) == ("allow", "ask")
        policy.allow(theirs)
        assert self.verdict(theirs) == "allow"

    @pytest.mark.parametrize("definition", [tools.erase, "erase"], ids=["tool", "name"])
    def test_is_refused_to_all_of_the_name(self, theirs, definition):
        """A name that is denied is denied, unless the tool itself is named."""
        policy.deny(definition)
        assert (self.verdict(tools.erase), self.verdict(theirs)) == ("deny", "deny")
        policy.allow(theirs)
        assert (self.verdict(tools.erase), self.verdict(theirs)) == ("deny", "allow")

    def test_of_a_server_is_no_word_about_ours(self, theirs):
        """What is said of a server's tool holds for that one."""
        policy.deny(theirs)
        assert (self.verdict(tools.erase), self.verdict(theirs)) == ("ask", "deny")

    def test_the_last_word_counts(self):
        """However the tool was named."""
        policy.deny("erase")
        policy.allow(tools.erase)
        assert self.verdict(tools.erase) == "allow"
        policy.deny("erase")
        assert self.verdict(tools.erase) == "deny"


class TestLeavingNothingBehind:
    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists a process's open files")
    def test_many_runs(self):
        """300 runs one after another leave no thread and no open file."""
        join(background(tools.talk)[1])
        threads, files = threading.active_count(), _open_files()
        for n in range(300):
            _, thread = background(tools.add, {"a": n})
            join(thread)
        eventually(lambda: threading.active_count() <= threads and _open_files() <= files)
        assert len(active) == 0
        assert len(history()) == 301

    def test_fifty_runs_at_once(self):
        """All go on at the same time, and each ends with its own result."""
        together = threading.Barrier(50)

        @tool
        def meet(n: int) -> int:
            """Wait for the others."""
            together.wait(PATIENCE)
            print(n)
            return n

        started = [background(meet, {"n": n}) for n in range(50)]
        for n, (run, thread) in enumerate(started):
            join(thread)
            assert (run.state, run.observation.text) == ("ok", str(n))
            assert run.output.text == f"{n}\n"
        assert len(active) == 0


def _open_files():
    return len(list(Path("/proc/self/fd").iterdir()))
