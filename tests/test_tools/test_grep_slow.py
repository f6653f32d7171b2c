"""Grep with patterns that may take for ever: nothing else waits for them."""

import re
import warnings
from functools import partial
from threading import Event, Thread

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from patience import PATIENCE, join

from toolbench.core.state import ConversationState
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.grep import GrepTool, line_pattern
from toolbench.tools.grep import ripgrep as engine
from toolbench.tools.grep.line_pattern import LinePattern

ENDLESS = ["(?=a)(a|a)+$", "(a|a)+$", r"(a|a)*\1[xy]"]


@pytest.fixture
def tool(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "ripgrep", lambda: None)
    (tmp_path / "evil.txt").write_text("a" * 64 + "!\n")
    [tool] = GrepTool.create(ConversationState(tmp_path))
    return tool


@pytest.fixture
def be_patient(monkeypatch):
    """Set the seconds of each attempt at a line."""
    return partial(monkeypatch.setattr, line_pattern, "_PATIENCE")


class TestEndless:
    @pytest.mark.parametrize("pattern", ENDLESS)
    def test_can_be_interrupted(self, tool, pattern, monkeypatch, be_patient):
        """While such a search goes on others run, and an interrupt ends it."""
        begun, results = Event(), []
        attempt = LinePattern._attempt

        def attempting(*arguments):
            begun.set()
            return attempt(*arguments)

        monkeypatch.setattr(LinePattern, "_attempt", attempting)
        be_patient((0.1,) * 1_000)
        thread = Thread(target=lambda: results.append(tool({"pattern": pattern})))
        thread.start()
        assert begun.wait(PATIENCE)
        tool.executor.interrupt()
        join(thread)
        assert [(r.is_error, "was interrupted" in r.text) for r in results] == [(True, True)]

    @pytest.mark.parametrize("pattern", ENDLESS)
    def test_ends_in_time(self, tool, pattern, be_patient):
        """Nobody need interrupt it: it fails, and what to do is said."""
        be_patient((0.05, 0.1))
        observation = tool({"pattern": pattern})
        assert observation.is_error
        assert "took more than 0.1 s on one line. Avoid repeats" in observation.text

    def test_long_lines(self, tmp_path, be_patient):
        """So does a plain pattern that takes long on a long line."""
        be_patient((0.05, 0.1))
        (tmp_path / "minified.js").write_text("x=(y);" * 50_000)
        with pytest.raises(RunError, match="took more than"):
            LinePattern(r"x.*\(.*y.*\).*[Q]").accepts(str(tmp_path / "minified.js"))

    def test_many_lines(self, tmp_path):
        """Where no line takes long but all of them do, an interrupt is seen between two."""
        (tmp_path / "many.txt").write_text("ab\n" * 400)
        answers = iter([False] * 3)
        line_pattern = LinePattern("(?<=a)x", lambda: next(answers, True))
        assert not line_pattern.accepts(str(tmp_path / "many.txt"))
        assert next(answers, None) is None

    def test_what_takes_long_only_over_line_ends(self, tmp_path, be_patient):
        """A repeat that matches line ends too is tried line by line, where it is quick."""
        be_patient((0.0001, 30))
        (tmp_path / "blank.txt").write_text(" \n" * 30_000 + "a b\n")
        assert LinePattern(r"\s+b").accepts(str(tmp_path / "blank.txt"))
        assert not LinePattern(r"\s+c").accepts(str(tmp_path / "blank.txt"))


PIECES = st.sampled_from(
    [
        *("a", "b", "é", " ", "_", r"\.", ".", r"\d", r"\w", r"\W", r"\S", r"\b", "^", "$"),
        *("[a-c]", "[^a]", r"[\w-]", "[]a]", "[[]", "[&&a]", "[a--b]", "[[:alpha:]]"),
        *("(", ")", "|", "(?:", "*", "+", "?", "{2}", "{,2}", "{", "}", "*?", "++"),
        *("{e}", "{e<=1}", "{i<=1:[a-z]}", "(?=a)", "(?<!a)", r"\1", r"\A", r"\Z", "(?i)"),
        *(r"\{", r"\[", "(?P<n>", "(?P=n)", "(?(1)a|b)", "(?>", "(?s:", "<", "=", "1", "e"),
    ]
)  # fmt: skip


class TestSyntax:
    @settings(suppress_health_check=[HealthCheck.too_slow])
    @example(["a", "{e<=1}"], "b")
    @example(["[[:alpha:]]"], "b")
    @example([r"\{", "{e}"], "{{e}")
    @given(
        pieces=st.lists(PIECES, min_size=1, max_size=6),
        line=st.text(alphabet="abcé_ :[]{}<=1e.-&", min_size=1, max_size=8),
    )
    def test_is_that_of_python(self, pieces, line):
        """A line matches if Python's own engine says so, whatever else the other one knows."""
        pattern = "".join(pieces)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                own = re.compile(pattern, re.IGNORECASE)
            except re.error:
                with pytest.raises(RunError, match="is not a valid regular expression"):
                    LinePattern(pattern)
                return
        assert LinePattern(pattern)._in_text(line) == (own.search(line) is not None)
