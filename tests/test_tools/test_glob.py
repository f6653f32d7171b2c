"""Glob: which files it finds, in which order, and how it says that there are none."""

import os
from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.tools.glob import GlobAction, GlobObservation, GlobTool


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


@pytest.fixture
def tool(tmp_path):
    [tool] = GlobTool.create(ConversationState(tmp_path))
    return tool


def found(tool, pattern, **arguments) -> list[str]:
    """Return what is found, relative to the working directory, in the order of names."""
    seen = tool({"pattern": pattern, **arguments})
    assert not seen.is_error, seen.text
    root = tool.executor.working_dir
    return sorted(os.path.relpath(file, root) for file in seen.files)


class TestFinds:
    @pytest.mark.parametrize(
        ("pattern", "files"),
        [
            ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
            ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
            ("src/*.py", ["src/b.py"]),
            ("src/**/*.{py,js}", ["src/b.py", "src/deep/c.py", "src/x.js"]),
            ("./a.*", ["a.py"]),
            ("src", []),
            ("src/", ["src/b.py", "src/deep/c.py", "src/x.js"]),
            (".env", [".env"]),
            (".github/**", [".github/ci.yml"]),
            ("gone/*.py", []),
        ],
    )
    def test_patterns(self, tool, tmp_path, pattern, files):
        """A pattern finds these files."""
        plant(tmp_path, "a.py", "src/b.py", "src/deep/c.py", "src/x.js")
        plant(tmp_path, ".env", ".github/ci.yml", ".git/a.py")
        assert found(tool, pattern) == files

    def test_path(self, tool, tmp_path):
        """A path says where to look, from the working directory or absolute."""
        plant(tmp_path, "a/x", "b/x")
        assert found(tool, "x", path="a") == ["a/x"]
        assert found(tool, "x", path=str(tmp_path / "b")) == ["b/x"]

    def test_absolute_pattern(self, tool, tmp_path):
        """A pattern may be absolute, too."""
        plant(tmp_path, "a/x.py", "a/b/x.py")
        seen = tool({"pattern": f"{tmp_path}/a/*.py"})
        assert seen.files == [str(tmp_path / "a/x.py")]
        assert seen.search_path == str(tmp_path / "a")

    def test_ignored(self, tool, tmp_path):
        """What .gitignore excludes is left out, unless its directory is named."""
        plant(tmp_path, "a.log", "dist/b.js", "c.js")
        (tmp_path / ".gitignore").write_text("*.log\ndist/\n")
        assert found(tool, "*.log") == []
        assert found(tool, "**/*.js") == ["c.js"]
        assert found(tool, "dist/*.js") == ["dist/b.js"]
        assert found(tool, "*.js", path="dist") == ["dist/b.js"]

    def test_newest_first(self, tool, tmp_path):
        """Files changed last come first."""
        plant(tmp_path, "a", "b", "c")
        for name, time in (("a", 20), ("b", 30), ("c", 10)):
            os.utime(tmp_path / name, (time, time))
        seen = tool({"pattern": "?"})
        assert [Path(file).name for file in seen.files] == ["b", "a", "c"]
        assert seen.text == "\n".join(seen.files)

    @pytest.mark.parametrize(("number", "truncated"), [(100, False), (101, True)])
    def test_cap(self, tool, tmp_path, number, truncated):
        """A hundred files are returned; only if there are more, that is said."""
        plant(tmp_path, *(f"f{n}" for n in range(number)))
        seen = tool({"pattern": "f*"})
        assert (len(seen.files), seen.truncated) == (100, truncated)
        assert ("narrow the pattern" in seen.text) == truncated

    def test_links(self, tool, tmp_path):
        """A link to a file is found under its own name; circles do no harm."""
        plant(tmp_path, "real/data")
        (tmp_path / "link.txt").symlink_to("real/data")
        (tmp_path / "loop").symlink_to(".")
        assert found(tool, "*.txt") == ["link.txt"]
        assert found(tool, "data") == ["real/data"]

    def test_undecodable_names(self, tool, tmp_path):
        """Names that are no UTF-8 are found, and written escaped."""
        plant(tmp_path, os.fsdecode(b"caf\xe9.txt"))
        seen = tool({"pattern": "caf*"})
        assert seen.files == [str(tmp_path) + r"/caf\xe9.txt"]
        assert seen.model_dump_json()

    def test_long_names(self, tool, tmp_path):
        """Neither long names nor long patterns are a problem."""
        plant(tmp_path, "n" * 255)
        assert found(tool, "n" * 255) == ["n" * 255]
        assert found(tool, "n" * 300) == []


class TestNothing:
    def test_no_match(self, tool, tmp_path):
        """No match is no error; the pattern and the place are said."""
        seen = tool({"pattern": "*.rs"})
        assert (seen.is_error, seen.files) == (False, [])
        assert seen.text == f"No file in {tmp_path} matches '*.rs'."

    @pytest.mark.parametrize("path", ["gone", "file", "a\0b"])
    def test_no_directory(self, tool, tmp_path, path):
        """A path that is no directory is an error that says what it should be."""
        plant(tmp_path, "file")
        seen = tool({"pattern": "*", "path": path})
        assert seen.is_error
        assert "is not a valid directory" in seen.text

    def test_malformed(self, tool):
        """A malformed pattern is an error with advice."""
        seen = tool({"pattern": "a[b"})
        assert seen.is_error
        assert "a bracket is not closed" in seen.text

    def test_unreadable(self, tool, tmp_path, monkeypatch):
        """Directories that could not be read are counted."""
        plant(tmp_path, "a/b")

        def scandir(path):
            raise PermissionError

        monkeypatch.setattr(os, "scandir", scandir)
        assert "could not be read: 1" in tool({"pattern": "*"}).text


class TestConcurrency:
    def test_many_at_once(self, tool, tmp_path):
        """Calls at one time do not disturb each other."""
        plant(tmp_path, *(f"{d}/{d}{n}" for d in "abcd" for n in range(20)))
        seen: dict[str, list[str]] = {}

        def search(name):
            seen[name] = found(tool, "*", path=name)

        threads = [Thread(target=search, args=[name]) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert seen == {d: sorted(f"{d}/{d}{n}" for n in range(20)) for d in "abcd"}

    def test_interrupt(self, tool, tmp_path, monkeypatch):
        """An interrupt stops a search; the next one works."""
        plant(tmp_path, "a/b")
        real = os.scandir

        def scandir(path):
            tool.executor.interrupt()
            return real(path)

        with monkeypatch.context() as patch:
            patch.setattr(os, "scandir", scandir)
            seen = tool({"pattern": "*"})
        assert seen.is_error
        assert "interrupted" in seen.text
        assert found(tool, "*") == ["a/b"]


class TestTool:
    def test_name_and_hints(self, tool, tmp_path):
        """It reads only, and tells a model where."""
        assert tool.name == "glob"
        assert tool.hints.readOnlyHint
        assert tool.hints.idempotentHint
        assert not tool.hints.openWorldHint
        assert str(tmp_path) in tool.description

    def test_shown(self):
        """The action shows pattern and place; markup in them is text."""
        console = Console(width=60, color_system=None)
        with console.capture() as capture:
            console.print(GlobAction(pattern="[a]*", path="/[b]").visualize)
            seen = GlobObservation.from_text("[red]/x", pattern="*", search_path="/")
            console.print(seen.visualize)
        assert capture.get() == "glob [a]* in /[b]\n[red]/x\n"
