"""The file editor when the disk is full, the process dies, or others write at the same time."""

import os
import resource
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from patience import PATIENCE

from test_tools.editor_parts import child, left_over
from toolbench.tools.file_editor import FileEditorTool

# Bytes a file may have in the child
LIMIT = (8_000, 8_000)


@pytest.fixture
def tool():
    [tool] = FileEditorTool.create()
    return tool


class TestFailure:
    # As the fault table tries with `size` and Insert
    @pytest.mark.long
    def test_disk_full(self, tmp_path):
        """When the bytes do not fit, the file stays whole, and no rest is left behind."""
        path = tmp_path / "file"
        path.write_text("keep\n" * 1_000)
        code = """
            seen = tool({"command": "insert", "path": path, "insert_line": 0, "new_str": "x" * 5_000})
            print(seen.is_error, seen.text)
        """
        process = child(
            code,
            path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, LIMIT),
        )
        output = process.communicate(timeout=PATIENCE)[0]
        assert output.startswith("True Could not write")
        assert path.read_text() == "keep\n" * 1_000
        assert left_over(tmp_path) == []

    def test_disk_really_full(self, tool, tmp_path):
        """The same on a file system of 64 kB that runs full."""
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
        if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("a small file system cannot be mounted here")
        try:
            path = tmp_path / "file"
            path.write_text("keep\n" * 8_000)
            new = {"insert_line": 0, "new_str": "x" * 30_000}
            observation = tool({"command": "insert", "path": str(path), **new})
            assert observation.is_error
            assert "the disk is full" in observation.text
            assert path.read_text() == "keep\n" * 8_000
            assert left_over(tmp_path) == []
        finally:
            subprocess.run(["umount", str(tmp_path)], check=True)

    def test_killed_in_the_middle_of_a_write(self, tmp_path):
        """The system kills it there: some bytes are on the disk, the file is whole."""
        path = tmp_path / "file"
        path.write_text("keep\n" * 1_000)
        code = """
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python has it ignored
            tool({"command": "insert", "path": path, "insert_line": 0, "new_str": "x" * 5_000})
        """
        process = child(
            code,
            path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, LIMIT),
        )
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGXFSZ
        assert path.read_text() == "keep\n" * 1_000
        [rest] = left_over(tmp_path)
        assert Path(rest).stat().st_size == LIMIT[0]

    def test_killed_between_write_and_rename(self, tmp_path):
        """A process that dies after writing, before renaming, leaves the old file whole."""
        path = tmp_path / "file"
        path.write_text("keep")
        code = """
            def wait_for_death(*_):
                print("written", flush=True)
                sys.stdin.read()
            disk.check_unchanged = wait_for_death
            tool({"command": "insert", "path": path, "insert_line": 0, "new_str": "x"})
        """
        process = child(code, path, stdin=subprocess.PIPE)
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        assert path.read_text() == "keep"
        [rest] = left_over(tmp_path)
        # It had all been written
        assert Path(rest).read_text() == "x\nkeep"

    # The same write as in test_of_a_plan_leaves_a_whole_plan
    @pytest.mark.long
    def test_killed_at_any_time(self, tmp_path):
        """Whenever the process dies, the file holds the old text or the new one, whole."""
        path = tmp_path / "file"
        texts = ["a" * 300_000, "b" * 300_000]
        code = """
            import itertools
            texts = ["a" * 300_000, "b" * 300_000]
            for old, new in itertools.cycle([texts, texts[::-1]]):
                print("again", flush=True)
                seen = tool({"command": "str_replace", "path": path, "old_str": old, "new_str": new})
                assert not seen.is_error, seen.text
        """
        for edits in range(1, 7):
            path.write_text(texts[0])
            process = child(code, path)
            for _ in range(edits):
                assert process.stdout.readline() == "again\n"
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
            assert path.read_text() in texts

    def test_changed_while_editing(self, tool, tmp_path, monkeypatch):
        """What somebody writes during an edit is not lost."""
        path = tmp_path / "file"
        path.write_text("mine")

        def write_something_else(beside, data, like):
            path.write_text("theirs!")
            return True

        monkeypatch.setattr("toolbench.tools.files.disk.fill", write_something_else)
        new = {"insert_line": 0, "new_str": "x"}
        observation = tool({"command": "insert", "path": str(path), **new})
        assert "changed by something else" in observation.text
        assert path.read_text() == "theirs!"


class TestPermission:
    """What an ordinary user may not do is refused; the child gives up being root."""

    @pytest.fixture
    def folder(self):
        """A folder for everybody; pytest closes its own to others."""
        with TemporaryDirectory() as name:
            Path(name).chmod(0o777)
            yield Path(name)

    def test_decides(self, folder):
        """What may not be read or written is said to be so, and stays as it was."""
        code = """
            import os
            from pathlib import Path
            tool({"command": "view", "path": path})
            if not os.geteuid():
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            there = Path(path)
            names = ("read_only", "closed", "shut/file")
            (there / "shut").mkdir()
            for name, mode in zip(names, (0o444, 0, 0o644)):
                (there / name).write_text("keep")
                (there / name).chmod(mode)
            (there / "shut").chmod(0o555)
            def say(command, name, **arguments):
                seen = tool({"command": command, "path": str(there / name), **arguments})
                print(seen.is_error, "permission denied" in seen.text)
            say("view", "read_only")
            for name in names:
                say("insert", name, insert_line=0, new_str="x")
            say("str_replace", "read_only", old_str="keep", new_str="lost")
            say("view", "closed")
            say("create", "shut/new", file_text="x")
            (there / "shut").chmod(0)
            say("view", "shut")
            (there / "shut").chmod(0o755)
        """
        process = child(code, folder)
        output = process.communicate(timeout=PATIENCE)[0].splitlines()
        assert output == ["False False"] + ["True True"] * 7
        for name in ("read_only", "closed", "shut/file"):
            path = folder / name
            path.chmod(0o644)
            assert path.read_text() == "keep"
        assert left_over(folder) + left_over(folder / "shut") == []
