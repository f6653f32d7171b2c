"""A file is written whole or not at all."""

import pytest

from toolbench.mcp.trust.approvals import Approvals
from toolbench.whole_file import write_whole


def test_what_was_there_is_replaced(tmp_path):
    """The file holds the new text, and nothing is beside it; only its owner can read it."""
    path = tmp_path / "file.txt"
    path.write_text("old and longer", encoding="utf-8")
    write_whole(path, "nëw")
    assert path.read_text(encoding="utf-8") == "nëw"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o077 == 0


def test_what_was_there_stays_when_writing_fails(tmp_path):
    """A text that no file can hold leaves the old one, and nothing beside it."""
    path = tmp_path / "file.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half of a character: \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_approval_that_cannot_be_kept_leaves_nothing(tmp_path):
    """Where a folder is in the way, there is no file beside it afterwards."""
    approvals = Approvals(tmp_path)
    approvals.approve("server", {})
    (kept,) = tmp_path.iterdir()
    kept.unlink()
    kept.mkdir()
    approvals.approve("server", {})
    assert list(tmp_path.iterdir()) == [kept]
