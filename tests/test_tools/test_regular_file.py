"""Reading a file to a limit."""

import os
import tracemalloc

import pytest

from toolbench.tools.files.regular_file import open_regular, read_regular, read_up_to

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
    file = open_regular(str(tmp_path / "file"))
    try:
        assert read_up_to(file, 300_000) == data[:300_000]
    finally:
        os.close(file)
    if size <= 300_000:
        assert read_regular(str(tmp_path / "file"), 300_000) == data
    else:
        with pytest.raises(OSError, match="too large"):
            read_regular(str(tmp_path / "file"), 300_000)
