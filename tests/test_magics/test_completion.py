import pytest
from IPython.core.completer import CompletionContext

from toolbench.extension import _loaded


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
            ("print(", []),
        ],
    )
    def test_offers(self, complete, text, offered):
        """Tab knows names of tools, arguments, values, options and sub-commands."""
        assert complete(text) == offered

    def test_survives_a_tool_that_cannot_be_made(self, shell, complete, registered):
        """A create() that fails offers nothing; the run will say why."""
        registered("broken")
        shell.run_cell(
            "from toolbench import register_tool\n"
            "register_tool('broken', lambda conv_state=None: 1 / 0)"
        ).raise_error()
        assert complete("%tool broken ") == []
