"""The tabs of a panel: what a model is given, the call as text, earlier runs."""

import json

import pytest
from pydantic import SecretStr

from test_widgets.front import click, pick, receive
from test_widgets.tooling import buttons, finish, shown, until
from toolbench import history, run_tool, tool
from toolbench.llm.calls import parse_tool_calls
from toolbench.widgets.formats import LABELS
from toolbench.widgets.panel import TABS, ToolPanel


@pytest.fixture(autouse=True)
def _clean():
    history().clear()
    yield
    history().clear()


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def opened(panel, name):
    receive(panel._tabs, selected_index=TABS.index(name))
    return panel._views[name]


class TestSchemaView:
    @pytest.mark.parametrize("label", LABELS.values())
    def test_shows_every_format(self, label):
        """MCP, OpenAI chat, Responses, Anthropic and Gemini, each with its cost."""
        view = opened(ToolPanel(add), "Schema")
        pick(view._format, label)
        assert "Add two numbers." in view._shown.value
        assert "tokens" in view._shown.value

    def test_says_what_had_to_change(self):
        """What a provider cannot take is named."""
        view = opened(ToolPanel(add), "Schema")
        pick(view._format, "OpenAI chat completions")
        assert "<li>not strict: arguments: not required: b</li>" in view._shown.value

    def test_of_a_tool_that_cannot_be_exported_is_a_sentence(self):
        """A tool that overrides how it is exported, and fails, does not break the panel."""
        broken = type("Broken", (type(add),), {"parameters": _fails})
        odd = broken(name="odd", description="", action_type=add.action_type)
        assert "This format failed" in opened(ToolPanel(odd), "Schema")._shown.value


def _fails(self, **_):
    raise RuntimeError("no schema today")


class TestCodeView:
    def test_follows_the_form(self):
        """Opened again, it shows what the form holds now."""
        panel = ToolPanel(add, {"a": 1})
        view = opened(panel, "Code")
        assert "{'a': 1}" in view._text.value
        receive(panel._tabs, selected_index=0)
        panel.form.value = {"a": 5}
        opened(panel, "Code")
        assert "{'a': 5}" in view._text.value

    def test_shows_each_kind(self):
        """Python, a cell, a test."""
        view = opened(ToolPanel(add, {"a": 1}), "Code")
        pick(view._kind, "%%tool cell")
        name, _, body = view._text.value.partition("\n")
        assert name == "%%tool add"
        assert json.loads(body) == {"a": 1}
        pick(view._kind, "pytest")
        assert "def test_add():" in view._text.value

    @pytest.mark.parametrize(("name", "label"), LABELS.items())
    def test_shows_what_a_model_would_send(self, name, label):
        """Each provider's parser reads it as the call the form describes."""
        view = opened(ToolPanel(add, {"a": 1}), "Code")
        pick(view._kind, f"{label} call")
        sent = json.loads(view._text.value)
        [call] = parse_tool_calls(sent, [add], provider=name)
        assert (call.name, call.arguments, call.error) == ("add", {"a": 1}, None)

    @pytest.mark.parametrize("label", LABELS.values())
    def test_hides_secrets_in_what_a_model_would_send(self, label):
        """A token that is typed is nowhere in the text."""

        @tool
        def enter(token: SecretStr) -> str:
            """Enter."""
            return "in"

        view = opened(ToolPanel(enter, {"token": "hunter2hunter2"}), "Code")
        pick(view._kind, f"{label} call")
        assert "enter" in view._text.value
        assert "hunter2" not in view._text.value


class TestHistoryView:
    def test_shows_the_newest_first(self):
        """Whoever ran the tool, here or in a cell."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5)
        panel.run()
        finish(panel)
        view = opened(panel, "History")
        assert [number for _, number in view._runs.options] == [
            history()[1].id,
            history()[0].id,
        ]
        assert "from button" in view._shown.value
        pick(view._runs, view._runs._options_labels[1])
        assert "from python" in view._shown.value
        assert "5" in view._shown.value

    def test_fills_the_form(self):
        """An earlier call can be taken up again."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5, b=6)
        view = opened(panel, "History")
        click(buttons(view.widget)["Put back in the form"])
        assert panel.form.value == {"a": 5, "b": 6}
        assert panel._tabs.selected_index == 0

    def test_fills_the_form_when_the_last_keys_are_here(self):
        """What was typed before the click, and arrives after it, does not come back."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5, b=6)
        view = opened(panel, "History")
        panel.form.value = {"a": 7}
        click(buttons(view.widget)["Put back in the form"])
        panel.form.value = {"a": 78}  # the end of what was typed
        until(lambda: panel.form.value == {"a": 5, "b": 6})

    def test_follows_runs_while_it_is_open(self):
        """A run that ends while the tab is open is in it."""
        panel = ToolPanel(add, {"a": 1})
        view = opened(panel, "History")
        assert "No runs yet" in view._shown.value
        assert buttons(view.widget)["Put back in the form"].disabled
        panel.run()
        finish(panel)
        assert len(view._runs.options) == 1
        assert "What the model reads" in shown(view.widget)

    def test_has_only_runs_of_its_tool(self):
        """Other tools have their own."""

        @tool
        def other() -> str:
            """Be another tool."""
            return "x"

        run_tool(other)
        assert opened(ToolPanel(add), "History")._runs.options == ()
