"""The file editor: what it changes, what it refuses, what a person sees of it."""

import pytest

from test_tools.editor_parts import Editor, plain_text
from toolbench.errors import ArgumentsError
from toolbench.tools.file_editor import FileEditorAction, FileEditorObservation


@pytest.fixture
def editor(tmp_path) -> Editor:
    return Editor(tmp_path)


class TestCreate:
    def test_writes_and_makes_directories(self, editor, tmp_path):
        """A new file gets its text, and the directories above it are made."""
        path = tmp_path / "new" / "deep" / "b.py"
        observation = editor("create", path, file_text="x = 1\n")
        assert path.read_text() == "x = 1\n"
        assert (observation.prev_exist, observation.new_content) == (False, "x = 1\n")

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
        observation = editor("str_replace", old_str="line 10\n", new_str="ten\nten b\n")
        assert editor.file.read_text().count("ten") == 2
        assert observation.text.splitlines()[1:] == [
            *(f"{n:6}\tline {n}" for n in range(6, 10)),
            "    10\tten",
            "    11\tten b",
            *(f"{n:6}\tline {n - 1}" for n in range(12, 16)),
        ]
        assert (observation.old_content or "").count("line 10") == 1
        assert observation.new_content == editor.file.read_text()

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
        assert "in lines 1, 3, 4;" in editor.refused("str_replace", old_str="x", new_str="w")

    def test_overlapping_matches(self, editor):
        """Matches that overlap are several, too."""
        editor.file.write_text("aaa")
        assert "more than once" in editor.refused("str_replace", old_str="aa", new_str="b")

    def test_many_matches_are_cut(self, editor):
        """Of very many lines the first hundred are named."""
        editor.file.write_text("x\n" * 5_000)
        text = editor.refused("str_replace", old_str="x", new_str="y")
        assert "99, 100 and more" in text

    def test_no_match(self, editor):
        """A text that is not there is refused, and the way to find it is said."""
        editor.file.write_text("a\n")
        assert "does not occur" in editor.refused("str_replace", old_str="b", new_str="c")

    def test_white_space_around(self, editor):
        """A text found only without its outer white space is replaced, and that is said."""
        editor.file.write_text("hello world\nsecond\n")
        observation = editor("str_replace", old_str="  hello world\t", new_str="HELLO  ")
        assert editor.file.read_text() == "HELLO  \nsecond\n"
        assert "without the white space around it" in observation.text

    def test_regular_expressions_are_text(self, editor):
        """Nothing in the texts has a special meaning."""
        editor.file.write_text(r"a.*\1$")
        assert editor.edit("str_replace", old_str=".*", new_str=r"\g<0>") == r"a\g<0>\1$"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"new_str": "x"}, "needs `old_str`"),
            ({"old_str": "", "new_str": "x"}, "old_str is empty"),
            ({"old_str": "a", "new_str": "a"}, "the same"),
        ],
    )
    def test_wrong_arguments(self, editor, arguments, message):
        """What cannot be meant is explained."""
        editor.file.write_text("a")
        assert message in editor.refused("str_replace", **arguments)


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

    @pytest.mark.parametrize("arguments", [{"insert_line": 0}, {"new_str": "x"}])
    def test_needs_line_and_text(self, editor, arguments):
        """Both the line and the text are needed."""
        editor.file.write_text("a")
        assert "needs `insert_line` and `new_str`" in editor.refused("insert", **arguments)


class TestUndo:
    def test_one_after_the_other(self, editor):
        """Edits are taken back one by one, the last first, down to the creation."""
        editor.edit("create", file_text="one\n")
        editor.edit("str_replace", old_str="one", new_str="two")
        editor.edit("insert", insert_line=0, new_str="zero")
        assert editor.edit("undo_edit") == "two\n"
        assert editor.edit("undo_edit") == "one\n"
        observation = editor("undo_edit")
        assert not editor.file.exists()
        assert (observation.old_content, observation.new_content) == ("one\n", None)
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
        monkeypatch.setattr("toolbench.tools.file_editor.impl.MAX_BYTES", 5)
        editor.file.write_text("abcd")
        editor.edit("insert", insert_line=0, new_str="")
        editor.edit("insert", insert_line=0, new_str="")
        assert editor.edit("undo_edit") == "\nabcd"
        assert editor("undo_edit").is_error


class TestVisualize:
    def test_action(self):
        """The action of an edit shows what would change."""
        action = FileEditorAction(command="str_replace", path="/a", old_str="old", new_str="new")
        assert plain_text(action.visualize).splitlines() == [
            "str_replace /a",
            "     1 - old",
            "     1 + new",
        ]

    def test_edit_shows_a_diff(self, editor):
        """An edit shows the changed lines with some around them."""
        editor.file.write_text("".join(f"{n}\n" for n in range(1, 10)))
        observation = editor("str_replace", old_str="5\n", new_str="five\nand\n")
        assert plain_text(observation.visualize).splitlines()[1:] == [
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
        observation = editor("create", file_text=hostile)
        assert hostile in plain_text(observation.visualize)
        assert hostile in plain_text(editor("view").visualize)
        action = FileEditorAction(command="view", path="[/nope]")
        assert "[/nope]" in plain_text(action.visualize)

    def test_huge_change_is_cut(self, editor):
        """A diff of very many lines is cut."""
        editor.file.write_text("a\n" * 5_000)
        observation = editor("create", editor.file.with_name("b"), file_text="b\n" * 5_000)
        lines = plain_text(observation.visualize).splitlines()
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
        observation = editor("insert", insert_line=0, new_str="x")
        assert FileEditorObservation.from_dict(observation.to_dict()) == observation
        assert r"\xff\xfe" in observation.text
