import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.tools.browser import BrowserAction, BrowserTool
from toolbench.tools.browser.page_functions import FUNCTIONS
from toolbench.tools.browser.page_script import parse, signature_of
from toolbench.tools.failure_sentence import RunError

SEED = (
    "goto go_back go_forward noop scroll fill select_option click dblclick hover press "
    "focus clear drag_and_drop upload_file"
)


class TestFunctions:
    def test_are_the_fifteen_of_the_seed(self):
        """These names, in this order, and no other."""
        assert list(FUNCTIONS) == SEED.split()

    def test_are_told_to_the_model(self):
        """The description of `code` shows how each is called, with an example that parses."""
        text = BrowserAction.to_mcp_schema()["properties"]["code"]["description"]
        for function in FUNCTIONS.values():
            assert signature_of(function) in text
        examples = [
            line.partition("Example: ")[2] for line in text.splitlines() if "Example: " in line
        ]
        assert len(examples) >= len(FUNCTIONS)
        assert {parse(example)[0].function for example in examples} == set(FUNCTIONS.values())


class TestParse:
    def test_gives_the_steps_in_order(self):
        """Positional and named arguments, defaults filled in."""
        steps = parse(
            "goto('http://x')\n\nclick('e1', modifiers=['Shift'])  # why\nscroll(0, -1.5)"
        )
        assert [(step.function.__name__, dict(step.arguments)) for step in steps] == [
            ("goto", {"url": "http://x"}),
            ("click", {"bid": "e1", "button": "left", "modifiers": ["Shift"]}),
            ("scroll", {"delta_x": 0, "delta_y": -1.5}),
        ]

    def test_reads_calls_on_one_line(self):
        """A semicolon separates as well."""
        assert len(parse("noop(); noop(5)")) == 2

    @given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
    def test_hands_every_text_and_number_over_unchanged(self, text, number):
        """What was written as a literal arrives as that value."""
        [fill, scroll] = parse(f"fill('e1', {text!r})\nscroll({number!r}, 0)")
        assert fill.arguments["value"] == text
        assert scroll.arguments["delta_x"] == number

    @pytest.mark.parametrize(
        ("code", "why"),
        [
            ("", "nothing to do"),
            ("# only this", "nothing to do"),
            ("click('e1'", "not valid Python in line 1"),
            ("\0", "not valid Python"),
            ("import os", "is not a function call"),
            ("x = click('e1')", "is not a function call"),
            ("for i in range(3): noop()", "is not a function call"),
            ("'text'", "is not a function call"),
            ("await noop()", "is not a function call"),
            ("__import__('os').system('true')", "no function"),
            ("page.goto('http://x')", "no function"),
            ("(lambda: 1)()", "no function"),
            ("clik('e1')", "Did you mean 'click'"),
            ("click(bid)", "literals"),
            ("click('e' + '1')", "literals"),
            ("click(f'e{1}')", "literals"),
            ("noop(noop())", "literals"),
            ("noop(*[1])", "literals"),
            ("noop(**{'wait_ms': 1})", "not understood"),
            ("click()", "missing a required argument"),
            ("click('e1', 'left', [], 1)", "too many positional"),
            ("click('e1', where='there')", "unexpected keyword"),
            ("click(12)", "should be a string"),
            ("noop('500')", "should be a number"),
            ("click('e1', button='top')", "'left', 'middle' or 'right'"),
            ("noop()\nnoop()\nhover()", "Line 3"),
            ("(" * 5000, "not valid Python"),
            ("noop()\n" * 20_000, "Send a few calls"),
        ],
    )
    def test_refuses_all_else(self, code, why):
        """Nothing is executed, and the sentence says what is understood."""
        with pytest.raises(RunError, match=why.replace("(", r"\(")):
            parse(code)


class TestIsUsable:
    def test_says_what_is_missing(self, monkeypatch, tmp_path):
        """First Playwright, then a Chromium."""
        module = "toolbench.tools.browser.definition"
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
        monkeypatch.setattr("toolbench.tools.browser.chromium._APPLICATIONS", ())
        assert "Chromium" in str(BrowserTool.is_usable())
        (tmp_path / "chromium-1").mkdir()
        assert BrowserTool.is_usable() is True
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
        assert "jupyter-toolbench[browser]" in str(BrowserTool.is_usable())
