"""Conversations: their state for tools and, with an agent, the dialogue with a model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self
from warnings import warn

from toolbench.core.conversation_parts import (
    CallEvent,
    ConversationEvent,
    ConversationLoop,
    ModelRequest,
)
from toolbench.errors import ToolbenchError
from toolbench.redaction.known import Secrets, SecretValue
from toolbench.wording import counted


@dataclass(frozen=True)
class Workspace:
    """The directory in which the tools of a conversation work."""

    working_dir: str


class ConversationState:
    """The state of a conversation that a tool's `create()` may read.

    Source: OpenHands SDK, `ConversationState`.
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
            persistence_dir: The directory in which tools may keep files between sessions, if any.
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


class ConversationAgent(Protocol):
    """What a conversation needs from its agent."""

    def join(
        self,
        conversation: "Conversation",
        callbacks: Sequence[Callable[[Any], object]],
    ) -> ConversationLoop:
        """Return the loop that works for *conversation*; it calls each of *callbacks* with each event."""

    def workspace_of(self, path: str | Path) -> str | None:
        """Return the working directory of the conversation saved at *path*.

        The result is None if the directory no longer exists.
        """


class Conversation:
    """The second argument of an executor; with an agent, also the dialogue of user, model and tools.

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
            state: The working directory and the secrets; made from *workspace* and *secrets* if
                left out.
            agent: A model and its tools: a `toolbench.agent.Agent`. Without an agent, the
                conversation only holds the state for tools.
            workspace: A directory, or an OpenHands workspace.
            secrets: Values that tools may use and that no model gets.
            callbacks: Called with each event, in the thread that made it.

        Raises:
            TypeError: If *state* is given together with *workspace* or *secrets*, or *agent* is not an agent.
        """
        if agent is not None and not callable(getattr(agent, "join", None)):
            msg = f"{type(agent).__name__} is not an agent: give Agent(llm=..., tools=[...])."
            raise TypeError(msg)
        if state is None:
            state = ConversationState(workspace=workspace, secrets=secrets)
        elif workspace is not None or secrets is not None:
            msg = "A state has its own workspace and secrets: give these, or the state."
            raise TypeError(msg)
        self.state = state
        self.agent = agent
        self.depth = 0
        """The number of conversations above this one: 0 if its task was not delegated by another one."""
        self.parent: Conversation | None = None
        """The conversation that delegated the task to this one, and also bears the cost of this one."""
        self._loop = None if agent is None else agent.join(self, tuple(callbacks))

    @property
    def loop(self) -> ConversationLoop:
        """The loop that asks the model and runs its calls.

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
        """All events so far, oldest first."""
        return self.loop.events

    def send_message(self, message: Any) -> None:
        """Add a message of the user, a text or a list of contents; `run` then asks the model."""
        self.loop.send_message(message)

    def step(self) -> Sequence[ConversationEvent]:
        """Ask the model once and run all its calls; return the new events.

        If calls wait for a person, run only these calls, without asking the model.
        """
        return self.loop.step()

    def run(self) -> str:
        """Take steps until there is a reason to stop, and return this reason.

        Returns:
            "answered" (text without calls), "finished", "max_steps", "max_cost", "repeated" (the
            third same call in a row), "paused" or "error".
        """
        return self.loop.run()

    def pause(self) -> None:
        """Stop `run` before its next request, or before the calls of the last answer."""
        self.loop.pause()

    def interrupt(self) -> None:
        """Stop the request to the model and the running tools at once, from any thread."""
        self.loop.interrupt()

    # --- step by step ------------------------------------------------------------------

    def ask(self) -> Sequence[ConversationEvent]:
        """Ask the model once, without running its calls; return the new events.

        You can then change a call with `edit_pending`, answer it with `answer_pending` or
        `reject_pending`, run the others with `run_pending` or `step`, and `ask` again.
        """
        return self.loop.ask()

    @property
    def pending(self) -> Sequence[CallEvent]:
        """The calls of the model that wait, without an answer, with their present arguments."""
        return self.loop.pending.calls

    def run_pending(self, call: Any = None) -> Sequence[ConversationEvent]:
        """Run the waiting calls without asking the model; return the new events.

        Args:
            call: The call to run: an event of `pending`, the number of that event, or the id that
                the model gave the call. If left out, all waiting calls run.
        """
        return self.loop.run_pending(call)

    def edit_pending(self, call: Any, arguments: Mapping[str, Any]) -> None:
        """Replace the arguments of a waiting call; the model gets the new ones with the call's answer.

        Args:
            call: As in `run_pending`; None if only one call waits.
            arguments: All new arguments of the call.

        Raises:
            ToolbenchError: If the arguments do not fit the tool, or no such call waits.
        """
        with self.loop.changing() as pending:
            pending.edit(call, arguments)

    def answer_pending(self, call: Any, result: Any) -> None:
        """Answer a waiting call with your own *result*; the tool does not run.

        Args:
            call: As in `run_pending`; None if only one call waits.
            result: A text, contents, any JSON value, or an `Observation`.
        """
        with self.loop.changing() as pending:
            pending.answer(call, result)

    def reject_pending(self, reason: str = "The person said no.", call: Any = None) -> None:
        """Answer the waiting calls with *reason*; their tools do not run.

        Args:
            reason: The answer that the model reads.
            call: As in `run_pending`; all if left out.
        """
        with self.loop.changing() as pending:
            pending.refuse(call, reason)

    def fork(self, event: ConversationEvent | int | None = None) -> Self:
        """Return a separate conversation that begins with the events of this one.

        Args:
            event: The last event to copy, or its number; all if left out. Calls without an
                answer at that point wait: they can be edited, refused, or answered by hand.
        """
        other = type(self)(self.state, agent=self.agent)
        try:
            other.loop.begin_like(self.loop, event)
        except BaseException:
            # Also at an interrupt: close its tools
            other.close()
            raise
        return other

    def result(self, name: str | None = None) -> Any:
        """Return the last observation of the tool *name*; if *name* is None, of any tool.

        Raises:
            LookupError: If there is no such observation.
        """
        return self.loop.result(name)

    @property
    def requests(self) -> Sequence[ModelRequest]:
        """All requests sent to the model, secrets hidden."""
        return self.loop.sent

    @property
    def next_request(self) -> ModelRequest:
        """The request that the model would get now."""
        return self.loop.next_request

    def condense(self) -> None:
        """Summarise the older part of the conversation before the next request to the model."""
        self.loop.condense()

    def undo(self) -> Sequence[ConversationEvent]:
        """Undo the edits of the last step that made edits, and inform the model; return the new events.

        Only edits by tools that can undo are undone.
        """
        return self.loop.undo()

    def to_html(self) -> str:
        """Return the transcript as one HTML page that needs neither kernel nor network."""
        return self.loop.to_html()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the conversation to *path*, one line of JSON per event, secrets hidden.

        Args:
            path: The file.
            overwrite: Replace a file that has other content. One that holds an earlier state of this
                conversation is always replaced, since nothing of it is lost.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        self.loop.save(path, overwrite=overwrite)

    @classmethod
    def load(
        cls,
        path: str | Path,
        agent: ConversationAgent,
        *,
        state: ConversationState | None = None,
        **options: Any,
    ) -> Self:
        """Return the conversation that `save` wrote to *path*, to continue with *agent*.

        Args:
            path: The file.
            agent: The agent that continues; it may have another model than the first agent.
            state: The working directory and secrets. If left out, there are no secrets, and the
                tools work in the current directory. A file does not choose the directory: if it
                names another one, a warning says so.
            **options: `workspace`, `secrets` and `callbacks`, as for a new conversation.
        """
        if state is None and options.get("workspace") is None:
            _warn_of_folder(path, agent.workspace_of(path))
        conversation = cls(state, agent=agent, **options)
        try:
            conversation.loop.read(path)
        except BaseException:
            # Also at an interrupt: close its tools
            conversation.close()
            raise
        return conversation

    def close(self) -> None:
        """Close the tools that were made for this conversation; a second call does no harm."""
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


def _warn_of_folder(path: str | Path, saved: str | None) -> None:
    """Warn if *saved*, the working directory of the conversation at *path*, is not the current one."""
    if saved is None or Path(saved).resolve() == Path.cwd().resolve():
        return
    warn(
        f"The conversation in {str(path)!r} worked in {saved!r}. Its tools work in "
        f"{str(Path.cwd())!r} from now on, the current directory; if they should work where they "
        "did, give Conversation.load(..., workspace=...) that directory.",
        stacklevel=3,
    )


def spend(conversation: Any, usage: Any) -> None:
    """Add *usage*, from a model that a tool calls, to the usage of a *conversation* with an agent.

    Args:
        conversation: The conversation that the executor got, perhaps None.
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
    """Return the secrets of *conversation*, which may also be a state; None if it has no secrets.

    The conversation may come from another library; secrets that are not text are ignored.
    """
    secrets = getattr(getattr(conversation, "state", conversation), "secrets", None)
    if isinstance(secrets, Secrets):
        return secrets
    if not isinstance(secrets, Mapping):
        return None
    return Secrets({n: s for n, s in secrets.items() if isinstance(s, SecretValue)})
