"""The patch tool: what it changes, and that it changes all or nothing."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.tools.apply_patch import ApplyPatchTool
from toolbench.tools.apply_patch.patch import Part, merge
from toolbench.tools.files import together
from toolbench.tools.files.textfile import TextFile

CODE = (
    "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"
)


class Bench:
    """A directory, and a tool that patches it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        [self.tool] = ApplyPatchTool.create(ConversationState(root))

    def __call__(self, *lines):
        text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
        return self.tool({"patch": text})

    def applied(self, *lines) -> str:
        observation = self(*lines)
        assert not observation.is_error, observation.text
        return observation.text

    def refused(self, *lines) -> str:
        """Apply a patch that must fail and change nothing; return what is said."""
        before = self.files()
        observation = self(*lines)
        assert observation.is_error
        assert self.files() == before
        return observation.text

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_bytes(text.encode())

    def files(self) -> dict[str, bytes]:
        """Everything below the directory, hidden leftovers too; directories are empty."""
        return {
            str(path.relative_to(self.root)): path.read_bytes() if path.is_file() else b""
            for path in self.root.rglob("*")
        }


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path)


class TestKinds:
    def test_add(self, bench):
        """A new file gets its lines, each ended, and the directories above it."""
        text = bench.applied("*** Add File: docs/new.md", "+# New", "+", "+text")
        assert bench.files() == {"docs": b"", "docs/new.md": b"# New\n\ntext\n"}
        assert "A docs/new.md" in text

    def test_add_empty(self, bench):
        """A new file may be empty."""
        bench.applied("*** Add File: a/__init__.py")
        assert bench.files()["a/__init__.py"] == b""

    def test_update(self, bench):
        """Lines are taken away and put in where the lines around them are."""
        bench.write("a.txt", "1\n2\n3\n4\n5\n")
        bench.applied(
            "*** Update File: a.txt",
            "@@",
            " 1",
            "-2",
            "+two",
            " 3",
            "@@",
            "-5",
            "+five",
        )
        assert bench.files() == {"a.txt": b"1\ntwo\n3\n4\nfive\n"}

    def test_first_part_without_a_mark(self, bench):
        """The first part needs no `@@`."""
        bench.write("a.txt", "1\n2\n")
        bench.applied("*** Update File: a.txt", " 1", "+x")
        assert bench.files() == {"a.txt": b"1\nx\n2\n"}

    def test_delete(self, bench):
        """A file can be deleted, binary or not."""
        bench.write("a.txt", "x")
        (bench.root / "b.bin").write_bytes(b"\0")
        bench.applied("*** Delete File: a.txt", "*** Delete File: b.bin")
        assert bench.files() == {}

    def test_move(self, bench):
        """A file can get another name, changed or not, and keeps its mode."""
        bench.write("a.txt", "1\n2\n")
        (bench.root / "a.txt").chmod(0o750)
        bench.applied("*** Update File: a.txt", "*** Move to: d/b.txt", "@@", "-1", "+x")
        assert bench.files() == {"d": b"", "d/b.txt": b"x\n2\n"}
        assert (bench.root / "d/b.txt").stat().st_mode & 0o7777 == 0o750
        bench.applied("*** Update File: d/b.txt", "*** Move to: c.txt")
        assert bench.files() == {"d": b"", "c.txt": b"x\n2\n"}

    def test_several_files(self, bench):
        """One patch changes many files, and says what became of each."""
        bench.write("u", "base\n")
        bench.write("d", "gone\n")
        observation = bench(
            "*** Add File: n",
            "+new",
            "*** Update File: u",
            "@@",
            " base",
            "+more",
            "*** Delete File: d",
        )
        assert bench.files() == {"n": b"new\n", "u": b"base\nmore\n"}
        assert observation.message == observation.text == "Applied the patch.\nA n\nM u\nD d"
        assert {p: c.type for p, c in observation.commit.changes.items()} == {
            "n": "add", "u": "update", "d": "delete",
        }  # fmt: skip
        assert observation.commit.changes["u"].old_content == "base\n"


class TestPlaces:
    def test_heading(self, bench):
        """A line behind `@@` says from where on the part is looked for."""
        bench.write("a.py", CODE)
        bench.applied(
            "*** Update File: a.py",
            "@@ class B:",
            "     def f(self):",
            "-        return 1",
            "+        return 2",
        )
        assert bench.files()["a.py"].decode() == CODE[:-2] + "2\n"

    def test_headings_below_each_other(self, bench):
        """Several of them lead further and further down; the beginning of a line will do."""
        bench.write("a.py", CODE)
        bench.applied(
            "*** Update File: a.py",
            "@@ class B",
            "@@ def f",
            "-        return 1",
            "+        return 2",
        )
        assert bench.files()["a.py"].decode() == CODE[:-2] + "2\n"

    def test_ranges_of_ordinary_diffs(self, bench):
        """The line numbers of an ordinary diff are passed over."""
        bench.write("a.txt", "1\n2\n")
        bench.applied("*** Update File: a.txt", "@@ -1,2 +1,2 @@ def x", "-2", "+3")
        assert bench.files() == {"a.txt": b"1\n3\n"}

    def test_new_lines_only(self, bench):
        """Lines without others around them go below the heading, or to the end."""
        bench.write("a.py", "def f():\n    pass\n")
        bench.applied("*** Update File: a.py", "@@ def f", "+    x = 1", "@@", "+end")
        assert bench.files()["a.py"] == b"def f():\n    x = 1\n    pass\nend\n"

    def test_end_of_file(self, bench):
        """A part that ends the file is looked for there first."""
        bench.write("a.txt", "x\ny\nx\n")
        bench.applied("*** Update File: a.txt", "@@", "-x", "+last", "*** End of File")
        assert bench.files() == {"a.txt": b"x\ny\nlast\n"}

    def test_white_space(self, bench):
        """Other white space is tolerated, counted, and left in the file as it is."""
        bench.write("a.txt", "a\n\tcontext   \nend\n")
        observation = bench("*** Update File: a.txt", "@@", "     context", "-end", "+END")
        assert observation.fuzz == 1
        assert "Fitted only loosely: 1 line" in observation.text
        assert bench.files() == {"a.txt": b"a\n\tcontext   \nEND\n"}

    def test_exact_lines_come_first(self, bench):
        """Lines that fit exactly are taken before those that fit loosely."""
        bench.write("a.txt", "  x\nx\n")
        assert bench("*** Update File: a.txt", "@@", "-x", "+y").fuzz == 0
        assert bench.files() == {"a.txt": b"  x\ny\n"}

    def test_line_ends_and_encoding(self, bench):
        """Line ends, byte order mark and encoding stay."""
        (bench.root / "a").write_bytes(b"\xff\xfe" + "é\r\nb\r\n".encode("utf-16-le"))
        bench.applied("*** Update File: a", "@@", " é", "+☃")
        assert bench.files()["a"] == b"\xff\xfe" + "é\r\n☃\r\nb\r\n".encode("utf-16-le")

    @pytest.mark.parametrize(
        ("lines", "after"),
        [
            ((" a", "-b", "+c"), b"a\r\nc"),
            ((" a", " b", "+c"), b"a\r\nb\r\nc"),
            ((" a", "-b"), b"a"),
            (("-a", " b"), b"b"),
            (("-a", "-b"), b""),
        ],
    )
    def test_unfinished_last_line_of_windows(self, bench, lines, after):
        """A carriage return is a part of a line's end, and nowhere else."""
        bench.write("a", "a\r\nb")
        bench.applied("*** Update File: a", "@@", *lines)
        assert bench.files()["a"] == after

    def test_empty_lines_between_files_and_parts(self, bench):
        """They mean nothing there; above a line of a part, an empty line is an empty line of the file."""
        bench.write("a", "x\n\ny\nz\n")
        added = ("", "*** Add File: b", "+new", "", "*** Delete File: c", "")
        update = ("*** Update File: a", "@@", "-x", "+X", "", " y", "", "@@", "-z", "+Z", "")
        bench.write("c", "")
        bench.applied(*added, *update)
        assert bench.files() == {"a": b"X\n\ny\nZ\n", "b": b"new\n"}
        assert "begins with '+'" in bench.refused("*** Add File: d", "+new", "", "+more")

    def test_unfinished_last_line(self, bench):
        """A last line without an end stays without one."""
        bench.write("a", "x\ny")
        bench.applied("*** Update File: a", "@@", "-x", "+z", " y")
        assert bench.files() == {"a": b"z\ny"}

    @given(st.data())
    def test_a_patch_made_from_a_change_makes_it(self, data):
        """For every change of a text, the part that spells it out leads from old to new."""
        line = st.sampled_from(["a", "b", "  a", "", "c"])
        lines = data.draw(st.lists(st.tuples(st.sampled_from(" -+"), line), max_size=12))
        old = [text for sign, text in lines if sign != "+"]
        new = [text for sign, text in lines if sign != "-"]
        if not old:
            return
        merged, fuzz = merge("f", TextFile("\n".join(old)), [Part(1, lines=lines)])
        assert (merged, fuzz) == ("\n".join(new), 0)


class TestRefused:
    @pytest.mark.parametrize("text", ["", "x", "*** Begin Patch", "*** End Patch"])
    def test_no_patch(self, bench, text):
        """What is no patch is told how one begins and ends."""
        observation = bench.tool({"patch": text})
        assert observation.is_error
        assert "*** Begin Patch" in observation.text

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["*** Add File: a", "no plus"], "begins with '+'"),
            (["*** Delete File: u", "-x"], "only the next file may follow"),
            (["*** Update File: u", "x"], "begins with '@@', a space, '+' or '-'"),
            (["*** Update File: u", "@@"], "changes nothing"),
            (["*** Add File: "], "the path of the file is missing"),
            (["*** Add File: u", "+x"], "exists already"),
            (["*** Update File: u", "*** Move to: v"], "v exists already"),
            (["*** Delete File: nope"], "does not exist"),
            (["*** Update File: nope", "@@", "+x"], "does not exist"),
            (["*** Update File: bin", "@@", "+x"], "is a binary file"),
            (["*** Update File: u", "@@ nowhere", "+x"], "looks for 'nowhere'"),
            (["*** Add File: a", "+1", "*** Add File: a", "+2"], "twice"),
            (["*** Delete File: u", "*** Update File: u", "@@", "+x"], "twice"),
            (["*** Delete File: link"], "symbolic link"),
            (["*** Delete File: dir"], "is not a regular file"),
            (["*** Add File: /etc/new", "+x"], "outside the workspace"),
            (["*** Add File: ../new", "+x"], "outside the workspace"),
            (["*** Add File: out/new", "+x"], "outside the workspace"),
            (["*** Update File: u", "*** Move to: ../new"], "outside the workspace"),
            (["*** Add File: a\0b", "+x"], "is not a path"),
        ],
    )
    def test_says_why(self, bench, lines, message):
        """A patch with a mistake anywhere changes nothing, and the mistake is named."""
        bench.write("u", "one\ntwo\n")
        bench.write("v", "v")
        (bench.root / "bin").write_bytes(b"\0")
        (bench.root / "dir").mkdir()
        (bench.root / "link").symlink_to("u")
        (bench.root / "out").symlink_to(bench.root.parent)
        assert message in bench.refused("*** Add File: fine", "+fine", *lines)

    def test_names_no_file(self, bench):
        """A patch names at least one file, before anything else."""
        assert "The patch is empty" in bench.refused()
        assert "Line 2 of the patch, 'hello'" in bench.refused("hello")

    def test_names_the_line_that_is_missing(self, bench):
        """Of a part that does not fit, the first line that is not there is named."""
        bench.write("u", "one\ntwo\nthree\n")
        text = bench.refused("*** Update File: u", "@@", " one", " two", "-four", "+4")
        assert "no 'four' after line 2 ('two')" in text

    def test_parts_in_the_wrong_order(self, bench):
        """A part is not looked for above the one before it."""
        bench.write("u", "one\ntwo\n")
        text = bench.refused("*** Update File: u", "@@", "-two", "+2", "@@", "-one", "+1")
        assert "give the parts in its order" in text


class TestAllOrNothing:
    LINES = (
        "*** Add File: new/dir/a", "+a", "*** Update File: u", "@@", "-u", "+U",
        "*** Update File: m", "*** Move to: moved", "*** Delete File: d",
    )  # fmt: skip

    @pytest.fixture
    def full(self, bench):
        for name in "umd":
            bench.write(name, f"{name}\n")
        return bench

    def test_works(self, full):
        """The patch of these tests can be applied."""
        full.applied(*self.LINES)
        assert full.files() == {
            "new": b"", "new/dir": b"", "new/dir/a": b"a\n", "u": b"U\n", "moved": b"m\n",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("name", "step"),
        [*(("fill", n) for n in range(3)), *(("check_unchanged", n) for n in range(5))],
    )
    def test_failure_at_every_step(self, full, monkeypatch, name, step):
        """Whichever step fails, each file is as before; of new files a directory may be left."""
        steps = iter(range(10))
        real = getattr(together.disk, name)

        def failing(*args, **kwargs):
            if next(steps) == step:
                raise OSError(28, "No space left on device")
            return real(*args, **kwargs)

        monkeypatch.setattr(together.disk, name, failing)
        before = full.files()
        assert "the disk is full" in full(*self.LINES).text
        assert {file: data for file, data in full.files().items() if data} == before

    def test_without_hard_links(self, full, monkeypatch):
        """On a file system without hard links it works as well, back and forth."""

        def refuse(*_, **__):
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(os, "link", refuse)
        (full.root / "moved").mkdir()
        full.refused(*self.LINES)
        (full.root / "moved").rmdir()
        full.applied(*self.LINES)

    def test_changed_meanwhile(self, full, monkeypatch):
        """A file that somebody changes meanwhile is not overwritten."""
        real = together.disk.fill

        def meddling(beside, data, like):
            (full.root / "u").write_text("theirs\n")
            return real(beside, data, like=like)

        monkeypatch.setattr(together.disk, "fill", meddling)
        observation = full(*self.LINES)
        assert "changed by something else" in observation.text
        left = {file: data for file, data in full.files().items() if data}
        assert left == {"u": b"theirs\n", "m": b"m\n", "d": b"d\n"}

    def test_made_meanwhile(self, bench, monkeypatch):
        """A file that somebody makes just before the patch would is not overwritten, and not removed."""
        real = together.disk.put_in_place

        def meddling(beside, entry, is_new):
            bench.write("new", "theirs\n")
            return real(beside, entry, is_new=is_new)

        monkeypatch.setattr(together.disk, "put_in_place", meddling)
        assert "changed by something else" in bench("*** Add File: new", "+ours").text
        assert bench.files() == {"new": b"theirs\n"}

    def test_links_stay_links(self, bench):
        """A file is updated through a link to it."""
        bench.write("real", "1\n")
        (bench.root / "link").symlink_to("real")
        bench.applied("*** Update File: link", "@@", "-1", "+2")
        assert (bench.root / "link").is_symlink()
        assert bench.files()["real"] == b"2\n"


class TestShown:
    def test_changes(self, bench):
        """A person sees each file with its diff; markup in them is text."""
        bench.write("a", "[red]old\n")
        observation = bench("*** Update File: a", "*** Move to: b", "@@", "-[red]old", "+[/]new")
        console = Console(width=60, color_system=None)
        with console.capture() as capture:
            console.print(observation.visualize)
            console.print(bench.tool.action_type(patch="+[/x]").visualize)
        assert [line.rstrip() for line in capture.get().splitlines() if line.strip()] == [
            "M a -> b",
            "     1 - [red]old",
            "     1 + [/]new",
            "+[/x]",
        ]
