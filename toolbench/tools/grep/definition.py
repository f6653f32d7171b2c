"""The definition of grep: its action, its observation, its description."""

from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.schema import Action, Observation
from toolbench.tools.search.search_tool import SearchTool, search_annotations


class GrepAction(Action):
    """Find files by their content."""

    pattern: str = Field(
        description="The regular expression to search for in each line; case is ignored."
    )
    path: str | None = Field(
        default=None,
        description="The directory or file to search; the working directory if left out.",
    )
    include: str | None = Field(
        default=None,
        description="A glob that files must match, such as `*.py` or `src/**/*.{ts,tsx}`.",
    )

    @property
    def visualize(self) -> RenderableType:
        """The pattern, the directory to search, and the glob that the files must match."""
        view = Text.assemble(("grep ", "bold"), (self.pattern, "cyan"))
        for word, value in (("in", self.path), ("of", self.include)):
            if value:
                view.append(f" {word} {value}")
        return view


class GrepObservation(Observation):
    """The files that have a matching line."""

    matches: list[str] = Field(
        default=[], description="Absolute paths, most recently changed first."
    )
    pattern: str = Field(description="The regular expression that was searched for.")
    search_path: str = Field(description="The directory or file that was searched.")
    include_pattern: str | None = Field(
        default=None, description="The glob that files had to match."
    )
    truncated: bool = Field(default=False, description="Whether more files match than these.")


TOOL_DESCRIPTION = """\
Finds files with a line that matches a regular expression; returns absolute paths, most \
recently changed first. To see the lines, view the files or search them in the terminal.

The pattern is a regular expression of ripgrep, or of PCRE2 if it looks around or back. It may \
match anywhere in a line, but not across lines; `^` and `$` are the ends of the line. Case is \
ignored. Put a backslash before `. ( ) [ ] { } * + ? | ^ $ \\` \
to mean the character.

Left out: what .gitignore files exclude; files and directories beginning with a dot, unless \
`include` has the dot, as in `.env*`; links; binary files. To search an ignored or hidden \
directory, give it as `path`.

At most 100 files are returned; narrow `pattern`, `path` or `include` if there are more. Use \
glob to find files by name.

Examples: {"pattern": "def \\\\w+_token\\\\("}, {"pattern": "TODO|FIXME", "include": "*.py"}, \
{"pattern": "timeout:\\\\s*30", "path": "/repo/deploy", "include": "*.{yml,yaml}"}"""


class GrepTool(SearchTool[GrepAction, GrepObservation]):
    r"""A tool that finds the files in which a line matches a regular expression.

    The tool and its arguments have the same names as in OpenHands' `grep`.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.tools import GrepTool
        >>> length = Path("app.py").write_text("import os\n")
        >>> [grep] = GrepTool.create(working_dir=".")
        >>> [Path(file).name for file in grep(pattern="^import").matches]
        ['app.py']
    """

    description = TOOL_DESCRIPTION
    action_type = GrepAction
    observation_type = GrepObservation
    annotations = search_annotations("Grep")

    @classmethod
    def _new_executor(cls, conv_state: Any, working_dir: str | Path | None) -> Any:
        from toolbench.tools.grep.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            GrepExecutor,
        )

        return GrepExecutor(conv_state, working_dir=working_dir)
