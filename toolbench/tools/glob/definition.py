"""The definition of glob: its action, its observation, its description."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.definition.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition


class GlobAction(Action):
    """Find files by their paths."""

    pattern: str = Field(
        description="The glob to match, such as `**/*.py` or `src/**/*.{ts,tsx}`."
    )
    path: str | None = Field(
        default=None,
        description="The directory to search; the working directory if left out.",
    )

    @property
    def visualize(self) -> RenderableType:
        """The pattern, and where to search."""
        view = Text.assemble(("glob ", "bold"), (self.pattern, "cyan"))
        return view.append(f" in {self.path}") if self.path else view


class GlobObservation(Observation):
    """The files whose paths match."""

    files: list[str] = Field(
        default=[], description="Absolute paths, those changed last first."
    )
    pattern: str = Field(description="The glob that was matched.")
    search_path: str = Field(description="The directory that was searched.")
    truncated: bool = Field(
        default=False, description="Whether there are more files than these."
    )


_DESCRIPTION = """\
Finds files by their names and paths; returns absolute paths, those changed last first.

Patterns: `*` and `?` match within a name, `**` any number of directories, `[a-z]` and `[!a]` \
one character, `{py,pyi}` either text. A pattern without a slash is looked for at any depth, \
one with a slash begins at `path`. Case matters.

Left out: directories; what .gitignore files exclude; names beginning with a dot, unless the \
pattern writes the dot, as in `.github/**/*.yml`. To search an ignored directory, name it: \
`dist/**/*.js`, or give it as `path`. Links to directories are not followed.

At most 100 files are returned; narrow the pattern if there are more. Use grep to look for \
text inside files, and file_editor to list one directory.

Examples: {"pattern": "**/test_*.py"}, {"pattern": "*.{yaml,yml,toml}"}, \
{"pattern": "src/**/index.ts", "path": "/repo/web"}"""


class GlobTool(ToolDefinition[GlobAction, GlobObservation]):
    """A tool that finds files by glob patterns. Source of the names: OpenHands, `glob`."""

    def declared_resources(
        self,
        action: GlobAction,
    ) -> DeclaredResources:
        """Return no resources: searches only read, so any number may run at once.

        Source: OpenHands SDK, `GlobTool`.
        """
        return DeclaredResources()

    @classmethod
    def create(
        cls, conv_state: Any = None, *, working_dir: str | Path | None = None
    ) -> Sequence[Self]:
        """Return the tool.

        Args:
            conv_state: Has the working directory, which is searched if a call gives no path.
            working_dir: The directory to search instead.

        Raises:
            ValueError: If there is no such directory.
        """
        from toolbench.tools.glob.impl import (  # noqa: PLC0415 - the seeds' layout: a definition does not load its implementation
            GlobExecutor,
        )
        from toolbench.tools.search.place import (  # noqa: PLC0415 - as above
            check_working_dir,
        )

        executor = GlobExecutor(conv_state, working_dir=working_dir)
        check_working_dir(executor.working_dir)
        where = f"\n\nThe working directory is {executor.working_dir}."
        return [
            cls(
                description=_DESCRIPTION + where,
                action_type=GlobAction,
                observation_type=GlobObservation,
                annotations=ToolAnnotations(
                    title="Glob",
                    readOnlyHint=True,
                    destructiveHint=False,
                    idempotentHint=True,
                    openWorldHint=False,
                ),
                executor=executor,
            )
        ]
