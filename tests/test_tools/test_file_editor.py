"""The file editor: what it shows, what it changes, what it refuses, and how it says so."""

import base64
import io
from pathlib import Path

import pytest
from rich.console import Console

from toolbench.core.content import ImageContent
from toolbench.core.state import ConversationState
from toolbench.errors import ArgumentsError
from toolbench.tools.file_editor import (
    FileEditorAction,
    FileEditorObservation,
    FileEditorTool,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Editor:
    """A file editor, and a file to try it on."""

    def __init__(self, directory: Path) -> None:
        [self.tool] = FileEditorTool.create(ConversationState(directory))
        self.file = directory / "a.py"

    def __call__(self, command, path=None, **arguments) -> FileEditorObservation:
        path = str(self.file if path is None else path)
        return self.tool({"command": command, "path": path, **arguments})

    def edit(self, command, **arguments) -> str:
        """Run a command that must succeed, and return what the file holds."""
        seen = self(command, **arguments)
        assert not seen.is_error, seen.text
        return self.file.read_text()

    def refused(self, command, path=None, **arguments) -> str:
        """Run a command that must fail and change nothing; return what is said."""
        before = self.file.read_bytes() if self.file.is_file() else None
        seen = self(command, path, **arguments)
        assert seen.is_error
        assert (self.file.read_bytes() if self.file.is_file() else None) == before
        return seen.text


@pytest.fixture
def editor(tmp_path) -> Editor:
    return Editor(tmp_path)


def shown(renderable) -> str:
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(renderable)
    return console.file.getvalue()


class TestView:
    def test_numbers_lines(self, editor):
        """A file is shown with the number of each line, as `cat -n` does."""
        editor.file.write_text("first\n\nthird")
        text = editor("view").text
        assert text.split("\n", 1)[1] == "     1\tfirst\n     2\t\n     3\tthird"
        assert "3 lines" in text

    def test_range(self, editor):
        """A range shows just its lines, with their own numbers; -1 is the end."""
        editor.file.write_text("".join(f"line {n}\n" for n in range(1, 301)))
        text = editor("view", view_range=[100, 102]).text
        assert text.splitlines()[1:] == [f"   {n}\tline {n}" for n in (100, 101, 102)]
        assert editor("view", view_range=[300, -1]).text.endswith("   300\tline 300")

    def test_range_past_the_end(self, editor):
        """A range that ends too late shows what there is, and says so."""
        editor.file.write_text("a\nb\n")
        text = editor("view", view_range=[2, 9]).text
        assert text.endswith("     2\tb")
        assert "no lines after 2" in text

    @pytest.mark.parametrize("wrong", [[3, 3], [2, 1], [0, 1], [-1, 2]])
    def test_range_that_does_not_fit(self, editor, wrong):
        """A range that begins outside the file, or ends before it begins, is explained."""
        editor.file.write_text("a\nb\n")
        assert "the file has 2 lines" in editor.refused("view", view_range=wrong)

    def test_range_is_two_numbers(self, editor):
        """The schema asks for exactly two numbers."""
        with pytest.raises(ArgumentsError, match="view_range"):
            editor("view", view_range=[1])

    def test_empty_file(self, editor):
        """An empty file is said to be empty."""
        editor.file.write_text("")
        assert editor("view").text == f"{editor.file} is empty."

    def test_long_file_keeps_its_ends_and_true_numbers(self, editor):
        """Of a long file the ends are shown, numbered as in the file, and the gap is named."""
        editor.file.write_text("".join(f"line {n}\n" for n in range(1, 130_001)))
        text = editor("view").text
        assert len(text) < 20_000
        assert "     1\tline 1\n" in text
        assert text.endswith("130000\tline 130000")
        [gap] = [line for line in text.splitlines() if line.startswith("[")]
        last_above = text.split("\n[")[0].rsplit("\tline ", 1)[1]
        assert f"lines {int(last_above) + 1:,} to" in gap

    def test_one_endless_line(self, editor):
        """Of a line that is too long itself, both ends are shown."""
        editor.file.write_text("a" * 50_000 + "z" * 50_000)
        text = editor("view").text
        assert "     1\taaa" in text
        assert text.endswith("zzz")
        assert "84,000 characters left out" in text

    def test_directory(self, editor, tmp_path):
        """A directory is listed two levels deep, hidden entries counted, links not followed."""
        (tmp_path / "pkg" / "deep" / "deeper").mkdir(parents=True)
        (tmp_path / "pkg" / "m.py").touch()
        (tmp_path / "pkg" / "deep" / "no.py").touch()
        (tmp_path / ".git").mkdir()
        (tmp_path / "link").symlink_to("pkg")
        assert editor("view", tmp_path).text.splitlines() == [
            f"{tmp_path}/, two levels deep, 1 hidden left out:",
            f"{tmp_path}/link -> pkg",
            f"{tmp_path}/pkg/",
            f"{tmp_path}/pkg/deep/",
            f"{tmp_path}/pkg/m.py",
        ]

    def test_large_directory(self, editor, tmp_path):
        """Of very many entries the first thousand are listed, and the number is said."""
        for n in range(1_002):
            (tmp_path / f"f{n}").touch()
        text = editor("view", tmp_path).text
        assert "the first 1,000 of 1,002 entries" in text
        assert len(text.splitlines()) == 1_001

    def test_directory_takes_no_range(self, editor, tmp_path):
        """A range of a directory makes no sense."""
        assert "leave out view_range" in editor.refused(
            "view", tmp_path, view_range=[1, 2]
        )

    def test_image(self, editor, tmp_path):
        """An image is handed on as an image."""
        (tmp_path / "dot.PNG").write_bytes(PNG)
        _, image = editor("view", tmp_path / "dot.PNG").content
        assert isinstance(image, ImageContent)
        assert image.image_urls[0].startswith("data:image/png;base64,")

    def test_image_only_by_name(self, editor, tmp_path):
        """A text that is called an image is shown as text."""
        (tmp_path / "not.png").write_text("hello")
        assert editor("view", tmp_path / "not.png").text.endswith("1\thello")


class TestCreate:
    def test_writes_and_makes_directories(self, editor, tmp_path):
        """A new file gets its text, and the directories above it are made."""
        path = tmp_path / "new" / "deep" / "b.py"
        seen = editor("create", path, file_text="x = 1\n")
        assert path.read_text() == "x = 1\n"
        assert (seen.prev_exist, seen.new_content) == (False, "x = 1\n")

    def test_follows_the_umask(self, editor):
        """A new file may be read by whom other new files may be read by."""
        editor.edit("create", file_text="x")
        other = editor.file.with_name("other")
        other.touch()
        assert editor.file.stat().st_mode == other.stat().st_mode

    def test_existing_file(self, editor):
        """A file that exists is never written over."""
        editor.file.write_text("keep")
        assert "exists already" in editor.refused("create", file_text="gone")

    def test_dangling_link(self, editor, tmp_path):
        """Nor is a link, even if it leads nowhere."""
        editor.file.symlink_to(tmp_path / "nowhere")
        assert "exists already" in editor.refused("create", file_text="x")

    def test_needs_text(self, editor):
        """Without a text there is nothing to create."""
        assert "needs `file_text`" in editor.refused("create")

    def test_empty_text(self, editor):
        """An empty file is a file."""
        assert editor.edit("create", file_text="") == ""


class TestStrReplace:
    def test_replaces_the_only_match(self, editor):
        """The text that occurs once is replaced, and shown with what is around it."""
        editor.file.write_text("".join(f"line {n}\n" for n in range(1, 21)))
        seen = editor("str_replace", old_str="line 10\n", new_str="ten\nten b\n")
        assert editor.file.read_text().count("ten") == 2
        assert seen.text.splitlines()[1:] == [
            *(f"{n:6}\tline {n}" for n in range(6, 10)),
            "    10\tten",
            "    11\tten b",
            *(f"{n:6}\tline {n - 1}" for n in range(12, 16)),
        ]
        assert (seen.old_content or "").count("line 10") == 1
        assert seen.new_content == editor.file.read_text()

    def test_without_new_str_deletes(self, editor):
        """What is replaced by nothing is gone."""
        editor.file.write_text("a\nb\nc\n")
        assert editor.edit("str_replace", old_str="b\n") == "a\nc\n"

    def test_last_text_deleted(self, editor):
        """A file may end up empty."""
        editor.file.write_text("all")
        assert "empty now" in editor("str_replace", old_str="all").text

    def test_several_matches_name_their_lines(self, editor):
        """A text that occurs more than once is refused, and all its lines are named."""
        editor.file.write_text("x\ny\nx\nzx\n")
        assert "in lines 1, 3, 4;" in editor.refused(
            "str_replace", old_str="x", new_str="w"
        )

    def test_overlapping_matches(self, editor):
        """Matches that overlap are several, too."""
        editor.file.write_text("aaa")
        assert "more than once" in editor.refused(
            "str_replace", old_str="aa", new_str="b"
        )

    def test_many_matches_are_cut(self, editor):
        """Of very many lines the first hundred are named."""
        editor.file.write_text("x\n" * 5_000)
        text = editor.refused("str_replace", old_str="x", new_str="y")
        assert "99, 100 and more" in text

    def test_no_match(self, editor):
        """A text that is not there is refused, and the way to find it is said."""
        editor.file.write_text("a\n")
        assert "does not occur" in editor.refused(
            "str_replace", old_str="b", new_str="c"
        )

    def test_white_space_around(self, editor):
        """A text found only without its outer white space is replaced, and that is said."""
        editor.file.write_text("hello world\nsecond\n")
        seen = editor("str_replace", old_str="  hello world\t", new_str="HELLO  ")
        assert editor.file.read_text() == "HELLO  \nsecond\n"
        assert "without the white space around it" in seen.text

    def test_regular_expressions_are_text(self, editor):
        """Nothing in the texts has a special meaning."""
        editor.file.write_text(r"a.*\1$")
        assert (
            editor.edit("str_replace", old_str=".*", new_str=r"\g<0>") == r"a\g<0>\1$"
        )

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"new_str": "x"}, "needs `old_str`"),
            ({"old_str": "", "new_str": "x"}, "old_str is empty"),
            ({"old_str": "a", "new_str": "a"}, "the same"),
        ],
    )
    def test_wrong_arguments(self, editor, arguments, said):
        """What cannot be meant is explained."""
        editor.file.write_text("a")
        assert said in editor.refused("str_replace", **arguments)


class TestInsert:
    @pytest.mark.parametrize(
        ("before", "line", "new", "after"),
        [
            ("a\nb\n", 0, "x", "x\na\nb\n"),
            ("a\nb\n", 1, "x\ny", "a\nx\ny\nb\n"),
            ("a\nb\n", 2, "x\n", "a\nb\nx\n"),
            ("a\nb", 2, "x", "a\nb\nx"),
            ("a\nb", 1, "", "a\n\nb"),
            ("", 0, "x", "x\n"),
        ],
    )
    def test_lines_of_their_own(self, editor, before, line, new, after):
        """What is inserted stands on lines of its own after the line that is named."""
        editor.file.write_text(before)
        assert editor.edit("insert", insert_line=line, new_str=new) == after

    def test_shows_the_new_lines(self, editor):
        """The new lines are shown with their numbers."""
        editor.file.write_text("a\nb")
        text = editor("insert", insert_line=2, new_str="x").text
        assert text.splitlines()[1:] == ["     1\ta", "     2\tb", "     3\tx"]

    def test_line_that_is_not_there(self, editor):
        """Only lines of the file can be inserted after."""
        editor.file.write_text("a\n")
        assert "from 0 to 1" in editor.refused("insert", insert_line=2, new_str="x")

    def test_negative_line(self, editor):
        """A negative line does not fit the schema."""
        with pytest.raises(ArgumentsError, match="insert_line"):
            editor("insert", insert_line=-1, new_str="x")

    @pytest.mark.parametrize("given", [{"insert_line": 0}, {"new_str": "x"}])
    def test_needs_line_and_text(self, editor, given):
        """Both the line and the text are needed."""
        editor.file.write_text("a")
        assert "needs `insert_line` and `new_str`" in editor.refused("insert", **given)


class TestUndo:
    def test_one_after_the_other(self, editor):
        """Edits are taken back one by one, the last first, down to the creation."""
        editor.edit("create", file_text="one\n")
        editor.edit("str_replace", old_str="one", new_str="two")
        editor.edit("insert", insert_line=0, new_str="zero")
        assert editor.edit("undo_edit") == "two\n"
        assert editor.edit("undo_edit") == "one\n"
        seen = editor("undo_edit")
        assert not editor.file.exists()
        assert (seen.old_content, seen.new_content) == ("one\n", None)
        assert "no edit" in editor.refused("undo_edit")

    def test_ten_deep(self, editor):
        """Ten edits of a file are remembered."""
        editor.file.write_text("0")
        for n in range(12):
            editor.edit("str_replace", old_str=str(n), new_str=str(n + 1))
        for _ in range(10):
            assert not editor("undo_edit").is_error
        assert editor.file.read_text() == "2"
        assert editor("undo_edit").is_error

    def test_never_loses_the_work_of_others(self, editor):
        """What somebody else wrote since the edit is not thrown away."""
        editor.file.write_text("a")
        editor.edit("str_replace", old_str="a", new_str="b")
        editor.file.write_text("theirs")
        assert "changed by something else" in editor.refused("undo_edit")

    def test_work_of_others_between_edits(self, editor):
        """An edit is not taken back over what somebody wrote after it, not even later."""
        editor.file.write_text("a")
        editor.edit("str_replace", old_str="a", new_str="b")
        editor.file.write_text("theirs")
        editor.edit("str_replace", old_str="theirs", new_str="ours")
        assert editor.edit("undo_edit") == "theirs"
        assert "changed by something else" in editor.refused("undo_edit")

    def test_files_do_not_mix(self, editor, tmp_path):
        """The edits of a file are its own."""
        other = tmp_path / "b.py"
        editor.edit("create", file_text="a")
        editor("create", other, file_text="b")
        editor("undo_edit")
        assert other.read_text() == "b"

    def test_old_edits_are_forgotten_when_large(self, editor, monkeypatch):
        """What is remembered stays small; the oldest edits go first."""
        monkeypatch.setattr("toolbench.tools.file_editor.history.MAX_BYTES", 5)
        editor.file.write_text("abcd")
        editor.edit("insert", insert_line=0, new_str="")
        editor.edit("insert", insert_line=0, new_str="")
        assert editor.edit("undo_edit") == "\nabcd"
        assert editor("undo_edit").is_error


class TestPaths:
    def test_relative_path_with_a_suggestion(self, editor):
        """A relative path is refused, and the absolute one is named if it exists."""
        editor.file.write_text("a")
        text = editor.refused("view", "a.py")
        assert f"Did you mean '{editor.file}'?" in text

    def test_relative_path_without(self, editor, tmp_path):
        """If there is no such file, the working directory is named."""
        assert str(tmp_path) in editor.refused("view", "b.py")

    def test_missing_file_names_its_neighbours(self, editor, tmp_path):
        """For a file that is not there, files with nearly its name are suggested."""
        (tmp_path / "models.py").touch()
        assert "models.py'" in editor.refused("view", tmp_path / "model.py")

    def test_missing_leading_directories(self, editor, tmp_path):
        """A path that forgets the working directory finds it again."""
        editor.file.touch()
        assert f"'{editor.file}'" in editor.refused("view", "/a.py")

    @pytest.mark.parametrize("path", ["", "a\0b", "/a\0b"])
    def test_no_path_at_all(self, editor, path):
        """What is no path is said to be none."""
        assert "is no path" in editor.refused("view", path)

    @pytest.mark.parametrize("command", ["str_replace", "insert"])
    def test_directories_are_not_edited(self, editor, tmp_path, command):
        """Only `view` takes a directory."""
        arguments = {"old_str": "a", "insert_line": 0, "new_str": "b"}
        text = editor.refused(command, tmp_path, **arguments)
        assert "which only `view` can take" in text

    def test_description_names_the_working_directory(self, editor, tmp_path):
        """A model is told where it works."""
        assert str(tmp_path) in editor.tool.description


class TestRoot:
    @pytest.fixture
    def confined(self, tmp_path):
        (tmp_path / "in").mkdir()
        (tmp_path / "secret").write_text("s")
        [tool] = FileEditorTool.create(workspace_root=tmp_path / "in")
        return lambda path, **more: tool({"command": "view", "path": str(path), **more})

    def test_inside(self, confined, tmp_path):
        """Inside the root everything works."""
        (tmp_path / "in" / "a").write_text("x")
        assert not confined(tmp_path / "in" / "a").is_error

    @pytest.mark.parametrize(
        "way", ["secret", "in/../secret", "in/link", "in/up/secret"]
    )
    def test_no_way_out(self, confined, tmp_path, way):
        """Neither dots nor links lead out of it."""
        (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
        (tmp_path / "in" / "up").symlink_to(tmp_path)
        assert "outside the workspace" in confined(tmp_path / way).text

    def test_nothing_is_created_outside(self, confined, tmp_path):
        """A link to a directory outside is no way to make files there."""
        (tmp_path / "in" / "up").symlink_to(tmp_path)
        path = tmp_path / "in" / "up" / "new"
        assert confined(path, command="create", file_text="x").is_error
        assert not (tmp_path / "new").exists()

    def test_links_inside(self, confined, tmp_path):
        """A link that stays inside is fine, and stays a link when its file is edited."""
        (tmp_path / "in" / "a").write_text("x")
        link = tmp_path / "in" / "b"
        link.symlink_to("a")
        confined(link, command="str_replace", old_str="x", new_str="y")
        assert link.is_symlink()
        assert (tmp_path / "in" / "a").read_text() == "y"


class TestVisualize:
    def test_action(self):
        """The action of an edit shows what would change."""
        action = FileEditorAction(
            command="str_replace", path="/a", old_str="old", new_str="new"
        )
        assert shown(action.visualize).splitlines() == [
            "str_replace /a",
            "     1 - old",
            "     1 + new",
        ]

    def test_edit_shows_a_diff(self, editor):
        """An edit shows the changed lines with some around them."""
        editor.file.write_text("".join(f"{n}\n" for n in range(1, 10)))
        seen = editor("str_replace", old_str="5\n", new_str="five\nand\n")
        assert shown(seen.visualize).splitlines()[1:] == [
            "     3   3",
            "     4   4",
            "     5 - 5",
            "     5 + five",
            "     6 + and",
            "     7   6",
            "     8   7",
        ]

    def test_markup_is_text(self, editor):
        """Square brackets of a file are never read as colours or links."""
        hostile = "[red]x[/red] [link=http://evil]y[/link] [/]"
        seen = editor("create", file_text=hostile)
        assert hostile in shown(seen.visualize)
        assert hostile in shown(editor("view").visualize)
        action = FileEditorAction(command="view", path="[/nope]")
        assert "[/nope]" in shown(action.visualize)

    def test_huge_change_is_cut(self, editor):
        """A diff of very many lines is cut."""
        editor.file.write_text("a\n" * 5_000)
        seen = editor("create", editor.file.with_name("b"), file_text="b\n" * 5_000)
        lines = shown(seen.visualize).splitlines()
        assert len(lines) < 250
        assert "more changes are not shown" in lines[-1]


class TestTool:
    def test_name_and_hints(self, editor):
        """Name and hints are those of the reference."""
        hints = editor.tool.hints
        assert editor.tool.name == "file_editor"
        assert (hints.readOnlyHint, hints.destructiveHint) == (False, True)
        assert (hints.idempotentHint, hints.openWorldHint) == (False, False)

    def test_results_are_json(self, editor):
        """What it returns can be written down and read back."""
        editor.file.write_bytes(b"ok \xff\xfe\n\xc3\xa9\xc3\xa9\xc3\xa9")
        seen = editor("insert", insert_line=0, new_str="x")
        assert FileEditorObservation.from_dict(seen.to_dict()) == seen
        assert r"\xff\xfe" in seen.text
