"""The definition of the patch tool: its action, observation and description."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.text_diff import diff
from toolbench.tools.files.paths import resource_of

_STYLES = {"+": "green", "-": "red", "@": "cyan", "*": "bold"}
LETTERS = {"add": "A", "update": "M", "delete": "D"}
"""The letter for each kind of change to a file."""


class ApplyPatchAction(Action):
    """A patch to apply."""

    patch: str = Field(description="The patch, from `*** Begin Patch` to `*** End Patch`.")

    @property
    def visualize(self) -> RenderableType:
        """The lines of the patch, coloured by their kind."""
        view = Text()
        for line in self.patch.splitlines():
            view.append(f"{line}\n", style=_STYLES.get(line[:1], "dim"))
        return view


class PatchedFile(BaseModel):
    """The change of one file."""

    model_config = ConfigDict(frozen=True)

    type: Literal["add", "update", "delete"]
    old_content: str | None = None
    new_content: str | None = None
    move_path: str | None = None


class Commit(BaseModel):
    """The changes of a patch, by path."""

    model_config = ConfigDict(frozen=True)

    changes: dict[str, PatchedFile] = {}


class ApplyPatchObservation(Observation):
    """The result of a patch: the changes, or the reason why nothing was changed."""

    message: str = Field(default="", description="What was done, or why nothing was.")
    fuzz: int = Field(
        default=0,
        description="How many lines were found only with other white space than the patch has.",
    )
    commit: Commit | None = Field(default=None, description="The changes, file by file.")

    @property
    def visualize(self) -> RenderableType:
        """The changes, file by file; the error message if the patch failed."""
        if self.commit is None:
            return super().visualize
        view = Text()
        for path, change in self.commit.changes.items():
            moved = f" -> {change.move_path}" if change.move_path else ""
            view.append(f"{LETTERS[change.type]} {path}{moved}\n", style="bold")
            before, after = change.old_content or "", change.new_content or ""
            view.append_text(diff(before, after)).append("\n")
        return view


_DESCRIPTION = """\
Changes several files at once with a patch: all of it is applied, or, if any part does not \
fit, nothing at all.

*** Begin Patch
*** Add File: docs/new.md
+every line of the new file begins with a plus
*** Update File: src/app.py
*** Move to: src/main.py
@@ def connect(host):
     timeout = 5
-    return open(host)
+    return open(host, timeout)
*** Delete File: old.txt
*** End Patch

In an update, each part begins with `@@`. After `@@` you can write an earlier line of the file, \
such as the `def` or `class`; the part is then searched below that line. Then come lines as they \
are in the file, each after one more character: a space for lines that stay, `-` for lines to \
delete, `+` for new lines. Give about three lines that stay before and after a change, and the \
parts in the order of the file. `*** End of File` after a part says that the part ends the file. \
`*** Move to:` is optional.

Paths are relative to {root}; others are refused. White space that differs is tolerated, and \
counted as `fuzz`. Only text files up to 10 MB can be updated; encoding, line ends, owner, \
group, mode, extended attributes and hard links stay. For one small edit use file_editor."""


class ApplyPatchTool(ToolDefinition[ApplyPatchAction, ApplyPatchObservation]):
    r"""The tool that applies patches to files.

    A patch has the same format as for OpenAI's `apply_patch`. The classes and fields have the same
    names as in OpenHands.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.tools import ApplyPatchTool
        >>> [patcher] = ApplyPatchTool.create(workspace_root=".")
        >>> patch = '''*** Begin Patch
        ... *** Add File: hello.py
        ... +print("hello")
        ... *** End Patch'''
        >>> patcher(patch=patch).is_error
        False
        >>> Path("hello.py").read_text()
        'print("hello")\n'
    """

    def declared_resources(self, action: ApplyPatchAction) -> DeclaredResources:
        """Return the files that the patch names: calls with the same file run one after another."""
        files_in = getattr(self.executor, "files_in", None)
        # An executor of another library
        if files_in is None:
            return DeclaredResources(declared=False)
        return DeclaredResources(tuple(map(resource_of, files_in(action.patch))))

    def preview(self, action: ApplyPatchAction) -> Sequence[str]:
        """Return the folder, and a line for each file that the patch changes in any way."""
        preview = getattr(self.executor, "preview", None)
        # As above
        if preview is None:
            return ()
        lines: Sequence[str] = preview(action.patch)
        return lines

    @classmethod
    def create(
        cls, conv_state: Any = None, *, workspace_root: str | Path | None = None
    ) -> Sequence[Self]:
        """Return a list with this tool.

        Args:
            conv_state: The state of the conversation. If *workspace_root* is left out, patches may
                change only files in the working directory of this state.
            workspace_root: The only directory in which patches may change files.
        """
        from toolbench.tools.apply_patch.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            ApplyPatchExecutor,
        )

        executor = ApplyPatchExecutor(conv_state, workspace_root=workspace_root)
        return [
            cls(
                description=_DESCRIPTION.format(root=executor.root),
                action_type=ApplyPatchAction,
                observation_type=ApplyPatchObservation,
                annotations=ToolAnnotations(
                    title="Apply patch",
                    destructiveHint=True,
                    idempotentHint=False,
                    openWorldHint=False,
                ),
                executor=executor,
            )
        ]
