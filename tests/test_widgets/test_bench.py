"""Many tools in one place: found quickly, opened one at a time, light until then."""

from threading import Thread

import pytest
from patience import PATIENCE, eventually, join
from payloads import each_payload
from test_display.inert import problems
from test_mcp.peers import light

from test_widgets.front import (
    click,
    labels,
    listing,
    named,
    page,
    pick,
    pick_in_page,
    picker_of,
    search_field,
    type_into,
    walk,
)
from test_widgets.tooling import buttons, finish
from toolbench import ToolbenchError, ToolDefinition, bench, current_run, tool
from toolbench.core.schema import Action
from toolbench.errors import ToolNotFoundError
from toolbench.mcp import MCPClient
from toolbench.widgets.bench import Bench
from toolbench.widgets.panel import ToolPanel


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def greet(name: str) -> str:
    """Greet somebody by name."""
    return f"Hello {name}"


@tool
def ask() -> str:
    """Ask whether to go on."""
    return current_run().ask("Go on?").action


def many(count):
    return [
        ToolDefinition(name=f"tool_{n}", description=f"Does thing {n}.", action_type=Action)
        for n in range(count)
    ]


class TestBench:
    def test_of_one_tool_is_its_panel(self):
        """There is nothing to search."""
        assert isinstance(bench(add), ToolPanel)

    def test_takes_tools_in_any_wrapping(self):
        """Tools, lists of them, lists of lists."""
        assert isinstance(bench([add, [greet]]), Bench)

    def test_says_of_what_class_tools_of_one_name_are(self):
        """They are told apart in the list and in the saved text; other names stay as they are."""

        class GreetTool(ToolDefinition):
            """A tool in the way of OpenHands."""

        same = GreetTool(name="greet", description="Wave.", action_type=Action)
        both = Bench([greet, same, add])
        lines = [
            "greet (function) — Greet somebody by name.",
            "greet (GreetTool) — Wave.",
            "add — Add two numbers.",
        ]
        assert labels(listing(both)) == lines
        assert both._repr_mimebundle_()["text/plain"].splitlines()[1:] == lines
        alike = Bench([greet, greet, add])
        assert labels(listing(alike))[:2] == [
            "greet (function 1) — Greet somebody by name.",
            "greet (function 2) — Greet somebody by name.",
        ]

    @pytest.mark.parametrize("nothing", [(), ([],)])
    def test_needs_a_tool(self, nothing):
        """An empty bench says how to fill it."""
        with pytest.raises(ToolbenchError, match="at least one tool"):
            bench(*nothing)

    def test_says_what_is_no_tool(self):
        """What cannot be shown is named."""
        with pytest.raises(ToolbenchError, match="3 is not a tool"):
            bench(3)
        with pytest.raises(ToolNotFoundError):
            bench("no_such_tool_at_all")

    def test_opens_what_is_picked(self):
        """Only then is its panel made; picked again, it is as it was left."""
        both = bench(add, greet)
        pick(listing(both), "greet — Greet somebody by name.")
        panel = both.panel
        assert panel.tool is greet
        panel.form.value = {"name": "Ada"}
        panel.run()
        finish(panel)
        pick(listing(both), "add — Add two numbers.")
        assert both.panel.tool is add
        pick(listing(both), "greet — Greet somebody by name.")
        assert both.panel is panel
        assert panel in walk(both)
        assert panel.form.value == {"name": "Ada"}

    def test_says_what_a_tool_does_that_is_not_open(self):
        """It waits for an answer; once it is answered, the list says no more of it."""
        both = bench(ask, add)
        panel = both.panel
        click(named(panel, "Run"))
        page = picker_of(both)
        eventually(lambda: page.states == {"0": "waiting for an answer"})
        pick(listing(both), "add — Add two numbers.")
        assert page.states == {"0": "waiting for an answer"}
        eventually(lambda: "No" in buttons(panel))
        click(named(panel, "No"))
        finish(panel)
        eventually(lambda: page.states == {})

    def test_finds_by_name_and_description(self):
        """Every word has to occur, in any order; case does not matter."""
        both = bench(add, greet)
        type_into(search_field(both), "NAME greet")
        assert labels(listing(both)) == ["greet — Greet somebody by name."]
        type_into(search_field(both), "nothing like it")
        assert listing(both).options == ()
        assert "Nothing matches" in page(both)
        type_into(search_field(both), "")
        assert len(listing(both).options) == 2

    def test_knows_which_list_a_click_was_made_in(self):
        """The list may change while a click is under way; it says only a line."""
        both = bench(add, greet)
        first_list = listing(both)
        type_into(search_field(both), "greet")
        pick(first_list, "greet — Greet somebody by name.")
        assert both.panel.tool is greet
        assert "toolbench-hidden" in first_list._dom_classes
        assert "toolbench-hidden" not in listing(both)._dom_classes

    def test_opens_nothing_that_was_not_picked(self):
        """Searching again after a pick leaves open what is open."""
        three = bench(add, greet, many(1))
        pick(listing(three), "add — Add two numbers.")
        for words in ("greet", "tool_0", ""):
            type_into(search_field(three), words)
        assert [panel.tool for panel in three._panels.values()] == [add]
        assert three.panel.tool is add

    def test_of_a_thousand_tools_is_light(self, wire):
        """At most 60 comms beside the panel of the first, and the list says how many more there are."""
        ToolPanel(many(1)[0])
        panel = wire.opened()
        large = bench(many(1_000))
        assert wire.opened() - 2 * panel <= 60
        assert "800 more" in page(large)
        before = wire.opened()
        type_into(search_field(large), "tool_99")
        assert len(listing(large).options) == 11
        assert wire.opened() == before

    def test_opens_with_the_first_tool_that_is_not_destructive(self):
        """Of destructive ones none is opened unasked, and the page says so; nor when the cell runs again."""

        @tool(destructive=True)
        def wipe() -> str:
            """Delete everything."""
            return "gone"

        raze = wipe.model_copy(update={"name": "raze"})
        assert bench(wipe, add, greet).panel.tool is add
        both = bench(wipe, raze)
        assert both.panel is None
        assert "Destructive tools are not opened automatically." in page(both)
        again = bench(wipe, raze)
        assert again.resume(both)
        assert again.panel is None
        pick_in_page(again, "0")
        assert again.panel.tool is wipe

    def test_groups_by_server(self):
        """Where tools are of several sources each has its heading; of one source there is none."""
        with MCPClient(timeout=PATIENCE) as client:
            client.connect("shop", light("shop", "buy"))
            client.connect("bank", light("bank", "pay"))
            mixed = Bench([client.servers["shop"].tool("buy"), add, *client.servers["bank"].tools])
            headings = {item.name: item.group for item in mixed._items}
            assert headings == {"buy": "shop", "add": "this notebook", "pay": "bank"}
            assert {item.group for item in Bench([add, greet])._items} == {""}

    def test_shows_the_server_of_the_open_tool(self):
        """Its state, log and traffic beside the panel; a tool of this notebook has none."""
        with MCPClient(timeout=PATIENCE) as client:
            client.connect("shop", light("shop", "buy"))
            mixed = Bench([add, *client.servers["shop"].tools])
            assert "connected" not in page(mixed)
            pick_in_page(mixed, "1")
            assert "connected" in page(mixed)
            mixed.close()

    def test_closing_leaves_nothing(self, wire):
        """The bench and every panel it opened."""
        before = set(wire.live)
        both = bench(add, greet)
        pick(listing(both), "greet — Greet somebody by name.")
        # A run that ends meanwhile is kept while its panel is locked, for which `close` waits
        with both._lock:
            keeping = Thread(target=both.keep, daemon=True)
            keeping.start()
            join(keeping)
        both.close()
        both.close()
        assert wire.live == before

    def test_shows_its_tools_with_no_kernel(self):
        """The saved notebook has their names."""
        data = bench(add, greet)._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in data
        for kind in ("text/plain", "text/html"):
            assert "greet — Greet somebody by name." in data[kind]

    @each_payload
    def test_is_inert(self, payload):
        """Names and descriptions of tools cannot put anything on the page."""
        odd = [
            t.model_copy(update={"description": payload, "name": payload or "x"}) for t in many(2)
        ]
        hostile = Bench(odd)
        type_into(search_field(hostile), "<b>no such tool")
        (notice,) = [
            part.value
            for part in walk(hostile)
            if "Nothing matches" in str(getattr(part, "value", ""))
        ]
        assert problems(notice) == []
        assert problems(hostile._repr_mimebundle_()["text/html"]) == []
