"""What tools do to files, and in a shell: each succeeds where no fault is met."""

from pathlib import Path

from toolbench import run_tool
from toolbench.core.schema import Observation
from toolbench.tools import (
    ApplyPatchTool,
    FileEditorTool,
    GlobTool,
    GrepTool,
    TaskTrackerTool,
    TerminalTool,
)

# What a search that succeeds says of the rest
UNREAD = "Could not be read"
OLD, NEW = "old\n" * 1_200, "new\n" * 2_000
MANY = [f"file_{number:02}_{'x' * 80}" for number in range(50)]
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
        return {
            str(path.relative_to(self.directory)): path.read_bytes()
            for path in self.directory.rglob("*")
            if path.is_file()
        }

    def do(self) -> Observation:
        """Do it."""
        raise NotImplementedError

    def check(self, observation: Observation) -> None:
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


class Insert(Deed):
    def do(self) -> Observation:
        [tool] = FileEditorTool.create(workspace_root=self.directory)
        new = {"insert_line": 1, "new_str": NEW}
        return run_tool(tool, command="insert", path=str(self.path), **new)


class Undo(Deed):
    """The edit before it is none that a fault hits; where undoing fails, the next try does it."""

    def prepare(self) -> None:
        super().prepare()
        [self.tool] = FileEditorTool.create(workspace_root=self.directory)
        new = {"old_str": OLD, "new_str": NEW}
        edited = run_tool(self.tool, command="str_replace", path=str(self.path), **new)
        assert not edited.is_error, edited.text

    def do(self) -> Observation:
        return run_tool(self.tool, command="undo_edit", path=str(self.path))

    def check(self, observation: Observation) -> None:
        if self.path.read_text() != OLD:
            assert observation.is_error
            assert not self.do().is_error
        assert self.path.read_text() == OLD


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
    """Of many files, in an answer of some length."""

    def prepare(self) -> None:
        super().prepare()
        for name in MANY:
            (self.directory / name).write_text("old")

    def do(self) -> Observation:
        [tool] = GrepTool.create(working_dir=self.directory)
        return matches_or_says(run_tool(tool, pattern="old"))


class Glob(Search):
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
        # What is kept whole is a convenience
        return {}

    def do(self) -> Observation:
        observation = run_tool(self.tool, command="seq 1 7000; echo end")
        assert observation.is_error or observation.text.endswith("7000\nend"), observation.text[
            -200:
        ]
        return observation

    def check(self, observation: Observation) -> None:
        assert self.tool.execute({"command": "echo on"}).text.endswith("on")

    def close(self) -> None:
        self.tool.executor.close()


class FirstCommand(Deed):
    """A command in a shell that starts with it."""

    def prepare(self) -> None:
        super().prepare()
        [self.tool] = TerminalTool.create()

    def do(self) -> Observation:
        return run_tool(self.tool, command="echo hi")

    def check(self, observation: Observation) -> None:
        assert observation.is_error or observation.text == "hi", observation.text
        assert self.tool.execute({"command": "echo on"}).text.endswith("on")
        self.tool.executor.close()
