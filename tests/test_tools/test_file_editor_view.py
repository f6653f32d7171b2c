"""The file editor: what it shows, which paths it takes, and how much of a file is read."""

import base64
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_tools.editor_parts import Editor
from toolbench.core.content import ImageContent
from toolbench.errors import ArgumentsError
from toolbench.tools.file_editor import FileEditorTool
from toolbench.tools.file_editor.excerpt import line_count, lines_of
from toolbench.tools.files.regular_file import opened, read_regular, read_up_to

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def editor(tmp_path) -> Editor:
    return Editor(tmp_path)


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
        assert "leave out view_range" in editor.refused("view", tmp_path, view_range=[1, 2])

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
        assert "is not a path" in editor.refused("view", path)

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

    @pytest.mark.parametrize("way", ["secret", "in/../secret", "in/link", "in/up/secret"])
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


@given(
    st.text(st.sampled_from("ab \r\n\n"), max_size=40).map(lambda text: text * 700),
    st.data(),
)
def test_lines_are_found_without_splitting_the_text(text, data):
    """Offsets and counts are those of the lines of the split text, however large it is."""
    lines = re.findall(r".*\n|.+\Z", text)
    assert line_count(text) == len(lines)
    first = data.draw(st.integers(1, max(1, len(lines))))
    last = data.draw(st.integers(first, max(first, len(lines))))
    shown = lines_of(text, first, last)
    assert shown.text[shown.start : shown.end] == "".join(lines[first - 1 : last])
    assert shown.total == len(lines)


LIMIT = 10_000_000


def test_a_short_file_takes_little_memory(tmp_path):
    """What is taken to read a file goes by the file, not by the limit."""
    (tmp_path / "short").write_bytes(b"short")
    tracemalloc.start()
    try:
        assert read_regular(str(tmp_path / "short"), LIMIT) == b"short"
        assert tracemalloc.get_traced_memory()[1] < LIMIT / 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, 299_999, 300_000, 300_001])
def test_a_file_is_read_whole_or_to_the_limit(tmp_path, size):
    """What is larger is cut by the one, and refused by the other."""
    data = (b"0123456789" * 30_001)[:size]
    (tmp_path / "file").write_bytes(data)
    with opened(tmp_path / "file") as file:
        assert read_up_to(file, 300_000) == data[:300_000]
    if size <= 300_000:
        assert read_regular(str(tmp_path / "file"), 300_000) == data
    else:
        with pytest.raises(OSError, match="too large"):
            read_regular(str(tmp_path / "file"), 300_000)
