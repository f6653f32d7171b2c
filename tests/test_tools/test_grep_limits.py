"""A ripgrep that goes wrong: it ends in time, with us, and loses no result."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from patience import join
from test_mcp.peers import is_running

from toolbench.tools.grep import GrepTool
from toolbench.tools.grep import ripgrep as engine
from toolbench.tools.grep.translate import needed_by

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere no process is bound to us"
)
SEARCH = """
import sys
from threading import Thread
from toolbench.processes.guard import process_guard
from toolbench.tools.grep import GrepTool

def add_and_tell(pid, add=process_guard.add):
    add(pid)
    print("guarded", flush=True)

process_guard.add = add_and_tell
[tool] = GrepTool.create(working_dir=sys.argv[1])
Thread(target=tool, args=({"pattern": "x"},), daemon=True).start()
sys.stdin.read()
"""


class FakeRipgrep:
    """A program called `rg` that tells its process id and goes on as it is told."""

    def __init__(self, place: Path, then: str) -> None:
        self.pids = place / "pids"
        os.mkfifo(self.pids)
        self.program = place / "rg"
        self.program.write_text(f"#!/bin/sh\necho $$ > {self.pids}\n{then}\n")
        self.program.chmod(0o755)

    def pid(self) -> int:
        """Wait until it runs."""
        return int(self.pids.read_text())


@pytest.fixture
def ripgrep(tmp_path, monkeypatch):
    def make(then: str) -> FakeRipgrep:
        place = tmp_path / "bin"
        place.mkdir()
        fake = FakeRipgrep(place, then)
        monkeypatch.setattr(engine, "ripgrep", lambda: str(fake.program))
        return fake

    return make


@pytest.fixture
def tool(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("a", "b"):
        (tree / name).write_text("x\n")
    [tool] = GrepTool.create(working_dir=tree)
    return tool


def search(tool) -> tuple[Thread, list]:
    """Search in a thread; return it, and where the result will be."""
    results: list = []
    thread = Thread(target=lambda: results.append(tool({"pattern": "x"})))
    thread.start()
    return thread, results


class TestLimits:
    def test_time(self, tool, ripgrep, monkeypatch):
        """One that never ends is ended, and what to do is said."""
        monkeypatch.setattr(engine, "_PATIENCE", 0.2)
        fake = ripgrep("exec sleep 600")
        thread, results = search(tool)
        pid = fake.pid()
        join(thread)
        assert results[0].is_error
        assert results[0].text.startswith("ripgrep took more than 0.2 s. Narrow path")
        assert not is_running(pid)

    def test_cancel(self, tool, ripgrep):
        """An interrupt ends it too."""
        fake = ripgrep("exec sleep 600")
        thread, results = search(tool)
        pid = fake.pid()
        tool.executor.interrupt()
        join(thread)
        assert "was interrupted" in results[0].text
        assert not is_running(pid)

    def test_output(self, tool, ripgrep, monkeypatch):
        """Whatever it prints, no more than a limit is kept; Python searches in its place."""
        monkeypatch.setattr(engine, "_MOST_OUTPUT", 100_000)
        fake = ripgrep("exec yes ./a")
        thread, results = search(tool)
        pid = fake.pid()
        join(thread)
        assert [Path(file).name for file in sorted(results[0].matches)] == ["a", "b"]
        assert not is_running(pid)

    def test_half_a_result_is_none(self, tool, ripgrep):
        """What one found before something killed it is not taken for all."""
        fake = ripgrep(r"printf './a\0'; kill -9 $$")
        thread, results = search(tool)
        fake.pid()
        join(thread)
        assert [Path(file).name for file in sorted(results[0].matches)] == ["a", "b"]

    def test_memory(self, tool, ripgrep):
        """It fails before it takes all the memory there is."""
        import resource

        fake = ripgrep("exec sleep 600")
        tree = tool.executor.working_dir
        walk = engine.Walk(tree, tree)
        with engine.Ripgrep().beside(walk, needed_by("x"), None):
            limits = resource.prlimit(fake.pid(), resource.RLIMIT_DATA)
        assert limits == (engine._MOST_MEMORY, engine._MOST_MEMORY)

    def test_pattern(self, tool, tmp_path, monkeypatch):
        """The real one refuses a pattern for which it would need 1 GB and half an hour."""
        monkeypatch.setattr(engine, "_PATIENCE", 30)
        line = b"needle" + b"x" * 2_000_000 + b"\n"
        (tmp_path / "tree" / "long").write_bytes(line)
        assert [Path(f).name for f in tool({"pattern": "x{1000000}"}).matches] == ["long"]


def test_a_quick_search_starts_no_guard(tool, monkeypatch):
    """A guard is a process of Python, which costs more than most searches."""
    guarded = []
    monkeypatch.setattr(engine, "_QUICK", 30)
    monkeypatch.setattr(engine.process_guard, "add", guarded.append)
    assert len(tool({"pattern": "x"}).matches) == 2
    assert guarded == []


def test_ends_with_us(tool, ripgrep):
    """SIGKILL for us, in the middle of a search, ends it."""
    fake = ripgrep("exec sleep 600")
    path = f"{fake.program.parent}{os.pathsep}{os.environ['PATH']}"
    parent = subprocess.Popen(
        [sys.executable, "-c", SEARCH, str(tool.executor.working_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PATH": path},
    )
    watch = os.pidfd_open(fake.pid())
    assert parent.stdout.readline() == b"guarded\n"
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    ready, _, _ = select.select([watch], [], [], 20)
    os.close(watch)
    assert ready
