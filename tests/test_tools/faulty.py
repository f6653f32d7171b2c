"""What the tests of faults share: things a tool does, and the faults a child does them under.

Run as a program: `python -m test_tools.faulty KIND DEED DIRECTORY`; it prints what broke a law,
a line each, and last how many faults there were.
"""

import ctypes
import os
import re
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolbench import history, run_tool
from toolbench.core.schema import Observation
from toolbench.runs.history.journal import Journal
from toolbench.tools import (
    ApplyPatchTool,
    FileEditorTool,
    GlobTool,
    GrepTool,
    TaskTrackerTool,
    TerminalTool,
)

UNREAD = "could not be read"  # what a search that succeeds says of the rest
OLD, NEW = "old\n" * 500, "new\n" * 3_000
PATCH = """\
*** Begin Patch
*** Update File: file
*** Move to: moved
@@
-old
+new
*** Delete File: gone
*** Add File: made/added
+added
*** End Patch"""


class Deed:
    """Something a tool does to the files of a directory; without a fault it succeeds."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "file"
        self.prepare()

    def prepare(self) -> None:
        """Have the files as they are before."""
        for left in sorted(self.directory.rglob("*"), reverse=True):
            left.rmdir() if left.is_dir() else left.unlink()
        self.path.write_text(OLD)

    def files(self) -> dict[str, bytes]:
        """All the files there are."""
        found = self.directory.rglob("*")
        return {
            str(f.relative_to(self.directory)): f.read_bytes()
            for f in found
            if f.is_file()
        }

    def do(self) -> Observation:
        """Do it."""
        raise NotImplementedError

    def check(self, seen: Observation) -> None:
        """Check, when the fault is over, that what it used works on."""

    def close(self) -> None:
        """Give back what it holds."""


class Edit(Deed):
    def do(self) -> Observation:
        [tool] = FileEditorTool.create(workspace_root=self.directory)
        new = {"old_str": OLD, "new_str": NEW}
        return run_tool(tool, command="str_replace", path=str(self.path), **new)


class EditOfLinked(Edit):
    def prepare(self) -> None:
        super().prepare()
        (self.directory / "other").hardlink_to(self.path)


class Create(Deed):
    def do(self) -> Observation:
        [tool] = FileEditorTool.create()
        path = str(self.directory / "made" / "file")
        return run_tool(tool, command="create", path=path, file_text=NEW)


class Patch(Deed):
    def prepare(self) -> None:
        super().prepare()
        self.path.write_text("old\n")
        (self.directory / "gone").write_text("gone\n")

    def do(self) -> Observation:
        [tool] = ApplyPatchTool.create(workspace_root=self.directory)
        return run_tool(tool, patch=PATCH)


class Plan(Deed):
    def do(self) -> Observation:
        [tool] = TaskTrackerTool.create(save_dir=self.directory)
        tasks = [{"title": "task", "notes": NEW}]
        return run_tool(tool, command="plan", task_list=tasks)


class View(Deed):
    def do(self) -> Observation:
        [tool] = FileEditorTool.create(workspace_root=self.directory)
        return run_tool(tool, command="view", path=str(self.path))


def matches_or_says(observation: Observation) -> Observation:
    """Check that the search matches the file, or says that it could not read something."""
    is_told = observation.is_error or UNREAD in observation.text
    assert is_told or "file" in observation.text, observation.text
    return observation


class Search(Deed):
    def do(self) -> Observation:
        [tool] = GrepTool.create(working_dir=self.directory)
        return matches_or_says(run_tool(tool, pattern="old"))


class Glob(Deed):
    def do(self) -> Observation:
        [tool] = GlobTool.create(working_dir=self.directory)
        return matches_or_says(run_tool(tool, pattern="**/f*"))


class Command(Deed):
    """A command in a shell that is there already, with more output than is shown."""

    def __init__(self, directory: Path) -> None:
        [self.tool] = TerminalTool.create(full_output_save_dir=directory / "kept")
        self.tool.execute({"command": "true"})
        super().__init__(directory)

    def files(self) -> dict[str, bytes]:
        return {}  # what is kept whole is a convenience

    def do(self) -> Observation:
        seen = run_tool(self.tool, command="seq 1 10000; echo end")
        assert seen.is_error or seen.text.endswith("10000\nend"), seen.text[-200:]
        return seen

    def check(self, seen: Observation) -> None:
        assert self.tool.execute({"command": "echo on"}).text.endswith("on")

    def close(self) -> None:
        self.tool.executor.close()


class FirstCommand(Deed):
    """A command in a shell that starts with it."""

    def do(self) -> Observation:
        [self.tool] = TerminalTool.create()
        return run_tool(self.tool, command="echo hi")

    def check(self, seen: Observation) -> None:
        assert seen.is_error or seen.text == "hi", seen.text
        assert self.tool.execute({"command": "echo on"}).text == "on"
        self.tool.executor.close()


class Note(Deed):
    """A run that is written to a journal: whatever happens to that, the run succeeds."""

    def prepare(self) -> None:
        super().prepare()
        [tool] = TaskTrackerTool.create()
        run_tool(tool, command="plan", task_list=[{"title": NEW}])
        self.record = history()[-1]
        self.journal = Journal(self.directory / "journal")

    def do(self) -> Observation:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.journal.write(self.record)
        text = " ".join(str(warning.message) for warning in caught)
        return Observation.from_text(text or "kept", is_error=bool(text))

    def files(self) -> dict[str, bytes]:
        return {}  # half a line is passed over

    def check(self, seen: Observation) -> None:
        self.journal.write(self.record)
        kept = [one.id for one in self.journal.read(10)]
        assert kept == [self.record.id] * (1 if seen.is_error else 2), (seen, kept)


DEEDS = {
    deed.__name__: deed
    for deed in (
        Edit, EditOfLinked, Create, Patch, Plan, View, Search, Glob, Command, FirstCommand, Note,
    )
}  # fmt: skip


# --- faults: each number is one moment, or one limit -------------------------------------


@contextmanager
def descriptors(number: int, directory: Path) -> Iterator[None]:
    """Less than *number* descriptors are free."""
    number -= 1
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    for descriptor in taken[len(taken) - number :]:
        os.close(descriptor)
    try:
        yield
    finally:
        for descriptor in taken[: len(taken) - number]:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def size(number: int, directory: Path) -> Iterator[None]:
    """No file may be larger than a step of *number*."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, ((number - 1) * 1_500, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def memory(number: int, directory: Path) -> Iterator[None]:
    """Only so many times 256 kB more may be taken."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (number - 1) * 256 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


fired: list[str] = []
"""Which calls failed by `eio`; empty where none did."""


@contextmanager
def eio(number: int, directory: Path) -> Iterator[None]:
    """The call of that *number* that touches the directory fails."""
    library = ctypes.CDLL(None)
    library.eio_fired.restype = ctypes.c_char_p
    library.eio_at(number, str(directory).encode())
    try:
        yield
    finally:
        fired.append(library.eio_fired().decode())


FAULTS: dict[str, Callable[..., object]] = {
    "descriptors": descriptors,
    "size": size,
    "memory": memory,
    "eio": eio,
}
MOST = {"descriptors": 30, "size": 12, "memory": 12, "eio": 400}


def main(kind: str, name: str, directory: str) -> None:
    """Do the deed under every fault of the *kind*, until there are no more; say what broke a law."""
    deed = DEEDS[name](Path(directory))
    first = deed.do()  # what it loads is loaded
    assert not first.is_error, first.text
    deed.check(first)
    done, faults, passed = deed.files(), 0, 0
    for number in range(1, MOST[kind] + 1):
        deed.prepare()
        before, open_before = deed.files(), descriptors_open()
        with FAULTS[kind](number, deed.directory):  # type: ignore[attr-defined]
            seen = observed(deed, kind)
        is_told = seen.is_error or UNREAD in seen.text
        faults += is_told
        passed = 0 if is_told else passed + 1
        broken = list(laws_broken(deed, seen, before if seen.is_error else done))
        deed.check(seen)
        if descriptors_open() != open_before:
            broken.append(f"{descriptors_open() - open_before} descriptors leaked")
        for law in broken:
            print(kind, number, *fired[-1:], "|", law, "|", seen.text[:200])
        if passed >= 3 and fired[-1:] in ([], [""]):
            break
    deed.close()
    print("faults:", faults)


def observed(deed: Deed, kind: str) -> Observation:
    try:
        return deed.do()
    except MemoryError:
        if kind != "memory":
            raise
        return Observation.from_text("There is too little memory.", is_error=True)


def laws_broken(
    deed: Deed, seen: Observation, wanted: dict[str, bytes]
) -> Iterator[str]:
    if seen.is_error and not re.fullmatch(r"[^\n]{10,400}", seen.text):
        yield "the error is no sentence"
    found = deed.files()
    files = {name: data for name, data in found.items() if ".toolbench" not in name}
    if files != wanted:
        yield f"files are neither as before nor as after: {list(files)}"
    if len(found) > len(files) and fired[-1:] != ["unlinkat"]:
        yield f"left behind: {list(found)}"


def descriptors_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


if __name__ == "__main__":
    main(*sys.argv[1:])
