import pytest
from IPython.core.completer import CompletionContext, provisionalcompleter

from toolbench.extension import _loaded

PICK = """
from typing import Literal
from toolbench import tool
@tool
def pick(way: Literal['by train', 'air', "Ann's car"], n: int = 0) -> str:
    'Pick.'
    return way
"""
SERVERS = """
class FastMCP: pass
class Mine(FastMCP): pass
server, entry, other = Mine(), {'command': 'x'}, {'a': 1}
"""


@pytest.fixture
def complete(shell):
    matcher = _loaded[shell]._matcher

    def complete(text):
        lines = text.split("\n")
        context = CompletionContext(
            token=text.split()[-1] if text and not text[-1].isspace() else "",
            full_text=text,
            cursor_position=len(lines[-1]),
            cursor_line=len(lines) - 1,
            limit=None,
        )
        return [c.text for c in matcher(context)["completions"]]

    return complete


class TestTab:
    @pytest.mark.parametrize(
        ("text", "offered"),
        [
            ("%tool gr", ["greet"]),
            ("%%tool gr", ["greet"]),
            ("x = %tool gr", ["greet"]),
            ("%tool greet ", ["name=", "style=", "loud="]),
            ("%tool greet name=x st", ["style="]),
            ("%tool greet style=", ["short", "long"]),
            ("%tool greet style=l", ["long"]),
            ("%tool greet loud=", ["true", "false"]),
            ("%tool greet --dr", ["--dry-run"]),
            ("%tool greet --schema g", ["gemini"]),
            ("%tool greet --ti", ["--timeout"]),
            ("%tools --l", ["--lint"]),
            ("%%tool_call --p", ["--provider"]),
            ("%%tool_call -p a", ["anthropic"]),
            ("%%tool_call -o x --provider g", ["gemini"]),
            ("%tool_history --r", ["--rerun"]),
            ("%%tool greet\n", ['"name": ', '"style": ', '"loud": ']),
            ('%%tool greet\n{"st', ['"style": ']),
            ("%tool nope ", []),
            ("%mcp dis", ["disconnect", "discover"]),
            ("%mcp connect --c", ["--config"]),
            ("%mcp connect x --mode l", ["legacy"]),
            ("%mcp connect x -- python --m", []),
            ("print(", []),
        ],
    )
    def test_offers(self, complete, text, offered):
        """Tab knows names of tools, arguments, values, options and sub-commands."""
        assert complete(text) == offered

    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("%tool pick way=", ["'by train'", "air", '"Ann\'s car"']),
            ("%tool pick way=b", ["'by train'"]),
            ('%tool pick way="b', ['"by train"']),
            ("%tool pick way='by t", ["'by train'"]),
            ("%tool pick n=1 way=A", ['"Ann\'s car"']),
            ('%tool pick way="air" n=', []),
            ('%tool pick way="air n=', []),
        ],
    )
    def test_offers_values_as_the_line_takes_them(self, shell, line, offered):
        """In quotes where they need some, or were begun with some; the line then runs."""
        shell.run_cell(PICK).raise_error()
        with provisionalcompleter():
            found = list(shell.Completer.completions(line, len(line)))
        ours = [c for c in found if c.type == "value"]
        assert sorted(c.text for c in ours) == sorted(offered)
        for completion in ours:
            whole = line[: completion.start] + completion.text
            ran = shell.run_line_magic("tool", whole.removeprefix("%tool "))
            assert ran.text in ("by train", "air", "Ann's car")

    def test_offers_objects_to_connect_to(self, shell, complete):
        """What could be a server: a FastMCP object, the entry of a configuration."""
        shell.run_cell(SERVERS).raise_error()
        assert complete("%mcp connect x ") == ["server", "entry"]
        assert complete("%mcp connect x --mode auto s") == ["server"]
        assert complete("%mcp connect x server ") == []
        assert complete("%mcp connect ") == []

    def test_survives_a_tool_that_cannot_be_made(self, shell, complete, registered):
        """A create() that fails offers nothing; the run will say why."""
        registered("broken")
        shell.run_cell(
            "from toolbench import register_tool\n"
            "register_tool('broken', lambda conv_state=None: 1 / 0)"
        ).raise_error()
        assert complete("%tool broken ") == []
