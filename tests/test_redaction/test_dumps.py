"""A secret in a dump of bytes, as `xxd`, `hexdump` and `od` write them, is found and hidden."""

import shutil
import subprocess

import pytest

from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor

SECRET = "hunter2-tHe_sEcret"
PROGRAMS = {
    "xxd": ["xxd"],
    "xxd, bytes": ["xxd", "-g1"],
    "hexdump -C": ["hexdump", "-C"],
    "hexdump": ["hexdump"],
    "od -x": ["od", "-x"],
    "od of bytes": ["od", "-tx1"],
    "od with text": ["od", "-A", "x", "-t", "x1z"],
}
# Bytes of other text, so that the secret is on lines with it
BEFORE, AFTER = 16, 16


OFFSETS = range(17)


@pytest.fixture
def dump(program, tmp_path):
    """Return what the program writes of a text."""
    command = PROGRAMS[program]
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} here")

    def dumped(text: str) -> str:
        path = tmp_path / "file"
        path.write_text(text)
        done = subprocess.run([*command, path], capture_output=True, check=True)
        return done.stdout.decode()

    return dumped


def with_each_offset():
    """Each program, and each offset, at least once; all other pairs are marked `long`."""
    for place, program in enumerate(PROGRAMS):
        for offset in OFFSETS:
            is_drawn = offset % len(PROGRAMS) == place
            yield pytest.param(program, offset, marks=[] if is_drawn else [pytest.mark.long])


# They are as few as cover each program and each offset
@pytest.mark.every_case
@pytest.mark.parametrize(("program", "offset"), list(with_each_offset()))
def test_is_hidden_wherever_it_stands_in_a_line(dump, program, offset):
    """With the text beside it; what comes before and after it stays."""
    redactor = Redactor([SECRET])
    text = dump("." * (BEFORE + offset) + SECRET + "!" * (AFTER + 40))
    hidden = redactor.text(f"head\n{text}tail\n")
    assert hidden.count(MARK) == 1
    assert hidden.startswith(f"head\n{text.splitlines()[0]}")
    assert hidden.endswith(f"{text.splitlines()[-1]}\ntail\n")
    rest = "".join(hidden.replace(MARK, "").split())
    for start in range(len(SECRET) - 3):
        piece = SECRET[start : start + 4]
        assert piece not in rest
        assert piece.encode().hex() not in rest


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("size", [1, 7, 50])
def test_is_hidden_in_pieces(dump, size):
    """A stream shows what the whole text would, however it is cut."""
    redactor = Redactor([SECRET])
    text = dump("." * 20 + SECRET + "!" * 40) + "done\n"
    stream = redactor.stream()
    pieces = [stream.feed(text[i : i + size]) for i in range(0, len(text), size)]
    assert "".join([*pieces, stream.flush()]) == redactor.text(text)


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_dumps_stay(dump):
    """Where no secret stands nothing is hidden, and no line is held back for ever."""
    text = dump("all of this is harmless, " * 10)
    stream = Redactor([SECRET]).stream()
    assert stream.feed(text) + stream.flush() == text
