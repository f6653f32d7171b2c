"""What searches share: glob patterns, .gitignore rules, the walk through directories."""

import os
import re
import subprocess
from pathlib import Path
from shutil import which

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from toolbench import run_tool
from toolbench.tools import GlobTool, GrepTool
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.search.globs import Glob, split

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
    return list(map(Glob(pattern).matches, paths))


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def searched(base: Path, pattern: str = "**") -> set[str]:
    [glob] = GlobTool.create(working_dir=base)
    observation = glob({"pattern": pattern})
    assert not observation.is_error, observation.text
    return {str(Path(file).relative_to(base)) for file in observation.files}


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
            Glob(pattern)

    @given(st.text(alphabet="ab/.*?[]{},!\\-", max_size=12))
    def test_any_text_is_taken_or_refused(self, pattern):
        """Every text is a pattern or refused with a sentence; no other error comes out.

        A pattern that is taken means relative paths: never the root.
        """
        try:
            glob = Glob(pattern)
        except RunError as error:
            assert "is not a valid glob pattern" in str(error)
        else:
            assert not glob.matches("/")

    @given(st.text(alphabet="ab.*?[]{},!-", min_size=1, max_size=12))
    def test_a_text_with_every_sign_escaped_means_itself(self, name):
        """A backslash before a sign takes its meaning away."""
        escaped = re.sub(r"([^ab.])", r"\\\1", name)
        assume(name not in (".", ".."))
        assert Glob(escaped).matches(name)
        assert not Glob(escaped).matches(f"{name}a")

    def test_names_hidden(self):
        """Only a dot that begins a name asks for hidden files."""
        asking = [".env", "a/.b", "{.a,b}", ".github/**"]
        others = ["*.py", "./a", "../a", "a.b", "**/*.{py,pyi}"]
        assert all(Glob(pattern).is_hidden for pattern in asking)
        assert not any(Glob(pattern).is_hidden for pattern in others)

    @pytest.mark.parametrize(
        ("pattern", "parts"),
        [
            ("*.py", ("", "*.py")),
            ("src/*.py", ("src", "./*.py")),
            ("src/a.py", ("src", "./a.py")),
            ("/usr/lib/**/*.so", ("/usr/lib", "./**/*.so")),
            ("/*/b", ("/", "./*/b")),
            ("a/b*/c", ("a", "./b*/c")),
            ("src/", ("src", "./")),
            ("", ("", "")),
        ],
    )
    def test_split(self, pattern, parts):
        """The directories a pattern names are where its search begins."""
        assert split(pattern) == parts

    @pytest.mark.parametrize(
        ("pattern", "depth"),
        [("./*", 1), ("./a/*", 2), ("*/{a,b/c}", 3), ("*", None), ("a/**/b", None), ("./", None)],
    )
    def test_depth(self, pattern, depth):
        """A pattern says how deep a walk has to go; without a slash it is any depth."""
        assert Glob(pattern).depth == depth

    @given(st.lists(PARTS, min_size=1, max_size=4).map("/".join))
    def test_nothing_below_it(self, pattern):
        """No path that matches lies deeper."""
        glob = Glob(pattern)
        found = [path for path in TREE if glob.matches(path)]
        assert glob.depth is None or all(path.count("/") < glob.depth for path in found)


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
        assert searched(tmp_path) == left

    def test_deeper_files_have_the_last_word(self, tmp_path):
        """A .gitignore further down overrules those above it."""
        plant(tmp_path, "a/x.log", "b/x.log", "b/y")
        (tmp_path / ".gitignore").write_text("*.log\n")
        (tmp_path / "b" / ".gitignore").write_text("!x.log\n/y\n")
        assert searched(tmp_path) == {"b/x.log"}

    def test_rules_above(self, tmp_path):
        """Rules of the repository hold in a directory of it."""
        plant(tmp_path, ".git/HEAD", "a/b/x.log", "a/b/y", "a/b/z")
        (tmp_path / ".gitignore").write_text("*.log\n")
        (tmp_path / "a" / ".gitignore").write_text("b/y\n")
        assert searched(tmp_path / "a/b") == {"z"}

    def test_an_ignored_directory_asked_for(self, tmp_path):
        """Whoever asks for an ignored directory sees what is in it."""
        plant(tmp_path, ".git/HEAD", "dist/a", "dist/sub/b")
        (tmp_path / ".gitignore").write_text("dist\n*\n")
        assert searched(tmp_path / "dist") == {"a", "sub/b"}
        assert searched(tmp_path / "dist/sub") == {"b"}

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
            "[Not searched, because .gitignore excludes them: 2 files, such as dist/a, src/a.log. "
            "To search an ignored folder, give it as path.]"
        )
        text = run_tool(grep, pattern="KEY", path=str(tmp_path), include=".*").text
        assert "1 file, such as .env." in text
        assert run_tool(grep, pattern="KEY", path=str(tmp_path / ".env")).matches
        assert "1 file, such as src/a.log." in run_tool(glob, pattern="*.log").text
        assert "Not searched" not in run_tool(glob, pattern="*.py").text

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
        assert searched(root, "{**/*,**/.*,**/.*/**}") == expected
