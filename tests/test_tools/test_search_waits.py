"""No file holds up a search: not one that never ends, never begins, or is made up by the kernel."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which
from threading import Thread

import pytest
from patience import join

from toolbench.tools.glob import GlobTool
from toolbench.tools.grep import GrepTool, ripgrep
from toolbench.tools.grep.line_pattern import LinePattern
from toolbench.tools.search import kernel_files
from toolbench.tools.search.folder_walk import Walk

SEARCHES = [(GlobTool, {"pattern": "*.txt"}), (GrepTool, {"pattern": "needle"})]


def in_time(work, *arguments):
    """Return what *work* returns; fail if it waits for ever."""
    results: list = []
    thread = Thread(target=lambda: results.append(work(*arguments)), daemon=True)
    thread.start()
    join(thread)
    return results[0]


def mounted(monkeypatch, **kinds: str) -> None:
    """Have these file systems mounted there, as the kernel tells it."""
    line = b"1 2 0:3 / %b rw,relatime shared:4 - %b source rw\n"
    table = b"".join(line % (p.encode(), k.encode()) for p, k in kinds.items())
    monkeypatch.setattr(kernel_files, "read_regular", lambda *_: table)


class TestOneFile:
    def test_that_became_a_pipe(self, tmp_path):
        """What was a file when it was listed and is none now is not waited for, but counted."""
        os.mkfifo(tmp_path / "pipe")
        line_pattern = LinePattern("x")
        assert in_time(line_pattern.accepts, str(tmp_path / "pipe")) is False
        assert line_pattern.unread == 1

    def test_with_nothing_to_read_yet(self, tmp_path, monkeypatch):
        """A file that would have to be waited for counts as unread, as one of the kernel's log."""
        (tmp_path / "file").write_text("x")
        flags = []

        def read(file: int, size: int) -> bytes:
            flags.append(not os.get_blocking(file))
            raise BlockingIOError

        monkeypatch.setattr(os, "read", read)
        line_pattern = LinePattern("x")
        assert line_pattern.accepts(str(tmp_path / "file")) is False
        monkeypatch.undo()
        assert (line_pattern.unread, flags) == (1, [True])

    def test_that_is_large_can_be_stopped(self, tmp_path):
        """An interrupt ends the search in the middle of a file."""
        (tmp_path / "file").write_bytes(b"other\n" * 100_000 + b"needle\n")
        assert LinePattern("needle").accepts(str(tmp_path / "file"))
        stopped = LinePattern("needle", lambda: True)
        assert not stopped.accepts(str(tmp_path / "file"))

    @pytest.mark.parametrize("kind", ["pipe", "device"])
    def test_that_is_none_is_refused(self, kind, tmp_path):
        """Asked to search a pipe or a device, grep says that it cannot."""
        os.mkfifo(tmp_path / "pipe")
        path = {"pipe": str(tmp_path / "pipe"), "device": os.devnull}[kind]
        [tool] = GrepTool.create(working_dir=tmp_path)
        observation = in_time(tool, {"pattern": "x", "path": path})
        assert observation.is_error
        assert observation.text.startswith(f"{path} is neither a regular file nor a directory")


class TestRules:
    @pytest.mark.parametrize(("kind", "arguments"), SEARCHES)
    @pytest.mark.parametrize("rules", ["pipe", "device", "huge"])
    def test_that_never_end_are_none(self, rules, kind, arguments, tmp_path):
        """A `.gitignore` that is no file, or far too large, ignores nothing and holds up nothing."""
        (tmp_path / "a.txt").write_text("needle\n")
        file = tmp_path / ".gitignore"
        if rules == "pipe":
            os.mkfifo(file)
        elif rules == "device":
            file.symlink_to("/dev/zero")
        else:
            file.write_bytes(b"*.txt\n")
            os.truncate(file, 3_000_000_000)
        [tool] = kind.create(working_dir=tmp_path)
        assert in_time(tool, arguments).text == str(tmp_path / "a.txt")

    def test_by_a_link_to_a_file_hold(self, tmp_path):
        """Rules kept elsewhere and linked to hold as before."""
        (tmp_path / "a.txt").touch()
        (tmp_path / "rules").write_text("*.txt\r\n")
        (tmp_path / ".gitignore").symlink_to("rules")
        assert set(Walk(tmp_path, tmp_path)) == {"rules"}


class TestKernel:
    @pytest.mark.parametrize("pattern", ["needle", "needle(?<=e)"])
    def test_is_left_out_wherever_it_is_mounted(self, pattern, tmp_path, monkeypatch):
        """Directories of the kernel are met anywhere: in a chroot, say. Nobody looks into them."""
        for name in ("chroot/proc", "chroot/usr", "odd name/sys", "shm"):
            (tmp_path / name).mkdir(parents=True)
            (tmp_path / name / "a.txt").write_text("needle\n")
        kinds = {"chroot/proc": "proc", "odd\\040name/sys": "sysfs", "shm": "tmpfs"}
        mounted(monkeypatch, **{f"{tmp_path}/{p}": kind for p, kind in kinds.items()})
        [grep] = GrepTool.create(working_dir=tmp_path)
        [glob] = GlobTool.create(working_dir=tmp_path)
        expected = {str(tmp_path / name / "a.txt") for name in ("chroot/usr", "shm")}
        assert set(grep({"pattern": pattern}).matches) == expected
        assert set(glob({"pattern": "*.txt"}).files) == expected

    @pytest.mark.parametrize("name", ["proc", "odd\\012name"])
    def test_nothing_of_it_is_read_by_ripgrep(self, name, tmp_path, monkeypatch):
        """Ripgrep is told what to leave out; where that cannot be told, Python searches."""
        started = []
        program, real = which("true"), subprocess.Popen

        def start(command, **options):
            if command[0] == program:
                started.append(command)
            return real(command, **options)

        monkeypatch.setattr(subprocess, "Popen", start)
        monkeypatch.setattr(ripgrep, "ripgrep", lambda: program)
        mounted(monkeypatch, **{f"{tmp_path}/{name}": "proc"})
        [tool] = GrepTool.create(working_dir=tmp_path)
        tool({"pattern": "needle"})
        calls = [arguments for arguments in started if "--glob=!/proc" in arguments]
        assert len(started) == len(calls) == (name == "proc")

    def test_is_left_out_from_the_root(self, monkeypatch):
        """Also where the kernel does not tell what is mounted."""
        mounted(monkeypatch)
        names = {"proc", "sys", "dev"} & {entry.name for entry in Path("/").iterdir()}
        assert names <= Walk(Path("/"), Path("/")).left_out

    def test_asked_for_is_refused(self, tmp_path, monkeypatch):
        """Grep reads no directory of the kernel; glob, which reads no file, may look for names."""
        (tmp_path / "proc" / "1").mkdir(parents=True)
        (tmp_path / "proc" / "1" / "a.txt").write_text("needle\n")
        mounted(monkeypatch, **{str(tmp_path / "proc"): "proc"})
        for kind, arguments in SEARCHES:
            [tool] = kind.create(working_dir=tmp_path)
            for name in ("proc", "proc/1"):
                observation = tool({**arguments, "path": name})
                assert observation.is_error == (kind is GrepTool), observation.text
        assert observation.text.startswith(f"{tmp_path}/proc/1 is a directory of the kernel")

    @pytest.mark.skipif(sys.platform != "linux", reason="the directories are Linux's")
    def test_of_this_machine(self, tmp_path):
        """What is mounted here is known."""
        [tool] = GrepTool.create(working_dir=tmp_path)
        observation = in_time(tool, {"pattern": "x", "path": "/proc"})
        assert observation.is_error
        assert observation.text.startswith("/proc is a directory of the kernel")
