"""The definition of the terminal tool: its action, observation and description."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.content import Content, TextContent
from toolbench.core.declarations import (
    DeclaredResources,
    ToolAnnotations,
    Unusable,
)
from toolbench.core.schema import Action, Observation
from toolbench.core.state import secrets_of
from toolbench.core.tool import ToolDefinition
from toolbench.threads import NO_THREADS, have_threads
from toolbench.tools.posix import termios
from toolbench.wording import CROSS

# Seconds without output after which a call returns
SILENCE = 30.0
# Exit code of a command that has not ended
RUNNING = -1


class TerminalAction(Action):
    """A command to run, or input for the running command."""

    command: str = Field(
        description=(
            "The bash command to run; it may have several lines. Empty: keep waiting for the "
            "running command. With is_input: text for that command, or the name of a key."
        )
    )
    is_input: bool = Field(
        default=False,
        description="Type `command` at the running command instead of running it.",
    )
    timeout: float | None = Field(
        default=None,
        ge=0,
        description=(
            "The maximum number of seconds to wait; silence and prompts do not end the wait "
            "sooner. The command keeps running afterwards. If left out, the wait ends after "
            f"{SILENCE:g} seconds of silence, or at what looks like a prompt."
        ),
    )
    reset: bool = Field(
        default=False,
        description="First end the shell and everything it started, then start a new one.",
    )

    @model_validator(mode="after")
    def _nothing_to_type_at(self) -> Self:
        if self.reset and self.is_input:
            msg = "after a reset there is nothing to type at: leave out is_input or reset"
            raise ValueError(msg)
        return self

    @property
    def visualize(self) -> RenderableType:
        """The command after a prompt, as in a terminal."""
        view = Text()
        if self.reset:
            view.append("reset\n", style="yellow")
        view.append("> " if self.is_input else "$ ", style="bold green")
        return view.append(self.command or "(wait)")


class CmdOutputMetadata(BaseModel):
    """The state of the shell after a command."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    exit_code: int = RUNNING
    """The exit code of the command; -1 while it runs."""
    pid: int = -1
    """The id of the running process group, or of the newest background job; -1 if none."""
    username: str | None = None
    hostname: str | None = None
    working_dir: str | None = None
    py_interpreter_path: str | None = None
    """The path of the `python` that the shell would start; None if there is none."""
    prefix: str = ""
    """A string to show before the output; empty if there is none."""
    suffix: str = ""
    """A string to show after the output; empty if there is none."""


class TerminalObservation(Observation):
    """The output of a command, and how the command ended."""

    command: str | None = Field(
        default=None, description="The command; None where the call had none."
    )
    exit_code: int | None = Field(
        default=None,
        description="Its exit code; -1 while it runs, None if none was run.",
    )
    timeout: bool = Field(
        default=False,
        description="Whether the time to wait was over before the command.",
    )
    metadata: CmdOutputMetadata = Field(default_factory=CmdOutputMetadata)
    full_output_save_dir: str | None = Field(
        default=None, description="Where outputs too long to show are kept whole."
    )

    @property
    def text(self) -> str:
        """The output without the prefix and suffix that the model also sees."""
        return "".join(c.text for c in self.content if isinstance(c, TextContent))

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The output, with the prefix before it and the suffix after it."""
        prefix = [TextContent(text=self.metadata.prefix + "\n")] * bool(self.metadata.prefix)
        last = [TextContent(text="\n" + self.metadata.suffix)] * bool(self.metadata.suffix)
        head = [TextContent(text=self.ERROR_MESSAGE_HEADER)] * self.is_error
        return [*head, *prefix, *self.content, *last]

    @property
    def visualize(self) -> RenderableType:
        """The output, and below it how the command ended, as plain text without markup."""
        view = Text()
        if self.is_error:
            view.append(f"{CROSS} {self.ERROR_MESSAGE_HEADER}", style="bold red")
        if self.metadata.prefix:
            view.append(self.metadata.prefix + "\n", style="bright_black")
        view.append(self.text)
        if self.metadata.suffix:
            if self.text and not self.text.endswith("\n"):
                view.append("\n")
            failed = self.exit_code not in (0, RUNNING, None)
            view.append(self.metadata.suffix, style="red" if failed else "bright_black")
        return view


_DESCRIPTION = f"""\
Runs bash commands in one persistent shell: the directory, variables, functions and \
background jobs of one call are there in the next.

- A call returns when the command ends, with its output, exit code and directory. It returns \
earlier, and the command keeps running, after `timeout` seconds; or, without a `timeout`, after \
{SILENCE:g} seconds without output or when a prompt seems to wait for an answer. The exit code \
is then -1.
- While a command runs, no other is accepted. Keep waiting with an empty `command`, answer with \
`is_input`: text (Enter is added), or a key: C-c to interrupt, C-d for end of input, C-z to \
suspend, UP, DOWN, LEFT, RIGHT, TAB, ESC, ENTER, BS. C-c, C-d and C-z need no `is_input`.
- Several lines, heredocs and functions are run as they are. Join steps that depend on each \
other with `&&`.
- Programs that keep running, such as servers, belong in the background, output in a file: \
`python3 -m http.server 8000 > server.log 2>&1 &`.
- Of output over 30,000 characters, the first and last part are shown.
- `exit` ends the shell; the next command gets a new one where the first began. `reset` does \
the same if it no longer responds.

Do not use it for full-screen programs (vim, top), or to edit files if you have an editing \
tool. It is not a Python prompt: write `python3 -c '...'` or a heredoc.

Examples:
{{"command": "cd /repo && git status --short"}}
{{"command": "make test", "timeout": 600}}
{{"command": "yes", "is_input": true}}
{{"command": "C-c", "is_input": true}}"""


class TerminalTool(ToolDefinition[TerminalAction, TerminalObservation]):
    """A tool that runs commands in a persistent shell.

    Examples:
        >>> from toolbench.tools import TerminalTool
        >>> [terminal] = TerminalTool.create()
        >>> with terminal.executor:
        ...     result = terminal(command="cd / && greeting=hello")
        ...     print(terminal(command="echo $greeting from $PWD").text)
        hello from /
    """

    @classmethod
    def is_usable(cls) -> bool | Unusable:
        """Tell whether the system has threads, bash and pseudo-terminals."""
        if not have_threads():
            return Unusable(f"The terminal needs processes and threads, but {NO_THREADS}.")
        if termios is None:
            return Unusable(
                "The terminal needs the pseudo-terminals of Linux or macOS, and this Python has no "
                "termios: use WSL."
            )
        if shutil.which("bash") is None:
            return Unusable("The terminal needs bash, and there is none on the PATH.")
        return True

    def declared_resources(self, action: TerminalAction) -> DeclaredResources:
        """Return the shell as a resource: calls run one after another.

        Source: OpenHands SDK, `TerminalTool`.
        """
        return DeclaredResources(("terminal:session",))

    def preview(self, action: TerminalAction) -> Sequence[str]:
        """Return a line with the current folder of the shell."""
        folder = getattr(self.executor, "folder", None)
        # An executor of another library
        if folder is None:
            return ()
        return [f"in the folder {folder}"]

    @classmethod
    def create(
        cls,
        conv_state: Any = None,
        *,
        working_dir: str | Path | None = None,
        executor: Any = None,
        **params: Any,
    ) -> Sequence[Self]:
        """Return a list with this tool. The shell is started by the first command.

        Args:
            conv_state: The state of the conversation. It provides the working directory, secrets
                that commands can use as variables, and a persistence directory in which long
                outputs are saved.
            working_dir: The directory in which the shell starts. By default, it is the working
                directory of the state.
            executor: A `TerminalExecutor` that several tools share. By default, a new executor is
                made.
            **params: Other parameters of `TerminalExecutor`.

        Raises:
            ValueError: If a parameter has an invalid value.
        """
        from toolbench.tools.terminal.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            TerminalExecutor,
        )

        workspace = getattr(conv_state, "workspace", None)
        if folder := getattr(conv_state, "persistence_dir", None):
            params.setdefault("full_output_save_dir", Path(folder) / "terminal")
        params.setdefault("secrets", secrets_of(conv_state))
        executor = executor or TerminalExecutor(
            working_dir or getattr(workspace, "working_dir", None), **params
        )
        return [
            cls(
                description=_DESCRIPTION + f"\n\nThe shell starts in `{executor.working_dir}`.",
                action_type=TerminalAction,
                observation_type=TerminalObservation,
                annotations=ToolAnnotations(
                    title="Terminal",
                    readOnlyHint=False,
                    destructiveHint=True,
                    idempotentHint=False,
                    openWorldHint=True,
                ),
                executor=executor,
            )
        ]


# The names in OpenHands
BashTool = TerminalTool
ExecuteBashAction = TerminalAction
ExecuteBashObservation = TerminalObservation
