"""The base class of the tools that search a directory: glob and grep."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from toolbench.core.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.executor import ActionT, ObservationT
from toolbench.core.tool import ToolDefinition
from toolbench.tools.failure_sentence import readable


def search_annotations(title: str) -> ToolAnnotations:
    """Return the MCP annotations of a tool called *title* that only reads files."""
    return ToolAnnotations(
        title=title,
        readOnlyHint=True,
        destructiveHint=False,
        idempotentHint=True,
        openWorldHint=False,
    )


class SearchTool(ToolDefinition[ActionT, ObservationT]):
    """The base class of glob and grep. A subclass adds types, a description and an executor."""

    def declared_resources(
        self,
        action: ActionT,
    ) -> DeclaredResources:
        """Return no resources: searches only read, so any number can run at the same time.

        Source: OpenHands SDK, `GlobTool` and `GrepTool`.
        """
        return DeclaredResources()

    @classmethod
    def create(
        cls, conv_state: Any = None, *, working_dir: str | Path | None = None
    ) -> Sequence[Self]:
        """Return a list with this tool.

        Args:
            conv_state: The state of the conversation. If *working_dir* is left out, the state's
                working directory is used.
            working_dir: The directory to search in calls without a path.

        Raises:
            ValueError: If the directory does not exist.
        """
        executor = cls._new_executor(conv_state, working_dir)
        # Path's method raises for a path that is too long
        if not os.path.isdir(executor.working_dir):  # noqa: PTH112
            msg = (
                f"{readable(str(executor.working_dir))!r} is not a valid directory to search. "
                "Create it, or give another working_dir."
            )
            raise ValueError(msg)
        where = f"The working directory is `{executor.working_dir}`."
        return [cls(description=f"{cls.description}\n\n{where}", executor=executor)]

    @classmethod
    @abstractmethod
    def _new_executor(cls, conv_state: Any, working_dir: str | Path | None) -> Any:
        """Return an executor whose `working_dir` is the directory for calls without a path."""
