import re

import pytest
from IPython.core.completer import CompletionContext, provisionalcompleter

from toolbench import mcp

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

ODD = """
class Meta(type):
    @property
    def __mro__(cls): raise OSError
class Odd(metaclass=Meta): pass
class Lazy:
    @property
    def __class__(self): raise OSError
class Dict(dict):
    def __contains__(self, key): raise OSError
odd, lazy, mapping, _hidden = Odd(), Lazy(), Dict(), server
"""


@pytest.fixture
def complete(shell):
    matcher = shell.meta.toolbench._matcher

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
            ("%mcp serv", ["serve"]),
            ("%mcp serve gr", ["greet"]),
            ("%mcp serve add gr", ["greet"]),
            ("%mcp serve -", ["--stop", "--help"]),
            ("%mcp -", ["--help"]),
            ("%mcp disconnect --al", ["--all"]),
            ("%tool --yes greet st", ["style="]),
            ("%tool -o add greet st", ["style="]),
            ("%tool -o add greet style=s", ["short"]),
            ('%tool -o add greet {"lo', ['"loud": ']),
            ("%tools export add --to=x", []),
            ("%%tool gr", ["greet"]),
            ("x = %tool gr", ["greet"]),
            ("%tool greet ", ["name=", "style=", "loud="]),
            ("%tool greet name=x st", ["style="]),
            ("%tool greet style=", ["short", "long"]),
            ("%tool greet style=l", ["long"]),
            ("%tool greet loud=", ["true", "false"]),
            ("%tool greet --b", ["--bg"]),
            ("%tools schema greet g", ["gemini"]),
            ("%tool greet --ti", ["--timeout"]),
            ("%tools --s", ["--source"]),
            ("%tools l", ["list", "lint"]),
            ("%tools sweep gr", ["greet"]),
            ("%tools sweep greet st", ["style="]),
            ("%tools sweep greet style=", ["short", "long"]),
            ("%tools export add gr", ["greet"]),
            ("%mcp log x --", ["--stderr", "--traffic", "--level", "--help"]),
            ("%mcp log x --traffic st", ["state:"]),
            ("%mcp log x --traffic tool:x er", ["error"]),
            ("%mcp log x le", ["level:"]),
            ("%mcp timeline la", ["lane:"]),
            ("%tools history tool:x to", ["tool:", "tokens:"]),
            ("%mcp reconnect x --mode ", ["auto", "legacy"]),
            ("%%tool_call --p", ["--provider"]),
            ("%%tool_call -p a", ["anthropic"]),
            ("%%tool_call -o x --provider g", ["gemini"]),
            ("%tools history --r", ["--rerun"]),
            ("%%tool greet\n", ["name: ", "style: ", "loud: "]),
            ('%%tool greet\n{"st', ['"style": ']),
            ("%%tool -o add greet\nst", ["style: "]),
            ("%%tool greet -f py\n", []),
            ("%%tool -f py greet\n", []),
            ('%tool greet {"name": "a b=", "st', ['"style": ']),
            ("%tool greet style=short ", ["name=", "loud="]),
            ("%tool greet -f ", ["json", "yaml", "py"]),
            ("%tool greet -o ", []),
            ("%tool greet -o na", []),
            ("%tool greet --timeout ", []),
            ("%tools gr", ["greet"]),
            ("%tools lint gr", ["greet"]),
            ("%tools --source notebook gr", ["greet"]),
            ("%tools --source ", ["notebook", "registry", "mcp"]),
            ("%tools --source=m", ["mcp"]),
            ("%mcp log x --level d", ["debug"]),
            ("%tool nope ", []),
            ("%mcp dis", ["disconnect", "discover"]),
            ("%mcp connect --c", ["--config", "--cwd"]),
            ("%mcp connect x --mode l", ["legacy"]),
            ("%mcp connect x -- python --m", []),
            ("print(", []),
        ],
    )
    def test_offers(self, complete, text, offered):
        """Tab knows names of tools, arguments, values, options and sub-commands."""
        assert complete(text) == offered

    def test_offers_every_option(self, shell, capsys):
        """What --help shows is what Tab offers, and no name of Python beside it."""
        help_texts = {"%mcp": shell.find_line_magic("mcp").__doc__}
        for magic in ("tool", "model"):
            help_texts[f"%{magic}"] = shell.find_line_magic(magic).__doc__
        for magic in ("tool", "tool_call", "chat"):
            help_texts[f"%%{magic}"] = shell.find_cell_magic(magic).__doc__
        for magic in ("mcp", "tools"):
            listed = shell.find_line_magic(magic).__doc__
            for command in re.findall(r"^    ([a-z]+)\b", listed, re.MULTILINE):
                shell.run_line_magic(magic, f"{command} --help")
                help_texts[f"%{magic} {command}"] = capsys.readouterr().out
        assert len(help_texts) > 30
        for line, help_text in help_texts.items():
            options = set(re.findall(r"^  (?:-\w.*, )?(--[a-z-]+)", help_text, re.MULTILINE))
            for before in (f"{line} -", f"{line} x --"):
                if line == "%mcp" and "x" in before:
                    continue
                with provisionalcompleter():
                    completions = list(shell.Completer.completions(before, len(before)))
                assert {completion.text for completion in completions} == options, line

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
            completions = list(shell.Completer.completions(line, len(line)))
        ours = [c for c in completions if c.type == "value"]
        assert sorted(c.text for c in ours) == sorted(offered)
        for completion in ours:
            whole = line[: completion.start] + completion.text
            observation = shell.run_line_magic("tool", whole.removeprefix("%tool "))
            assert observation.text in ("by train", "air", "Ann's car")

    @pytest.mark.parametrize(
        ("line", "cursor", "becomes"),
        [
            (
                "%tool pick way=''",
                16,
                {"%tool pick way='by train'", "%tool pick way='air'"},
            ),
            ('%tool pick way="b" n=1', 17, {'%tool pick way="by train" n=1'}),
        ],
    )
    def test_leaves_closed_quotes_closed(self, shell, line, cursor, becomes):
        """Some editors close a quotation when it is begun."""
        shell.run_cell(PICK).raise_error()
        with provisionalcompleter():
            completions = list(shell.Completer.completions(line, cursor))
        ours = [c for c in completions if c.type == "value"]
        assert {line[: c.start] + c.text + line[c.end :] for c in ours} == becomes

    def test_offers_nothing_that_ends_the_line(self, shell, complete):
        """A value of two lines, or a server's name, whose second line would be code of the cell."""
        shell.run_cell(PICK.replace("'air'", r"'two\nlines'")).raise_error()
        assert sorted(complete("%tool pick way=")) == ['"Ann\'s car"', "'by train'"]
        for name in ("plain", "plain\n!id"):
            shell.user_ns[f"of_{len(name)}"] = mcp.MCPToolDefinition(
                name=name,
                description="",
                observation_type=mcp.MCPToolObservation,
                server="s",
                remote_name=name,
                schema={"type": "object", "properties": {"a": {}, "a\n!id": {}}},
            )
        assert complete("%tool pl") == complete("%tools schema pl") == ["plain"]
        assert complete("%tool s.") == ["s.plain"]
        assert complete("%tool plain ") == ["a="]

    def test_survives_odd_objects(self, shell, complete):
        """Looking for servers runs nobody's code, and loads nothing."""
        shell.run_cell(SERVERS + ODD).raise_error()
        assert complete("%mcp connect x ") == ["server", "entry"]

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
