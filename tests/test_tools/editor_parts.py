"""A file editor and a file to try it on; an editor in a process that may die."""

import io
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.tools.file_editor import FileEditorObservation, FileEditorTool


class Editor:
    """A file editor, and a file to try it on."""

    def __init__(self, directory: Path) -> None:
        [self.tool] = FileEditorTool.create(ConversationState(directory))
        self.file = directory / "a.py"

    def __call__(self, command, path=None, **arguments) -> FileEditorObservation:
        path = str(self.file if path is None else path)
        return self.tool({"command": command, "path": path, **arguments})

    def edit(self, command, **arguments) -> str:
        """Run a command that must succeed, and return what the file holds."""
        observation = self(command, **arguments)
        assert not observation.is_error, observation.text
        return self.file.read_text()

    def refused(self, command, path=None, **arguments) -> str:
        """Run a command that must fail and change nothing; return what is said."""
        before = self.file.read_bytes() if self.file.is_file() else None
        observation = self(command, path, **arguments)
        assert observation.is_error
        assert (self.file.read_bytes() if self.file.is_file() else None) == before
        return observation.text


def plain_text(renderable) -> str:
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(renderable)
    return console.file.getvalue()


def left_over(directory: Path) -> list[str]:
    return [str(rest) for rest in directory.glob(".toolbench*")]


def child(code: str, *arguments: object, **options) -> "subprocess.Popen[str]":
    """Start Python on *code* with an editor at hand.

    It keeps no bytecode: where its files are cut short, Python would keep half a module for all.
    """
    start = """
        import sys
        from toolbench.tools.file_editor import FileEditorTool
        from toolbench.tools.files import disk
        [tool] = FileEditorTool.create()
        path = sys.argv[1]
    """
    text = dedent(start) + dedent(code)
    return subprocess.Popen(
        [sys.executable, "-B", "-c", text, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )
