"""%%tool_call: a model's message becomes panels, and the answers that go back."""

import json

import pytest
from IPython.core.error import UsageError
from test_widgets.tooling import finish, shown

from toolbench import register_tool
from toolbench.core.registry import default_registry
from toolbench.errors import BodyError
from toolbench.llm.calls import FunctionCallNotExistsError
from toolbench.llm.compose import as_call

GOOD = {"id": "c1", "function": {"name": "add", "arguments": '{"a": "2", "b": 3,}'}}
UNKNOWN = {"id": "c2", "function": {"name": "ad", "arguments": "{}"}}
WRONG = {"id": "c3", "function": {"name": "greet", "arguments": '{"style": "wild"}'}}
MESSAGE = json.dumps(
    {
        "role": "assistant",
        "content": "I add.",
        "tool_calls": [{"type": "function", **c} for c in (GOOD, UNKNOWN, WRONG)],
    }
)


def cell(shell, body, head=""):
    return shell.run_cell_magic("tool_call", head, body)


def text(view):
    return view._repr_mimebundle_()["text/plain"]


def markup(view):
    return view._repr_mimebundle_()["text/html"]


class TestCalls:
    def test_are_filled_panels(self, shell):
        """Each call whose tool there is becomes its panel, with the values set."""
        view = cell(shell, MESSAGE)
        assert [panel.tool.name for panel in view.panels] == ["add", "greet"]
        assert view.panels[0].form.value == {"a": 2, "b": 3}
        assert view.panels[1].form.value == {"style": "wild"}
        assert {path for path, _ in view.panels[1].form.errors} == {
            ("name",),
            ("style",),
        }

    @pytest.mark.parametrize("view_of", [text, markup])
    def test_say_in_words_what_was_repaired_and_what_is_wrong(self, shell, view_of):
        """Text and static HTML say what the widgets say."""
        page = view_of(cell(shell, MESSAGE))
        for part in (
            "Call 1 of 3: add",
            "I add.",
            "Repaired: a:",
            "was read as a number",
            "Ready to run.",
            "Call 2 of 3: ad",
            "Did you mean",
            "name: is required",
            "What goes back to the model",
            "tool_call_id",
        ):
            assert part in page

    def test_are_answered_after_their_run(self, shell):
        """Once a call ran, the answer to its model stands there; before, that there is none."""
        view = cell(shell, MESSAGE)
        panel = view.panels[0]
        assert "Nothing, until" in shown(panel)
        panel.run()
        finish(panel)
        assert "c1" in shown(panel)
        assert "Nothing, until" not in shown(panel)
        assert '"content": "5"' in text(view)

    @pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mcp"])
    def test_show_the_text_of_the_answer_without_a_click(self, shell, provider):
        """No level above the text that the model reads is folded."""
        tool = shell.user_ns["add"]
        payload = as_call(tool, {"a": 20, "b": 22}, provider, id="c1")
        view = cell(shell, json.dumps(payload), f"-p {provider}")
        view.panels[0].run()
        finish(view.panels[0])
        answer = markup(view).partition("What goes back to the model")[2]
        assert "42" in answer and "<details" in answer
        assert "<details>" not in answer

    def test_can_be_mended_and_run(self, shell):
        """A call that did not fit is put right in its form; then its model gets the result."""
        panel = cell(shell, MESSAGE).panels[1]
        assert "is required" in shown(panel)
        panel.form.value = {"name": "Ada"}
        panel.run()
        finish(panel)
        assert "Hello Ada" in shown(panel)

    def test_are_kept(self, shell):
        """-o VAR keeps the calls as Python objects."""
        cell(shell, MESSAGE, "-o calls")
        calls = shell.user_ns["calls"]
        assert [call.name for call in calls] == ["add", "ad", "greet"]
        assert isinstance(calls[1].error, FunctionCallNotExistsError)

    def test_come_from_an_object_of_the_notebook(self, shell):
        """${name} alone is an SDK's object, or a dict, of that name."""
        shell.user_ns["response"] = json.loads(MESSAGE)
        assert len(cell(shell, "${response}").calls) == 3

    def test_stand_in_a_text(self, shell):
        """JSON in a fence, with words around it, is found."""
        message = f"The model said:\n```json\n{MESSAGE}\n```\n"
        assert len(cell(shell, message).calls) == 3

    @pytest.mark.parametrize(
        ("provider", "key"),
        [
            ("openai", "tool_call_id"),
            ("anthropic", "tool_use_id"),
            ("gemini", "functionResponse"),
        ],
    )
    def test_of_a_named_provider(self, shell, provider, key):
        """-p says whose message it is where the shape leaves it open."""
        bare = '{"name": "add", "arguments": {"b": 1}}'
        assert key in text(cell(shell, bare, f"-p {provider}"))

    def test_hide_secrets(self, shell):
        """A secret argument is in no output."""
        shell.run_cell(
            "@tool\ndef login(password: str) -> str:\n    'Log in.'\n    return 'in'"
        ).raise_error()
        view = cell(shell, '{"name": "login", "arguments": {"password": "hunter2"}}')
        assert "hunter2" not in text(view) + markup(view)

    def test_are_inert(self, shell):
        """What a model wrote is text, wherever it is shown."""
        bad = "<img src=x onerror=alert(1)>"
        call = {"id": bad, "function": {"name": bad, "arguments": bad}}
        message = {"role": "assistant", "content": bad, "tool_calls": [call]}
        view = cell(shell, json.dumps(message))
        assert "<img" not in markup(view)
        assert "<img" not in shown(view)

    def test_may_be_none(self, shell):
        """A message without a call is said to be one."""
        message = text(cell(shell, '{"role": "assistant", "content": "Hello."}'))
        assert "This message has no tool call" in message

    def test_close(self, shell):
        """Closing the view closes its panels, and closing twice does no harm."""
        view = cell(shell, MESSAGE)
        view.close()
        view.close()
        assert all(panel.comm is None for panel in view.panels)


class TestTools:
    def test_that_cannot_be_made_are_left_out(self, shell):
        """A registered tool whose create() fails is named in a warning, and hides no other."""

        def broken(conv_state=None):
            msg = "no disk"
            raise OSError(msg)

        register_tool("broken", broken)
        try:
            with pytest.warns(UserWarning, match="broken is left out: OSError: no d"):
                view = cell(shell, MESSAGE)
            assert len(view.panels) == 2
        finally:
            default_registry.unregister("broken")


class TestMistakes:
    """Each is one sentence that says what to do."""

    @pytest.mark.parametrize(
        ("head", "body", "kind", "message"),
        [
            ("", "hello", BodyError, "The message is not JSON"),
            ("", "[1, 2]", BodyError, "No tool call can be read"),
            ("", "${nope}", BodyError, "There is no variable 'nope'"),
            ("-p xml", MESSAGE, UsageError, "invalid choice: 'xml'"),
            ("-o for", MESSAGE, UsageError, "'for' cannot be the name"),
        ],
    )
    def test_in_the_cell(self, shell, head, body, kind, message):
        with pytest.raises(kind) as caught:
            cell(shell, body, head)
        assert message in str(caught.value)
