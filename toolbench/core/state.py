"""A conversation: the little of it that a tool may know, and the talk of a model where an agent takes part."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from toolbench.core.conversation_parts import (
    CallEvent,
    ConversationEvent,
    ConversationLoop,
    ModelRequest,
)
from toolbench.errors import ToolbenchError
from toolbench.redaction.secrets import Secrets, SecretValue
from toolbench.wording import counted


@dataclass(frozen=True)
class Workspace:
    """Where the tools of a conversation work."""

    working_dir: str


class ConversationState:
    """What a tool's `create()` may read. Source: OpenHands SDK, `ConversationState`."""

    def __init__(
        self,
        working_dir: str | Path | None = None,
        *,
        persistence_dir: str | Path | None = None,
        secrets: Mapping[str, SecretValue] | None = None,
        workspace: Any = None,
    ) -> None:
        """Describe a conversation.

        Args:
            working_dir: Where tools work; the current directory if left out.
            persistence_dir: Where tools may keep files between sessions, if anywhere.
            secrets: Values that are masked in everything that comes out of a tool.
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


class ConversationAgent(Protocol):
    """What takes part in a conversation: it brings the loop."""

    def join(
        self,
        conversation: "Conversation",
        callbacks: Sequence[Callable[[Any], object]],
    ) -> ConversationLoop:
        """Return the loop for *conversation*."""

    def workspace_of(self, path: str | Path) -> str | None:
        """Return the working directory of the conversation that was saved at *path*."""


class Conversation:
    """What an executor is given beside the action; with an agent, the talk of a model with its tools.

    Source: OpenHands SDK, `Conversation`.
    """

    def __init__(
        self,
        state: ConversationState | None = None,
        *,
        agent: ConversationAgent | None = None,
        workspace: Any = None,
        secrets: Mapping[str, SecretValue] | None = None,
        callbacks: Iterable[Callable[[Any], object]] = (),
    ) -> None:
        """Begin a conversation.

        Args:
            state: Where tools work, and the secrets; made from *workspace* and *secrets* if left
                out.
            agent: A model and its tools, as `toolbench.agent.Agent`; none for a conversation that
                only tells tools where they work.
            workspace: A directory, or an OpenHands workspace.
            secrets: Values that tools may use and no model is sent.
            callbacks: Called with each event, in the thread that made it.

        Raises:
            TypeError: If there is a *state* and also a *workspace* or *secrets*.
        """
        if state is None:
            state = ConversationState(workspace=workspace, secrets=secrets)
        elif workspace is not None or secrets is not None:
            msg = "A state has a workspace and secrets of its own: give these, or the state."
            raise TypeError(msg)
        self.state = state
        self.agent = agent
        self.depth = 0
        """How many conversations it is inside of: those that delegated its task."""
        self.parent: Conversation | None = None
        """The conversation that delegated its task; what this one costs, that one does."""
        self._loop = None if agent is None else agent.join(self, tuple(callbacks))

    @property
    def loop(self) -> ConversationLoop:
        """What asks the model and runs its calls.

        Raises:
            ToolbenchError: If there is no agent.
        """
        if self._loop is None:
            msg = (
                "This conversation has no agent, so no model takes part in it: make it with "
                "Conversation(agent=Agent(llm=..., tools=[...]))."
            )
            raise ToolbenchError(msg)
        return self._loop

    @property
    def events(self) -> Sequence[ConversationEvent]:
        """All that happened, oldest first."""
        return self.loop.events

    def send_message(self, message: Any) -> None:
        """Add a message of the user: a text, or a list of contents. The model is asked by `run`."""
        self.loop.send_message(message)

    def step(self) -> Sequence[ConversationEvent]:
        """Have the model answer once, run all its calls, and return what happened."""
        return self.loop.step()

    def run(self) -> str:
        """Take steps until there is a reason to stop, and return it.

        Returns:
            "answered" (text without calls), "finished", "max_steps", "max_cost", "repeated" (the
            third same call in a row), "paused" or "error".
        """
        return self.loop.run()

    def pause(self) -> None:
        """Have `run` stop before the next request, or before the calls of the last answer."""
        self.loop.pause()

    def interrupt(self) -> None:
        """Stop at once: the request to the model, and the tools that run. Any thread may."""
        self.loop.interrupt()

    # --- step by step ------------------------------------------------------------------

    def ask(self) -> Sequence[ConversationEvent]:
        """Have the model answer once; its calls wait until you let them go on.

        Then `edit_pending`, `answer_pending` or `reject_pending` one, run them with
        `run_pending` or `step`, and `ask` again.
        """
        return self.loop.ask()

    @property
    def pending(self) -> Sequence[CallEvent]:
        """The calls that wait, with the arguments they would run with."""
        return self.loop.pending.calls

    def run_pending(self, call: Any = None) -> Sequence[ConversationEvent]:
        """Run the calls that wait, and ask the model nothing yet.

        Args:
            call: The one that runs: an event of `pending`, the id the model gave it, or the
                number of its event; all if left out.
        """
        return self.loop.run_pending(call)

    def edit_pending(self, call: Any, arguments: Mapping[str, Any]) -> None:
        """Have a call that waits run with *arguments*; the model is told with its answer.

        Args:
            call: As of `run_pending`; None for the only one.
            arguments: All arguments.

        Raises:
            ToolbenchError: If they do not fit the tool, or no such call waits.
        """
        with self.loop.changing() as pending:
            pending.edit(call, arguments)

    def answer_pending(self, call: Any, result: Any) -> None:
        """Answer a call that waits by hand: what if the tool had said *result*? It does not run.

        Args:
            call: As of `run_pending`; None for the only one.
            result: A text, contents, anything JSON has, or an `Observation`.
        """
        with self.loop.changing() as pending:
            pending.answer(call, result)

    def reject_pending(
        self, reason: str = "The person said no.", call: Any = None
    ) -> None:
        """Answer the calls that wait with *reason*; none of them runs.

        Args:
            reason: What the model reads.
            call: As of `run_pending`; all if left out.
        """
        with self.loop.changing() as pending:
            pending.refuse(call, reason)

    def fork(self, event: ConversationEvent | int | None = None) -> Self:
        """Return a conversation of its own that begins like this one, to go on otherwise.

        Args:
            event: The last event it has, or its number; all if left out. Calls that have no
                answer by then wait: they can be edited, refused, or answered by hand.
        """
        other = type(self)(self.state, agent=self.agent)
        try:
            other.loop.begin_like(self.loop, event)
        except BaseException:  # also an interrupt: what it opened is closed
            other.close()
            raise
        return other

    def result(self, name: str | None = None) -> Any:
        """Return what the last call of the tool *name*, or of any, came to: its observation.

        Raises:
            LookupError: If no call of it was answered.
        """
        return self.loop.result(name)

    @property
    def requests(self) -> Sequence[ModelRequest]:
        """What the model was sent, request by request; secrets are hidden."""
        return self.loop.sent

    @property
    def next_request(self) -> ModelRequest:
        """What the model would be sent now."""
        return self.loop.next_request

    def condense(self) -> None:
        """Have the older part of the conversation summarised before the next request."""
        self.loop.condense()

    def undo(self) -> Sequence[ConversationEvent]:
        """Take back what the last step changed in files, where its tools can; the model is told."""
        return self.loop.undo()

    def to_html(self) -> str:
        """Return the transcript as one page that needs neither kernel nor network."""
        return self.loop.to_html()

    def save(self, path: str | Path) -> None:
        """Write the conversation to *path*, a line of JSON each event, secrets hidden."""
        self.loop.save(path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        agent: ConversationAgent,
        *,
        state: ConversationState | None = None,
        **options: Any,
    ) -> Self:
        """Return the conversation that `save` wrote to *path*, to go on with *agent*.

        Args:
            path: The file.
            agent: Who goes on; its model may be another one.
            state: Where tools work; as it was, without its secrets, if left out.
            **options: `secrets` and `callbacks`, as for a new conversation.
        """
        if state is None:
            options.setdefault("workspace", agent.workspace_of(path))
        conversation = cls(state, agent=agent, **options)
        try:
            conversation.loop.read(path)
        except BaseException:  # also an interrupt: what it opened is closed
            conversation.close()
            raise
        return conversation

    def close(self) -> None:
        """Close the tools that were made for this conversation; twice does no harm."""
        if self._loop is not None:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._loop is None:
            return f"Conversation({self.state!r})"
        return f"<Conversation of {self.agent!r}: {counted(len(self.events), 'event')}>"

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, Any] | None:
        return None if self._loop is None else self._loop.bundle()


def spend(conversation: Any, usage: Any) -> None:
    """Add *usage* of a model that works for a tool to what *conversation* took, if it counts that.

    Args:
        conversation: What the executor was given; may be nothing.
        usage: A `toolbench.llm.models.Usage`; None adds nothing.
    """
    if isinstance(conversation, Conversation) and conversation._loop is not None:
        conversation._loop.spend(usage)


def money_left(conversation: Any) -> float | None:
    """Return how many dollars *conversation* may still cost; None if it has no limit."""
    if isinstance(conversation, Conversation) and conversation._loop is not None:
        return conversation._loop.money_left
    return None


def secrets_of(conversation: Any) -> Secrets | None:
    """Return the secrets of *conversation*, or of a state in its place; None if it has none.

    It may be the conversation of another library: values that are not text hide nothing.
    """
    secrets = getattr(getattr(conversation, "state", conversation), "secrets", None)
    if isinstance(secrets, Secrets):
        return secrets
    if not isinstance(secrets, Mapping):
        return None
    return Secrets({n: s for n, s in secrets.items() if isinstance(s, SecretValue)})
