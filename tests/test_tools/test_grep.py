"""Grep: which files it finds, with ripgrep and without."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.tools.grep import GrepAction, GrepTool
from toolbench.tools.search import search_executor

PIECES = st.sampled_from(
    ["a", "b", "é", " ", "_", r"\.", ".", r"\d", r"\w", r"\S", "[a-c]", "[^a]"]
)
PATTERNS = st.lists(PIECES, min_size=1, max_size=6).map("".join)
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


IGNORED = {".gitignore", "skip.log", "out/a"}
# The plain walk takes the two in UTF-16 for binary, and a name in UTF-8 that is broken for text
RIPGREP_ONLY = {*IGNORED, "utf16.txt", "utf16be.txt", "broken.txt", "late_nul.bin"}


def plant(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


@pytest.fixture
def tool(tmp_path):
    [tool] = GrepTool.create(ConversationState(tmp_path))
    return tool


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Files of many kinds, none of them ignored."""
    root = tmp_path_factory.mktemp("planted")
    plant(root, {name: data for name, data in FILES.items() if name not in RIPGREP_ONLY})
    return root


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


class TestRefused:
    @pytest.mark.parametrize(
        ("pattern", "message"),
        [
            ("[invalid", "unclosed character class"),
            ("a(", "unclosed group"),
            ("*a", "repetition operator missing expression"),
            ("a{99999999999999}", "decimal literal invalid"),
            ("(?<=a*)b", "length of lookbehind assertion is not limited"),
        ],
    )
    def test_no_regular_expression(self, tool, pattern, message):
        """What is no regular expression is explained, and what to do about it."""
        observation = tool({"pattern": pattern})
        assert observation.is_error
        assert "is not a valid regular expression" in observation.text
        assert message in observation.text
        assert "Put a backslash" in observation.text

    @pytest.mark.parametrize("pattern", ["a\nb", r"a\nb", r"\\\n"])
    def test_line_ends(self, tool, pattern):
        """A pattern cannot ask for a line end."""
        observation = tool({"pattern": pattern})
        assert observation.is_error
        assert "spans several lines" in observation.text

    @pytest.mark.parametrize("pattern", ["a\0", "\ud800"])
    def test_no_text(self, tool, pattern):
        """What no line of text has is refused."""
        assert "has a NUL or half a character" in tool({"pattern": pattern}).text

    @pytest.mark.parametrize("pattern", [r"a\\nb", r"[^\n]a"])
    def test_no_line_ends(self, tool, pattern):
        """What only looks like one is fine."""
        assert not tool({"pattern": pattern}).is_error

    def test_a_pattern_longer_than_an_argument(self, tool):
        """What the system does not pass on to ripgrep is refused in a sentence."""
        observation = tool({"pattern": "x" * 200_000})
        assert observation.is_error
        assert observation.text.endswith("Give a shorter pattern.")

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


class TestWalk:
    def test_refuses_what_is_no_regular_expression(self, tool, monkeypatch):
        """As with ripgrep, in the words of Python."""
        monkeypatch.setattr(search_executor, "find_ripgrep", lambda: None)
        text = tool({"pattern": "a("}).text
        assert text.startswith("'a(' is not a valid regular expression: missing )")

    @settings(max_examples=10)
    @example(pattern="ab", include="*.txt")
    @example(pattern="b$", include=None)
    @example(pattern="^ab", include=".*")
    @example(pattern="(?<=a)b", include=None)
    @pytest.mark.slow
    @given(
        pattern=PATTERNS,
        include=st.sampled_from([None, None, "*.txt", "*.{py,bin}", "sub/**", ".*", "*x*"]),
    )
    def test_finds_the_same(self, planted, pattern, include):
        """With ripgrep and without, the result is the same for what both engines know."""
        [tool] = GrepTool.create(working_dir=planted)
        arguments = {"pattern": pattern, "include": include}
        fast = tool(arguments)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_executor, "find_ripgrep", lambda: None)
            slow = tool(arguments)
        assert set(fast.matches) == set(slow.matches)


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
