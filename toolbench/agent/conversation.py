"""A conversation of user, model and tools, and the loop that runs it.

The loop asks the model, runs its calls, answers each call, and decides when to stop. One step is
one message of the model with all its calls. Every call gets exactly one answer, even if the call
fails, is refused or interrupted, or if the conversation is paused before the call runs.

Source: OpenHands, `CodeActAgent.step`; OpenHands SDK, `Conversation` and `LocalConversation`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from warnings import warn

from toolbench.agent import conversation_file as files
from toolbench.agent import transcript
from toolbench.agent.agent import Agent
from toolbench.agent.calls import (
    Calls,
    Chosen,
    answer_by_hand,
    chosen_of,
    refusal_of,
    understood,
    undo_last,
    without_lost_secret,
)
from toolbench.agent.context import Context, message_content
from toolbench.agent.events import (
    ActionEvent,
    CallEdit,
    Event,
    MessageEvent,
    StopEvent,
    StopReason,
    final_text_of,
    result_of,
)
from toolbench.agent.masking import Masking
from toolbench.agent.requests import Sender, SentRequest, SentRequests
from toolbench.agent.state import AgentState, EventLog
from toolbench.core.schema import Observation
from toolbench.core.state import ConversationState
from toolbench.errors import ToolbenchError
from toolbench.llm.models import Usage
from toolbench.redaction.known import SecretValue
from toolbench.redaction.redactor import Redactor
from toolbench.tracing import tracing
from toolbench.wording import counted

_LEFT = "The call was not run: the user ended the conversation."


class Conversation:
    """A conversation between the user, a model and its tools.

    A call that the model made is *pending* until it has an answer. You can run, edit, answer or
    refuse a pending call. Only one thread at a time can ask the model, run calls or answer calls.
    The executor of a tool gets the conversation as its second argument.

    The class is modelled on `Conversation` of the OpenHands SDK.

    Examples:
        >>> from toolbench import Conversation, tool
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel, as_openai_call
        >>> @tool
        ... def split_bill(total: float, people: int) -> float:
        ...     "Split a bill evenly."
        ...     return total / people
        >>> call = as_openai_call(split_bill, {"total": 84, "people": 4})
        >>> model = ScriptedModel([{"role": "assistant", "tool_calls": [call]}, "21 euros each."])
        >>> with Conversation(agent=Agent(model, [split_bill])) as conversation:
        ...     conversation.send_message("We are four, the bill is 84 euros.")
        ...     print(conversation.run(), "-", conversation.final_text)
        answered - 21 euros each.
        >>> conversation.result("split_bill").text
        '21.0'
    """

    def __init__(
        self,
        state: ConversationState | None = None,
        *,
        agent: Agent | None = None,
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
            secrets: Values that tools may use and that no model gets. `${NAME}` in an argument of
                a server's tool stands for the secret of that name.
            callbacks: Functions that are called with each new event, in the thread that logs it.

        Raises:
            TypeError: If *state* is given together with *workspace* or *secrets*, or *agent* is not an agent.
            RegistrationError: If a tool of the agent is not valid, or two tools have the same name.
            ToolNotFoundError: If a tool is given by a name that no tool has.
        """
        if agent is not None and not isinstance(agent, Agent):
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
        """How deep this conversation is nested: 0, or 1 for a delegated task, and so on."""
        self.parent: Conversation | None = None
        """The conversation that delegated this task; its cost includes the cost of this one."""
        self._agent_state: AgentState | None = None
        if agent is None:
            return
        state.secrets.also_hide(getattr(agent.llm, "secrets", None))
        self.redactor = state.secrets.redactor
        self.toolset = agent.toolset(state)
        self._masking = Masking(self.redactor)
        log = EventLog(callbacks, self.redactor)
        context = Context(agent.llm.provider, agent.system_prompt, self._masking.message)
        self._agent_state = agent_state = AgentState(log, context)
        self.sender = Sender(agent, self.toolset, agent_state, self.redactor, self.spend)
        self.calls = Calls(agent, self, self.toolset, agent_state, self.spend)
        self._worker: dict[str, object] = {}
        """A marker for the thread that uses the conversation now; it has at most one entry."""
        self._is_whole = True
        """Whether the state matches its log; false during work and after interrupted work."""

    @property
    def agent_state(self) -> AgentState:
        """All events of the conversation, and the state that the loop derives from them.

        Raises:
            ToolbenchError: If there is no agent.
        """
        if self._agent_state is None:
            msg = (
                "This conversation has no agent, so no model takes part in it: make it with "
                "Conversation(agent=Agent(llm=..., tools=[...]))."
            )
            raise ToolbenchError(msg)
        return self._agent_state

    @property
    def loop(self) -> Self:
        """This conversation itself, for notebooks that were written for a separate loop object."""
        return self

    @property
    def events(self) -> Sequence[Event]:
        """All events so far, oldest first."""
        return self.agent_state.log

    @property
    def final_text(self) -> str:
        """The model's last text, or the message of its finish call."""
        return final_text_of(self.events)

    def result(self, name: str | None = None) -> Observation:
        """Return the last observation of the tool *name*; if *name* is None, of any tool.

        Raises:
            LookupError: If there is no such observation.
        """
        return result_of(self.events, name)

    @property
    def is_at_work(self) -> bool:
        """Whether a thread asks the model, runs calls or answers them now."""
        return self._agent_state is not None and bool(self._worker)

    # --- say something, and let the model work --------------------------------------------

    def send_message(self, message: Any) -> None:
        """Add a message of the user. The model gets it with the next request.

        Args:
            message: A string or a list of content blocks.
        """
        agent_state = self.agent_state
        self.forget_late_stop()
        content = self._masking.content(message_content(message))
        agent_state.log.notify(agent_state.receive(MessageEvent(content)))

    def step(self) -> list[Event]:
        """Ask the model once, run all the calls in its answer, and return the new events.

        If calls are already pending, run these calls instead, without asking the model.
        """
        with self._at_work() as agent_state:
            place = len(agent_state.log)
            self._unless_stopped(self._step)
            return agent_state.log.after(place)

    def run(self) -> StopReason:
        """Take steps until there is a reason to stop, and return this reason.

        The reasons are:

        - "answered": The model answered without calling a tool.
        - "finished": The model called the tool `finish`, or you sent the message `/exit`.
        - "max_steps": The agent's limit of steps was reached. The next `run` continues.
        - "max_cost": The budget was spent. Raise `agent.max_cost` before the next `run`.
        - "repeated": The model made the same call three times in a row.
        - "paused": You called `pause` or `interrupt`.
        - "error": A request to the model failed. The next `run` sends a request again.
        """
        attributes = {"gen_ai.operation.name": "invoke_agent"}
        with self._at_work() as agent_state, tracing.span("invoke_agent", attributes):
            place, steps = len(agent_state.log), 0
            try:
                agent_state.repeats.clear()
                while (reason := self._why_stop(steps)) is None:
                    self._step()
                    steps += 1
                self._log_stop(reason, again=steps > 0)
            except KeyboardInterrupt:
                self._note_interrupt(place)
                raise
            return reason

    def pause(self) -> None:
        """Stop `run` before its next request, or before it runs the calls of the last answer."""
        self.agent_state.stopping.set()

    def interrupt(self) -> None:
        """Stop the request to the model and the running tools immediately, from any thread.

        A stopped tool has a moment to return a partial result. With the next request, the model
        gets this result and a note that you stopped the call. A tool that ignores the stop keeps
        running in the background, but its result is not used.
        """
        self.agent_state.stopping.set()
        self.sender.interrupt()
        self.calls.interrupt()

    def forget_late_stop(self) -> None:
        """Forget a stop that was requested after the work ended, so that it stops no later work."""
        if not self._worker:
            self.agent_state.stopping.clear()

    # --- step by step ------------------------------------------------------------------

    def ask(self) -> list[Event]:
        """Ask the model once, but do not run its calls; return the new events.

        You can then change a pending call with `edit_pending`, answer it with `answer_pending`,
        refuse it with `reject_pending`, or run it with `run_pending`. When all calls have an
        answer, `ask` asks the model again.
        """
        with self._at_work() as agent_state:
            place = len(agent_state.log)
            if agent_state.round is None:
                self._unless_stopped(self._ask)
            return agent_state.log.after(place)

    @property
    def pending(self) -> Sequence[ActionEvent]:
        """The calls of the model that have no answer yet, as changed by `edit_pending`."""
        return chosen_of(self.agent_state.round, None)

    def run_pending(self, call: Chosen = None) -> list[Event]:
        """Run the pending calls without asking the model; return the new events.

        Args:
            call: The call to run: an event of `pending`, the number of that event, or the id that
                the model gave the call. If left out, all pending calls run.
        """
        with self._at_work() as agent_state:
            place = len(agent_state.log)
            self._run_calls(call)
            return agent_state.log.after(place)

    def edit_pending(self, call: Chosen, arguments: Mapping[str, Any]) -> None:
        """Replace the arguments of a pending call.

        When the call has run, its answer tells the model the new arguments.

        Args:
            call: The call, as in `run_pending`. It may be None if only one call is pending.
            arguments: The new arguments, which replace all old arguments.

        Raises:
            ToolbenchError: If the arguments do not fit the tool, or no such call is pending.
        """
        with self._deciding() as agent_state:
            event = self._one_of(call)
            if not isinstance(arguments, Mapping):
                msg = f"Arguments are a dict of names and values, not {arguments!r}."
                raise ToolbenchError(msg)
            edited = replace(event.tool_call, arguments=dict(arguments), error=None, action=None)
            changed = understood(edited, self.toolset.tools, agent_state.context.provider)
            # Perhaps a mark in place of a secret
            if event.tool_call.error is not None:
                changed = without_lost_secret(changed)
            if changed.error is not None or changed.action is None:
                msg = f"The call was left as it is. {changed.error or 'It has no tool.'}"
                raise ToolbenchError(msg)
            agent_state.add(CallEdit(changed, action_id=event.id))

    def answer_pending(self, call: Chosen, result: Any) -> None:
        """Answer a pending call with your own *result*, without running the tool.

        Args:
            call: The call, as in `run_pending`. It may be None if only one call is pending.
            result: The answer: a string, content blocks, any JSON value, or an `Observation`.
        """
        with self._deciding() as agent_state:
            agent_state.add(answer_by_hand(self._one_of(call), result))

    def reject_pending(self, reason: str = "The user said no.", call: Chosen = None) -> None:
        """Refuse pending calls. Their tools do not run, and the model gets *reason* as the answer.

        Args:
            reason: The answer to each refused call.
            call: The call to refuse, as in `run_pending`. If left out, all pending calls are
                refused.
        """
        with self._deciding():
            self._reject(reason, call)

    def fork(self, event: Event | int | None = None) -> Self:
        """Return a separate conversation that begins with the events of this one.

        Args:
            event: The last event to copy, or the number of this event. If left out, all events
                are copied. A call whose answer is not copied is pending in the new conversation.
        """
        origin = self.agent_state
        other = type(self)(self.state, agent=self.agent)
        try:
            with other._deciding() as agent_state:
                files.fork(agent_state, other.toolset, origin, event)
        except BaseException:
            # Even at an interrupt: close its tools
            other.close()
            raise
        return other

    def undo(self) -> list[Event]:
        """Undo the most recent edits that tools made, and return the new events.

        All edits of one step are undone together, and the model is told. Only some tools can undo
        their edits. A loaded or forked conversation can undo only edits that were made in it later.
        """
        with self._deciding() as agent_state:
            place = len(agent_state.log)
            agent_state.add(*undo_last(agent_state.log, self.redactor))
            return agent_state.log.after(place)

    # --- what the model is sent, and what it costs --------------------------------------

    @property
    def requests(self) -> Sequence[SentRequest]:
        """All requests that were sent to the model, with secrets masked."""
        return SentRequests(self.sender.sent, Masking(self.known_secrets))

    @property
    def next_request(self) -> SentRequest:
        """The request that the model would get now."""
        return self.sender.next(Masking(self.known_secrets))

    def condense(self) -> None:
        """Summarise the older part of the conversation before the next request to the model."""
        self.agent_state.wants_condensing = True

    @property
    def usage(self) -> Usage:
        """The tokens and cost of all models that worked for the conversation, if reported."""
        return self.agent_state.spending.total

    def spend(self, usage: Usage | None) -> None:
        """Count the tokens and cost of an answer for this conversation and its `parent`.

        If the conversation has no agent, do nothing.

        Args:
            usage: The tokens and cost of the answer; None if they are not known.
        """
        if usage is None or self._agent_state is None:
            return
        self._agent_state.spending.add(usage.checked(), self._agent_state.log.last_id)
        if self.parent is not None:
            self.parent.spend(usage)

    @property
    def money_left(self) -> float | None:
        """The remaining budget in US dollars; None if there is no limit.

        A delegated task is also limited by the remaining budget of the conversation that started
        it.
        """
        if self.agent is None:
            return None
        limits = []
        if self.agent.max_cost is not None:
            limits.append(self.agent.max_cost - (self.usage.cost or 0.0))
        if self.parent is not None and self.parent.money_left is not None:
            limits.append(self.parent.money_left)
        return min(limits, default=None)

    # --- shown and saved -----------------------------------------------------------------

    @property
    def known_secrets(self) -> Redactor:
        """A redactor for the secrets of the conversation, of its calls, and of their runs."""
        return self.agent_state.log.redactor

    def written(self) -> list[dict[str, Any]]:
        """Return the events as JSON data, with secrets masked."""
        return files.all_written(self.agent_state.log.after(0), Masking(self.known_secrets))

    def to_html(self) -> str:
        """Return the transcript as one HTML page that needs neither kernel nor network."""
        return transcript.to_html(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the conversation to *path*, one line of JSON per event, with secrets masked.

        Args:
            path: The file.
            overwrite: Whether to replace a file that has other content. An earlier save of the
                same conversation is always replaced, because the new file contains it too.

        Raises:
            FileError: If the file has other content and *overwrite* is false, or if the file
                cannot be written.
        """
        files.save(
            self.agent_state,
            Path(path),
            model=self.sender.model,
            working_dir=str(self.state.workspace.working_dir),
            masking=Masking(self.known_secrets),
            overwrite=overwrite,
        )

    @classmethod
    def load(
        cls,
        path: str | Path,
        agent: Agent,
        *,
        state: ConversationState | None = None,
        **options: Any,
    ) -> Self:
        """Load the conversation that `save` wrote to *path*, so that *agent* can continue it.

        Args:
            path: The file.
            agent: The agent that continues the conversation. It may use another model.
            state: The working directory and the secrets. If left out, there are no secrets, and
                the tools work in the current directory. If the conversation was saved in another
                directory, a warning names both directories.
            **options: `workspace`, `secrets` and `callbacks`, as for a new conversation.
        """
        if state is None and options.get("workspace") is None:
            _warn_of_folder(path, files.workspace_of(Path(path)))
        conversation = cls(state, agent=agent, **options)
        try:
            with conversation._deciding() as agent_state:
                files.restore(agent_state, conversation.toolset, Path(path))
        except BaseException:
            # Even at an interrupt: close its tools
            conversation.close()
            raise
        return conversation

    def close(self) -> None:
        """Close the tools that were made for this conversation; a second call does no harm."""
        if self._agent_state is not None:
            self.toolset.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._agent_state is None:
            return f"Conversation({self.state!r})"
        return f"<Conversation of {self.agent!r}: {counted(len(self.events), 'event')}>"

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, Any] | None:
        if self._agent_state is None:
            return None
        return transcript.bundle(self)

    # --- when to stop ----------------------------------------------------------------

    @contextmanager
    def _deciding(self) -> Iterator[AgentState]:
        """Reserve the state for this thread while the `with` block runs, and repair it at the end.

        A stop reason after which the work may continue is cleared first. The cleanup is written
        twice, because an interrupt can also hit the cleanup itself.

        Raises:
            ToolbenchError: If another thread is at work.
        """
        agent_state, work = self.agent_state, object()
        try:
            try:
                # In one step
                if self._worker.setdefault("now", work) is not work:
                    msg = "This conversation is at work in another thread: wait, or interrupt() it."
                    raise ToolbenchError(msg)
                self._repair_unless_whole(work)
                self._is_whole = False
                if agent_state.over == "repeated":
                    agent_state.repeats.clear()
                if agent_state.over in ("error", "repeated", "paused"):
                    agent_state.end(None)
                yield agent_state
                self._is_whole = True
            finally:
                self._repair_unless_whole(work)
                self._leave(work)
        finally:
            try:
                self._repair_unless_whole(work)
            finally:
                self._leave(work)

    def _repair_unless_whole(self, work: object) -> None:
        if self._worker.get("now") is work and not self._is_whole:
            self._repair()
            self._is_whole = True

    def _leave(self, work: object) -> None:
        if self._worker.get("now") is work:
            self._worker.clear()

    @contextmanager
    def _at_work(self) -> Iterator[AgentState]:
        """Reserve the state while the model and tools work in the `with` block.

        A stop that the user has already requested applies to this work. It is cleared at the end of
        the block.
        """
        with self._deciding() as agent_state:
            try:
                yield agent_state
            finally:
                agent_state.stopping.clear()

    def _why_stop(self, steps: int) -> StopReason | None:
        agent_state = self.agent_state
        if agent_state.inbox and agent_state.over in ("answered", "finished"):
            agent_state.end(None)
        if agent_state.over is not None:
            return agent_state.over
        agent_state.detail = ""
        if agent_state.stopping.is_set():
            return "paused"
        if not (agent_state.round or agent_state.inbox or agent_state.context.turns):
            msg = "Nothing was said yet: give the model something to do with send_message(...)."
            raise ToolbenchError(msg)
        if steps >= self.sender.agent.max_steps:
            agent_state.detail = f"after {counted(steps, 'step')}"
            return "max_steps"
        left, cost = self.money_left, self.usage.cost or 0.0
        if left is not None and left <= 0:
            agent_state.detail = f"{cost:.4f} dollars, {-left:.4f} more than the limit"
            return "max_cost"
        return None

    def _log_stop(self, reason: StopReason | None, *, again: bool = False) -> None:
        """Log *reason* as a stop event; log the same reason twice in a row only with *again*."""
        if reason is None:
            return
        log = self.agent_state.log
        if log and not again:
            last = log[-1]
            if isinstance(last, StopEvent) and last.reason == reason:
                return
        self.agent_state.add(StopEvent(reason, self.agent_state.detail))

    # --- one step --------------------------------------------------------------------

    def _unless_stopped(self, work: Callable[[], None]) -> None:
        """Do *work* unless there is a reason to stop first; log the reason to stop, if any."""
        reason = self._why_stop(steps=0)
        if reason is None:
            work()
            over = self.agent_state.over
            if over in ("error", "paused"):
                reason = over
        self._log_stop(reason)

    def _step(self) -> None:
        agent_state = self.agent_state
        if agent_state.round is not None and any(e.is_exit for e in tuple(agent_state.inbox)):
            self._reject(_LEFT)
        if agent_state.round is None:
            self._ask()
        if not agent_state.stopping.is_set():
            self._run_calls()

    def _ask(self) -> None:
        agent_state = self.agent_state
        while agent_state.inbox and agent_state.over is None:
            agent_state.read(agent_state.inbox[0])
            # Only after it was read, so that no message is lost
            agent_state.inbox.popleft()
        if agent_state.over is None:
            agent_state.log.notify(self.sender.send())

    def _run_calls(self, chosen: Chosen = None) -> None:
        current = self.agent_state.round
        if current is not None:
            self.calls.run(current, chosen)

    # --- after an interrupt --------------------------------------------------------------

    def _repair(self) -> None:
        """Make the state match its log after an interrupt: each call gets one answer."""
        agent_state = self.agent_state
        known = agent_state.round
        agent_state.repair()
        current = agent_state.round
        if current is not None:
            # The interrupt came before the calls could wait for anything
            if known is None:
                self.calls.mark_running(current)
            self.calls.answer_interrupted(current)

    def _note_interrupt(self, place: int) -> None:
        """Repair the state after an interrupt, and log that the work stopped.

        The first *place* events are older than the interrupted work. If a later event is already a
        stop, no further stop is logged.
        """
        self._repair()
        log = self.agent_state.log
        if not any(isinstance(event, StopEvent) for event in log.after(place)):
            self.agent_state.add(StopEvent("paused", "interrupted"))

    # --- decisions on waiting calls ------------------------------------------------------

    def _one_of(self, chosen: Chosen) -> ActionEvent:
        """Return the pending call *chosen*, or the only pending call.

        Raises:
            ToolbenchError: If no such call is pending, or if several are and none is chosen.
        """
        calls = chosen_of(self.agent_state.round, chosen)
        if not calls:
            msg = "No call waits."
            raise ToolbenchError(msg)
        if len(calls) > 1:
            ids = ", ".join(repr(call.tool_call_id) for call in calls)
            msg = f"{counted(len(calls), 'call')} wait: name one of {ids}."
            raise ToolbenchError(msg)
        return calls[0]

    def _reject(self, reason: str, chosen: Chosen = None) -> None:
        calls = chosen_of(self.agent_state.round, chosen)
        self.agent_state.add(*(refusal_of(call, reason) for call in calls))


def _warn_of_folder(path: str | Path, saved: str | None) -> None:
    """Warn if *saved*, the working directory of the conversation, is not the current one."""
    if saved is None or Path(saved).resolve() == Path.cwd().resolve():
        return
    warn(
        f"The conversation in {str(path)!r} worked in {saved!r}. Its tools work in "
        f"{str(Path.cwd())!r} from now on, the current directory; if they should work where they "
        "did, give Conversation.load(..., workspace=...) that directory.",
        stacklevel=3,
    )
