"""The definition of glob: its action, its observation, its description."""

from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.schema import Action, Observation
from toolbench.tools.search.search_tool import SearchTool, search_annotations


class GlobAction(Action):
    """Find files by their paths."""

    pattern: str = Field(description="The glob to match, such as `**/*.py` or `src/**/*.{ts,tsx}`.")
    path: str | None = Field(
        default=None,
        description="The directory to search; the working directory if left out.",
    )

    @property
    def visualize(self) -> RenderableType:
        """The pattern and the directory."""
        view = Text.assemble(("glob ", "bold"), (self.pattern, "cyan"))
        if self.path:
            return view.append(f" in {self.path}")
        return view


class GlobObservation(Observation):
    """The files whose paths match."""

    files: list[str] = Field(default=[], description="Absolute paths, most recently changed first.")
    pattern: str = Field(description="The glob that was matched.")
    search_path: str = Field(description="The directory that was searched.")
    truncated: bool = Field(default=False, description="Whether there are more files, or may be.")


TOOL_DESCRIPTION = """\
Finds files by their names and paths; returns absolute paths, most recently changed first.

Patterns: `*` and `?` match within a name, `**` any number of directories, `[a-z]` and `[!a]` \
one character, `{py,pyi}` either one. A pattern without a slash is searched for at any depth, \
one with a slash begins at `path`. Case matters.

Left out: directories; links; what .gitignore files exclude; names beginning with a dot, unless \
the pattern has the dot, as in `.github/**/*.yml`. To search an ignored directory, name it: \
`dist/**/*.js`, or give it as `path`.

At most 100 files are returned; narrow the pattern if there are more. Use grep to look for \
text inside files, and file_editor to list one directory.

Examples: {"pattern": "**/test_*.py"}, {"pattern": "*.{yaml,yml,toml}"}, \
{"pattern": "src/**/index.ts", "path": "/repo/web"}"""


class GlobTool(SearchTool[GlobAction, GlobObservation]):
    """A tool that finds files by glob patterns.

    The tool and its arguments have the same names as in OpenHands' `glob`.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.tools import GlobTool
        >>> Path("app.py").touch()
        >>> [glob] = GlobTool.create(working_dir=".")
        >>> [Path(file).name for file in glob(pattern="*.py").files]
        ['app.py']
    """

    description = TOOL_DESCRIPTION
    action_type = GlobAction
    observation_type = GlobObservation
    annotations = search_annotations("Glob")

    @classmethod
    def _new_executor(cls, conv_state: Any, working_dir: str | Path | None) -> Any:
        from toolbench.tools.glob.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            GlobExecutor,
        )

        return GlobExecutor(conv_state, working_dir=working_dir)
