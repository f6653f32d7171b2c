"""What searches share: glob patterns, .gitignore rules, the walk through directories."""

import os
import re
import subprocess
import tempfile
from math import inf
from pathlib import Path
from shutil import which

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from toolbench import run_tool
from toolbench.tools import GlobTool, GrepTool
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.search.folder_walk import DirectoryFiles, Walk
from toolbench.tools.search.globs import (
    deepest,
    name_regex,
    name_test,
    names_hidden,
    path_regex,
)
from toolbench.tools.search.newest import newest, newest_first
from toolbench.tools.search.place import split_pattern

PIECES = st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "\\*", " ", "#", "!"])
NAMES = st.lists(PIECES, min_size=1, max_size=4).map("".join)
PARTS = NAMES.filter(lambda name: "**" not in name) | st.just("**")
RULE = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(PARTS, min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "/"]),
)
RULES = st.lists(RULE, max_size=5)
TREE = (
    "a", "b", "a.b", ".a", "*", "aa/a", "aa/b", "aa/ab/a.b", "aa/.b/a", "b.b/a/b",
    "b.b/b/a", " /a", "#/a", "!a", "ab/aa/ab/b",
)  # fmt: skip


def matches(pattern: str, *paths: str) -> list[bool]:
    regex = path_regex(pattern)
    return [regex.fullmatch(path) is not None for path in paths]


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def walked(base: Path, top: Path | None = None, **options) -> set[str]:
    return set(Walk(base, top or base, **options))


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A directory with a tree, known to git."""
    git = which("git")
    if git is None:
        pytest.skip("git is not installed, so there is nothing to compare with")
    root = tmp_path_factory.mktemp("repository")
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {**os.environ, **config, "XDG_CONFIG_HOME": str(root / "none")}

    def run(*arguments) -> bytes:
        command = [git, "-C", str(root), *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout

    run("init", "-q")
    plant(root, *TREE)
    return root, run


class TestGlobs:
    @pytest.mark.parametrize(
        ("pattern", "yes", "no"),
        [
            ("*.py", ["a.py", "b/c/a.py"], ["a.pyc", ".a.py", ".b/a.py"]),
            ("./*.py", ["a.py"], ["b/a.py"]),
            ("/*.py", ["a.py"], ["b/a.py"]),
            ("src/*.py", ["src/a.py"], ["a.py", "src/b/a.py", "x/src/a.py"]),
            ("**/t_*.py", ["t_a.py", "b/c/t_a.py"], ["at_a.py"]),
            ("a/**", ["a/b", "a/b/c"], ["a", "ab", "a/.b"]),
            ("a/**/b", ["a/b", "a/x/y/b"], ["ab", "a/.x/b"]),
            ("?", ["a", "é"], ["ab", ".", "/"]),
            ("[a-c]x", ["ax", "q/bx"], ["dx", "x"]),
            ("[!a]*", ["b", "ba"], ["a", ".b"]),
            ("[]a]", ["]", "a"], ["b"]),
            ("*.{py,pyi}", ["a.py", "a.pyi"], ["a.pyx"]),
            ("{a,b{c,d}}/x", ["a/x", "bc/x", "bd/x"], ["b/x", "q/a/x"]),
            ("a{}b", ["ab"], ["a{}b"]),
            (".*", [".env", "a/.env"], ["env"]),
            (".github/**/*.yml", [".github/w/ci.yml"], ["github/ci.yml"]),
            (r"\*\{", ["*{"], ["a{"]),
            ("a+(b)|c$", ["a+(b)|c$"], ["aab"]),
            ("**", ["a", "a/b"], [".a", "a/.b"]),
        ],
    )
    def test_means(self, pattern, yes, no):
        """A pattern means these paths and not those."""
        assert matches(pattern, *yes) == [True] * len(yes)
        assert matches(pattern, *no) == [False] * len(no)

    @pytest.mark.parametrize("pattern", ["[", "a[b", "{a", "{a,{b}", "a\\", "[z-a]"])
    def test_malformed(self, pattern):
        """A pattern that is not well formed is refused with a sentence."""
        with pytest.raises(RunError, match="is not a valid glob pattern"):
            path_regex(pattern)

    def test_too_many_choices(self):
        """Braces that multiply are refused before they fill the memory."""
        with pytest.raises(RunError, match="too many choices"):
            path_regex("{a,b}" * 40)

    @given(st.text(alphabet="ab/.*?[]{},!\\-", max_size=12))
    def test_any_text_is_taken_or_refused(self, pattern):
        """Every text is a pattern or refused with a sentence; no other error comes out.

        A pattern that is taken means relative paths: never the root.
        """
        try:
            regex = path_regex(pattern)
        except RunError as error:
            assert re.search("is not a valid glob pattern|too many choices", str(error))
        else:
            assert not regex.fullmatch("/")

    @given(st.text(alphabet="ab.*?[]{},!-", min_size=1, max_size=12))
    def test_a_text_with_every_sign_escaped_means_itself(self, name):
        """A backslash before a sign takes its meaning away."""
        escaped = re.sub(r"([^ab.])", r"\\\1", name)
        assume(name not in (".", ".."))
        assert path_regex(escaped).fullmatch(name)
        assert not path_regex(escaped).fullmatch(f"{name}a")

    @given(
        st.sampled_from(["", "./", "**/", "./**/"]),
        st.lists(PARTS, min_size=1, max_size=2).map("/".join),
    )
    @example("**/", "{a,b}")
    @example("**/", "{a,b/a}")
    @example("", "{,a}")
    @example("**/", "*.b")
    @example("", "*{,.b}")
    def test_of_a_name_alone_mean_the_same(self, start, rest):
        """Where the name of a file says it all, it says the same as its path."""
        try:
            name_pattern, whole = name_regex(start + rest), path_regex(start + rest)
        except RunError:
            return
        quick = name_test(start + rest)
        assert (quick is None) == (name_pattern is None)
        for path in (p for p in TREE if quick and "/." not in f"/{p}"):
            name = path.rpartition("/")[2]
            assert bool(name_pattern.fullmatch(name)) == bool(whole.fullmatch(path))
            assert bool(quick(name)) == bool(whole.fullmatch(path))

    @pytest.mark.parametrize("pattern", ["*.py", "**/a*", "./**/[ab]", "{a,b}"])
    def test_of_a_name_alone_are_recognized(self, pattern):
        """A walk looks at names where that is enough: paths cost more."""
        assert name_regex(pattern) is not None

    def test_names_hidden(self):
        """Only a dot that begins a name asks for hidden files."""
        asking = [".env", "a/.b", "{.a,b}", ".github/**"]
        others = ["*.py", "./a", "../a", "a.b", "**/*.{py,pyi}"]
        assert all(map(names_hidden, asking))
        assert not any(map(names_hidden, others))

    @pytest.mark.parametrize(
        ("pattern", "parts"),
        [
            ("*.py", ("", "*.py")),
            ("src/*.py", ("src", "./*.py")),
            ("src/a.py", ("src", "./a.py")),
            ("/usr/lib/**/*.so", ("/usr/lib", "./**/*.so")),
            ("/*/b", ("/", "./*/b")),
            ("a/b*/c", ("a", "./b*/c")),
            ("src/", ("src", "./**")),
            ("", ("", "**")),
        ],
    )
    def test_split(self, pattern, parts):
        """The directories a pattern names are where its search begins."""
        assert split_pattern(pattern) == parts

    @pytest.mark.parametrize(
        ("pattern", "depth"),
        [("./*", 0), ("./a/*", 1), ("*/{a,b/c}", 2), ("*", inf), ("a/**/b", inf)],
    )
    def test_depth(self, pattern, depth):
        """A pattern says how deep a walk has to go; without a slash it is any depth."""
        assert deepest(pattern) == depth

    @given(st.lists(PARTS, min_size=1, max_size=4).map("/".join))
    def test_nothing_below_it(self, pattern):
        """No path that matches lies deeper."""
        regex = path_regex(pattern)
        assert all(path.count("/") <= deepest(pattern) for path in TREE if regex.fullmatch(path))


class TestIgnore:
    @pytest.mark.parametrize(
        ("rules", "left"),
        [
            ("*.b", {"a", "b", "aa/a", "aa/b", "aa/ab/x"}),
            ("aa", {"a", "b", "a.b"}),
            ("aa/", {"a", "b", "a.b"}),
            ("a/", {"a", "b", "a.b", "aa/a", "aa/b", "aa/ab/x", "aa/ab/a.b"}),
            ("/b", {"a", "a.b", "aa/a", "aa/b", "aa/ab/x", "aa/ab/a.b"}),
            ("aa/*\n!aa/b", {"a", "b", "a.b", "aa/b"}),
            ("aa/\n!aa/b", {"a", "b", "a.b"}),
            ("**/ab", {"a", "b", "a.b", "aa/a", "aa/b"}),
            ("aa/**/a.b", {"a", "b", "a.b", "aa/a", "aa/b", "aa/ab/x"}),
            (
                "# a\n\\#\n[\n  ",
                {"a", "b", "a.b", "aa/a", "aa/b", "aa/ab/x", "aa/ab/a.b"},
            ),
        ],
    )
    def test_rules(self, tmp_path, rules, left):
        """The rules leave these files."""
        plant(tmp_path, "a", "b", "a.b", "aa/a", "aa/b", "aa/ab/x", "aa/ab/a.b")
        (tmp_path / ".gitignore").write_text(rules)
        assert walked(tmp_path) == left

    def test_deeper_files_have_the_last_word(self, tmp_path):
        """A .gitignore further down overrules those above it."""
        plant(tmp_path, "a/x.log", "b/x.log", "b/y")
        (tmp_path / ".gitignore").write_text("*.log\n")
        (tmp_path / "b" / ".gitignore").write_text("!x.log\n/y\n")
        assert walked(tmp_path) == {"b/x.log"}

    def test_rules_above(self, tmp_path):
        """Rules of the repository hold in a directory of it."""
        plant(tmp_path, ".git/HEAD", "a/b/x.log", "a/b/y", "a/b/z")
        (tmp_path / ".gitignore").write_text("*.log\n")
        (tmp_path / "a" / ".gitignore").write_text("b/y\n")
        assert walked(tmp_path / "a/b") == {"z"}

    def test_no_rules_above_without_a_repository(self, tmp_path):
        """Outside a repository, rules hold below the directory that was asked for."""
        plant(tmp_path, "a/x.log")
        (tmp_path / ".gitignore").write_text("*.log\n")
        assert walked(tmp_path / "a") == {"x.log"}
        assert walked(tmp_path / "a", tmp_path) == set()

    def test_an_ignored_directory_asked_for(self, tmp_path):
        """Whoever asks for an ignored directory sees what is in it."""
        plant(tmp_path, ".git/HEAD", "dist/a", "dist/sub/b")
        (tmp_path / ".gitignore").write_text("dist\n*\n")
        assert walked(tmp_path / "dist") == {"a", "sub/b"}
        assert walked(tmp_path / "dist/sub") == {"b"}

    @pytest.mark.parametrize(
        ("rules", "files"),
        [
            ("scripts/*\n!scripts/.keep", {"scripts/a.py", "scripts/b.log"}),
            ("/scripts/**", {"scripts/a.py", "scripts/b.log"}),
            ("*.log", {"scripts/a.py"}),
            ("*\n!*/\n!*.py", {"scripts/a.py"}),
        ],
    )
    def test_a_directory_whose_files_are_all_ignored_is_searched_if_named(
        self, tmp_path, rules, files
    ):
        """By glob and by grep; a rule for some files holds there too."""
        plant(tmp_path, ".git/HEAD", "scripts/a.py", "scripts/b.log", "scripts/.keep")
        for name in ("a.py", "b.log"):
            (tmp_path / "scripts" / name).write_text("needle")
        (tmp_path / ".gitignore").write_text(rules)
        [glob], [grep] = GlobTool.create(None, working_dir=tmp_path), GrepTool.create(None)
        found = [
            run_tool(glob, pattern="scripts/*").files,
            run_tool(glob, pattern="*", path=str(tmp_path / "scripts")).files,
            run_tool(grep, pattern="needle", path=str(tmp_path / "scripts")).matches,
        ]
        assert [set(paths) for paths in found] == [{f"{tmp_path}/{file}" for file in files}] * 3

    def test_a_search_that_finds_nothing_names_what_was_ignored(self, tmp_path):
        """So nobody takes it for absent; the files can be searched one by one."""
        plant(tmp_path, ".git/HEAD", "dist/a", "src/a.log", ".env", "src/b.py")
        (tmp_path / ".env").write_text("KEY=1")
        (tmp_path / ".gitignore").write_text("dist\n*.log\n.env\n")
        [glob], [grep] = GlobTool.create(None, working_dir=tmp_path), GrepTool.create(None)
        text = run_tool(grep, pattern="KEY", path=str(tmp_path)).text
        assert text.endswith(
            "[Not searched, because .gitignore excludes them: 2 files and 1 folder, such as .env, "
            "dist, src/a.log. To search one, give it as path.]"
        )
        assert (
            "2 files" not in run_tool(grep, pattern="KEY", path=str(tmp_path), include="*.py").text
        )
        assert run_tool(grep, pattern="KEY", path=str(tmp_path / ".env")).matches
        # glob takes no file as path
        assert run_tool(glob, pattern="*.log").text.endswith(
            "1 file and 1 folder, such as dist, src/a.log. To search a folder of them, give it as path.]"
        )
        assert "Not searched" not in run_tool(glob, pattern="*.py").text

    def test_strange_files(self, tmp_path):
        """A .gitignore that is a directory, or no UTF-8, is no error."""
        plant(tmp_path, "a/.gitignore/x", "b/caf\udce9", "b/c", "c")
        (tmp_path / "b" / ".gitignore").write_bytes(b"\xef\xbb\xbfcaf\xe9\r\n")
        assert walked(tmp_path) == {"b/c", "c"}

    @pytest.mark.slow
    @settings(max_examples=40)
    @example(top=["a*", "!aa", "/b"], below=[])
    @example(top=["**/a/**"], below=["!b"])
    @given(top=RULES, below=RULES)
    def test_as_git_does(self, repository, top, below):
        """Whatever the rules say, what is left is what git leaves."""
        root, run = repository
        (root / ".gitignore").write_text("\n".join(top))
        (root / "aa" / ".gitignore").write_text("\n".join(below))
        output = run("ls-files", "--others", "--exclude-standard", "-z")
        expected = {os.fsdecode(path) for path in output.split(b"\0") if path}
        assert walked(root, hidden=True) == expected


class TestWalk:
    def test_ends_where_it_is_told(self, tmp_path):
        """Directories that are too deep are not even opened."""
        (tmp_path / "a" / "b").mkdir(parents=True)
        for place in ("x", "a/x", "a/b/x"):
            (tmp_path / place).touch()
        opened = []

        def stopped():
            opened.append(None)
            return False

        walk = Walk(tmp_path, tmp_path, deepest=1, stopped=stopped)
        assert set(walk) == {"x", "a/x"}
        assert len(opened) == 2

    def test_hidden(self, tmp_path):
        """What begins with a dot is left out unless asked for; .git always is."""
        plant(tmp_path, "a", ".b", ".c/d", "e/.f", ".git/config")
        assert walked(tmp_path) == {"a"}
        assert walked(tmp_path, hidden=True) == {"a", ".b", ".c/d", "e/.f"}

    def test_hidden_base(self, tmp_path):
        """A hidden directory that is asked for is searched."""
        plant(tmp_path, ".c/d")
        assert walked(tmp_path / ".c") == {"d"}

    def test_links(self, tmp_path):
        """Links to files are files if wanted; no link to a directory is followed."""
        plant(tmp_path, "dir/a")
        (tmp_path / "file").symlink_to("dir/a")
        (tmp_path / "around").symlink_to(".")
        (tmp_path / "circle").symlink_to("circle")
        (tmp_path / "nowhere").symlink_to("gone")
        assert walked(tmp_path) == {"dir/a", "file"}
        assert walked(tmp_path, links=False) == {"dir/a"}

    def test_pipes(self, tmp_path):
        """Only files are found."""
        os.mkfifo(tmp_path / "pipe")
        assert walked(tmp_path) == set()

    def test_unreadable_directories_are_counted(self, tmp_path, monkeypatch):
        """A directory that cannot be read is passed over and counted."""
        plant(tmp_path, "a/b", "c/d")
        real = os.open

        def refusing(path, flags):
            if str(path).rstrip("/").endswith("/a"):
                raise PermissionError
            return real(path, flags)

        monkeypatch.setattr(os, "open", refusing)
        walk = Walk(tmp_path, tmp_path)
        assert (set(walk), walk.unreadable) == ({"c/d"}, 1)

    def test_closes_each_directory(self, tmp_path):
        """A walk leaves no directory open, also if it is not walked to its end."""
        plant(tmp_path, "a/b", "c/d")
        before = open_files()
        walk = Walk(tmp_path, tmp_path).by_directory()
        next(walk)
        assert open_files() == before + 1
        del walk
        assert walked(tmp_path) == {"a/b", "c/d"}
        assert open_files() == before

    def test_stops(self, tmp_path):
        """A walk that is stopped goes no further."""
        plant(tmp_path, "a/b", "c/d")
        assert walked(tmp_path, stopped=lambda: True) == set()


class TestNewest:
    def test_order(self, tmp_path):
        """Files come newest first, those of one time by name; what is gone is left out."""
        plant(tmp_path, *"abcd")
        for name, time in zip("abcd", (1, 3, 2, 3), strict=True):
            os.utime(tmp_path / name, (time, time))
        paths = list(newest_first(f"{tmp_path}/", "abcde"))
        assert paths == [str(tmp_path / name) for name in "bdca"]

    @given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 3))
    def test_a_few_are_the_first(self, times, most):
        """A few of many are those that come first in the order, in whichever order they are looked at."""
        with tempfile.TemporaryDirectory() as folder:
            for number, time in enumerate(times):
                path = Path(folder, str(number))
                path.touch()
                os.utime(path, (time, time))
            removed = Path(folder, "removed")
            removed.touch()
            with os.scandir(folder) as scan:
                files = list(scan)
            removed.unlink()
            order = list(newest_first(f"{folder}/", [file.name for file in files]))
            directories = [DirectoryFiles("", files)]
            assert newest(f"{folder}/", directories, most) == order[:most]
