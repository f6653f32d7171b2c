"""The program of a server is found, or what is wrong is said."""

import os
import sys

import pytest

from toolbench.mcp.config.program import find_program


@pytest.fixture(autouse=True)
def python(tmp_path, monkeypatch):
    """A Python beside which no other programs are."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "environment" / "python"))


class TestFindProgram:
    def test_looks_beside_python_last(self, tmp_path):
        """There pip puts the programs of packages, and the environment need not be active."""
        programs = [tmp_path / "environment" / "uvx", tmp_path / "path" / "uvx"]
        for program in programs:
            program.parent.mkdir()
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
        places = {"PATH": str(tmp_path / "path")}
        assert find_program("uvx", places, None) == str(programs[1])
        programs[1].unlink()
        assert find_program("uvx", places, None) == str(programs[0])

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
        nowhere = {"PATH": str(tmp_path)}
        for command, advice in (
            ("uvx", r"package uv: .*pip.* uv\. .* with: python -m MODULE$"),
            ("C:\\bin\\npx.cmd", r"Node\.js \(https://nodejs\.org\): install that"),
            ("docker", r"Docker \(https://docs\.docker\.com/.* with uvx or a URL$"),
            ("nope", r"Is it installed and on PATH\?$"),
        ):
            with pytest.raises(FileNotFoundError, match=advice):
                find_program(command, nowhere, None)
        with pytest.raises(NotADirectoryError, match="working directory '/nowhere'"):
            find_program("sh", {"PATH": os.environ["PATH"]}, "/nowhere")
        plain = tmp_path / "plain.sh"
        plain.write_text("")
        with pytest.raises(PermissionError, match="may not be executed"):
            find_program(str(plain), {}, None)
