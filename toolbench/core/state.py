"""The state of a conversation that tools may read; `toolbench.agent` has the conversation itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from toolbench.redaction.known import Secrets, SecretValue


@dataclass(frozen=True)
class Workspace:
    """The directory in which the tools of a conversation work."""

    working_dir: str


class ConversationState:
    """The state of a conversation that a tool's `create()` may read.

    Source: OpenHands SDK, `ConversationState`.

    Examples:
        >>> from toolbench import ConversationState
        >>> from toolbench.tools import TerminalTool
        >>> state = ConversationState("/tmp", secrets={"TOKEN": "correct-horse-9"})
        >>> [terminal] = TerminalTool.create(state)
        >>> with terminal.as_executable().executor:
        ...     print(terminal(command="pwd; echo $TOKEN").text)
        /tmp
        <secret-hidden>
    """

    def __init__(
        self,
        working_dir: str | Path | None = None,
        *,
        persistence_dir: str | Path | None = None,
        secrets: Mapping[str, SecretValue] | None = None,
        workspace: Any = None,
    ) -> None:
        """Make the state of a conversation.

        Args:
            working_dir: The working directory of tools; the current directory if left out.
            persistence_dir: The directory, if any, in which tools may keep files between sessions.
            secrets: Values that are masked in all results of tools.
            workspace: An OpenHands workspace, or a directory, instead of *working_dir*.
        """
        if workspace is None:
            workspace = Workspace(str(working_dir or Path.cwd()))
        elif isinstance(workspace, str | Path):
            workspace = Workspace(str(workspace))
        self.workspace = workspace
        self.persistence_dir = None if persistence_dir is None else str(persistence_dir)
        self.secrets = Secrets(secrets)

    def __repr__(self) -> str:
        return (
            f"ConversationState({self.workspace.working_dir!r}, "
            f"persistence_dir={self.persistence_dir!r}, secrets={self.secrets!r})"
        )


def spend(conversation: Any, usage: Any) -> None:
    """Add *usage* to the tokens and cost of *conversation*.

    An executor that calls a model itself should call this after each answer.

    Args:
        conversation: The conversation that was passed to the executor. It is ignored if it is None
            or comes from another library.
        usage: A `toolbench.llm.models.Usage`; None adds nothing.
    """
    add = getattr(conversation, "spend", None)
    if callable(add):
        add(usage)


def secrets_of(conversation: Any) -> Secrets | None:
    """Return the secrets of *conversation*, or of its state; None if it has no secrets.

    The conversation may come from another library; secrets that are not strings are ignored.
    """
    secrets = getattr(getattr(conversation, "state", conversation), "secrets", None)
    if isinstance(secrets, Secrets):
        return secrets
    if not isinstance(secrets, Mapping):
        return None
    return Secrets({n: s for n, s in secrets.items() if isinstance(s, SecretValue)})


def __getattr__(name: str) -> Any:
    # Earlier versions had the class here
    if name == "Conversation":
        return import_module("toolbench.agent.conversation").Conversation
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
