"""The tabs of a panel: what a model is given, the call as text, earlier runs."""

import ast
import json
import threading
from dataclasses import replace
from datetime import date
from typing import Any

import pandas as pd
import pytest
from patience import eventually
from pydantic import SecretStr
from test_display.inert import problems, text_of
from test_runs.test_json_arguments import EVERY_KIND, tool_of

from test_widgets.front import click, deliver, named, page, pick, receive, walk
from test_widgets.tooling import (
    buttons,
    finish,
    shown,
    tabs,
    wait_for_ticker,
)
from toolbench import current_run, history, run_tool, tool
from toolbench.display.observations import BOTH
from toolbench.llm.calls import parse_tool_calls
from toolbench.llm.wire import titles
from toolbench.mcp import create_mcp_tools
from toolbench.runs.questions import answering
from toolbench.runs.run_rows import run_key
from toolbench.testing import FakeMCPServer
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.run_list import Runs
from toolbench.widgets.panel.tabs import TABS

pytestmark = pytest.mark.usefixtures("no_records")


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def opened(panel, name):
    receive(tabs(panel), selected_index=TABS.index(name))
    return tabs(panel).children[TABS.index(name)]


def table_of(view):
    """What the page's module draws of the runs."""
    return next(widget for widget in walk(view) if isinstance(widget, Runs))


def send(table, content):
    """Send *content* to *table*, as the page does."""
    deliver(table, {"method": "custom", "content": content})


class TestSchemaView:
    @pytest.mark.parametrize("label", titles())
    def test_shows_every_format(self, label):
        """MCP, OpenAI chat, Responses, Anthropic and Gemini, each with its cost."""
        view = opened(ToolPanel(add), "Schema")
        pick(named(view, "Format"), label)
        assert "Add two numbers." in shown(view)
        assert "tokens" in shown(view)
        # The page adds Copy and Save
        assert "data-toolbench-card" in shown(view)

    def test_says_what_had_to_change(self):
        """What a provider cannot take is named."""
        view = opened(ToolPanel(add), "Schema")
        pick(named(view, "Format"), "OpenAI chat completions")
        assert "<li>not strict: arguments: not required: b</li>" in shown(view)

    def test_of_a_tool_that_cannot_be_exported_is_a_sentence(self):
        """A tool that overrides how it is exported, and fails, does not break the panel."""
        broken = type("Broken", (type(add),), {"parameters": _fails})
        odd = broken(name="odd", description="", action_type=add.action_type)
        assert "This format failed" in shown(opened(ToolPanel(odd), "Schema"))


def _fails(self, **_):
    raise RuntimeError("no schema today")


class TestCodeView:
    def test_follows_the_form(self):
        """Opened again, it shows what the form holds now."""
        panel = ToolPanel(add, {"a": 1})
        view = opened(panel, "Code")
        assert "{'a': 1}" in named(view, "Code").value
        receive(tabs(panel), selected_index=0)
        panel.form.value = {"a": 5}
        opened(panel, "Code")
        assert "{'a': 5}" in named(view, "Code").value

    def test_says_that_a_call_is_not_complete(self):
        """A person who copies it knows before it fails; nothing is said of a call that fits."""
        panel = ToolPanel(add)
        view = opened(panel, "Code")
        assert "the tool refuses this call. Fix 1 field: a." in shown(view)
        receive(tabs(panel), selected_index=0)
        panel.form.value = {"a": 5}
        assert "refuses" not in shown(opened(panel, "Code"))

    def test_shows_each_kind(self):
        """Python, a cell, a test."""
        view = opened(ToolPanel(add, {"a": 1}), "Code")
        pick(named(view, "Copy as"), "%%tool cell")
        name, _, body = named(view, "Code").value.partition("\n")
        assert name == "%%tool add"
        assert json.loads(body) == {"a": 1}
        pick(named(view, "Copy as"), "pytest")
        assert "def test_add():" in named(view, "Code").value

    @pytest.mark.parametrize(("label", "name"), titles().items())
    def test_shows_what_a_model_would_send(self, name, label):
        """Each provider's parser reads it as the call the form describes."""
        view = opened(ToolPanel(add, {"a": 1}), "Code")
        pick(named(view, "Copy as"), f"{label} call")
        sent = json.loads(named(view, "Code").value)
        [call] = parse_tool_calls(sent, [add], provider=name)
        assert (call.name, call.arguments, call.error) == ("add", {"a": 1}, None)

    @pytest.mark.parametrize("label", titles())
    def test_hides_secrets_in_what_a_model_would_send(self, label):
        """A token that is typed is nowhere in the text."""

        @tool
        def enter(token: SecretStr) -> str:
            """Enter."""
            return "in"

        view = opened(ToolPanel(enter, {"token": "hunter2hunter2"}), "Code")
        pick(named(view, "Copy as"), f"{label} call")
        assert "enter" in named(view, "Code").value
        assert "hunter2" not in named(view, "Code").value


def _in_code(code):
    """Return the arguments in the one call of `run_tool` in *code*, Python."""
    calls = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Call)]
    [call] = [call for call in calls if ast.unparse(call.func) == "run_tool"]
    return ast.literal_eval(call.args[-1])


def _in_cell(text):
    """Return the arguments in *text*, JSON after the name of a tool."""
    return json.loads(text[text.index("{") :])


READERS = {"Python": _in_code, "%%tool cell": _in_cell, "pytest": _in_code}
"""The arguments in each kind of copy that runs."""


class TestHistoryView:
    def test_shows_the_newest_first(self):
        """Whoever ran the tool, here or in a cell."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5)
        panel.run()
        finish(panel)
        view = opened(panel, "History")
        assert [row[0] for row in table_of(view).rows] == [
            run_key(history()[1]),
            run_key(history()[0]),
        ]
        assert "· button" in shown(view)
        pick(named(view, "Run"), named(view, "Run").options[1][0])
        assert "· python" in shown(view)
        assert "5" in shown(view)

    def test_fills_the_form(self):
        """An earlier call can be taken up again."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5, b=6)
        view = opened(panel, "History")
        click(buttons(view)["Load"])
        assert panel.form.value == {"a": 5, "b": 6}
        assert tabs(panel).selected_index == 0

    def test_shows_what_was_asked_and_answered(self):
        """So does the saved panel; no is an answer, and so is nobody."""

        @tool
        def lend() -> str:
            """Lend a book."""
            for question in ("Lend <it>?", "Really?", "For good?"):
                current_run().ask(question)
            return "kept"

        panel = ToolPanel(lend)
        with answering(True, False):
            panel.run()
            finish(panel)
        for html in (
            shown(opened(panel, "History")),
            panel._repr_mimebundle_()["text/html"],
        ):
            text = text_of(html)
            assert "Lend <it>? → yes" in text
            assert "Really? → no" in text
            assert "For good? → declined: no preset answer was left" in text

    @EVERY_KIND
    def test_fills_the_form_with_what_a_call_sends(self, kind, value, form):
        """After a call with Python objects: the same JSON as of its action, and code that can be read."""
        take, _ = tool_of(kind)
        panel = ToolPanel(take)
        run_tool(take, value=value)
        click(buttons(opened(panel, "History"))["Load"])
        assert panel.form.value == {"value": form}
        assert not panel.form.errors and not panel.form.blocked
        assert json.loads(panel.form.json) == {"value": form}
        view = opened(panel, "Code")
        for label, in_text in READERS.items():
            pick(named(view, "Copy as"), label)
            assert in_text(named(view, "Code").value) == {"value": form}

    @EVERY_KIND
    def test_a_panel_opened_with_objects_has_what_a_call_sends(self, kind, value, form):
        """A field can show and change it; of an object it could show only that there is one."""
        take, _ = tool_of(kind)
        panel = ToolPanel(take, {"value": value})
        # The tool would get another value
        as_it_is = kind is Any
        assert panel.form.value == {"value": value if as_it_is else form}
        assert not panel.form.errors

    def test_a_copy_has_the_objects_of_a_form_as_they_are_sent(self):
        """A person's code may put a date into the form."""
        take, _ = tool_of(date)
        panel = ToolPanel(take)
        panel.form.value = {"value": date(2026, 12, 25)}
        view = opened(panel, "Code")
        for label, in_text in READERS.items():
            pick(named(view, "Copy as"), label)
            assert in_text(named(view, "Code").value) == {"value": "2026-12-25"}

    def test_fills_the_form_when_the_last_keys_are_here(self):
        """What was typed before the click, and arrives after it, does not come back."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5, b=6)
        view = opened(panel, "History")
        panel.form.value = {"a": 7}
        click(buttons(view)["Load"], settled=False)
        # The end of what was typed
        panel.form.value = {"a": 78}
        eventually(lambda: panel.form.value == {"a": 5, "b": 6})

    def test_follows_runs_while_it_is_open(self):
        """A run of a cell or another panel is in it, without a click, and in its title."""
        panel = ToolPanel(add, {"a": 1})
        view = opened(panel, "History")
        assert "No runs yet" in shown(view)
        assert buttons(view)["Load"].disabled
        run_tool(add, a=5)
        wait_for_ticker()
        assert len(named(view, "Run").options) == 1
        assert "The user and the model read the same" in shown(view)
        assert tabs(panel).titles[TABS.index("History")] == "History (1)"
        other = ToolPanel(add, {"a": 1})
        other.run()
        finish(other)
        wait_for_ticker()
        assert len(named(view, "Run").options) == 2

    def test_keeps_the_run_that_a_person_looks_at(self):
        """A newer run comes into the list; an earlier one that was chosen stays open."""
        panel = ToolPanel(add)
        run_tool(add, a=5)
        run_tool(add, a=6)
        view = opened(panel, "History")
        pick(named(view, "Run"), named(view, "Run").options[1][0])
        run_tool(add, a=7)
        wait_for_ticker()
        assert named(view, "Run").index == 2
        assert table_of(view).picked == table_of(view).rows[2][0]

    def test_costs_nothing_while_it_is_closed(self, wire):
        """A run elsewhere sends nothing for it; a closed panel listens no more."""
        panels = [ToolPanel(add), ToolPanel(add), ToolPanel(add)]
        for panel in panels[1:]:
            opened(panel, "History")
        receive(tabs(panels[1]), selected_index=0)
        panels[2].close()
        wire.messages.clear()
        run_tool(add, a=5)
        wait_for_ticker()
        assert wire.messages == []

    def test_shows_many_runs_at_once(self, wire):
        """Of runs that follow each other quickly, the list is sent only a few times."""
        panel = ToolPanel(add)
        view = opened(panel, "History")
        wire.messages.clear()
        # So that no tick shows them before the last has ended
        with panel.lock:
            for a in range(40):
                run_tool(add, a=a)
        wait_for_ticker()
        assert len(named(view, "Run").options) == 40
        lists = [state for _, state in wire.updates() if "_options_labels" in state]
        assert len(lists) == 1

    def test_counts_the_runs_that_it_lists(self):
        """Also those of a cell or another panel, once it is opened."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5)
        view = opened(panel, "History")
        assert len(named(view, "Run").options) == 1
        assert tabs(panel).titles[TABS.index("History")] == "History (1)"

    def test_has_only_runs_of_its_tool(self):
        """Other tools have their own."""

        @tool
        def other() -> str:
            """Be another tool."""
            return "x"

        run_tool(other)
        assert named(opened(ToolPanel(add), "History"), "Run").options == ()

    def test_is_a_table_of_what_happened(self):
        """State in words, arguments, where it came from; hostile arguments stay text."""
        panel = ToolPanel(add, {"a": 1})
        run_tool(add, a=5, b=6)
        run_tool(add, a="<b>none</b>")
        view = opened(panel, "History")
        hostile, run = table_of(view).rows
        assert hostile[4:6] == ["failed", "danger"]
        assert hostile[7] == 'a = "<b>none</b>"'
        assert hostile[8].startswith("add: a: should be an integer")
        assert (run[4], run[7], run[8]) == ("succeeded", "a = 5, b = 6", "11")
        assert problems(page(view)) == []

    def test_says_what_differs_from_the_row_above(self):
        """A value, an argument that is not sent, nothing; of a filtered list, from the row that is seen."""
        panel = ToolPanel(add)
        for arguments in ({"a": 1, "b": 2}, {"a": 1}, {"a": 3}, {"a": 3}):
            run_tool(add, arguments)
        view = opened(panel, "History")
        assert [row[7] for row in table_of(view).rows] == ["a = 3", "the same", "a = 1", "b = 2"]
        receive(named(view, "Filter"), value="B = 2")
        assert [row[7] for row in table_of(view).rows] == ["a = 1, b = 2"]
        receive(named(view, "Filter"), value="state:failed")
        assert table_of(view).rows == []
        assert "No run matches the filter" in shown(view)

    def test_shows_the_result_in_a_line(self):
        """Rows of a table and of a list of objects, the first line of a text, an image, an error."""
        results = [
            pd.DataFrame({"n": [1, 2]}),
            [{"id": 1}, {"id": 2}],
            "first\nsecond",
            b"GIF89a" + b"\x01\x00\x01\x00\x00\x00\x00;",
        ]

        @tool
        def give(place: int) -> object:
            """Give a result."""
            return results[place]

        for place in range(5):
            run_tool(give, place=place)
        view = opened(ToolPanel(give), "History")
        table = table_of(view)
        failed, image, text, items, frame = [row[8] for row in table.rows]
        assert failed.startswith("IndexError: list index out of range")
        assert image == "image/gif, 14 bytes"
        assert (text, frame) == ("first", "2 rows · 1 column")
        assert items == '2 rows: [ { "id": 1 }, { "id": 2 } ]'
        assert [row[9] for row in table.rows] == [-1, 0, -1, -1, -1]
        [picture] = table.pictures
        assert picture.startswith("data:image/gif;base64,")
        receive(named(view, "Filter"), value="place = 3")
        # It is decoded once, not for each key
        assert table.pictures[0] is picture

    def test_compares_two_runs(self):
        """Argument by argument, the earlier one first; a third one takes the place of the first."""
        for a in (1, 2, 3):
            run_tool(add, a=a)
        view = opened(ToolPanel(add), "History")
        newest, middle, oldest = [row[0] for row in table_of(view).rows]
        for key in (oldest, newest, middle):
            send(table_of(view), {"compare": key})
        assert table_of(view).compared == [newest, middle]
        text = " ".join(text_of(shown(view)).split())
        title = f"run {history()[1].id}, succeeded → run {history()[2].id}, succeeded"
        assert text.endswith(f'{title}a2 → 3Result{title}"3" → "4"')
        send(table_of(view), {"compare": newest})
        assert "Mark a second run" in shown(view)
        send(table_of(view), {"picked": oldest})
        assert table_of(view).compared == []
        assert BOTH in shown(view)

    def test_compares_a_result_that_is_kept_in_part_as_text(self):
        """The beginning of a long JSON text is no object: beside one, each of its marks would differ."""

        @tool
        def listed(n: int) -> list[dict[str, int]]:
            """List n objects."""
            return [{"x": k} for k in range(n)]

        for n in (2, 60_000):
            run_tool(listed, n=n)
        view = opened(ToolPanel(listed), "History")
        for row in table_of(view).rows:
            send(table_of(view), {"compare": row[0]})
        result = text_of(shown(view)).partition("Result")[2]
        assert '+     "x": 2' in result
        assert "\\" not in result

    def test_runs_again_with_the_secret_that_is_typed(self):
        """It is not in the record: *Load* leaves it where it is, and *Run again* sends it."""
        sent = []

        @tool
        def login(user: str, password: SecretStr) -> str:
            """Log in."""
            sent.append((user, password.get_secret_value()))
            return "in"

        run_tool(login, user="ada", password="elsewhere-1")
        panel = ToolPanel(login, {"user": "bob", "password": "typed-here-2"})
        click(buttons(opened(panel, "History"))["Run again"])
        finish(panel)
        assert sent[1:] == [("ada", "typed-here-2")]
        assert "typed-here-2" not in shown(opened(panel, "History"))
        empty = ToolPanel(login)
        click(buttons(opened(empty, "History"))["Run again"])
        assert len(sent) == 2
        assert "did not keep &#x27;password&#x27;" in shown(empty)


class TestDuration:
    def test_has_the_waiting_for_people_apart(self):
        """How long somebody thought about an answer says nothing about a tool."""
        run_tool(add, a=1)
        record = replace(history()[-1], seconds=1.0, waited=9.0)
        words = "1.0 s, and 9.0 s waiting for an answer"
        assert words in repr(record) and words in text_of(record.to_html())

    def test_is_the_same_beside_run_and_in_the_history(self):
        """A person who compares the two need not wonder."""

        @tool
        def ask() -> str:
            """Ask."""
            return str(current_run().ask("Go on?").value)

        panel = ToolPanel(ask)
        panel.run()
        eventually(lambda: "Yes" in buttons(panel))
        # It is the time that is told
        threading.Event().wait(0.15)
        click(buttons(panel)["Yes"])
        finish(panel)
        took = panel.record.time_taken
        assert "waiting for an answer" in took
        assert took in shown(panel.children[0])
        assert took in table_of(opened(panel, "History")).rows[0]


class TestResult:
    def test_belongs_to_the_form(self):
        """It is not seen under tabs that show something else; a run turns to the form."""
        panel = ToolPanel(add, {"a": 1})
        panel.run()
        finish(panel)
        for index, title in enumerate(TABS):
            tabs(panel).selected_index = index
            is_seen = "toolbench-hidden" not in panel.runs.report.widget._dom_classes
            assert is_seen == (title in ("Form", "JSON"))
            assert bool(panel.examples.widget.children) == is_seen
        panel.run()
        assert tabs(panel).selected_index == 0
        finish(panel)


def test_the_history_has_the_runs_at_its_server():
    """In its title, in its list, and while it is open: another server's runs are not there."""
    servers = {name: FakeMCPServer(name) for name in ("git", "desk")}
    for name, server in servers.items():
        server.answer("status", name)
    with create_mcp_tools({"mcpServers": servers}) as client:
        git, desk = (client.servers[name].tools["status"] for name in servers)
        for _ in range(3):
            run_tool(git)
        panel, place = ToolPanel(desk), TABS.index("History")
        receive(tabs(panel), selected_index=place)
        view = tabs(panel).children[place]
        assert "No runs yet." in shown(view)
        assert "History" in tabs(panel).titles
        run_tool(client["desk_status"])
        eventually(lambda: "History (1)" in tabs(panel).titles)
        assert len(named(view, "Run").options) == 1
        assert "History (3)" in tabs(ToolPanel(git)).titles
