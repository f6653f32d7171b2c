"""What the file tools cost: beside doing the same directly, by the clock on the wall."""

import subprocess

import pytest
from measuring import WALL, Cold
from trees import large_file, many_files

from toolbench.tools.file_editor import FileEditorTool
from toolbench.tools.glob import GlobTool
from toolbench.tools.grep import GrepTool
from toolbench.tools.search.search_executor import find_ripgrep


def run(*command, cwd=None):
    return lambda: subprocess.run(
        command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return large_file(tmp_path_factory.mktemp("large") / "large.txt")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return many_files(tmp_path_factory.mktemp("tree"))


@pytest.fixture
def ripgrep():
    program = find_ripgrep()
    if program is None:
        pytest.skip("ripgrep is not installed, so there is nothing to compare with")
    return program


class TestEditor:
    @pytest.fixture
    def edit(self, large):
        [tool] = FileEditorTool.create()
        return lambda **arguments: tool({"path": str(large), **arguments})

    def test_the_first_view(self, ledger, edit, large):
        """9.3 MB, changed since the last view: at most 8 ms of CPU, and 3 ms for 100 lines.

        Beside what the answer cannot do without: reading the file and counting its line ends.
        """
        for what, lines, limit in (
            ("all", None, 0.008),
            ("100 lines", [65_000, 65_100], 0.003),
        ):
            view = Cold(
                large.touch,
                lambda _, lines=lines: edit(command="view", view_range=lines),
            )
            ledger.time(f"file of 9.3 MB: first view of {what}", ours=view, limit=limit)
        ledger.compare(
            "file of 9.3 MB: first view of 100 lines, beside reading and counting",
            ours=view,
            peer=Cold(large.touch, lambda _: large.read_bytes().count(b"\n")),
            peer_name="bytes.count",
        )

    def test_str_replace(self, ledger, edit, large, tmp_path):
        """Beside reading, replacing once and writing in Python: at most twice the time."""
        other = tmp_path / "plain.txt"
        other.write_bytes(large.read_bytes())
        spellings = ["line 65000 of", "line 65000 OF"]

        def ours():
            old, new = spellings
            assert not edit(command="str_replace", old_str=old, new_str=new).is_error
            spellings.reverse()

        def theirs():
            text = other.read_text()
            old, new = spellings
            if text.count(old) != 1:
                old, new = new, old
            other.write_text(text.replace(old, new))

        ledger.compare(
            "file of 9.3 MB: str_replace",
            ours=ours,
            peer=theirs,
            peer_name="read, replace, write in Python",
            goal=2,
            clock=WALL,
        )


PATTERNS = ("needle_here", "common_token", r"needle\w+ = \d")


class TestSearch:
    @pytest.mark.parametrize("pattern", ["**/file7.*", "**/*.py"])
    def test_glob(self, ledger, tree, ripgrep, pattern):
        """Beside ripgrep listing the same by age, which is what we ask it for."""
        [tool] = GlobTool.create(working_dir=tree)
        ledger.compare(
            f"20,000 files: glob {pattern}, beside rg --files by age",
            ours=lambda: tool({"pattern": pattern}),
            peer=run(ripgrep, "--files", "--sortr", "modified", "-g", pattern, cwd=tree),
            peer_name="rg --files by age",
            goal=1,
            clock=WALL,
            rounds=9,
        )

    def test_glob_in_python(self, ledger, tree):
        """Beside pathlib listing the same and sorting it by age."""
        [tool] = GlobTool.create(working_dir=tree)

        def theirs():
            found = ((path.stat().st_mtime, path) for path in tree.rglob("*.py"))
            return sorted(found, reverse=True)[:100]

        ledger.compare(
            "20,000 files: glob **/*.py, beside plain Python",
            ours=lambda: tool({"pattern": "**/*.py"}),
            peer=theirs,
            peer_name="pathlib",
            goal=1,
            clock=WALL,
            rounds=5,
        )

    @pytest.mark.parametrize("pattern", PATTERNS)
    def test_grep(self, ledger, tree, ripgrep, pattern):
        """Beside bare ripgrep: at most 1.2 times the time."""
        [tool] = GrepTool.create(working_dir=tree)
        ledger.compare(
            f"20,000 files: grep {pattern}",
            ours=lambda: tool({"pattern": pattern}),
            peer=run(ripgrep, "-il", pattern, cwd=tree),
            peer_name="rg -il",
            goal=1.2,
            clock=WALL,
            rounds=9,
        )
