import resource
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.tools.terminal.buffer import HeadAndTail
from toolbench.tools.terminal.keys import is_control, key
from toolbench.tools.terminal.screen_text import MARK, clean, shown


class TestClean:
    @pytest.mark.parametrize(
        ("raw", "text"),
        [
            (b"plain\n", "plain\n"),
            (b"\x1b[1;31mred\x1b[0m and \x1b[38;5;9mmore\x1b[m", "red and more"),
            (b"\x1b]0;a title\x07text", "text"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b[?2004h$ ls\x1b[?2004l", "$ ls"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"10%\r50%\r100%\n", "100%\n"),
            (b"hello\rHE", "HEllo"),
            (b"long line\r\x1b[Kshort\n", "short\n"),
            (b"gone\x1b[2Khere\n", "here\n"),
            (b"abc\b\bX", "aXc"),
            (b"nul\0 bell\a", "nul bell"),
            (b"caf\xc3\xa9 \xff\xfe", "café \ufffd\ufffd"),
            (b"done\x1e0123456789abcdef\x1e", "done"),
            (b"cut \x1b[31", "cut "),
            (b"tab\there", "tab\there"),
        ],
    )
    def test_shows_what_a_person_would_have_seen(self, raw, text):
        """Escape sequences vanish, overwritten text is overwritten, bytes become text."""
        assert clean(raw) == text

    @given(st.binary())
    def test_never_lets_a_control_character_through(self, raw):
        """Whatever comes, only line ends and tabs are left of what is not visible."""
        controls = {chr(n) for n in range(32)} | {chr(n) for n in range(127, 160)}
        assert not set(clean(raw)) & (controls - {"\n", "\t"})

    @given(st.text(st.characters(blacklist_categories=("Cc", "Cs"))))
    def test_leaves_text_alone(self, text):
        """Text without control characters is the same afterwards."""
        assert clean(text.encode()) == text


class TestHeadAndTail:
    @given(st.lists(st.binary(min_size=1, max_size=30)), st.integers(1, 40))
    def test_keeps_both_ends_and_counts_the_rest(self, chunks, half):
        """Head, what was dropped and tail are together as long as what came."""
        whole = b"".join(chunks)
        buffer = HeadAndTail(half=half)
        for chunk in chunks:
            buffer.write(chunk)
        lines = buffer.take()
        assert len(lines.head) + lines.dropped + len(lines.tail) == len(whole)
        assert whole.startswith(lines.head)
        assert whole.endswith(lines.tail)
        assert len(lines.head) == min(half, len(whole))
        assert lines.dropped == max(0, len(whole) - 2 * half)

    def test_takes_everything_once(self):
        """What was taken does not come again."""
        buffer = HeadAndTail(half=4)
        buffer.write(b"one")
        assert buffer.take().head == b"one"
        assert buffer.take() == (b"", 0, b"")

    @given(chunks=st.lists(st.binary(min_size=1, max_size=30)), half=st.integers(1, 40))
    def test_saves_all_of_it_once_something_is_dropped(self, tmp_path_factory, chunks, half):
        """The file, if there is one, holds every byte that came, in order."""
        file = tmp_path_factory.mktemp("out") / "deep" / "output.txt"
        buffer = HeadAndTail(file, half=half)
        for chunk in chunks:
            buffer.write(chunk)
        dropped = buffer.take().dropped
        buffer.close()
        if dropped:
            assert file.read_bytes() == b"".join(chunks)
        assert buffer.saved == (file if dropped else None)
        assert file.exists() == bool(dropped)

    def test_saves_what_is_taken_piece_by_piece(self, tmp_path):
        """A command that is looked at before its end has all its output in the file."""
        buffer = HeadAndTail(tmp_path / "output.txt", half=2)
        buffer.write(b"abc")
        buffer.keep_on()
        buffer.take()
        buffer.write(b"defghijk")
        assert buffer.take().dropped
        assert buffer.saved.read_bytes() == b"abcdefghijk"
        buffer.close()

    @pytest.mark.parametrize("size", [1, 5, 1_000])
    def test_leaves_noise_out_of_the_file(self, tmp_path, size):
        """A mark that came in pieces is taken out of the file, wherever they were cut."""
        mark = b"\x1e0123456789abcdef\x1e"
        buffer = HeadAndTail(tmp_path / "out", half=8, noise=MARK)
        text = b"a" * 40 + mark + b"late"
        for at in range(0, len(text), size):
            buffer.write(text[at : at + size])
        buffer.keep_on()
        buffer.flush()
        buffer.write(b"!")
        buffer.close()
        assert buffer.saved.read_bytes() == b"a" * 40 + b"late!"

    @pytest.mark.parametrize("room", [0, 5, 8, 20, 39, 40])
    def test_says_so_where_not_all_can_be_saved(self, tmp_path, room):
        """A disk that fills up in the middle of a write leaves no file that ends there."""
        buffer = HeadAndTail(tmp_path / "output.txt", half=2)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            for _ in range(5):
                buffer.write(b"abcdefgh")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert buffer.take() == (b"ab", 36, b"gh")
        buffer.close()
        fits = room == 40
        assert (buffer.saved is None, buffer.loss == "") == (not fits, fits)
        assert [f.stat().st_size for f in tmp_path.iterdir()] == [40] * fits

    def test_works_on_where_nothing_can_be_saved(self, tmp_path):
        """A file that cannot be made costs only the file."""
        blocked = tmp_path / "a_file"
        blocked.write_text("")
        buffer = HeadAndTail(blocked / "output.txt", half=2)
        buffer.write(b"abcdefgh")
        assert buffer.take() == (b"ab", 4, b"gh")
        assert buffer.saved is None
        assert buffer.loss.startswith(f"Could not keep all of it in {blocked}")


class TestShown:
    def test_cuts_at_line_ends_and_says_how_much_is_missing(self):
        """No line is shown in part, and the count is exact."""
        buffer = HeadAndTail(half=25)
        for number in range(100):
            buffer.write(b"line %d\n" % number)
        text = shown(buffer.take(), " Look in FILE.")
        head, _, tail = text.partition("[… ")
        lines = head.splitlines() + tail.splitlines()[1:]
        missing = sum(len(f"line {n}\n") for n in range(100)) - sum(len(line) + 1 for line in lines)
        assert lines == ["line 0", "line 1", "line 2", "line 97", "line 98", "line 99"]
        assert tail.startswith(f"{missing} bytes are left out here. Look in FILE. …]")

    def test_shows_a_line_without_end_in_part(self):
        """Where there is no line end to cut at, the text is cut as it is."""
        buffer = HeadAndTail(half=3)
        buffer.write(b"abcdefghij")
        assert shown(buffer.take(), "") == ("abc\n[… 4 bytes are left out here. …]\nhij")


class TestKeys:
    def test_control_keys_are_the_letter_less_its_upper_bits(self):
        """C-a is 1, C-z is 26, in whatever way it is written."""
        letters = [key(f"C-{letter}") for letter in "abcdefghijklmnopqrstuvwxyz"]
        assert letters == [bytes([n]) for n in range(1, 27)]
        assert key("C-C") == key("ctrl+c") == key("^C") == key("c-c") == b"\x03"

    def test_arrows_differ(self):
        """Every named key sends something of its own."""
        names = ("UP", "DOWN", "LEFT", "RIGHT", "TAB", "ESC", "BS", "HOME", "END")
        sent = sorted(key(name) for name in names)
        assert all(a != b for a, b in pairwise(sent))

    @pytest.mark.parametrize("text", ["", "c", "yes", "up", "C-", "C-cc", "TABLE"])
    def test_text_is_no_key(self, text):
        """Anything else is text to be typed."""
        assert key(text) is None

    def test_only_control_keys_cannot_be_commands(self):
        """A program may be called TAB; none is called C-c."""
        assert is_control("C-c")
        assert not is_control("TAB")
