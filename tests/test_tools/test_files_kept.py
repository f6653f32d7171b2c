"""An edit changes the bytes of a file and nothing else that belongs to it."""

import os
import resource
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from patience import PATIENCE

from test_tools.editor_parts import child, left_over
from toolbench.tools.apply_patch import ApplyPatchTool
from toolbench.tools.file_editor import FileEditorTool

# read and write for the owner and user 1234, nothing for others
ACL = bytes.fromhex(
    "02000000" "01000600ffffffff" "02000600d2040000" "04000000ffffffff"
    "10000600ffffffff" "20000000ffffffff"
)  # fmt: skip


def edited_by_editor(path: Path) -> str:
    [tool] = FileEditorTool.create()
    new = {"command": "str_replace", "old_str": "old", "new_str": "newer"}
    return tool({"path": str(path), **new}).text


def edited_by_patch(path: Path) -> str:
    [tool] = ApplyPatchTool.create(workspace_root=path.parent)
    lines = (f"*** Update File: {path.name}", "@@", "-old", "+newer")
    patch = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return tool({"patch": patch}).text


@pytest.fixture(params=[edited_by_editor, edited_by_patch])
def edited(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_text("old\n")
    return path


class TestKept:
    def test_hard_links(self, path, edited):
        """All the names of a file show the edit, and are names of one file still."""
        other = path.with_name("other")
        other.hardlink_to(path)
        edited(path)
        assert path.read_text() == other.read_text() == "newer\n"
        assert path.samefile(other)
        assert left_over(path.parent) == []

    @pytest.mark.parametrize(
        ("name", "value"),
        [("user.comment", b"kept\0"), ("system.posix_acl_access", ACL)],
    )
    def test_attributes(self, path, edited, name, value):
        """Extended attributes stay, access control lists among them."""
        try:
            os.setxattr(path, name, value)
        except OSError as error:
            pytest.skip(f"{name} cannot be set here: {error}")
        mode = path.stat().st_mode
        edited(path)
        assert path.read_text() == "newer\n"
        assert os.getxattr(path, name) == value
        assert path.stat().st_mode == mode

    @pytest.mark.parametrize("owner", [1234, 5678])
    def test_owner_and_group(self, owner):
        """A file shared with a group, or owned by another, stays that; the child is user 1234."""
        if os.geteuid():
            pytest.skip("only root can become two users")
        code = """
            import os
            os.setgroups([5678]); os.setgid(1234); os.setuid(1234)
            seen = tool({"command": "str_replace", "path": path, "old_str": "old", "new_str": "newer"})
            print(seen.is_error)
            print(tool({"command": "undo_edit", "path": path}).is_error)
            seen = tool({"command": "str_replace", "path": path, "old_str": "old", "new_str": "newer"})
        """
        with TemporaryDirectory() as name:
            Path(name).chmod(0o777)
            path = Path(name) / "shared"
            path.write_text("old\n")
            path.chmod(0o660)
            os.chown(path, owner, 5678)
            assert child(code, path).communicate(timeout=PATIENCE)[0] == "False\nFalse\n"
            status = path.stat()
            assert path.read_text() == "newer\n"
            assert (status.st_uid, status.st_gid) == (owner, 5678)
            assert stat.S_IMODE(status.st_mode) == 0o660
            assert left_over(Path(name)) == []


class TestInPlace:
    """A file with other names is written where it is; a failure costs it nothing."""

    def test_a_full_disk(self, path):
        """When the new text does not fit, the file holds the old one."""
        path.write_text("keep\n" * 1_000)
        path.with_name("other").hardlink_to(path)
        code = """
            seen = tool({"command": "insert", "path": path, "insert_line": 0, "new_str": "x" * 5_000})
            print(seen.is_error, seen.text)
        """
        limit = (8_000, 8_000)
        process = child(
            code,
            path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        )
        text = process.communicate(timeout=PATIENCE)[0]
        assert text.startswith("True Could not write")
        assert path.read_text() == "keep\n" * 1_000
        assert left_over(path.parent) == []

    @pytest.mark.parametrize("step", range(1, 5))
    def test_a_failure_at_every_write(self, path, edited, monkeypatch, step):
        """Whichever write fails, all names hold the old text, or the new one was promised."""
        other = path.with_name("other")
        other.hardlink_to(path)
        steps, write = iter(range(1, 100)), os.write

        def failing(descriptor, data):
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and next(steps) == step:
                # Some of it is written
                write(descriptor, data[:1])
                raise OSError(28, "No space left on device")
            return write(descriptor, data)

        monkeypatch.setattr(os, "write", failing)
        text = edited(path)
        monkeypatch.undo()
        failed = "the disk is full" in text
        # Beside, the file itself
        assert failed == (step <= 2)
        assert path.read_text() == other.read_text() == ("old\n" if failed else "newer\n")
        assert left_over(path.parent) == []
