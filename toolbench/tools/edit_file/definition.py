"""The definition of `edit_file`: its action, observation and description."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.text_diff import diff
from toolbench.errors import ToolbenchError
from toolbench.tools.files.paths import resource_of


class EditFileAction(Action):
    """A draft of a part of a file."""

    path: str = Field(description="Absolute path of the file.")
    content: str = Field(
        description="A draft of the new part. You may leave out unchanged lines: put a comment "
        "like `# ... unchanged ...` in their place."
    )
    start: int = Field(
        default=1,
        ge=-1,
        description="The first line of the part, counted from 1; -1 to append at the end.",
    )
    end: int = Field(default=-1, ge=-1, description="The last line of the part; -1 for the end.")

    @property
    def visualize(self) -> RenderableType:
        """The path, the part and the draft."""
        end = "the end" if self.end == -1 else str(self.end)
        part = "at the end" if self.start == -1 else f"lines {self.start} to {end}"
        return Text.assemble(("edit ", "bold"), (self.path, "cyan"), f" {part}\n", self.content)


class EditFileObservation(Observation):
    """The result of an edit: the text of the file before and after the edit."""

    path: str | None = Field(default=None, description="The file.")
    old_content: str | None = Field(default=None, description="The text before the edit.")
    new_content: str | None = Field(default=None, description="The text after it.")

    @property
    def visualize(self) -> RenderableType:
        """The change, line by line; if there is no change, the text of the result."""
        if self.is_error or self.old_content == self.new_content:
            return super().visualize
        head = Text.assemble(("edit ", "bold"), (self.path or "", "cyan"), "\n")
        return head.append_text(diff(self.old_content or "", self.new_content or ""))


_DESCRIPTION = """\
Edits a part of a text file from a draft: a model merges the draft with the current lines.

- A file that does not exist is created with exactly `content`. With `start` -1, exactly \
`content` is appended.
- For a long file, give `start` and `end`, with some lines around the change: the part may \
have at most 500 lines.
- You may leave unchanged lines out of the draft: put a comment in their place.
- All other lines stay as they are. A failed edit changes nothing.

Example: {"path": "/repo/app.py", "start": 10, "end": 30, "content": "class A:\\n    # ... \
unchanged ...\\n    def new(self):\\n        return 1"}"""


class EditFileTool(ToolDefinition[EditFileAction, EditFileObservation]):
    r"""A tool that edits part of a file from a draft, in which unchanged lines may be left out.

    A second model applies the draft to the file. The tool and its arguments have the same names as
    in OpenHands' `edit_file`.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.agent.tools import EditFileTool
        >>> from toolbench.llm import ScriptedModel
        >>> file = Path("app.py").resolve()
        >>> length = file.write_text("print('hello')\n")
        >>> model = ScriptedModel(["<updated>\nprint('goodbye')\n</updated>"])
        >>> [edit] = EditFileTool.create(llm=model)
        >>> result = edit(path=str(file), content="print('goodbye')")
        >>> file.read_text()
        "print('goodbye')\n"
    """

    def declared_resources(self, action: EditFileAction) -> DeclaredResources:
        """Return the file: calls of any tool that edit the same file run one after another."""
        return DeclaredResources((resource_of(action.path),))

    @classmethod
    def create(
        cls,
        conv_state: Any = None,
        *,
        llm: Any = None,
        workspace_root: str | Path | None = None,
    ) -> Sequence[Self]:
        """Return a list with this tool.

        Args:
            conv_state: The state of the conversation. If a model sends a relative path, the error
                suggests a path in the working directory of this state.
            llm: The model that applies drafts: any value that `as_model` accepts. In the tools of
                an agent, the default is the agent's model.
            workspace_root: The only directory that the tool may use. If left out, the tool may use
                the whole file system.

        Raises:
            ToolbenchError: If *llm* is left out and the tool does not belong to an agent.
        """
        from toolbench.tools.edit_file.impl import (  # noqa: PLC0415 - as in OpenHands
            EditFileExecutor,
        )

        if llm is None:
            msg = (
                "EditFileTool needs a model that applies the drafts: "
                "EditFileTool.create(state, llm=...)."
            )
            raise ToolbenchError(msg)
        return [
            cls(
                description=_DESCRIPTION,
                action_type=EditFileAction,
                observation_type=EditFileObservation,
                annotations=ToolAnnotations(
                    title="Edit file",
                    destructiveHint=True,
                    idempotentHint=False,
                    openWorldHint=False,
                ),
                executor=EditFileExecutor(llm, conv_state, workspace_root=workspace_root),
            )
        ]
