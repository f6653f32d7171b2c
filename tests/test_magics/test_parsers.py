import pytest

from toolbench.magics.line import UsageError
from toolbench.magics.mcp_magics import MCP
from toolbench.magics.tools_magics import TOOLS


class TestHelp:
    @pytest.mark.parametrize(
        ("magic", "text", "usage"),
        [
            ("tool", "-h", "usage: %tool [-h]"),
            ("tools", "--help", "usage: %tools [-h]"),
            ("mcp", "--help", "usage: %mcp [-h]"),
            ("mcp", "connect --help", "usage: %mcp connect [-h]"),
        ],
    )
    def test_is_printed_once(self, shell, capsys, magic, text, usage):
        """As the magic is written, and nothing is run."""
        assert shell.run_line_magic(magic, text) is None
        output = capsys.readouterr().out
        assert output.startswith(usage)
        assert output.count("usage:") == 1

    def test_says_how_to_run_without_arguments(self, shell, capsys):
        """The name alone opens the panel."""
        shell.run_line_magic("tool", "-h")
        output = " ".join(capsys.readouterr().out.split())
        assert "{}, --yes or -o VAR runs a tool that needs none." in output


def test_a_wrong_line_says_the_usage_of_its_command():
    """Too many words, missing words, an option that there is not: of each command of each family."""
    for family in (MCP, TOOLS):
        for command, parser in family.parsers.items():
            line = f"%{family.name} {command}"
            for words in ([*"abcdef"], [], ["a", "-q"], ["a", "--nope"]):
                try:
                    parser.parse_words(words)
                except UsageError as error:
                    usage, help_line = f"Usage: {line} [-h]", f"{line} --help lists them all"
                    assert usage in str(error) or help_line in str(error)
    with pytest.raises(UsageError, match=r"Usage: %mcp reconnect \[-h\] .* NAME$"):
        MCP.parsers["reconnect"].parse_words(["lib", "x"])
