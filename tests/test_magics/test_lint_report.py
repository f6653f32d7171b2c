"""%tools lint, in a shell."""

import pytest

from toolbench.magics.line import UsageError


class TestLint:
    def test_says_what_a_model_stumbles_over(self, shell):
        """%tools lint: the worst first, what to do, and what the tools cost."""
        shell.run_cell("@tool\ndef weather_data() -> str: 'Weather.'")
        report = shell.run_line_magic("tools", "lint")
        severities = [finding.severity for finding in report]
        assert severities == sorted(severities, key=["error", "warning", "hint"].index)
        assert {"argument-undescribed", "description-thin"} <= {f.rule for f in report}
        text, html = repr(report), report._repr_mimebundle_()["text/html"]
        for part in ("in 5 tools", "tokens in every request", "greet"):
            assert part in text
            assert part in html
        lines = text.splitlines()
        [head] = (line for line in lines if " tool " in line)
        [row] = (line for line in lines if "weather_data" in line)
        # Each name of a column stands above its column
        assert head.index("tool") == row.index("weather_data")
        assert head.index("rule") == row.index("description-thin")

    def test_looks_at_what_matches(self, shell):
        """The pattern and the source narrow what is looked at."""
        assert {f.tool for f in shell.run_line_magic("tools", "lint greet")} == {"greet"}
        assert len(shell.run_line_magic("tools", "lint --source mcp")) == 0

    def test_says_when_there_is_nothing(self, shell):
        """No finding is a sentence. A name that no tool has is a mistake, not a clean tool."""
        clean = shell.run_line_magic("tools", "lint --source mcp")
        assert "No findings in 0 tools" in repr(clean)
        with pytest.raises(UsageError, match=r"No tool matches 'x'\. %tools lists them all"):
            shell.run_line_magic("tools", "lint x")
