"""Glob: which files it finds, in which order, and how it says that there are none."""

import os
from pathlib import Path
from threading import Thread

import pytest
from patience import join
from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.tools.glob import GlobAction, GlobObservation, GlobTool
from toolbench.tools.search import search_executor


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


@pytest.fixture(params=["ripgrep", "walk"])
def tool(tmp_path, request, monkeypatch):
    """Glob with ripgrep, and as it is where ripgrep is not installed."""
    if request.param == "walk":
        monkeypatch.setattr(search_executor, "find_ripgrep", lambda: None)
    [tool] = GlobTool.create(ConversationState(tmp_path))
    return tool


def matches(tool, pattern, **arguments) -> list[str]:
    """Return what is found, relative to the working directory, in the order of names."""
    observation = tool({"pattern": pattern, **arguments})
    assert not observation.is_error, observation.text
    root = tool.executor.working_dir
    return sorted(os.path.relpath(file, root) for file in observation.files)


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
        assert matches(tool, pattern) == files

    def test_path(self, tool, tmp_path):
        """A path says where to look, from the working directory or absolute."""
        plant(tmp_path, "a/x", "b/x")
        assert matches(tool, "x", path="a") == ["a/x"]
        assert matches(tool, "x", path=str(tmp_path / "b")) == ["b/x"]

    def test_absolute_pattern(self, tool, tmp_path):
        """A pattern may be absolute, too."""
        plant(tmp_path, "a/x.py", "a/b/x.py")
        observation = tool({"pattern": f"{tmp_path}/a/*.py"})
        assert observation.files == [str(tmp_path / "a/x.py")]
        assert observation.search_path == str(tmp_path / "a")

    def test_ignored(self, tool, tmp_path):
        """What .gitignore excludes is left out, unless its directory is named.

        Without ripgrep nothing is left out, and the result says so.
        """
        plant(tmp_path, "a.log", "dist/b.js", "c.js")
        (tmp_path / ".gitignore").write_text("*.log\ndist/\n")
        if search_executor.find_ripgrep() is None:
            text = tool({"pattern": "*.log"}).text
            assert text.splitlines()[0] == str(tmp_path / "a.log")
            assert "ripgrep is not installed, so no .gitignore was read" in text
            return
        assert matches(tool, "*.log") == []
        assert matches(tool, "**/*.js") == ["c.js"]
        assert matches(tool, "dist/*.js") == ["dist/b.js"]
        assert matches(tool, "*.js", path="dist") == ["dist/b.js"]

    def test_newest_first(self, tool, tmp_path):
        """Files changed last come first."""
        plant(tmp_path, "a", "b", "c")
        for name, time in (("a", 20), ("b", 30), ("c", 10)):
            os.utime(tmp_path / name, (time, time))
        observation = tool({"pattern": "?"})
        assert [Path(file).name for file in observation.files] == ["b", "a", "c"]
        assert observation.text.startswith("\n".join(observation.files))

    @pytest.mark.parametrize(("number", "truncated"), [(100, False), (101, True)])
    def test_cap(self, tool, tmp_path, number, truncated):
        """A hundred files are returned; only if there are more, that is said."""
        plant(tmp_path, *(f"f{n}" for n in range(number)))
        observation = tool({"pattern": "f*"})
        assert (len(observation.files), observation.truncated) == (100, truncated)
        assert ("narrow the pattern" in observation.text) == truncated

    def test_links(self, tool, tmp_path):
        """Links are neither found nor followed."""
        plant(tmp_path, "real/data")
        (tmp_path / "link.txt").symlink_to("real/data")
        (tmp_path / "loop").symlink_to(".")
        assert matches(tool, "*.txt") == []
        assert matches(tool, "data") == ["real/data"]

    def test_undecodable_names(self, tool, tmp_path):
        """Names that are no UTF-8 are found, and written escaped."""
        plant(tmp_path, os.fsdecode(b"caf\xe9.txt"))
        observation = tool({"pattern": "caf*"})
        assert observation.files == [str(tmp_path) + r"/caf\xe9.txt"]
        assert observation.model_dump_json()

    def test_long_names(self, tool, tmp_path):
        """Neither long names nor long patterns are a problem."""
        plant(tmp_path, "n" * 255)
        assert matches(tool, "n" * 255) == ["n" * 255]
        assert matches(tool, "n" * 300) == []


class TestNothing:
    def test_no_match(self, tool, tmp_path):
        """No match is no error; the pattern and the place are said."""
        observation = tool({"pattern": "*.rs"})
        assert (observation.is_error, observation.files) == (False, [])
        assert observation.text.startswith(f"No file in {tmp_path} matches '*.rs'.")

    @pytest.mark.parametrize("path", ["gone", "file", "a\0b"])
    def test_no_directory(self, tool, tmp_path, path):
        """A path that is no directory is an error that says what it should be."""
        plant(tmp_path, "file")
        observation = tool({"pattern": "*", "path": path})
        assert observation.is_error
        assert "is not a valid directory" in observation.text

    def test_malformed(self, tool):
        """A malformed pattern is an error with advice."""
        observation = tool({"pattern": "a[b"})
        assert observation.is_error
        assert "a bracket is not closed" in observation.text


class TestConcurrency:
    def test_many_at_once(self, tool, tmp_path):
        """Calls at one time do not disturb each other."""
        plant(tmp_path, *(f"{d}/{d}{n}" for d in "abcd" for n in range(20)))
        files_by_name: dict[str, list[str]] = {}

        def search(name):
            files_by_name[name] = matches(tool, "*", path=name)

        threads = [Thread(target=search, args=[name]) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            join(thread)
        assert files_by_name == {d: sorted(f"{d}/{d}{n}" for n in range(20)) for d in "abcd"}


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
            observation = GlobObservation.from_text("[red]/x", pattern="*", search_path="/")
            console.print(observation.visualize)
        assert capture.get() == "glob [a]* in /[b]\n[red]/x\n"
