"""The file editor on files that are hostile, huge or half broken."""

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_tools.editor_parts import left_over
from toolbench.tools.file_editor import FileEditorTool
from toolbench.tools.file_editor.excerpt import excerpt, offset_of
from toolbench.tools.files.textfile import BinaryError, decode

LINES = st.lists(st.text(alphabet="ab é☃\t", max_size=12), min_size=1, max_size=30)
ENDS = st.sampled_from(["\n", "\r\n"])


@pytest.fixture
def tool():
    [tool] = FileEditorTool.create()
    return tool


@contextmanager
def editing(data: bytes):
    """A file that holds *data*, and an editor for it."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "file")
        path.write_bytes(data)
        [tool] = FileEditorTool.create()
        yield path, lambda **arguments: tool({"path": str(path), **arguments})


class TestBytes:
    @given(st.binary(max_size=200))
    def test_nothing_is_lost(self, data):
        """Whatever a file holds, decoding and encoding it gives the same bytes."""
        try:
            file = decode(data)
        except BinaryError:
            return
        assert file.encode(file.text) == data

    @settings(max_examples=40)
    @given(
        st.text(min_size=1, max_size=40),
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "shift-jis"]),
    )
    def test_text_of_every_encoding(self, text, encoding):
        """A text survives an edit in its own encoding; all bytes but the new ones stay."""
        try:
            before = text.encode(encoding)
            decode(before)
        except (UnicodeEncodeError, BinaryError):
            return
        with editing(before) as (path, edit):
            observation = edit(command="insert", insert_line=0, new_str="new")
            assert not observation.is_error, observation.text
            assert "new" in edit(command="view", view_range=[1, 1]).text
            assert not edit(command="undo_edit").is_error
            assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("encoding", "bom"),
        [
            ("utf-8", b""),
            ("utf-8", b"\xef\xbb\xbf"),
            ("utf-16-le", b"\xff\xfe"),
            ("utf-16-be", b"\xfe\xff"),
            ("utf-32-le", b"\xff\xfe\0\0"),
            ("utf-32-be", b"\0\0\xfe\xff"),
        ],
    )
    def test_encoding_and_mark_stay(self, encoding, bom):
        """An edit keeps the encoding and the byte order mark."""
        with editing(bom + "naïve ☃\n".encode(encoding)) as (path, edit):
            assert not edit(command="str_replace", old_str="naïve", new_str="clever").is_error
            assert path.read_bytes() == bom + "clever ☃\n".encode(encoding)

    def test_legacy_encoding(self):
        """Cyrillic in its old encoding is read, named, and written in it."""
        text = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 3
        with editing(text.encode("cp1251")) as (path, edit):
            observation = edit(command="insert", insert_line=0, new_str="Привет")
            assert not observation.is_error
            assert path.read_bytes() == ("Привет\n" + text).encode("cp1251")
            assert "cp1251" in edit(command="view").text

    def test_a_few_accents(self):
        """Too little to tell a language by is read as the commonest encoding."""
        with editing("naïve café\nx\n".encode("cp1252")) as (path, edit):
            assert "naïve café" in edit(command="view").text
            edit(command="str_replace", old_str="café", new_str="thé")
            assert path.read_bytes() == "naïve thé\nx\n".encode("cp1252")

    def test_character_the_encoding_lacks(self):
        """A character the encoding has no place for is refused, and nothing changes."""
        data = "Съешь же ещё этих мягких французских булок\n".encode("cp1251") * 3
        with editing(data) as (path, edit):
            observation = edit(command="insert", insert_line=0, new_str="☃")
            assert observation.is_error
            assert "cp1251, which has no '\\u2603'" in observation.text
            assert path.read_bytes() == data

    def test_half_of_a_surrogate_pair(self):
        """Text that is no Unicode is refused, in a path too, and the refusal is JSON."""
        half = "\ud83d"
        with editing(b"a") as (path, edit):
            for arguments in (
                {"command": "insert", "insert_line": 0, "new_str": half},
                {"command": "view", "path": f"/{half}"},
                {"command": "create", "path": f"{path}{half}", "file_text": "x"},
            ):
                observation = edit(**arguments)
                assert observation.is_error
                assert observation.model_dump_json()
            assert path.read_bytes() == b"a"

    def test_damaged_utf8(self):
        """A few wrong bytes in UTF-8 stay as they are when the rest is edited."""
        data = "é è ê ☃".encode() + b" \xff\xfe \x80\nend\n"
        with editing(data) as (path, edit):
            assert not edit(command="str_replace", old_str="end", new_str="ende").is_error
            assert path.read_bytes() == data.replace(b"end", b"ende")
            assert r"☃ \xff\xfe \x80" in edit(command="view").text

    @pytest.mark.parametrize("data", [b"a\0b", b"\x7fELF\x02\0\0", b"\xff\xfea"])
    def test_binary(self, data):
        """A file with NUL bytes, or broken UTF-16, is not edited, and said to be binary."""
        with editing(data) as (path, edit):
            for arguments in (
                {"command": "view"},
                {"command": "insert", "insert_line": 0, "new_str": "x"},
            ):
                observation = edit(**arguments)
                assert observation.is_error
                assert "is a binary file" in observation.text
            assert path.read_bytes() == data


class TestLineEnds:
    @given(LINES, ENDS)
    def test_are_kept(self, lines, end):
        """New lines get the line ends of the file, whatever the model sends."""
        before = end.join([*lines, "unique", ""]).encode()
        with editing(before) as (path, edit):
            edit(command="str_replace", old_str="unique\n", new_str="one\r\ntwo\n")
            expected = end.join([*lines, "one", "two", ""])
            # Then what was sent is what was meant
            if end == "\n":
                expected = expected.replace("one\n", "one\r\n")
            assert path.read_bytes() == expected.encode()

    def test_old_text_of_several_lines(self):
        """A text of several lines is found in a file with CRLF."""
        with editing(b"a\r\nb\r\nc\r\n") as (path, edit):
            assert not edit(command="str_replace", old_str="a\nb\n", new_str="x\n").is_error
            assert path.read_bytes() == b"x\r\nc\r\n"

    def test_insert(self):
        """Inserted lines end as the others do."""
        with editing(b"a\r\nb") as (path, edit):
            edit(command="insert", insert_line=2, new_str="c\nd")
            assert path.read_bytes() == b"a\r\nb\r\nc\r\nd"

    def test_mixed(self):
        """In a file with both kinds, only what is replaced changes."""
        with editing(b"a\nb\r\nc\n") as (path, edit):
            edit(command="str_replace", old_str="b\n", new_str="x\n")
            assert path.read_bytes() == b"a\nx\r\nc\n"

    def test_view_shows_none(self):
        """A view shows no carriage returns, but says that they are there."""
        with editing(b"a\r\nb\r\n") as (_, edit):
            text = edit(command="view").text
            assert "\r" not in text
            assert "CRLF" in text


class TestExcerpt:
    @given(LINES, st.data())
    def test_every_number_is_right(self, lines, data):
        """Each line of an excerpt is the line of the file with that number."""
        text = "\n".join([*(f"{line}|{'x' * 700}" for line in lines), ""])
        first = data.draw(st.integers(1, len(lines)))
        last = data.draw(st.integers(first, len(lines)))
        begin, end = offset_of(text, first), offset_of(text, last + 1)
        output = excerpt(text, begin, end, first, last - first + 1).split("\n")
        numbers = [int(line[:6]) for line in output if not line.startswith("[")]
        for line in output:
            if not line.startswith("["):
                assert line[7:] == text.split("\n")[int(line[:6]) - 1]
        assert numbers[0] == first
        assert numbers[-1] == last
        if len(output) == len(numbers):
            assert numbers == list(range(first, last + 1))


class TestSize:
    def test_a_million_lines(self, tool, tmp_path):
        """A file of a million lines is viewed at both ends and edited in the middle."""
        path = tmp_path / "million"
        path.write_bytes(b"%07d\n" * 1_000_000 % tuple(range(1_000_000)))
        assert path.stat().st_size < 10 * 1024 * 1024
        observation = tool({"command": "view", "path": str(path)})
        assert "\n1000000\t0999999" in observation.text
        arguments = {"old_str": "0500000", "new_str": "half"}
        tool({"command": "str_replace", "path": str(path), **arguments})
        observation = tool({"command": "view", "path": str(path), "view_range": [500001, 500001]})
        assert observation.text.endswith("500001\thalf")

    def test_too_large_to_read(self, tool, tmp_path):
        """A file over 10 MB is refused, and its size is said."""
        path = tmp_path / "large"
        path.touch()
        os.truncate(path, 10 * 1024 * 1024 + 1)
        observation = tool({"command": "view", "path": str(path)})
        assert observation.is_error
        assert "10.0 MB, and the limit is 10 MB" in observation.text

    def test_too_large_to_write(self, tool, tmp_path):
        """Nor is one made that could not be read again."""
        path = tmp_path / "large"
        observation = tool({"command": "create", "path": str(path), "file_text": "é" * 6_000_000})
        assert observation.is_error
        assert not path.exists()


class TestPlaces:
    def test_long_name(self, tool, tmp_path):
        """A name of 255 bytes works; one of 300 is refused by the system, and explained."""
        good, bad = tmp_path / ("n" * 255), tmp_path / ("n" * 300)
        arguments = {"command": "create", "file_text": "x"}
        assert not tool({"path": str(good), **arguments}).is_error
        observation = tool({"path": str(bad), **arguments})
        assert "the name is too long" in observation.text
        assert "the name is too long" in tool({"path": str(bad), "command": "view"}).text
        assert left_over(tmp_path) == []

    def test_links_in_a_circle(self, tool, tmp_path):
        """Links that lead in a circle are an error for every command, and hang nothing."""
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        for arguments in (
            {"command": "view"},
            {"command": "create", "file_text": "x"},
            {"command": "insert", "insert_line": 0, "new_str": "x"},
        ):
            assert tool({"path": str(tmp_path / "a"), **arguments}).is_error
        assert "a -> b" in tool({"command": "view", "path": str(tmp_path)}).text

    def test_directory_in_place_of_a_file(self, tool, tmp_path):
        """A file cannot be made where its parent is a file."""
        (tmp_path / "file").write_text("x")
        path = tmp_path / "file" / "below"
        observation = tool({"command": "create", "path": str(path), "file_text": "x"})
        assert observation.is_error
        assert "Could not write" in observation.text
        assert "does not exist" in tool({"command": "view", "path": str(path)}).text

    def test_pipes_do_not_hang(self, tool, tmp_path):
        """What is neither file nor directory is refused without being opened."""
        os.mkfifo(tmp_path / "pipe")
        observation = tool({"command": "view", "path": str(tmp_path / "pipe")})
        assert "is not a regular file" in observation.text

    def test_unreadable(self, tool, tmp_path):
        """A file that may not be read is an error with advice."""
        path = tmp_path / "secret"
        path.write_text("x")
        path.chmod(0)
        # Root may, but not this one:
        if os.access(path, os.R_OK):
            path = Path("/proc/self/mem")
        observation = tool({"command": "view", "path": str(path)})
        assert observation.is_error
        assert "Could not read" in observation.text

    def test_undecodable_names(self, tool, tmp_path):
        """Names that are no UTF-8 are listed, escaped."""
        (tmp_path / os.fsdecode(b"caf\xe9")).touch()
        assert r"caf\xe9" in tool({"command": "view", "path": str(tmp_path)}).text

    @pytest.mark.parametrize("mode", [0o755, 0o600, 0o444, 0o640])
    def test_mode_stays(self, tool, tmp_path, mode):
        """An edited file may be read, written and run by whom it could before."""
        path = tmp_path / "run.sh"
        path.write_text("a")
        path.chmod(mode)
        tool({"command": "insert", "path": str(path), "insert_line": 0, "new_str": "x"})
        assert path.stat().st_mode & 0o7777 == mode
        assert path.read_text() == "x\na"
