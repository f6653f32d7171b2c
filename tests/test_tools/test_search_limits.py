"""A search that does not go on as it should: it ends in time, and what was not searched is said."""

import os
import sys
from pathlib import Path
from threading import Thread

import pytest
from patience import join
from test_mcp.peers import is_running

from toolbench.tools.glob import GlobTool
from toolbench.tools.grep import GrepTool
from toolbench.tools.search import search_executor

SEARCHES = [(GlobTool, {"pattern": "*.txt"}), (GrepTool, {"pattern": "needle"})]


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("a.txt", "b.txt"):
        (tree / name).write_text("needle\n")
    return tree


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Make a program in the place of ripgrep, which tells its process id and then goes on."""

    def make(then: str) -> Path:
        pids = tmp_path / "pids"
        os.mkfifo(pids)
        program = tmp_path / "rg"
        program.write_text(f"#!/bin/sh\n{then.replace('PIDS', str(pids))}\n")
        program.chmod(0o755)
        monkeypatch.setattr(search_executor, "find_ripgrep", lambda: str(program))
        return pids

    return make


def in_thread(tool, arguments) -> tuple[Thread, list]:
    results: list = []
    thread = Thread(target=lambda: results.append(tool(arguments)), daemon=True)
    thread.start()
    return thread, results


@pytest.mark.parametrize(("kind", "arguments"), SEARCHES)
class TestRipgrep:
    def test_that_takes_too_long_is_ended(self, kind, arguments, tree, fake, monkeypatch):
        """And what to do is said."""
        monkeypatch.setattr(search_executor, "MOST_SECONDS", 0.2)
        pids = fake("echo $$ > PIDS\nexec sleep 600")
        [tool] = kind.create(working_dir=tree)
        thread, results = in_thread(tool, arguments)
        pid = int(pids.read_text())
        join(thread)
        assert results[0].is_error
        assert results[0].text == "The search took more than 0.2 s. Search a smaller directory."
        assert not is_running(pid)

    def test_is_ended_by_an_interrupt(self, kind, arguments, tree, fake, monkeypatch):
        """The next search works."""
        pids = fake("echo $$ > PIDS\nexec sleep 600")
        [tool] = kind.create(working_dir=tree)
        thread, results = in_thread(tool, arguments)
        pid = int(pids.read_text())
        tool.executor.interrupt()
        join(thread)
        assert results[0].is_error
        assert "was interrupted" in results[0].text
        assert not is_running(pid)
        monkeypatch.undo()
        assert not tool(arguments).is_error

    def test_that_cannot_read_all_says_so(self, kind, arguments, tree, fake):
        """What it found is returned; the first thing it could not read is named, of any name."""
        denied = "rg: ./k\\nl: Permission denied\\nrg: ./m: Permission denied\\n"
        fake(f"printf './a.txt\\0'; printf '{denied}' >&2; exit 2")
        [tool] = kind.create(working_dir=tree)
        lines = tool(arguments).text.splitlines()
        assert lines[0] == str(tree / "a.txt")
        assert lines[1] == r'[Could not be read: 2 paths, such as "k\nl: Permission denied".]'

    def test_that_fails_is_an_error(self, kind, arguments, tree, fake):
        """One that knows other options, say."""
        fake("echo 'rg: unrecognized flag' >&2; exit 2")
        [tool] = kind.create(working_dir=tree)
        observation = tool(arguments)
        assert observation.is_error
        assert observation.text == 'ripgrep failed: "rg: unrecognized flag".'


class TestPlace:
    def test_is_beside_python_or_on_the_path(self, tmp_path, monkeypatch):
        """The package's program is found even if its directory is not on the PATH."""
        program = tmp_path / "rg"
        program.touch(0o755)
        monkeypatch.setenv("PATH", "/nowhere")
        assert search_executor.find_ripgrep() != str(program)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        assert search_executor.find_ripgrep() == str(program)

    @pytest.mark.parametrize("kind", ["pipe", "device"])
    def test_that_is_no_file_is_refused(self, kind, tmp_path):
        """Asked to search a pipe or a device, grep says that it cannot; others it passes over."""
        os.mkfifo(tmp_path / "pipe")
        path = {"pipe": str(tmp_path / "pipe"), "device": os.devnull}[kind]
        [tool] = GrepTool.create(working_dir=tmp_path)
        observation = tool({"pattern": "x", "path": path})
        assert observation.is_error
        assert observation.text.startswith(f"{path} is neither a regular file nor a directory")
        assert not tool({"pattern": "x"}).matches
