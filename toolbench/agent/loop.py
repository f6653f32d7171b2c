"""The loop of an agent: ask the model, run its calls, answer each of them, decide when to stop.

One step is one answer of the model with all its calls. Every call gets exactly one answer, even
if it fails, is refused or interrupted, or if the conversation is paused before it runs.
Source: OpenHands, `CodeActAgent.step`; OpenHands SDK, `LocalConversation`.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Flag
from typing import TYPE_CHECKING, Any

from toolbench.agent import conversation_file as files
from toolbench.agent import transcript
from toolbench.agent.call_round import Round
from toolbench.agent.calls import Calls
from toolbench.agent.context import Context, message_content
from toolbench.agent.event_log import EventLog
from toolbench.agent.events import (
    Event,
    MessageEvent,
    NoticeEvent,
    StopEvent,
    StopReason,
    begins_answer,
    final_text_of,
    result_of,
    secrets_in,
)
from toolbench.agent.masking import Masking
from toolbench.agent.pending_calls import Chosen, Pending
from toolbench.agent.rebuild import fork
from toolbench.agent.sender import Requests
from toolbench.agent.sent_requests import SentRequest
from toolbench.agent.settling import Work, note_interrupt, settle
from toolbench.agent.undo import take_back_last
from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.core.state import Conversation, money_left, spend
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import Json
from toolbench.llm.models import Usage
from toolbench.llm.prompt_messages import user_message
from toolbench.redaction.redactor import Redactor
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.agent.agent import Agent

_LEFT = "The call was not run: the person ended the conversation."


class Loop:
    """The loop of one conversation; only one thread at a time can take steps."""

    def __init__(
        self,
        agent: "Agent",
        conversation: Conversation,
        listeners: Sequence[Callable[[Event], object]] = (),
    ) -> None:
        """Make the agent loop of *conversation*; call *listeners* with each event."""
        self.agent = agent
        self.conversation = conversation
        secrets = conversation.state.secrets
        secrets.also_hide(getattr(agent.llm, "secrets", None))
        self.redactor = secrets.redactor
        self.log = EventLog(listeners, self.redactor)
        self.toolset = agent.toolset(conversation)
        self.masking = Masking(self.redactor)
        self.context = Context(agent.llm.provider, agent.system_prompt, self.masking.message)
        self.requests = Requests(
            agent, self.toolset, self.context, self.log, self.redactor, self._pass_on
        )
        spend_on = self.requests.spend
        self.calls = Calls(agent, conversation, self.toolset, self.log, spend_on)
        self.round: Round | None = None
        """The calls of the model's last answer; None as soon as all of them are answered."""
        self.pending = Pending(self, self.close_round)
        self._inbox: deque[MessageEvent] = deque()
        self._over: StopReason | None = None
        self._detail = ""
        self._stopping = Flag()
        self._work = Work(lambda: settle(self))

    # --- what a conversation offers --------------------------------------------------

    @property
    def events(self) -> Sequence[Event]:
        """All events."""
        return self.log

    def send_message(self, message: Any) -> None:
        """Add a message of the user; the model reads it with the next request."""
        self.forget_late_stop()
        content = self.masking.content(message_content(message))
        event = self.log.append(MessageEvent(content))
        self.receive(event)
        self.log.tell(event)

    def step(self) -> list[Event]:
        """Let the model answer once and run all its calls; if calls wait, only run these calls."""
        with self._at_work(), self._stoppable():
            place = len(self.log)
            if not self._stops(self._why_stop(steps=0)):
                self._step()
                self._stops(self._over if self._over in ("error", "paused") else None)
            return self.log.after(place)

    def run(self) -> StopReason:
        """Take steps until there is a reason to stop."""
        with self._at_work(), self._stoppable():
            place, steps = len(self.log), 0
            try:
                self.calls.repeats.clear()
                while (reason := self._why_stop(steps)) is None:
                    self._step()
                    steps += 1
                self._stops(reason, again=steps > 0)
            except KeyboardInterrupt:
                note_interrupt(self, place)
                raise
            return reason

    def pause(self) -> None:
        """Stop before the next request, or before the calls of the last answer."""
        self._stopping.set()

    def interrupt(self) -> None:
        """Stop at once: the request, and the tools that run."""
        self._stopping.set()
        self.requests.interrupt()
        self.calls.interrupt()

    def forget_late_stop(self) -> None:
        """Forget a stop that came when the work was over: it is not meant for what comes now."""
        if not self._work.is_busy:
            self._stopping.clear()

    def ask(self) -> list[Event]:
        """Let the model answer once, without running its calls."""
        with self._at_work(), self._stoppable():
            place = len(self.log)
            if self.round is None and not self._stops(self._why_stop(steps=0)):
                self._ask()
                self._stops(self._over if self._over in ("error", "paused") else None)
            return self.log.after(place)

    def run_pending(self, chosen: Chosen = None) -> list[Event]:
        """Run the waiting calls, or only the call *chosen*, without asking the model."""
        with self._at_work(), self._stoppable():
            place = len(self.log)
            if self.round is not None:
                self._run_calls(self.round, chosen)
            return self.log.after(place)

    @contextmanager
    def changing(self) -> Iterator[Pending]:
        """Let a person change the waiting calls; the loop does not work during the block."""
        with self._at_work():
            yield self.pending

    def begin_like(self, other: "Loop", last: Event | int | None) -> None:
        """Copy the events of *other* up to the event *last*; if *last* is None, copy all events."""
        with self._at_work():
            fork(self, other, last)

    def condense(self) -> None:
        """Summarise the older turns before the next request."""
        self.requests.wants_condensing = True

    def undo(self) -> list[Event]:
        """Undo all edits of the last step that made edits, and inform the model."""
        with self._at_work():
            place = len(self.log)
            undone = take_back_last(self.log, self.calls.asker)
            if undone.notice:
                self.log.add(NoticeEvent(self.redactor.text(undone.notice)))
            if undone.report:
                content = (TextContent(text=self.redactor.text(undone.report)),)
                event = MessageEvent(content, source="environment", undone=undone.calls)
                event = self.log.append(event)
                self._add(event)
                self.log.tell(event)
            return self.log.after(place)

    def to_html(self) -> str:
        """Return the transcript as an HTML page."""
        return transcript.to_html(self)

    def bundle(self) -> Mapping[str, Any]:
        """Return the transcript for a cell's output."""
        return transcript.bundle(self)

    @property
    def final_text(self) -> str:
        """The model's last text, or the message of its finish call."""
        return final_text_of(self.log)

    @property
    def money_left(self) -> float | None:
        """The dollars that the conversation may still cost; None if there is no limit.

        A delegated task cannot cost more than the conversation that delegated it.
        """
        limit = self.agent.max_cost
        own = None if limit is None else limit - (self.requests.usage.cost or 0.0)
        outer = money_left(self.conversation.parent)
        return min((left for left in (own, outer) if left is not None), default=None)

    @property
    def usage(self) -> Usage:
        """The tokens and cost of all models that work for the conversation."""
        return self.requests.usage

    def spend(self, usage: Usage | None) -> None:
        """Add the tokens and cost of a model that works for the conversation."""
        self.requests.spend(usage)

    def _pass_on(self, usage: Usage) -> None:
        """Add *usage* also to the conversation that delegated this task."""
        spend(self.conversation.parent, usage)

    @property
    def sent(self) -> Sequence[SentRequest]:
        """The requests sent to the model, with secrets hidden."""
        return self.requests.sent.without_secrets(Masking(self.known_secrets).message)

    def result(self, name: str | None) -> Observation:
        """Return the last observation of the tool *name*; of any tool if *name* is None."""
        return result_of(self.log, name)

    @property
    def next_request(self) -> SentRequest:
        """The request that would be sent to the model now."""
        unread = [self._message_of(event) for event in self._inbox]
        return self.requests.next(unread, Masking(self.known_secrets))

    @property
    def steps(self) -> int:
        """The number of answers of the model."""
        return sum(map(begins_answer, self.log))

    @property
    def known_secrets(self) -> Redactor:
        """A redactor for the secrets of the conversation, of its calls, and of their runs."""
        return self.redactor.including(secrets_in(self.log))

    def written(self) -> list[dict[str, Any]]:
        """Return the events as JSON data, with secrets hidden."""
        masking = Masking(self.known_secrets)
        return [masking.event(files.written(event)) for event in self.log]

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the conversation to *path*."""
        files.save(self, Path(path), overwrite=overwrite)

    def read(self, path: str | Path) -> None:
        """Load the conversation saved at *path*."""
        with self._at_work():
            files.restore(self, Path(path))

    @property
    def unread(self) -> list[int]:
        """The numbers of the messages that were not sent to the model yet."""
        return [event.id for event in self._inbox]

    def receive(self, event: MessageEvent) -> None:
        """Send *event* to the model with the next request."""
        self._inbox.append(event)

    def forget(self, read: set[int]) -> None:
        """Forget the unread messages with the numbers *read*; stop if the model answered all messages."""
        while self._inbox and self._inbox[0].id in read:
            self._inbox.popleft()
        if not (self._over or self.round or self._inbox) and self.context.is_answered:
            self.end("answered")

    def take_over(self, event: MessageEvent, message: Json | None = None) -> None:
        """Copy *event*: a message that the model has read or, with *message*, that the model wrote."""
        if message is None:
            self._read(event)
        else:
            self.context.add([message], [event.id])
            self.end("answered")

    def take_over_round(self, current: Round) -> None:
        """Copy *current*, a round of calls. Calls without an answer will wait for a decision."""
        self.end(None)
        for call in current.calls:
            self.requests.take(call.tool_call_id)
        self.round = current
        self.close_round()

    def close(self) -> None:
        """Close the tools that were made for the conversation."""
        self.toolset.close()

    # --- when to stop ----------------------------------------------------------------

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Let only one thread work at a time. Clear a stop reason after which work can go on."""
        with self._work.alone():
            if self._over == "repeated":
                self.calls.repeats.clear()
            if self._over in ("error", "repeated", "paused"):
                self.end(None)
            yield

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Clear the stop request at the end of the block. A request from before the block counts too."""
        try:
            yield
        finally:
            self._stopping.clear()

    def _why_stop(self, steps: int) -> StopReason | None:
        if self._inbox and self._over in ("answered", "finished"):
            self.end(None)
        if self._over is not None:
            return self._over
        self._detail = ""
        if self._stopping.is_set():
            return "paused"
        if not (self.round or self._inbox or self.context.turns):
            msg = "Nothing was said yet: give the model something to do with send_message(...)."
            raise ToolbenchError(msg)
        if steps >= self.agent.max_steps:
            self._detail = f"after {counted(steps, 'step')}"
            return "max_steps"
        left, cost = self.money_left, self.requests.usage.cost or 0.0
        if left is not None and left <= 0:
            self._detail = f"{cost:.4f} dollars, {-left:.4f} more than the limit"
            return "max_cost"
        return None

    def _stops(self, reason: StopReason | None, *, again: bool = False) -> bool:
        """Tell whether *reason* is not None, and log it; a repeated stop is logged only with *again*."""
        last = self.log[-1] if self.log else None
        is_known = isinstance(last, StopEvent) and last.reason == reason and not again
        if reason is not None and not is_known:
            self.log.add(StopEvent(reason, self._detail))
        return reason is not None

    def end(self, reason: StopReason | None, detail: str = "") -> None:
        """Stop for *reason* until the next message of the user; None lets the work go on."""
        self._over, self._detail = reason, detail

    # --- one step --------------------------------------------------------------------

    def _step(self) -> None:
        if self.round is not None and any(event.is_exit for event in self._inbox):
            self.pending.refuse(None, _LEFT)
        if self.round is None:
            self._ask()
        if self.round is not None and not self._stopping.is_set():
            self._run_calls(self.round)

    def _run_calls(self, current: Round, chosen: Chosen = None) -> None:
        try:
            self.calls.run(current, self._stopping, chosen)
        finally:
            self.close_round()

    def _ask(self) -> None:
        while self._inbox and self._over is None:
            self._read(self._inbox[0])
            # Only after it was read, so that no message is lost
            self._inbox.popleft()
        if self._over is None:
            outcome = self.requests.send(self._stopping)
            self.round = outcome.calls
            self.end(outcome.over, outcome.detail)
            self.log.tell(*outcome.news)

    def _read(self, event: MessageEvent) -> None:
        if event.is_exit:
            self.end("finished", event.text.strip())
        else:
            self.end(None)
            self._add(event)

    def _add(self, event: MessageEvent) -> None:
        self.context.add([self._message_of(event)], [event.id])

    def _message_of(self, event: MessageEvent) -> Json:
        is_text = all(isinstance(block, TextContent) for block in event.content)
        content = event.text if is_text else event.content
        return user_message(content, self.context.provider)

    def close_round(self) -> None:
        """If all calls are answered, add the calls and the answers to the model's messages."""
        current = self.round
        if current is None or current.waiting:
            return
        self.context.add(current.messages(), current.event_ids)
        self.round = None
        if self.calls.repeats.is_stuck:
            self.end("repeated", "the same call, three times in a row")
        elif current.is_finished:
            self.end("finished")
