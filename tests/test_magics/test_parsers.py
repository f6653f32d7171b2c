import pytest


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
