"""A panel whose tool was defined again with other arguments, and took the new one."""

import pytest
from patience import eventually

from test_widgets.front import click, named, page, receive
from test_widgets.tooling import buttons, finish, shown
from toolbench import tool
from toolbench.widgets.panel import ToolPanel

EARLIER = "from the earlier code"


def define(arguments):
    """Define a tool again, as a re-run cell does."""
    namespace = {"__name__": "__main__", "tool": tool}
    code = (
        "from typing import Literal\nfrom pydantic import SecretStr\n"
        f'@tool\ndef wait({arguments}) -> str:\n    """Wait."""\n    return "done"'
    )
    exec(code, namespace)
    return namespace["wait"]


def reloaded(panel, arguments):
    """Define the tool of *panel* again, and press Reload."""
    new = define(arguments)
    panel.staleness.check()
    click(buttons(panel)["Reload"])
    # When the last keys have arrived
    eventually(lambda: panel.tool is new and not panel.staleness.notice.children)
    return panel


# The argument, its text, the argument of the changed tool, the value that it has then
RETYPED = {
    "a number is a text": ("x: int", "3", "x: str", {"x": "3"}),
    "a text is a number": ("x: str", "3", "x: float", {"x": 3}),
    "a text that is no number": ("x: str", "three", "x: int", {}),
    "a line for each value": ("x: list[str]", "a\nb", "x: list[int]", {}),
    "several lines in one": ("x: list[str]", "a\nb", "x: str", {"x": "a\nb"}),
    "a text is one of a list": ("x: str", "b", "x: Literal['a', 'b']", {"x": "b"}),
    "a text is none of a list": ("x: str", "c", "x: Literal['a', 'b']", {"x": "c"}),
    "another argument": ("x: str", "a", "x: str, y: int", {"x": "a"}),
}


class TestReload:
    def test_leaves_out_what_is_gone_and_shows_it(self):
        """The rest is kept and can be run; nothing is sent under a name nobody chose."""
        arguments = {"n": 1, "fail_at": 5, "text": "<b>\u202e"}
        panel = ToolPanel(define("n: int, fail_at: int = 0, text: str = ''"), arguments)
        reloaded(panel, "n: int, fail: int = 0")
        assert panel.form.value == {"n": 1}
        head = shown(panel)
        assert "The changed tool does not take &#x27;fail_at&#x27;, &#x27;text&#x27;" in head
        assert "fail_at = 5" in head
        assert "<b>" not in head.rpartition("</style>")[2].partition("text =")[2]
        assert "\u202e" not in head
        assert panel.run() is not None
        finish(panel)
        assert panel.result.text == "done"

    def test_shows_all_of_what_it_leaves_out(self):
        """It may have been long to type, and is nowhere else."""
        text = "word " * 20_000
        panel = ToolPanel(define("text: str"), {"text": text})
        assert text in page(reloaded(panel, "other: str"))

    def test_leaves_no_secret_behind(self, wire):
        """Under a name like any other, the next form would show it."""
        panel = ToolPanel(define("pin: SecretStr = None"), {"pin": "hunter2!"})
        reloaded(panel, "n: int = 0")
        assert panel.form.value == {}
        assert "&#x27;pin&#x27;" in shown(panel)
        assert "hunter2" not in wire.text()

    def test_keeps_what_no_tool_ever_took(self):
        """It was given on purpose, to see what comes of it; so is what does not fit."""
        arguments = {"n": "x", "odd": 1}
        panel = ToolPanel(define("n: int"), arguments)
        reloaded(panel, "n: int, m: int = 0")
        assert panel.form.value == arguments
        assert "This was left out" not in page(panel)

    @pytest.mark.every_case
    @pytest.mark.parametrize("case", RETYPED)
    def test_keeps_a_text_where_its_type_changes(self, case):
        """As if it had been typed there: its field says what is wrong with it."""
        before, text, after, value = RETYPED[case]
        panel = ToolPanel(define(before))
        receive(named(panel, "x"), value=text)
        reloaded(panel, after)
        assert panel.form.value == value
        if not value:
            assert named(panel, "x").value == text
            assert panel.form.blocked and "is not an integer" in shown(panel)

    def test_keeps_rows_and_json_that_cannot_be_read(self):
        """A row keeps its place, and JSON that is not complete its text."""
        panel = ToolPanel(define("x: list[list[int]]"), {"x": [[1], [2], [3]]})
        receive(named(panel, "x, item 2"), value="two")
        reloaded(panel, "x: list[list[int]], y: int = 0")
        assert [named(panel, f"x, item {n}").value for n in (1, 2, 3)] == ["1", "two", "3"]
        panel.form.json = '{"x": '
        reloaded(panel, "x: list[list[int]]")
        assert panel.form.json == '{"x": ' and panel.form.blocked

    def test_shows_a_text_that_could_not_be_read(self):
        """It is left out with its argument, and not without a word."""
        panel = ToolPanel(define("city: str, nights: int"), {"city": "Köln"})
        receive(named(panel, "nights"), value="3x")
        reloaded(panel, "city: str")
        assert panel.form.value == {"city": "Köln"}
        assert "nights = &quot;3x&quot;" in shown(panel)

    def test_shows_no_secret_in_a_field_that_is_none_now(self, wire):
        """Only a person may type it where everybody sees it; where it stays a secret it is kept."""
        secrets = {"pin": "hunter2!", "word": "hunter3!"}
        panel = ToolPanel(define("pin: SecretStr, word: SecretStr, n: int = 0"), secrets)
        reloaded(panel, "pin: SecretStr, word: str")
        assert panel.form.value == {"pin": "hunter2!"}
        assert "does not keep &#x27;word&#x27; secret. Left out: type it again." in shown(panel)
        assert "hunter" not in wire.text()

    def test_forgets_at_the_next_what_it_left_out_before(self):
        """Only the last change is news."""
        panel = reloaded(ToolPanel(define("a: int = 0"), {"a": 1}), "b: int = 0")
        assert "a = 1" in shown(panel)
        assert "a = 1" not in page(reloaded(panel, "c: int = 0"))


class TestEarlierResult:
    def test_is_marked_until_the_next(self):
        """What stands there came from another tool than the one above it."""
        panel = ToolPanel(define("n: int"), {"n": 1})
        panel.run()
        finish(panel)
        assert EARLIER not in shown(panel)
        reloaded(panel, "n: int, m: int = 0")
        assert EARLIER in shown(panel)
        assert "The call" in shown(panel)
        panel.run()
        assert EARLIER not in shown(panel)
        finish(panel)
        assert EARLIER not in shown(panel)

    def test_is_none_where_nothing_ran(self):
        """A panel that never ran has nothing to mark."""
        panel = ToolPanel(define("n: int"))
        new = define("n: int, m: int = 0")
        panel.staleness.reload()
        assert panel.tool is new
        assert EARLIER not in shown(panel)
