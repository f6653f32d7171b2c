"""Grep with patterns that may take for ever: nothing else waits for them."""

import sys
from threading import Event, Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolbench.core.state import ConversationState
from toolbench.tools.failure import RunError
from toolbench.tools.grep import GrepTool, judge, slow
from toolbench.tools.grep import ripgrep as engine
from toolbench.tools.grep.cost import guessed
from toolbench.tools.grep.judge import Judge
from toolbench.tools.grep.processes import Processes
from toolbench.tools.grep.translate import needed_by

ENDLESS = ["(?=a)(a|a)+$", "(a|a)+$", "(a+)+[xy]"]


@pytest.fixture
def tool(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "ripgrep", lambda: None)
    (tmp_path / "evil.txt").write_text("a" * 64 + "!\n")
    [tool] = GrepTool.create(ConversationState(tmp_path))
    return tool


class TestEndless:
    @pytest.mark.parametrize("pattern", ENDLESS)
    def test_can_be_interrupted(self, tool, pattern, monkeypatch):
        """While such a search goes on others run, and an interrupt ends it."""
        begun, seen = Event(), []
        start = Processes.start

        def starting(processes, *arguments, **options):
            process = start(processes, *arguments, **options)
            begun.set()
            return process

        monkeypatch.setattr(Processes, "start", starting)
        thread = Thread(target=lambda: seen.append(tool({"pattern": pattern})))
        thread.start()
        assert begun.wait(30)
        tool.executor.interrupt()
        thread.join(30)
        assert [(s.is_error, "was interrupted" in s.text) for s in seen] == [
            (True, True)
        ]

    @pytest.mark.parametrize("pattern", ENDLESS)
    def test_ends_in_time(self, tool, pattern, monkeypatch):
        """Nobody need interrupt it: it fails, and what to do is said."""
        monkeypatch.setattr(slow, "_PATIENCE", 0.2)
        seen = tool({"pattern": pattern})
        assert seen.is_error
        assert "took more than 0.2 s on one text. Avoid repeats" in seen.text

    def test_leaves_no_process(self, tool, monkeypatch):
        """However a search ends, its process has ended too."""
        started = []
        start = Processes.start

        def starting(processes, *arguments, **options):
            started.append(start(processes, *arguments, **options))
            return started[-1]

        monkeypatch.setattr(Processes, "start", starting)
        monkeypatch.setattr(slow, "_PATIENCE", 0.2)
        tool({"pattern": "(a|a)+$"})
        tool({"pattern": "(x|y)+"})
        assert [process.returncode is None for process in started] == [False, False]

    def test_needs_a_python(self, tool, monkeypatch):
        """Where none can be started, that is said."""
        monkeypatch.setattr(sys, "executable", "/nowhere")
        assert "which did not start" in tool({"pattern": "(a|a)+$"}).text

    def test_long_lines(self, tmp_path, monkeypatch):
        """A line on which a plain pattern would take long is searched the same way."""
        monkeypatch.setattr(slow, "_PATIENCE", 0.2)
        (tmp_path / "minified.js").write_text("x=(y);" * 50_000)
        with (
            Judge(r"x.*\(.*y.*\).*[Q]", Processes()) as asked,
            pytest.raises(RunError, match="took more than"),
        ):
            asked.accepts(str(tmp_path / "minified.js"))

    def test_many_lines(self, tmp_path):
        """Where no line takes long but all of them do, an interrupt is seen between two."""
        (tmp_path / "many.txt").write_text(("a" * 150 + "\n") * 400)
        looked = iter([False] * 3)
        with Judge("a*a*a*[xy]", Processes(), lambda: next(looked, True)) as asked:
            assert not asked.accepts(str(tmp_path / "many.txt"))
        assert next(looked, None) is None


TEXT = st.text(alphabet="ab \t\r\n.é\u2028\udc80", max_size=12)


class TestSame:
    @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
    @given(
        pattern=st.sampled_from(["a+b", "^$", "[^a]b", r"\s+a", "(?<=a)b", "é|b$"]),
        texts=st.lists(TEXT, min_size=1, max_size=4),
    )
    def test_there_and_here(self, pattern, texts):
        """A text matches in the other process if it does in this one."""
        with pytest.MonkeyPatch.context() as patch, Judge(pattern, Processes()) as here:
            known = [here._in_text(text) for text in texts]
            patch.setattr(judge, "_QUICK", -1)
            with Judge(pattern, Processes()) as there:
                assert [there._in_text(text) for text in texts] == known


class TestCost:
    @pytest.mark.parametrize(
        ("pattern", "repeats", "choices"),
        [
            ("TODO|FIXME", 0, 0),
            (r"\d{4}-\d{2}", 0, 0),
            ("colou?r", 0, 1),
            ("(get|set)_x", 0, 1),
            (r"\w+\s*=\s*\d+;", 1, 0),
            ("(ab)+", 1, 0),
            ("(ab)+a", 2, 0),
            ("a*a*b", 2, 0),
            (".*x.*y", 3, 0),
        ],
    )
    def test_grows_with_the_ways_to_match(self, pattern, repeats, choices):
        """A repeat counts as such unless it can end in one place only; the first, always."""
        cost = needed_by(pattern).cost
        assert (cost.repeats, cost.choices, cost.is_nested) == (repeats, choices, False)

    @pytest.mark.parametrize(
        "pattern", ["(a+)+", "(a|b)*", "(a?){9}", "((a|b)c)+", "(a{2,3})*?"]
    )
    def test_has_no_limit(self, pattern):
        """Where what repeats can match in several ways, no text is short enough."""
        assert needed_by(pattern).cost.is_nested
        assert guessed(pattern).is_nested

    @pytest.mark.parametrize(
        ("pattern", "is_nested"),
        [
            ("(?<=def )a+", False),
            ("(?=a)b", False),
            (r"(a+)\1", True),
            ("(?>a)+", True),
        ],
    )
    def test_is_guessed(self, pattern, is_nested):
        """So it is with what is more than the plain part of the syntax."""
        assert guessed(pattern).is_nested is is_nested

    @pytest.mark.parametrize(
        ("pattern", "crosses"), [(r"\s+a", True), ("[^a]*b", True), (".*a", False)]
    )
    def test_over_line_ends(self, pattern, crosses):
        """A repeat that matches line ends reaches over many lines."""
        assert needed_by(pattern).cost.crosses is crosses
