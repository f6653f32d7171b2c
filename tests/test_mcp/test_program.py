"""The program of a server is found, or what is wrong is said."""

import os

import pytest

from toolbench.mcp.config.program import find_program


class TestFindProgram:
    def test_looks_along_the_path_of_the_entry(self, tmp_path):
        """The PATH of the server's own environment counts."""
        program = tmp_path / "my-server"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert find_program("my-server", {"PATH": str(tmp_path)}, None) == str(program)
        assert find_program("./my-server", {"PATH": ""}, str(tmp_path)) == str(program)

    def test_says_what_is_missing(self, tmp_path):
        """A command, a folder, a permission: each has its own sentence."""
        with pytest.raises(FileNotFoundError, match="command not found: 'nope'"):
            find_program("nope", {"PATH": str(tmp_path)}, None)
        with pytest.raises(NotADirectoryError, match="working directory '/nowhere'"):
            find_program("sh", {"PATH": os.environ["PATH"]}, "/nowhere")
        plain = tmp_path / "plain.sh"
        plain.write_text("")
        with pytest.raises(PermissionError, match="may not be executed"):
            find_program(str(plain), {}, None)
